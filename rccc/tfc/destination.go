// SPDX-License-Identifier: Apache-2.0

package tfc

import "github.com/uetcc/uetcc/internal/deadline"

// Destination is the receiving half of a TFC context: counting the cells of one
// source in the buffer and deciding when to tell the source of free cells.
//
// A small value without pointers; [Destination.Init] makes a Destination ready.
// Single writer. Invariants: freed <= received; received - freed <= Limit.
type Destination struct {
	received int64 // cells of packets accepted (CR)
	freed    int64 // cells released (CF)
	told     int64 // newest limit announced
	due      int64 // when to announce, ns; meaningful while armed
	armed    bool
	backoff  uint8 // repetitions since anything changed
}

// Init starts a context. A source waiting for a grant is told at once.
func (d *Destination) Init(p *Params, now int64) {
	*d = Destination{told: p.initial}
	d.settle(p, now)
}

// Occupancy returns the cells in use.
func (d *Destination) Occupancy() int64 { return d.received - d.freed }

// Fits reports whether Accept would take a packet of size nominal bytes.
func (d *Destination) Fits(p *Params, size int64) bool { return d.Occupancy()+p.Cost(size) <= p.limit }

// Received returns the cells of packets accepted since the start.
func (d *Destination) Received() int64 { return d.received }

// Accept takes a packet of size nominal bytes not accepted before, and
// reports whether the buffer has room. Only packets beyond an honest source's
// limit are refused; refuse such packets for lack of a buffer. Do not report
// duplicates: a duplicate occupies no cell.
//
//uetcc:hot nobounds
func (d *Destination) Accept(p *Params, now, size int64) bool {
	if !d.Fits(p, size) {
		return false
	}
	d.received += p.Cost(size)
	d.settle(p, now)
	return true
}

// Release frees the cells of an accepted packet that left the buffer.
//
//uetcc:hot nobounds
func (d *Destination) Release(p *Params, now, size int64) {
	d.freed = min(d.freed+p.Cost(size), d.received)
	d.settle(p, now)
}

// Total is Credit for a message that need not arrive: it does not count as announced.
func (d *Destination) Total(p *Params) int64 { return d.freed + p.limit }

// Credit returns the cumulative limit to put into a message that leaves now, an
// ACK_CC or a Credit control packet, as CellsOf of the result. The limit counts
// as announced.
//
//uetcc:hot inlines nobounds
func (d *Destination) Credit(p *Params, now int64) int64 {
	d.told = d.Total(p)
	d.armed = false
	d.settle(p, now)
	return d.told
}

// Deadline returns the time for a Credit control packet, with [Destination.Credit], unless an
// ACK_CC carries the credit earlier, and false without need. The message is not acknowledged,
// so repeated, ever more rarely, until data shows the arrival.
func (d *Destination) Deadline() (int64, bool) { return d.due, d.armed }

// newsShare is the part of the limit that has to be free anew before the source hears of the cells at
// once; fewer cells wait a round trip for more, since a message for each packet would be too much.
const newsShare = 4

// settle brings the timer in line. A message is wanted while some cells may be
// unknown to the source: certain is only that the source once had the initial
// limit and all limits proven by arrivals.
func (d *Destination) settle(p *Params, now int64) {
	limit := d.Total(p)
	switch {
	case limit <= max(p.initial, d.received):
		d.armed = false
	case limit > d.told && limit-d.told < p.limit/newsShare:
		if !d.armed || d.backoff != 0 {
			d.armed, d.due, d.backoff = true, deadline.After(now, p.rtt), 0
		}
	case limit > d.told:
		d.armed, d.due, d.backoff = true, min(now, deadline.End), 0
	case !d.armed:
		d.armed, d.due = true, deadline.After(now, deadline.Backoff(p.rtt, d.backoff, p.ceiling))
		d.backoff = min(d.backoff+1, 62)
	}
}
