// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/msg"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
)

// A loader has the cache lines for coming packets under way.
type loader struct {
	pds    *pdc.Manager
	cc     *ccc.Manager
	target *msg.Target
	flows  []flow
	source *source
	credit *creditor

	prefetched int // number of next acknowledgements without need of prefetchACK; with few PDCs all
	requested  int // likewise of requests and prefetchOne
	ahead      ahead
}

// aheadBy is the distance in packets from the first stage of an ahead to the second, and
// from the second to the packet. 3 was fastest; 2 and 4 took 3 % more.
const aheadBy = 3

// aheadLeast is the least number of packets worth an ahead.
const aheadLeast = 4

// An ahead is a software pipeline over the acknowledgements of a batch: while a packet is
// taken in, the cache lines for later packets are under way, so computing overlaps with
// waiting for memory. ([Endpoint.Prefetch] overlaps only the waits with each other.) The
// lines of a packet are found in two stages: the lines of prefetchPDC have the addresses
// for prefetchRest, aheadBy packets later. All lines have to be covered: a single missing
// line costs nearly as much as all.
type ahead struct {
	ids  [batchMost + 2*aheadBy]pds.PDCID // PDCs, from aheadBy on; the others are 0, nobody's
	next int                              // next step: the first stage of one packet, the second of an earlier one
	end  int                              // steps in all
}

// lookAhead begins to load the lines for the first packets of in, at most batchMost, and
// returns the number of packets covered. Meanwhile up to room packets may be sent.
//
//uetcc:hot
func (l *loader) lookAhead(in []Datagram, room int) int {
	in = in[:min(len(in), batchMost)]
	if l.prefetched >= len(in) {
		return len(in)
	}
	if len(in) < aheadLeast || !l.setAhead(in) {
		l.load(in)
		return len(in)
	}
	l.prefetched = len(in)
	l.prefetchSenders(l.pds.Fast().Upcoming(min(len(in), room)))
	l.loadAhead(2 * aheadBy)
	return len(in)
}

// setAhead begins an ahead for the packets; false if any is a request.
//
//uetcc:hot
func (l *loader) setAhead(in []Datagram) bool {
	a := &l.ahead
	a.ids = [len(a.ids)]pds.PDCID{}
	for i := range in {
		id, request := l.named(in[i].Packet)
		if request {
			return false
		}
		a.ids[(aheadBy+i)%len(a.ids)] = id
	}
	a.next, a.end = 0, len(in)+aheadBy
	return true
}

// loadAhead makes n steps, or as many as are left.
//
//uetcc:hot
func (l *loader) loadAhead(n int) {
	a := &l.ahead
	for n = min(n, a.end-a.next); n > 0; n-- {
		ids := (*[aheadBy + 1]pds.PDCID)(a.ids[a.next:])
		l.prefetchPDC(ids[aheadBy])
		l.prefetchRest(ids[0])
		a.next++
	}
}
