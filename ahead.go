package uetcc

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
func (e *Endpoint) lookAhead(in []Datagram, room int) int {
	in = in[:min(len(in), batchMost)]
	if e.prefetched >= len(in) {
		return len(in)
	}
	if len(in) < aheadLeast || !e.setAhead(in) {
		e.Prefetch(in)
		return len(in)
	}
	e.prefetched = len(in)
	e.ahead.send = room > 0
	e.prefetchUpcoming(min(len(in), room))
	e.loadAhead(2 * aheadBy)
	return len(in)
}

// setAhead begins an ahead for these packets; false if one of them is a request.
func (e *Endpoint) setAhead(in []Datagram) bool {
	a := &e.ahead
	a.ids = [len(a.ids)]uint16{}
	for i := range in {
		id, request := e.named(in[i].Packet)
		if request {
			return false
		}
		a.ids[(aheadBy+i)%len(a.ids)] = id
	}
	a.next, a.end = 0, len(in)+aheadBy
	return true
}

// loadAhead makes n steps, or as many as are left.
func (e *Endpoint) loadAhead(n int) {
	a := &e.ahead
	for n = min(n, a.end-a.next); n > 0; n-- {
		ids := (*[aheadBy + 1]uint16)(a.ids[a.next:])
		e.prefetchPDC(ids[aheadBy])
		e.prefetchRest(ids[0], a.send)
		a.next++
	}
}
