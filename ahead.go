package uetcc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// A loader has the cache lines on their way that packets will need.
type loader struct {
	pds    *pdc.Manager
	cc     *ccc.Manager
	target *ses.Target
	flows  []flow
	source *source

	prefetched int // how many of the next acknowledgements need no prefetchACK; with few PDCs all
	ahead      ahead
}

// aheadBy is by how many packets the second stage of an ahead is behind the first, and the
// packet itself behind the second. 3 was fastest; 2 and 4 took 3 % more.
const aheadBy = 3

// aheadLeast is from how many packets on an ahead is worth it.
const aheadLeast = 4

// An ahead is a software pipeline over the acknowledgements of a batch: while one is taken
// in, the cache lines that later ones need are on their way, so that computing overlaps with
// waiting for memory. ([Endpoint.Prefetch] overlaps the waits with each other only.) The
// lines of a packet are found in two stages: what prefetchPDC loads has the addresses that
// prefetchRest goes by, aheadBy packets later. All lines have to be covered: a single one
// that is missing costs nearly as much as all of them.
type ahead struct {
	ids  [batchMost + 2*aheadBy]uint16 // PDCs, from aheadBy on; the others are 0, nobody's
	next int                           // next step: the first stage of one packet, the second of an earlier one
	end  int                           // steps in all
	send bool                          // packets may be sent meanwhile
}

// lookAhead begins to load what the first packets of in need, at most batchMost of them,
// and returns how many packets that covers. Meanwhile up to room packets may be sent.
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
	l.ahead.send = room > 0
	l.prefetchUpcoming(min(len(in), room))
	l.loadAhead(2 * aheadBy)
	return len(in)
}

// setAhead begins an ahead for these packets; false if one of them is a request.
func (l *loader) setAhead(in []Datagram) bool {
	a := &l.ahead
	a.ids = [len(a.ids)]uint16{}
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
func (l *loader) loadAhead(n int) {
	a := &l.ahead
	for n = min(n, a.end-a.next); n > 0; n-- {
		ids := (*[aheadBy + 1]uint16)(a.ids[a.next:])
		l.prefetchPDC(ids[aheadBy])
		l.prefetchRest(ids[0], a.send)
		a.next++
	}
}
