package uetcc

// aheadBy is how many packets lie between the stages of an ahead, and between the second
// and when it is needed. With 3 it was fastest, with 2 and 4 it took 3 % more.
const aheadBy = 3

// aheadLeast is for how many packets that is worth it.
const aheadLeast = 4

// An ahead is acknowledgements whose PDCs' cache lines are prefetched while those in front
// of them are taken in, so that waiting for memory and computing overlap too, where
// [Endpoint.Prefetch] does nothing but wait. What a packet needs is found in two stages,
// prefetchPDC and prefetchRest, since the first has the addresses of the second, which is a
// few packets behind, by when the lines of the first have come. Every line matters: one that
// is not in the cache costs nearly as much as all.
type ahead struct {
	ids  [batchMost + 2*aheadBy]uint16 // PDCs, from aheadBy on; else 0, which is nobody's
	next int                           // step, of which each makes one stage of two packets
	end  int
	send bool // packets may be sent meanwhile
}

// lookAhead begins to load what the first packets of in need, at most batchMost of them,
// and returns how many these are. Meanwhile up to room packets may be sent.
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

// setAhead has e.ahead begin with these packets, if none of them is a request.
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

// loadAhead makes n steps, or those that are left.
func (e *Endpoint) loadAhead(n int) {
	a := &e.ahead
	for n = min(n, a.end-a.next); n > 0; n-- {
		ids := (*[aheadBy + 1]uint16)(a.ids[a.next:])
		e.prefetchPDC(ids[aheadBy])
		e.prefetchRest(ids[0], a.send)
		a.next++
	}
}
