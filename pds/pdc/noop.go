package pdc

import "github.com/uetcc/uetcc/pds"

// Noop queues a NOOP on h. It opens the PDC if nothing else has, before there is
// data ([EventUp] tells when the peer has answered), and shows a peer that says
// nothing to be alive: it is sent again and gives the PDC up like any packet. No
// congestion control is asked.
//
// The errors are [ErrUnknown], [ErrState], [ErrWindowFull] and [ErrNoMemory].
func (m *Manager) Noop(h Handle) error { return m.tell(h, pds.CtlNOOP, 0) }

// Negotiate queues a NEGOTIATION on h with the features that are on, which may open the PDC.
// Nothing follows from them here, since no public source says when an end has to send one and
// what the other answers: the layers above agree on their own. The peer gets them as an
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

// queueControl queues a control packet that has a PSN of its own and is tracked
// like a packet. The payload stands where the handle of a data packet does.
func (s *source) queueControl(p *PDC, ctl pds.CtlType, payload uint32) error {
	if err := p.tx.push(s.p, s.mem, uint64(payload), 0, kindControl|kindAR|kind(ctl)); err != nil {
		return err
	}
	p.tx.control++
	s.sched.wake(p)
	return nil
}

// consume takes a control packet that has a PSN of its own: it is tracked like a
// request, and acknowledged at once.
func (t *target) consume(now int64, p *PDC, b *inbound, out []byte, r *Result) (fresh bool, err error) {
	switch p.rx.Classify(t.mem.far(p), b.psn, t.p.ranges) {
	case arrivalNew:
		if b.psn == p.rx.Missing() {
			p.flags &^= flagGap
		}
		p.rx.Accept(t.mem.far(p), b.psn)
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

// negotiate takes a NOOP or a NEGOTIATION. One with an element that is not known is
// acknowledged and says nothing.
func (t *target) negotiate(now int64, p *PDC, b *inbound, c *pds.Control, out []byte, r *Result) error {
	fresh, err := t.consume(now, p, b, out, r)
	if fresh && c.Ctl == pds.CtlNegotiation && c.Payload == pds.PayloadOnOff {
		t.mem.events.push(Event{Kind: EventNegotiation, PDC: p.handle, PSN: b.psn, Handle: uint64(c.Features)})
	}
	return err
}
