// SPDX-License-Identifier: Apache-2.0

package uetcc

// The calls that packets pass through, where Config.Tap is set or the clock is odd: each is the call
// itself between begin and end of the clock, with the packets shown.

// show shows the tap a packet, unless there is none.
func (e *Endpoint) show(now int64, sent bool, d *Datagram) {
	if e.tap != nil && len(d.Packet) > 0 {
		e.tap(now, sent, *d)
	}
}

// showAll shows the tap the packets of a batch.
func (e *Endpoint) showAll(now int64, sent bool, all []Datagram) {
	for i := range all {
		e.show(now, sent, &all[i])
	}
}

func (e *Endpoint) receiveOdd(now int64, in, reply *Datagram, r *Received) {
	now = e.clock.begin(now)
	e.show(now, false, in)
	e.Receive(now, in, reply, r)
	e.show(now, true, reply)
	e.clock.end()
}

func (e *Endpoint) exchangeOdd(now int64, in, reply *Datagram, r *Received, out []Datagram) int {
	now = e.clock.begin(now)
	e.show(now, false, in)
	n := e.Exchange(now, in, reply, r, out)
	e.show(now, true, reply)
	e.showAll(now, true, out[:n])
	e.clock.end()
	return n
}

func (e *Endpoint) exchangeBatchOdd(now int64, in, reply []Datagram, r []Received, out []Datagram) int {
	now = e.clock.begin(now)
	e.showAll(now, false, in)
	n := e.ExchangeBatch(now, in, reply, r, out)
	e.showAll(now, true, reply[:len(in)])
	e.showAll(now, true, out[:n])
	e.clock.end()
	return n
}

func (e *Endpoint) transmitBatchOdd(now int64, out []Datagram) int {
	now = e.clock.begin(now)
	n := e.TransmitBatch(now, out)
	e.showAll(now, true, out[:n])
	e.clock.end()
	return n
}

func (e *Endpoint) replayOdd(now int64, buffers []Datagram, reply *Datagram, r *Received) int {
	now = e.clock.begin(now)
	n := e.Replay(now, buffers, reply, r)
	if n != 0 {
		e.show(now, true, reply)
	}
	e.clock.end()
	return n
}

// replyOdd is a call that writes a reply, shown if there is one.
func (e *Endpoint) replyOdd(now int64, reply *Datagram, call func(now int64) error) error {
	now = e.clock.begin(now)
	err := call(now)
	if err == nil {
		e.show(now, true, reply)
	}
	e.clock.end()
	return err
}
