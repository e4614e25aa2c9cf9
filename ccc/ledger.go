// SPDX-License-Identifier: Apache-2.0

package ccc

import "math"

// A record is the manager's data for a context needed in every event, next to the context's
// counters.
type record struct {
	last   int64 // time of the last event, ns
	handle Handle
	sole   Handle // the only PDC so far, with the context's counters; 0: none, or a second exists

	// Counted here, and carried into the ledger when there is no room or the reason changes.
	waited uint32 // how long data waited, ns
	tally  tally
	busy   bool   // counted in Manager.busy
	armed  bool   // has a deadline
	custom bool   // runs an algorithm of the user
	fixed  bool   // a PDC takes no part in path choice
	held   Reason // the cause that has held data since the last event; ReasonBacklog: none
	kept   Reason // the cause of the time waited
}

// A ledger is the manager's data for a context beside the record, needed by few events.
type ledger struct {
	waited int64 // for the window, ns: see Snapshot.Held; other reasons are in an extra
	counts counts
}

// counts are the counters of a [Snapshot].
type counts struct{ sent, acks, marked, nacks, losses int64 }

// A tally is packets sent, acknowledgements, and those with a mark: the numbers of the last few
// in one word, so that an event makes one addition.
type tally uint32

const (
	tallyAcks   = 11 // where acknowledgements begin, bit
	tallyMarked = 22
	tallyMost   = 255 // in one event, of each
	tallyFull   = 1<<(tallyAcks-1) | 1<<(tallyMarked-1) | 1<<31
)

// tallyOf is up to tallyMost packets sent, acknowledgements, and marks.
//
//uetcc:hot inlines nobounds
func tallyOf(sent, acks, marked int) tally {
	return tally(sent | acks<<tallyAcks | marked<<tallyMarked)
}

// count counts t for c.
//
//uetcc:hot inlines nobounds
func (m *Manager) count(c *Context, t tally) {
	if c.rec.tally += t; c.rec.tally&tallyFull != 0 { // perhaps no room for more
		m.carryTally(c)
	}
}

// carryTally takes the upper half of what has been counted into the ledger. What is left is the
// same however many an event counts.
//
//go:noinline
//uetcc:hot
func (m *Manager) carryTally(c *Context) {
	full := c.rec.tally & tallyFull
	c.rec.tally -= full
	m.ledgerOf(c).counts.add(full)
}

// add adds the numbers of a tally.
func (n *counts) add(t tally) {
	n.sent += int64(t & (1<<tallyAcks - 1))
	n.acks += int64(t >> tallyAcks & (1<<(tallyMarked-tallyAcks) - 1))
	n.marked += int64(t >> tallyMarked)
}

// counts are all counters of c.
func (m *Manager) counts(c *Context) counts {
	n := m.ledgerOf(c).counts
	n.add(c.rec.tally)
	return n
}

// ledgerOf is the ledger of a context of the manager's.
func (m *Manager) ledgerOf(c *Context) *ledger { return &m.ledgers[c.rec.handle.Index()] }

// waitedFor is how long data of c has waited for a reason, ns. Without an extra the window is the
// only one.
func (m *Manager) waitedFor(c *Context, why Reason) *int64 {
	if why == ReasonWindow || m.extra.due == nil {
		return &m.ledgerOf(c).waited
	}
	return &m.extra.waited[c.rec.handle.Index()][why]
}

// wait adds the time since the last event to the time of the reason holding data since then.
// The sum is kept in the record, so the ledger need not be loaded; for a sum too large wait
// returns false, and the caller calls carry.
//
//uetcc:hot inlines nobounds
func (r *record) wait(now int64) bool {
	d := now - r.last
	if r.held != r.kept || uint64(d)|uint64(r.waited) > math.MaxInt32 {
		return false
	}
	r.waited += uint32(d)
	return true
}

// carry moves the sums into the ledger, with the time since the last event, unless later
// than now: events of two cores may come out of order, and no time counts twice. Rare, and
// out of line to spare the callers' registers.
//
//go:noinline
func (m *Manager) carry(c *Context, now int64) {
	r := &c.rec
	d := now - r.last
	if d <= 0 {
		return
	}
	*m.waitedFor(c, r.kept) += int64(r.waited)
	*m.waitedFor(c, r.held) += d
	r.waited, r.kept, r.last = 0, r.held, now
}
