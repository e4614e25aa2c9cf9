package uetcc

import (
	"unsafe"

	"github.com/uetcc/uetcc/internal/prefetch"
)

// aheadBy is how many packets lie between two stages of an ahead. With 2 and 3 it was
// fastest, with 1 and from 6 on it took 3 to 10 % more.
const aheadBy = 2

// aheadLeast is for how many packets it is worth it.
const aheadLeast = 4

// An ahead is acknowledgements whose PDCs' cache lines are prefetched while those in front
// of them are taken in, so that waiting for memory and computing overlap too: after
// [Endpoint.Touch] nothing waits, but Touch itself does nothing but wait. What a packet needs
// is found in three stages, since each has the addresses of the next:
//
//  1. by the PDCID: the PDC, its flow, its part of its context;
//  2. what is known of its packets, its context, its message;
//  3. the records of the packet that is acknowledged and of the one that is sent.
//
// A stage is a few packets behind the one before, by when its lines have come. Every line
// matters: the first that is not in the cache costs nearly as much as all.
type ahead struct {
	ids  [touchBatch + 4*aheadBy]uint16 // PDCs, from 2*aheadBy on; else 0, which is nobody's
	next int                            // step, of which each makes one stage of three packets
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
	e.loadAhead(3 * aheadBy)
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
			a.ids[(2*aheadBy+i)%len(a.ids)] = uint16(id)
		}
	}
	a.next, a.end = 0, len(in)+2*aheadBy
	return true
}

// loadAhead makes n steps, or those that are left.
func (e *Endpoint) loadAhead(n int) {
	a := &e.ahead
	for n = min(n, a.end-a.next); n > 0; n-- {
		ids := (*[2*aheadBy + 1]uint16)(a.ids[a.next:])
		e.prefetch(ids[2*aheadBy], ids[aheadBy], ids[0])
		a.next++
	}
}

// prefetch makes the three stages, each for one PDC.
func (e *Endpoint) prefetch(first, second, third uint16) {
	f := &e.flows[second]
	send, peer := e.pds.Lines(first)
	acked, next := e.pds.RowLines(second)
	context, message := e.cc.ContextLine(second), e.sender.Line(f.sends)
	before, after := e.pds.RecordLines(third)
	if !e.ahead.send {
		next, after = acked, before
	}
	prefetch.Lines(&prefetch.Addresses{
		send, peer, uintptr(unsafe.Pointer(&e.flows[first])), e.cc.Line(first),
		acked, next, context, context + prefetch.Line, context + 2*prefetch.Line, message,
		before, after,
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
