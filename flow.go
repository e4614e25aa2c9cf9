// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"errors"

	"github.com/uetcc/uetcc/internal/list"
	"github.com/uetcc/uetcc/internal/msg"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/rccc"
	"github.com/uetcc/uetcc/ses"
)

// The manager of the PDCs is given packets before the manager may send them. At submitLow
// unsent packets of a PDC, or fewer, the manager gets more, up to Endpoint.submitAhead: at
// least submitLeast, enough for a chunk of the manager's memory, and up to submitMost, for
// longer runs, while all PDCs together take no more than a quarter of the memory.
const (
	submitLow   = 4
	submitLeast = 16
	submitMost  = 64
)

// A flow is the data to be handed to the manager for a PDC: the messages of an initiator,
// without interleaving, or the answers of a target.
type flow struct {
	messages list.List[uint16] // by entry, linked in source.queued
	answers  chain
	pdc      pdc.Handle
	waits    uint8       // it is in source.starved, at the place waits-1; 0: in none
	short    bool        // the peer has refused a write or send, see source.isStuck
	mtu      uint8       // of a peer that has said it, in units of 1024 bytes; 0: none has; and flowLate
	sender   rccc.Handle // whose credit we schedule; 0: none
	// By entry, in source.fetching and source.reading: whom the end of the PDC concerns, without a search
	// of all messages.
	fetches list.List[uint16] // messages of ours that wait for their peer, see msgFetch
	readers list.List[uint16] // rendezvous sends of ours that the peer reads on this PDC
	holds   uint16            // messages of ours that were sent and whose data comes in an acknowledgement
	parts   parts             // of its messages
}

// waiting reports whether packets of f wait to be handed over.
func (f *flow) waiting() bool { return f.messages.Head|f.answers.head != 0 }

// flowLate in flow.mtu: a message that waited for data on this PDC has failed, and data asked
// for may come late.
const flowLate = 1 << 7

// A lead is the part of a flow that each packet needs. Leads are small, so that caches hold those
// of all PDCs.
type lead struct {
	ahead int16  // packets handed over and not sent
	sends uint16 // slot of the message that handed over packets last
}

// lead is that of a flow.
func (s *source) lead(f *flow) *lead { return &s.leads[f.pdc.ID()] }

// belong makes the flow of PDCID id that of h, and empties the flow of an earlier PDC.
func (s *source) belong(id pds.PDCID, h pdc.Handle) *flow {
	f := &s.flows[id]
	if f.pdc != h {
		for f.messages.Head != 0 { // what abandon has left there goes on elsewhere
			s.queued.Remove(&f.messages, f.messages.Head)
		}
		*f = flow{pdc: h, waits: f.waits}
		s.leads[id] = lead{}
	}
	return f
}

// sent takes note that n packets have been sent for the first time, and reports whether few are
// left: then goOn is to follow.
//
//uetcc:hot inlines nobounds
func (l *lead) sent(n int) bool {
	l.ahead -= int16(n)
	return l.ahead <= submitLow
}

// goOn hands other packets of f over, if there are some.
func (s *source) goOn(now int64, f *flow) {
	if f.waiting() {
		s.pump(now, f)
	}
}

// short reports whether others may be to be handed over before so many packets have been sent.
//
//uetcc:hot inlines nobounds
func (l *lead) short(most int) bool { return most > int(l.ahead)-submitLow }

// run is how many packets, of most, may be sent before others, if some wait, are to be handed over:
// they are to come when they do where packets go one by one. Without short, all.
func (l *lead) run(most int, waiting bool) int {
	ahead := int(l.ahead)
	if waiting {
		ahead -= submitLow
	}
	return min(most, max(ahead, 1))
}

// enqueue puts a message last in the flow.
func (s *source) enqueue(now int64, rec *message, f *flow) {
	rec.flags |= msgQueued
	s.queued.Push(&f.messages, rec.entry())
	s.pump(now, f)
}

// pump hands packets of f to the manager as long as the manager takes packets.
//
//uetcc:hot
func (s *source) pump(now int64, f *flow) {
	if f.answers.head != 0 {
		s.pumpAnswers(now, f)
	}
	if f.parts == partsMixed {
		s.part(now, f)
	}
	var first uint16
	for s.lead(f).ahead < s.submitAhead && f.messages.Head != 0 {
		rec := &s.messages[f.messages.Head-1]
		if mtu := f.mtu &^ flowLate; mtu != 0 {
			_ = s.sender.Cut(rec.handle, uint32(mtu)<<10)
		}
		alike := s.sender.Next(now, rec.handle, &s.tx)
		if alike == 0 {
			if s.turn(f, &first) {
				continue
			}
			return
		}
		n := int(min(alike, uint32(s.submitAhead)))
		if rec.flags&msgAsks != 0 && !s.tx.Notice {
			if n = min(n, int(s.asking[f.pdc.ID()].room(unitsOf(s.tx.Asks)))); n == 0 {
				return
			}
		}
		switch err := s.submit(now, f, rec, n); err {
		case nil:
		case pdc.ErrWindowFull, pdc.ErrRUDIFull:
			return
		case errTurn:
			if !s.turn(f, &first) {
				return
			}
		case pdc.ErrState, pdc.ErrUnknown: // an event is to come that fails them, with the cause
			return
		case pdc.ErrNoMemory:
			place := uint8(starvedRest)
			if rec.wantsData() {
				place = starvedAsks
			}
			s.starve(f, place)
			return
		default:
			if s.pds.HasEvents() {
				return // the events carry the reason of the PDC's end
			}
			s.failNext(now, rec, pdc.CauseClosed, 0)
		}
	}
}

// errTurn: the peer has enough RUDI packets for now.
var errTurn = errors.New("uetcc: RUDI packets to other peers go first")

// turn puts the first RUDI message, which cannot go on now, behind the others: they are in no order. False if first,
// the message turned before all others or 0, has its turn again.
func (s *source) turn(f *flow, first *uint16) bool {
	i := f.messages.Head
	if i == *first || s.messages[i-1].mode != ses.ModeRUDI {
		return false
	}
	if *first == 0 {
		*first = i
	}
	s.queued.Remove(&f.messages, i)
	s.queued.Push(&f.messages, i)
	return true
}

// submit hands n packets like e.tx to the manager, or as many as the manager takes. The error
// is the reason for fewer.
//
//uetcc:hot
func (s *source) submit(now int64, f *flow, rec *message, n int) (err error) {
	q := &s.tx
	if q.Notice {
		_ = s.pds.Withdraw(now, rec.pdc, rec.left)
		rec.left = 0
	}
	p := s.packet()
	p.AR, p.Asks = f.holds != 0, rec.wantsData()
	if rec.mode == ses.ModeRUDI {
		n, p.Size = 1, uint16(pds.NominalSize(udpLen+pds.RUDILen+int(q.Header)+int(q.Length)))
		if s.pds.HogsRUDI(now, rec.peer) {
			return errTurn
		}
		if _, err = s.pds.SubmitRUDI(now, s.local, rec.peer, p); err != nil {
			return err
		}
	} else if n, err = s.pds.SubmitRun(now, f.pdc, &p, n); n == 0 {
		return err
	}
	_ = s.sender.Handed(rec.handle, uint32(n))
	l := s.lead(f)
	l.sends = uint16(rec.handle)
	l.ahead += int16(n)
	rec.left = max(rec.left-int64(n)*int64(p.Size), 0)
	if rec.flags&msgAsks != 0 && !q.Notice {
		packets, units := uint32(n), unitsOf(q.Asks)
		a := s.asks(rec)
		a.packets, a.units = a.packets+packets, a.units+packets*units
		s.asking[f.pdc.ID()].ask(now, packets, units)
	}
	if p.EOM {
		s.queued.Remove(&f.messages, rec.entry())
		rec.flags &^= msgQueued
		if rec.flags&msgAsks != 0 && q.Asks <= heldData {
			rec.flags |= msgHolds
			f.holds++
		}
	}
	return err
}

// heldData is the most bytes that come in an acknowledgement by default. The target keeps that, and CACK
// below, until a CLEAR: packets sent behind meanwhile each ask for an acknowledgement, since CACK could tell
// of those only by steps from one such answer to the next, a round trip each. At 800 Gb/s, 10 us and 1 KiB
// MTU 300 writes, reads, sends and atomics in turn took 21 times the ideal time.
const heldData = 16

// packet is the packet in s.tx as the manager knows packets.
func (s *source) packet() pdc.Packet {
	q := &s.tx
	size := s.overhead + int64(q.Header) + int64(q.Length)
	return pdc.Packet{Handle: uint64(q.Packet), Size: uint16(size), Next: q.Form, EOM: q.EOM}
}

// failNext ends the next packet of rec, impossible to send.
func (s *source) failNext(now int64, rec *message, c pdc.Cause, n pds.NackCode) {
	h, p := rec.handle, s.tx.Packet
	_ = s.sender.Handed(h, 1)
	c = s.causeOf(rec.peer, c)
	rec.blame(c, n)
	var ev msg.Event
	if s.sender.Error(now, p, uint8(c), false, &ev) == nil {
		s.conclude(now, h, &ev)
	}
}

// Places in source.starved: what the manager has the last memory for goes first.
const (
	starvedAnswers = iota
	starvedAsks
	starvedRest
)

// starve has f wait for memory of the manager.
func (s *source) starve(f *flow, place uint8) {
	if f.waits != 0 && f.waits <= place+1 {
		return
	}
	id := uint16(f.pdc.ID())
	if s.starves++; f.waits != 0 {
		s.starving.Remove(&s.starved[f.waits-1], id)
		s.starves--
	}
	f.waits = place + 1
	s.starving.Push(&s.starved[place], id)
}

// feed goes on with flows waiting for memory, in turn, while memory lasts.
func (s *source) feed(now int64) {
	for i := range s.starved {
		for l := &s.starved[i]; l.Head != 0; {
			f := &s.flows[l.Head]
			s.starving.Remove(l, l.Head)
			s.starves--
			f.waits = 0
			if s.pump(now, f); f.waits == uint8(i+1) {
				break
			}
		}
	}
}

// wantsData reports whether the packets of a message ask for data, see pdc.Packet.
func (rec *message) wantsData() bool { return rec.flags&(msgAsks|msgErrand) != 0 }

// entry is the name of a message in lists: the slot plus 1, as 0 is the end.
func (rec *message) entry() uint16 { return uint16(rec.handle) + 1 }

// giveUp fails the messages of a list: nothing more comes.
func (s *source) giveUp(now int64, all list.Links[uint16], l *list.List[uint16], c pdc.Cause, n pds.NackCode) {
	for l.Head != 0 {
		rec := &s.messages[l.Head-1]
		all.Remove(l, l.Head)
		rec.blame(s.causeOf(rec.peer, c), n)
		_ = s.cancel(now, rec.handle)
	}
}
