// SPDX-License-Identifier: Apache-2.0

package pdc

import "github.com/uetcc/uetcc/internal/deadline"

// A trip is the learnt time of answers to a PDC's packets: mean and mean deviation as in RFC
// 6298, ns. An answer's whole time counts, including the service time at the peer, or an honest
// slow peer would be sent everything twice. The zero value has heard no answer.
//
// Only the last answer is kept ([PDC.took]), and weighed where a time-out fires: a path that
// answers within RTO_Init_Time costs nothing, one that takes longer has a time-out to weigh it
// at every RTO_Init_Time.
type trip struct {
	mean, dev int64
	heard     int64 // time of the last finding, by a time-out or a probe's answer, that the peer answers, plus 1
}

// weigh takes in an answer after time d.
func (t *trip) weigh(d int64) {
	if t.mean == 0 {
		t.mean, t.dev = max(d, 1), d/2
		return
	}
	off := d - t.mean
	t.mean += off / 8
	t.dev += (max(off, -off) - t.dev) / 4
}

// rto is the first wait for an answer: twice the mean where answers hardly differ, as a queue
// may add as much, and RTO_Init_Time at least. The bound leaves a peer with the same IdleTime
// room for some copies before the PDC counts as idle.
func (t *trip) rto(p *Params) int64 {
	return min(max(p.c.RTOInit, t.mean+max(4*t.dev, t.mean)), p.learntMost())
}

// learntMost is the longest timeout that answers teach: a bound as low as the longest timeout of
// retries, 32 ms by default, had each packet of a longer path sent twice and no round trip ever
// measured.
func (p *Params) learntMost() int64 { return max(p.longestRTO(), p.c.IdleTime/4) }

// backoff is the timeout of a packet of w timed out n times: never less than the unlearnt
// timeout, which with unlimited retries goes on to 8 s.
func (w *sendWindow) backoff(p *Params, m *memory, n uint8) int64 {
	first := m.trip[w.slot].rto(p)
	most := max(p.longestRTO(), min(4*first, p.learntMost()))
	return max(p.rto(uint8(min(int(n), p.maxRTOs))), deadline.Backoff(first, n, most))
}

// tripShift is the unit of PDC.took: 2^10 ns.
const tripShift = 10

// tookOf is PDC.took of an answer after so long.
func tookOf(ns int64) uint32 { return uint32(ns>>tripShift) + 1 }

// tookLate is PDC.took with an answer to the first copy of a packet at the time since after the last
// copy, with n time-outs before. All later copies were in vain, and the answer took at least
// the time-outs longer: otherwise a peer slower than RTO_Init_Time would never be weighed,
// since each packet is sent again before the answer comes. Where the last copy has waited for
// the window, or left for another reason than time, the answer took longer still: so the
// time counts only where it is more than what is known.
//
//go:noinline
//uetcc:hot
func (p *PDC) tookLate(c *Params, since int64, n uint8) uint32 {
	took := tookOf(deadline.After(since, c.rto(n)-c.c.RTOInit))
	if took <= p.took&^tookAtLeast {
		return p.took
	}
	return took | tookAtLeast
}

// tookAtLeast marks a PDC.took that an answer has taken at least.
const tookAtLeast = 1 << 30

// weighTrip takes in what the last answer to p took, once.
func (m *memory) weighTrip(now int64, p *PDC) {
	t := &m.trip[p.tx.slot]
	if took := int32(p.took); took > 0 { // else no answer, or the clock has gone back
		if d := int64(took&^tookAtLeast-1) << tripShift; took&tookAtLeast == 0 || d > t.mean {
			t.weigh(d)
		}
	}
	if p.took != 0 {
		t.heard = now + 1
	}
	p.took = 0
}
