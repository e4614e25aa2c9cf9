package pdc

import "github.com/uetcc/uetcc/internal/deadline"

// A trip is what the answers to a PDC's packets teach of how long one takes: mean and mean
// deviation as of RFC 6298, ns. An answer's whole time counts, with what the peer kept it, or
// a slow peer that says how slow it is would be sent everything twice. The zero value has heard
// no answer.
//
// Only the last answer is kept ([PDC.took]), and weighed where a time-out fires: a path that
// answers within RTO_Init_Time costs nothing, one that takes longer has a time-out to weigh it
// at every RTO_Init_Time.
type trip struct {
	mean, dev int64
	heard     int64 // when a time-out or the answer to a probe last found that the peer answers, plus 1
}

// weigh takes an answer in that took d.
func (t *trip) weigh(d int64) {
	if t.mean == 0 {
		t.mean, t.dev = max(d, 1), d/2
		return
	}
	off := d - t.mean
	t.mean += off / 8
	t.dev += (max(off, -off) - t.dev) / 4
}

// rto is how long to wait for an answer at first: twice the mean where answers hardly differ,
// as a queue may add as much, and RTO_Init_Time at least. The longest timeout that retries come
// to bounds it, since IdleTime and whoever waits for a peer go by that.
func (t *trip) rto(p *Params) int64 {
	return min(max(p.c.RTOInit, t.mean+max(4*t.dev, t.mean)), p.longestRTO())
}

// backoff is the timeout of a packet of w that has timed out n times: never less than without
// what was learnt, which for ever goes on to 8 s.
func (w *sendWindow) backoff(p *Params, m *memory, n uint8) int64 {
	return max(p.rto(uint8(min(int(n), p.maxRTOs))), deadline.Backoff(m.trip[w.slot].rto(p), n, p.longestRTO()))
}

// tripShift is the unit of PDC.took: 2^10 ns.
const tripShift = 10

// heard notes that an answer came so long after its packet had left.
func (p *PDC) heard(took int64) { p.took = uint32(took>>tripShift) + 1 }

// heardFirst notes that the answer to the first copy of a packet came so long after the last one
// had left, which has timed out n times. All but the first were for nothing, and the answer
// took at least the time-outs longer: without that a peer slower than RTO_Init_Time would never
// be heard of, since each packet is sent again before its answer comes.
func (p *PDC) heardFirst(c *Params, since int64, n uint8) {
	if n != 0 {
		since = deadline.After(since, c.rto(n)-c.c.RTOInit)
	}
	p.heard(since)
}

// weighTrip takes in what the last answer to p took, once.
func (m *memory) weighTrip(now int64, p *PDC) {
	t := &m.trip[p.tx.slot]
	if d := int64(int32(p.took)); d > 0 { // else none, or the clock has gone back
		t.weigh((d - 1) << tripShift)
	}
	if p.took != 0 {
		t.heard = now + 1
	}
	p.took = 0
}
