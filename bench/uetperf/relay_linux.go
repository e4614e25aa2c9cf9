// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/uetcc/uetcc/hw/port"
	"github.com/uetcc/uetcc/hw/switchq"
	"github.com/uetcc/uetcc/pds"
)

// relayConfig is a bottleneck.
type relayConfig struct {
	rate  int64 // bytes a second
	delay int64 // of each direction, ns
	queue switchq.Config
	seed  uint64
}

// A relay is a switch between senders and a target, for packets rather than wires: packets
// sent to the front go through a queue emptied at a rate, and leave for the target from a
// port for each sender. The target's answers to a port go back to the port's sender. The
// relay takes UET for opaque bytes, and writes only the ECN bits.
type relay struct {
	rate, delay int64
	target      netip.AddrPort
	front       *opening
	ports       []*opening       // by sender
	senders     []netip.AddrPort // where answers go

	params switchq.Params
	queue  switchq.Queue
	random rand.Source
	slots  []slot   // packets, by their handle in the queue
	empty  []uint32 // slots without one
	free   int64    // when the queue's port has sent what it is sending

	forward, back fifo

	waiting, seen int64 // bytes in the queue, summed over so many arrivals
}

// slot is a packet under way.
type slot struct {
	data   []byte
	sender int
	tos    uint8
	at     int64 // when it came, and then when it is to leave the relay
}

func newRelay(c *relayConfig) (*relay, error) {
	params, err := switchq.NewParams(c.queue)
	return &relay{rate: c.rate, delay: c.delay, params: params, random: rand.NewPCG(c.seed, 0)}, err
}

// open opens the relay's ports: front, and a port at each of the addresses ports, all with
// the same UDP port, since the target knows only a single port.
func (r *relay) open(front netip.Addr, ports []netip.Addr) (err error) {
	if r.front, err = openPort(netip.AddrPortFrom(front, 0), 1); err != nil {
		return err
	}
	var port uint16
	for _, a := range ports {
		o, err := openPort(netip.AddrPortFrom(a, port), 1)
		if err != nil {
			return err
		}
		port = o.Local().Port()
		r.ports = append(r.ports, o)
	}
	return nil
}

func (r *relay) close() {
	for _, o := range r.openings() {
		o.close()
	}
}

func (r *relay) openings() []*opening { return append([]*opening{r.front}, r.ports...) }

// idle reports whether nothing is under way.
func (r *relay) idle() bool { return len(r.empty) == len(r.slots) }

// deadline is when something leaves the queue or the relay.
func (r *relay) deadline() (at int64, ok bool) {
	for _, f := range []*fifo{&r.forward, &r.back} {
		if head, some := f.head(); some && (!ok || r.slots[head].at < at) {
			at, ok = r.slots[head].at, true
		}
	}
	if r.queue.Len() > 0 && (!ok || r.free < at) {
		at, ok = r.free, true
	}
	return at, ok
}

func (r *relay) step(now int64) error {
	r.serve(now)
	if err := r.admit(now); err != nil {
		return err
	}
	r.serve(now)
	for i := range r.ports {
		if err := r.answer(now, i); err != nil {
			return err
		}
	}
	return r.deliver(now)
}

// serve takes the packets out of the queue that the port could begin to send by now. A late
// call does not make the link slower.
func (r *relay) serve(now int64) {
	for r.queue.Len() > 0 && r.free <= now {
		p, _ := r.queue.Dequeue(&r.params, 0, r.random)
		s := &r.slots[p.ID]
		if p.CE {
			s.tos |= uint8(pds.ECNCE)
		}
		r.free = max(r.free, s.at) + int64(p.Size)*int64(time.Second)/r.rate
		s.at = r.free + r.delay
		r.forward.push(p.ID)
	}
}

// admit queues packets of senders.
func (r *relay) admit(now int64) error {
	for {
		packets, err := r.front.receive()
		for i := range packets {
			r.offer(now, &packets[i])
		}
		if err != nil || !r.front.More() {
			return err
		}
	}
}

// offer puts a packet into the queue, or drops it.
func (r *relay) offer(now int64, p *port.Packet) {
	sender := r.senderAt(p.Peer.Addr())
	if sender < 0 {
		return
	}
	id := r.keep(p, sender, now)
	q := switchq.Packet{ID: id, Size: int32(pds.NominalSize(udpLen + len(p.Data))), DSCP: class(p.TOS)}
	r.waiting += r.queue.Bytes(switchq.ClassLow)
	r.seen++
	if v, lost := r.queue.Enqueue(&r.params, q, r.random); v == switchq.Dropped {
		r.empty = append(r.empty, lost)
	}
}

// class has control packets go first, as switches of a fabric do.
func class(tos uint8) switchq.DSCP {
	if dscp, _ := pds.SplitTOS(tos); dscp == controlDSCP {
		return switchq.DSCPControl
	}
	return switchq.DSCPNoTrim
}

// udpLen is the length of the UDP header.
const udpLen = 8

// senderAt is the number of the sender at an address, -1 if unknown.
func (r *relay) senderAt(a netip.Addr) int {
	for i, s := range r.senders {
		if s.Addr() == a {
			return i
		}
	}
	return -1
}

// answer takes in the target's packets to port i.
func (r *relay) answer(now int64, i int) error {
	packets, err := r.ports[i].receive()
	for j := range packets {
		r.back.push(r.keep(&packets[j], i, now+r.delay))
	}
	return err
}

// deliver sends the packets under way for long enough.
func (r *relay) deliver(now int64) error {
	for id, ok := r.forward.due(r, now); ok; id, ok = r.forward.due(r, now) {
		r.pass(r.ports[r.slots[id].sender], r.target, id)
	}
	for id, ok := r.back.due(r, now); ok; id, ok = r.back.due(r, now) {
		r.pass(r.front, r.senders[r.slots[id].sender], id)
	}
	err := r.front.send()
	for _, o := range r.ports {
		err = cmp.Or(err, o.send())
	}
	return err
}

// pass has a packet leave. The slot keeps the packet's bytes until reused.
func (r *relay) pass(from *opening, to netip.AddrPort, id uint32) {
	s := &r.slots[id]
	from.add(port.Packet{Peer: to, Data: s.data, TOS: s.tos})
	r.empty = append(r.empty, id)
}

// keep copies a packet into a slot.
func (r *relay) keep(p *port.Packet, sender int, at int64) (id uint32) {
	if n := len(r.empty); n > 0 {
		id, r.empty = r.empty[n-1], r.empty[:n-1]
	} else {
		id = uint32(len(r.slots))
		r.slots = append(r.slots, slot{data: make([]byte, 0, packetMax)})
	}
	s := &r.slots[id]
	s.data, s.sender, s.tos, s.at = append(s.data[:0], p.Data...), sender, p.TOS, at
	return id
}

// A fifo is packets on a wire of a certain length: first in, first out.
type fifo struct {
	ids   []uint32
	first int
}

func (f *fifo) push(id uint32) { f.ids = append(f.ids, id) }

func (f *fifo) head() (id uint32, ok bool) {
	if f.first == len(f.ids) {
		return 0, false
	}
	return f.ids[f.first], true
}

// due takes the oldest packet when due.
func (f *fifo) due(r *relay, now int64) (id uint32, ok bool) {
	if id, ok = f.head(); !ok || r.slots[id].at > now {
		return 0, false
	}
	if f.first++; 2*f.first >= len(f.ids) { // the memory of those that have left
		f.ids, f.first = f.ids[:copy(f.ids, f.ids[f.first:])], 0
	}
	return id, true
}
