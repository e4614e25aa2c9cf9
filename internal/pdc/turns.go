// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/fifo"
	"github.com/uetcc/uetcc/pds"
)

// A scheduler decides the next PDC to send: PDCs with packets take turns, and wait at the
// contexts while congestion control allows none.
type scheduler struct {
	pdc  []PDC
	cc   *ccc.Manager
	ctxs *ccc.Table

	data     queue                       // PDCs with packets to send that congestion control may allow
	ctl      struct{ head, tail uint16 } // PDCs with control packets to send, linked by PDC.nextCtl; 0 is the end
	revision uint32                      // of cc, at the last look at the PDCs waiting for a context

	othersWait bool // others are in data
}

// others stands in the turns of PDCs for packets without one. No PDC has the number.
const others = 0

// wakeOthers has packets without a PDC sent at their turn.
func (s *scheduler) wakeOthers() {
	if !s.othersWait {
		s.othersWait = true
		s.data.push(&s.pdc[others])
	}
}

// takeTurns puts p, after sending a packet, at the end of the turns, or straight to the PDCs
// waiting for congestion control if the next packet is not allowed: most packets fill the
// window opened by an acknowledgement. last means that the peer's window lets no new packet
// of p follow for now, held is congestion control's reason for none.
//
//uetcc:hot
func (s *scheduler) takeTurns(p *PDC, last bool, held ccc.Reason) {
	switch w := &p.tx; {
	case w.queued == 0 && (last || w.next == w.tail):
		// an acknowledgement wakes p
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

// goesOn reports whether a PDC keeps the turn: the next packet is held by nothing, or by
// time alone.
//
//uetcc:hot inlines
func goesOn(held ccc.Reason) bool { return held&^ccc.ReasonPacing == ccc.ReasonBacklog } // which is 0

// park has p wait until the congestion control context allows more.
//
//uetcc:hot inlines
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

// unpark lets the first of the PDCs waiting for a congestion control context try again, and
// after a packet the next: so each is visited once for each packet allowed by the context,
// however many wait.
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

// unparkAll lets all waiting PDCs try again.
func (s *scheduler) unparkAll(c ccc.Handle) {
	for s.cc.Waiters(c).Head != 0 {
		s.unpark(c)
	}
}

// release is to be called after any possible change in the permission of p's context.
func (s *scheduler) release(p *PDC) {
	if s.cc.Waiters(p.cc).Head != 0 && s.cc.Context(p.cc).State() != ccc.StateActive {
		s.unpark(p.cc)
	}
}

// revised lets PDCs try again after a change of the context's mode or algorithm by the
// owner, and reports whether any do.
func (s *scheduler) revised() bool {
	s.revision = s.cc.Revision()
	for h := range s.ctxs.All() {
		if s.cc.Context(h).State() != ccc.StateActive {
			s.unpark(h)
		}
	}
	return s.data.len() != 0
}

// wake puts p among the PDCs that want to send data.
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
		s.ctl.head, s.ctl.tail = id, id
	} else {
		s.pdc[s.ctl.tail].nextCtl = id
		s.ctl.tail = id
	}
}

// queue is a first-in-first-out queue of PDCs, each at most once. A queue is an
// array and not a list through the PDCs, so the next PDCs in line are known
// without loading the PDCs' cache lines.
type queue struct {
	ring       []pds.PDCID
	head, tail uint32 // of the whole life
}

func newQueue(pdcs int) queue { return queue{ring: make([]pds.PDCID, fifo.Size(pdcs))} }

//uetcc:hot inlines
func (q *queue) push(p *PDC) {
	q.ring[q.tail&uint32(len(q.ring)-1)] = p.handle.ID()
	q.tail++
}

// len is how many wait.
func (q *queue) len() uint32 { return q.tail - q.head }

// next is the PDC that pop would take.
func (q *queue) next() pds.PDCID { return q.ring[q.head&uint32(len(q.ring)-1)] }

//uetcc:hot inlines
func (q *queue) pop() pds.PDCID {
	id := q.next()
	q.head++
	return id
}

// first are up to n of the next PDCs, fewer at the end of the ring.
//
//uetcc:hot inlines
func (q *queue) first(n int) []pds.PDCID {
	at := q.head & uint32(len(q.ring)-1)
	return q.ring[at:min(at+min(uint32(n), q.len()), uint32(len(q.ring)))]
}
