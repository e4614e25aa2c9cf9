// SPDX-License-Identifier: Apache-2.0

package pdc

import "github.com/uetcc/uetcc/pds"

// Noop queues a NOOP on h. A NOOP opens the PDC if nothing else has, ahead of data ([EventUp]
// reports the peer's answer), and checks the life of a silent peer: a NOOP is sent again and
// gives the PDC up like any packet. Congestion control is not asked.
//
// The errors are [ErrUnknown], [ErrState], [ErrWindowFull] and [ErrNoMemory].
func (m *Manager) Noop(h Handle) error { return m.tell(h, pds.CtlNOOP, 0) }

// Negotiate queues a NEGOTIATION on h with the features that are on, maybe opening the PDC.
// The features have no effect here, since no public source defines the time of a NEGOTIATION
// and the answer: the layers above agree by themselves. The peer gets the features as an
// [EventNegotiation]. Errors as with [Manager.Noop].
func (m *Manager) Negotiate(h Handle, on pds.Features) error {
	return m.tell(h, pds.CtlNegotiation, uint32(on))
}

func (m *Manager) tell(h Handle, ctl pds.CtlType, payload uint32) error {
	p, err := m.taking(h)
	if err != nil {
		return err
	}
	return m.source.queueControl(p, ctl, payload)
}

// queueControl queues a control packet with a separate PSN, tracked like a packet. The
// payload stands in place of a data packet's handle.
func (s *source) queueControl(p *PDC, ctl pds.CtlType, payload uint32) error {
	if err := p.tx.push(s.p, s.mem, uint64(payload), 0, kindControl|kindAR|kind(ctl)); err != nil {
		return err
	}
	p.tx.control++
	s.sched.wake(p)
	return nil
}

// consume takes a control packet with a separate PSN: tracked like a request, and
// acknowledged at once.
func (t *target) consume(now int64, p *PDC, b *inbound, out []byte, r *Result) (fresh bool, err error) {
	switch p.rx.Classify(t.mem.far(p), b.psn, t.p.ranges) {
	case arrivalNew:
		if b.psn == p.rx.Missing() {
			p.flags &^= flagGap
		}
		p.rx.Accept(t.mem.far(p), b.psn-p.rx.Missing())
		t.turn(p)
		fresh = true
	case arrivalOutside:
		return false, t.reply.outside(now, p, b, out, r)
	default:
		t.stats.Duplicates++
	}
	r.Reply = t.reply.putACK(p, out, &ackSpec{psn: b.psn, flags: b.echo(), state: &b.state})
	return fresh, nil
}

// negotiate takes a NOOP or a NEGOTIATION. A packet with an unknown element is acknowledged
// without effect.
func (t *target) negotiate(now int64, p *PDC, b *inbound, c *pds.Control, out []byte, r *Result) error {
	fresh, err := t.consume(now, p, b, out, r)
	if fresh && c.Ctl == pds.CtlNegotiation && c.Payload == pds.PayloadOnOff {
		t.mem.events.push(Event{Kind: EventNegotiation, PDC: p.handle, PSN: b.psn, Handle: uint64(c.Features)})
	}
	return err
}
