// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/internal/slab"
	"github.com/uetcc/uetcc/pds"
)

// With Config.BufferROD requests of an ordered PDC that come ahead of a gap are kept by
// the caller, in buffers numbered and counted by the manager. Only marks lie here: owed
// responses that hold CACK back, as for a request that the layer above works on.

// initBuffers makes the numbers of n buffers, 1 to n.
func (s *responseStore) initBuffers(n int) {
	s.buffers = slab.Make[uint16](n)
	for i := range s.buffers {
		s.buffers[i] = uint16(n - i)
	}
}

// buffer gives slot i, just taken for l, a buffer. A buffer must be free.
func (s *responseStore) buffer(l *respList, i uint32) uint16 {
	last := len(s.buffers) - 1
	n := s.buffers[last]
	s.buffers = s.buffers[:last]
	s.slot[i].len = n
	l.buffered++
	return n
}

// unbuffer takes back the buffer of slot i, if any: the layer above has the request.
func (s *responseStore) unbuffer(l *respList, i uint32) {
	if e := &s.slot[i]; e.state == respBuffered {
		s.buffers = append(s.buffers, e.len) // within the capacity
		l.buffered--
		e.state, e.len = respPending, 0
	}
}

// Buffered returns how many requests are buffered.
func (m *Manager) Buffered() int {
	return cap(m.mem.responses.buffers) - len(m.mem.responses.buffers)
}

// buffer takes a request of an ordered PDC ahead of its turn.
func (t *target) buffer(p *PDC, b *inbound, out []byte, r *Result) error {
	s := &t.mem.responses
	if int(p.resp.buffered) >= len(s.buffers) {
		t.reply.nackPDC(p, b, out, r, pds.NackNoPktBuffer)
		return ErrNoBuffer
	}
	r.Verdict, r.Buffer = VerdictBuffered, s.buffer(&p.resp, t.mem.hold(p, b, respBuffered))
	t.accept(p, b.psn, b.size, b.payload)
	if t.reply.ackAsked(b.flags, b.ce) || t.reply.ackDue(p) {
		r.Reply = t.reply.ackUnanswered(p, b, out)
	}
	return nil
}

// turnDue returns the slot of the lowest buffered request of p, if no gap is left before,
// otherwise 0.
func (m *memory) turnDue(p *PDC) uint32 {
	s := &m.responses
	for i := p.resp.Head; i != 0 && p.rx.Missing().After(s.slot[i].psn); i = s.links.Next(i) {
		if s.slot[i].state == respBuffered {
			return i
		}
	}
	return 0
}

// turn is called when a gap may have closed: p is put on the list of Replay.
func (t *target) turn(p *PDC) {
	if !p.is(flagTurn) && t.mem.turnDue(p) != 0 {
		p.flags |= flagTurn
		t.turns.push(p)
	}
}

// Replay names a buffered request ([VerdictBuffered]) whose turn has come: id is for
// Respond, buffer the place. Once answered the buffer is free. After [RespondRefuse] the
// request stays there and comes again, after requests of other PDCs. The buffer 0 means
// no request.
//
// Until the answer, packets behind the request on the same PDC are buffered too.
func (m *Manager) Replay() (id RxID, buffer uint16) {
	for m.target.turns.len() != 0 {
		p := &m.pdc[m.target.turns.next()]
		if live(p.state) {
			if i := m.mem.turnDue(p); i != 0 {
				e := &m.mem.responses.slot[i]
				return RxID{p.handle, e.psn}, e.len
			}
		}
		m.target.turns.head++
		p.flags &^= flagTurn
	}
	return RxID{}, 0
}

// respondBuffered takes the answer to a buffered request. done means nothing is left to
// do; otherwise the request now counts as handed up.
func (t *target) respondBuffered(p *PDC, i uint32, a *Response, out []byte) (n int, done bool, err error) {
	s := &t.mem.responses
	switch {
	case !p.rx.Missing().After(s.slot[i].psn):
		return 0, true, ErrStale
	case a.Kind == RespondRefuse:
		if p.is(flagTurn) && t.turns.next() == p.handle.ID() {
			t.turns.head++
			t.turns.push(p)
		}
		return 0, true, nil
	case !s.fits(p, a):
		return 0, true, ErrNoStore
	}
	s.unbuffer(&p.resp, i)
	if a.Kind != RespondLater {
		return 0, false, nil
	}
	s.reserve(i, int(a.Room))
	if t.reply.moreDue(p) {
		return 0, true, nil
	}
	return t.reply.ackUnanswered(p, &inbound{state: a.State}, out), true, nil
}

// moreDue reports whether an acknowledgement may wait for the answer to another buffered
// request: one acknowledgement for all packets behind a gap is enough.
func (w *answers) moreDue(p *PDC) bool { return w.mem.turnDue(p) != 0 && !w.ackDue(p) }
