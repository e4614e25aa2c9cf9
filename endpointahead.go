package uetcc

import (
	"unsafe"

	"github.com/uetcc/uetcc/internal/prefetch"
)

// aheadBy is how many packets lie between the stages of an ahead, and between the second
// and when it is needed. With 3 it was fastest, with 2 and 4 it took 3 % more.
const aheadBy = 3

// aheadLeast is for how many packets it is worth it.
const aheadLeast = 4

// An ahead is acknowledgements whose PDCs' cache lines are prefetched while those in front
// of them are taken in, so that waiting for memory and computing overlap too: after
// [Endpoint.Touch] nothing waits, but Touch itself does nothing but wait. What a packet needs
// is found in two stages, since the first has the addresses of the second:
//
//  1. by the PDCID: the PDC, its flow, its part of its context;
//  2. its context, its message, and what is known of the packet that is acknowledged and
//     of the one that is sent.
//
// The second is a few packets behind the first, by when its lines have come. Every line
// matters: the first that is not in the cache costs nearly as much as all.
type ahead struct {
	ids  [touchBatch + 2*aheadBy]uint16 // PDCs, from aheadBy on; else 0, which is nobody's
	next int                            // step, of which each makes one stage of two packets
	end  int
	send bool // packets may be sent meanwhile
}

// lookAhead begins to load what the first packets of in need, at most touchBatch of them,
// or loads it, and returns how many these are. Meanwhile up to room packets may be sent.
func (e *Endpoint) lookAhead(in []Datagram, room int) int {
	in = in[:min(len(in), touchBatch)]
	if e.touched >= len(in) {
		return len(in)
	}
	if !prefetch.Enabled || len(in) < aheadLeast || !e.ahead.set(in, len(e.flows)) {
		e.loaded += e.Touch(in)
		return len(in)
	}
	e.touched = len(in)
	e.ahead.send = room > 0
	e.touchUpcoming(min(len(in), room))
	e.loadAhead(2 * aheadBy)
	return len(in)
}

// set has a begin with these packets, if all of them may be acknowledgements. PDCIDs
// above the limit become 0.
func (a *ahead) set(in []Datagram, limit int) bool {
	a.ids = [len(a.ids)]uint16{}
	for i := range in {
		id, request := named(in[i].Packet)
		if request {
			return false
		}
		if int(id) < limit {
			a.ids[(aheadBy+i)%len(a.ids)] = uint16(id)
		}
	}
	a.next, a.end = 0, len(in)+aheadBy
	return true
}

// loadAhead makes n steps, or those that are left.
func (e *Endpoint) loadAhead(n int) {
	a := &e.ahead
	for n = min(n, a.end-a.next); n > 0; n-- {
		ids := (*[aheadBy + 1]uint16)(a.ids[a.next:])
		e.prefetch(ids[aheadBy], ids[0])
		a.next++
	}
}

// prefetch makes the two stages, each for one PDC.
func (e *Endpoint) prefetch(first, second uint16) {
	f := &e.flows[second]
	send, peer := e.pds.Lines(first)
	context, message := e.cc.ContextLine(second), e.sender.Line(f.sends)
	row, next, acked, sent := e.pds.PacketLines(second)
	if !e.ahead.send {
		next, sent = row, acked
	}
	prefetch.Lines(&prefetch.Addresses{
		send, peer, uintptr(unsafe.Pointer(&e.flows[first])), e.cc.Line(first),
		row, next, context, context + prefetch.Line, context + 2*prefetch.Line, message,
		acked, sent,
	})
	if f.ahead <= submitLow+touchSoon && f.messages.head != 0 {
		unsubmitted, ring := e.pds.SubmitLines(second)
		left := uintptr(unsafe.Pointer(&e.messages[f.messages.head-1].left))
		prefetch.Lines(&prefetch.Addresses{left, message + prefetch.Line, unsubmitted, ring})
	}
}

// touchUpcoming loads what up to n PDCs need whose turn it is to send: the first packet
// that comes lets all of them send.
func (e *Endpoint) touchUpcoming(n int) {
	var ids [touchBatch]uint16
	next := e.pds.Upcoming(n)
	for i, id := range next {
		ids[i%touchBatch] = uint16(id)
	}
	e.loaded += e.touchSources(ids[:min(len(next), touchBatch)])
}
