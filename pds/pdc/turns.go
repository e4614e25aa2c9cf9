package pdc

import "github.com/uetcc/uetcc/ccc"

// A scheduler decides which PDC sends next: those with packets take turns, and wait at their
// contexts while congestion control allows none.
type scheduler struct {
	pdc  []PDC
	cc   *ccc.Manager
	ctxs *ccc.Table

	data     queue  // PDCs with packets to send that congestion control may allow
	ctl      list   // PDCs with control packets to send
	revision uint32 // of cc, when those who wait for a context were last looked at
}

// takeTurns puts p, which has just sent a packet, behind the others, or straight to
// those that wait for congestion control if that will not allow its next one: most
// packets fill the window that an acknowledgement has opened. last says that the
// peer's window lets no new packet of p follow for now, held why congestion control
// lets none.
func (s *scheduler) takeTurns(p *PDC, last bool, held ccc.Reason) {
	switch w := &p.tx; {
	case w.queued == 0 && (last || w.next == w.tail):
		// an acknowledgement wakes it
	case w.queued == 0 && w.control == 0 && !goesOn(held):
		s.park(p)
		return
	default:
		s.wake(p)
	}
	if s.cc.Waiters(p.cc).Head != 0 {
		s.release(p)
	}
}

// goesOn reports whether a PDC keeps its turn with what holds its next packet: nothing, or the
// time alone.
func goesOn(held ccc.Reason) bool { return held == ccc.ReasonBacklog || held == ccc.ReasonPacing }

// park has p wait until its congestion control context allows more.
func (s *scheduler) park(p *PDC) {
	p.flags |= flagOnData
	l, id := s.cc.Waiters(p.cc), p.slot()
	if l.Head == 0 {
		l.Head = id
	} else {
		s.pdc[l.Tail].nextData = id
	}
	l.Tail = id
}

// unpark lets the first of the PDCs that wait for a congestion control context
// try again. When it has sent, the next one may: so each is looked at once for
// each packet that the context allows, however many wait.
func (s *scheduler) unpark(c ccc.Handle) {
	l := s.cc.Waiters(c)
	if l.Head == 0 {
		return
	}
	p := &s.pdc[l.Head]
	if l.Head == l.Tail { // nearly always: then the link has no say
		*l = ccc.Waiters{}
	} else {
		l.Head = p.nextData
	}
	s.data.push(p)
}

// unparkAll lets all of them try again.
func (s *scheduler) unparkAll(c ccc.Handle) {
	for s.cc.Waiters(c).Head != 0 {
		s.unpark(c)
	}
}

// release is to follow whatever may have changed what the context of p allows.
func (s *scheduler) release(p *PDC) {
	if s.cc.Waiters(p.cc).Head != 0 && s.cc.Context(p.cc).State() != ccc.StateActive {
		s.unpark(p.cc)
	}
}

// revised lets PDCs try again whose context may allow more since its owner has changed
// its mode or algorithm, and reports whether there are any.
func (s *scheduler) revised() bool {
	s.revision = s.cc.Revision()
	for h := range s.ctxs.All() {
		if s.cc.Context(h).State() != ccc.StateActive {
			s.unpark(h)
		}
	}
	return s.data.len() != 0
}

// wake puts p among those that want to send data.
func (s *scheduler) wake(p *PDC) {
	if p.is(flagOnData) {
		return
	}
	p.flags |= flagOnData
	s.data.push(p)
}

// control has p send control packets.
func (s *scheduler) control(p *PDC, c ctlFlags) {
	p.ctl |= c
	if p.is(flagOnControl) {
		return
	}
	p.flags |= flagOnControl
	p.nextCtl = 0
	if id := p.slot(); s.ctl.head == 0 {
		s.ctl = list{id, id}
	} else {
		s.pdc[s.ctl.tail].nextCtl = id
		s.ctl.tail = id
	}
}

// controlled takes p, the first of those with control packets, out of their list.
func (s *scheduler) controlled(p *PDC) {
	p.flags &^= flagOnControl
	s.ctl.head = p.nextCtl
}
