// SPDX-License-Identifier: Apache-2.0

package uetcc

import "github.com/uetcc/uetcc/internal/pdc"

// Reads and fetching atomics wait for their window, for as long as the peer takes to answer; writes and sends wait
// for the path. Messages do not interleave on a PDC (section 3.5), so a read with only a part of the packets handed
// over would keep writes from the path, and a long write would delay the first request of a read. Where unordered
// messages of both kinds meet, and the wait is long, messages of the second kind go on a second PDC, beside the
// first, and the kinds keep apart from then on. Messages move only when the peer has taken the second PDC, for
// lack of PDCIDs maybe never, and only before a packet was handed over.

// parts says which messages share a flow.
type parts uint8

const (
	partsOne   parts = iota // of one kind, as far as is known
	partsMixed              // of both kinds
	partsAsks               // reads and fetching atomics, see msgAsks: writes and sends have a PDC beside
	partsRest               // writes and sends
)

// parts is that of a flow for messages like rec alone.
func (rec *message) parts() parts {
	if rec.flags&msgAsks != 0 {
		return partsAsks
	}
	return partsRest
}

// side returns the PDC for an unordered message that f takes.
func (s *source) side(now int64, f *flow, rec *message) pdc.Handle {
	p := rec.parts()
	if f.parts == partsOne && p == partsAsks && s.isStuck(f) {
		f.parts = partsRest
	}
	if f.parts > partsMixed && f.parts != p {
		if h := s.beside(now, f); h != 0 {
			return h
		}
		f.parts = partsOne
	}
	if f.parts == partsOne && f.messages.Head != 0 && s.messages[f.messages.Head-1].parts() != p {
		f.parts = partsMixed
	}
	return f.pdc
}

// beside returns the PDC beside that of f, 0 until there is one. A missing PDC is asked for.
func (s *source) beside(now int64, f *flow) pdc.Handle {
	a := &s.asking[f.pdc.ID()]
	h, up := s.pds.Beside(now, f.pdc, a.beside)
	if a.beside = h; up {
		return h
	}
	return 0
}

// holdsUp reports whether messages behind the first of f wait for long: for the window, for 64 KB, or for memory
// of the peer, as behind rendezvous sends the peer may run out of memory that reads give back.
func (s *source) holdsUp(f *flow, first *message) bool {
	if first.parts() == partsAsks {
		return s.asking[f.pdc.ID()].limited
	}
	return first.left >= firstAsked*askUnit || first.lent != 0 || s.isStuck(f)
}

// isStuck reports whether reads on f wait behind sends that the peer has no memory for. Two peers whose rendezvous sends
// have taken all memory of each other wait for each other's reads, and those for room behind the sends: 1,000 sends of
// 40 KB both ways ended in errors on a path without loss.
func (s *source) isStuck(f *flow) bool {
	f.short = f.short && s.pds.Short(f.pdc)
	return f.short
}

// refusedOn has reads pass the sends of f, of which the peer has refused one for want of memory for messages.
func (s *source) refusedOn(now int64, f *flow) {
	f.short = true
	if f.parts == partsMixed || f.parts == partsOne && s.readsFirst(f) {
		s.part(now, f)
	}
}

// readsFirst reports whether a read not begun is the first of f.
func (s *source) readsFirst(f *flow) bool {
	if f.messages.Head == 0 {
		return false
	}
	first := &s.messages[f.messages.Head-1]
	return first.parts() == partsAsks && first.left == first.total
}

// part leaves messages of the kind of the first of f, maybe begun, and takes the second kind to the PDC beside. Reads
// that are stuck all leave.
func (s *source) part(now int64, f *flow) {
	if f.messages.Head == 0 {
		f.parts = partsOne
		return
	}
	first := &s.messages[f.messages.Head-1]
	stays, from := first.parts(), s.queued.Next(first.entry())
	if s.readsFirst(f) && s.isStuck(f) {
		stays, from = partsRest, f.messages.Head
	} else if !s.holdsUp(f, first) {
		return
	}
	h := s.beside(now, f)
	if h == 0 {
		return
	}
	f.parts = stays
	for i := from; i != 0; {
		rec := &s.messages[i-1]
		if i = s.queued.Next(i); rec.parts() == f.parts {
			continue
		}
		if s.leave(now, rec, true); s.attach(now, rec, h) != nil {
			s.retryLater(now, rec)
		}
	}
}
