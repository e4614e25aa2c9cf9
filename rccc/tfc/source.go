// SPDX-License-Identifier: Apache-2.0

package tfc

// Source is the sending half of a TFC context.
//
// A small value without pointers; [Source.Init] makes a Source ready. Single writer.
// Invariant: consumed <= credit <= consumed + Limit.
type Source struct {
	consumed  int64 // cells charged since the start (CC)
	credit    int64 // cells that may have been charged (CL)
	abandoned int64 // charges given back, of packets that may have arrived all the same
}

// Init starts a context.
func (s *Source) Init(p *Params) { *s = Source{credit: p.initial} }

// Allowed returns the cells that may be charged now.
func (s *Source) Allowed() int64 { return s.credit - s.consumed }

// Credit returns the newest limit seen, in cells: the reference for
// [Cells.Extend].
func (s *Source) Credit() int64 { return s.credit }

// Charged returns the cells charged since the start, those given back included: no less than a
// destination has received of this source.
func (s *Source) Charged() int64 { return s.consumed + s.abandoned }

// CanSend reports whether a new packet of size nominal bytes is covered whole: a
// buffer cannot go into debt. A retransmission needs no credit: the first charge is
// outstanding.
//
//uetcc:hot inlines nobounds
func (s *Source) CanSend(p *Params, size int64) bool { return s.Allowed() >= p.Cost(size) }

// OnSend charges a new packet for which CanSend held. Retransmissions are not
// reported.
//
//uetcc:hot inlines nobounds
func (s *Source) OnSend(p *Params, size int64) { s.consumed += p.Cost(size) }

// OnCreditUpdate takes a cumulative limit and returns by how many cells the
// credit grew. 0 means a duplicate, an overtaken message, or more than the
// destination can have.
//
//uetcc:hot inlines nobounds
func (s *Source) OnCreditUpdate(p *Params, total int64) int64 {
	grown, freed := total-s.credit, total-p.limit
	if grown <= 0 || freed > s.consumed+s.abandoned {
		return 0
	}
	if late := freed - s.consumed; late > 0 { // abandoned packets that the destination had
		s.consumed += late
		s.abandoned -= late
	}
	s.credit = total
	return grown
}

// OnAbandon gives back the charge of a packet of size nominal bytes never to be
// acknowledged, because the delivery context closed. If the destination had accepted the
// packet the charge comes back with a later credit, at the latest when all sent cells are
// freed; until then the destination may have to refuse as many cells. Cells known to be
// freed were accepted, and are not given back.
//
// New and old credit can be told apart only while fewer than 2^23 cells are charged between
// two arriving credits, cells given back and charged anew counted twice. With a Limit above
// 2^22 a single closing may be too much, and leave the source without credit.
func (s *Source) OnAbandon(p *Params, size int64) {
	freed := max(s.credit-p.limit, 0)
	cells := min(p.Cost(size), s.consumed-freed)
	s.consumed -= cells
	s.abandoned += cells
}
