package tfc

import "github.com/uetcc/uetcc/internal/deadline"

// Destination is the receiving half of a TFC context: it counts the cells of one
// source in its buffer and decides when the source must hear of free ones.
//
// A small value without pointers; [Destination.Init] makes it ready. Single
// writer. Invariants: freed <= received; received - freed <= Limit.
type Destination struct {
	received int64 // cells of packets accepted (CR)
	freed    int64 // cells released (CF)
	told     int64 // newest limit announced
	due      int64 // when to announce, ns; meaningful while armed
	armed    bool
	backoff  uint8 // repetitions since anything changed
}

// Init starts a context. A source that waits for a grant is to be told at once.
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

// Accept takes a packet of size nominal bytes that was not accepted before, and
// reports whether there is room. It refuses only packets that an honest source
// would not have sent; refuse them as having no buffer. Duplicates are not
// reported: they occupy nothing.
func (d *Destination) Accept(p *Params, now, size int64) bool {
	if !d.Fits(p, size) {
		return false
	}
	d.received += p.Cost(size)
	d.settle(p, now)
	return true
}

// Release frees the cells of an accepted packet that left the buffer.
func (d *Destination) Release(p *Params, now, size int64) {
	d.freed = min(d.freed+p.Cost(size), d.received)
	d.settle(p, now)
}

// Total is Credit for a message that need not arrive: it does not count as announced.
func (d *Destination) Total(p *Params) int64 { return d.freed + p.limit }

// Credit returns the cumulative limit to put into a message that leaves now, an
// ACK_CC or a Credit control packet, as CellsOf of it. It counts as announced.
func (d *Destination) Credit(p *Params, now int64) int64 {
	d.told = d.Total(p)
	d.armed = false
	d.settle(p, now)
	return d.told
}

// Deadline returns when a Credit control packet is to be sent unless an ACK_CC
// carried the credit before, and false when none is needed. The message is not
// acknowledged, so it is repeated, ever more rarely, until data shows that it
// arrived.
func (d *Destination) Deadline() (int64, bool) { return d.due, d.armed }

// CreditDue reports whether a Credit control packet is to be sent now; call
// [Destination.Credit] for its contents.
func (d *Destination) CreditDue(now int64) bool { return d.armed && min(now, deadline.End) >= d.due }

// newsShare is the part of the limit that has to be free anew before the source hears of it at
// once; less waits a round trip for more, since a message for each packet would be too much.
const newsShare = 4

// settle brings the timer in line. A message is wanted while there are cells that
// the source may not know of: all that is known is that it once had the initial
// limit and whatever arrived.
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
