// SPDX-License-Identifier: Apache-2.0

package ccc

// A record is the manager's data for a context needed in every event, next to the context's
// counters.
type record struct {
	last   int64 // time of the last event, ns
	waited int64 // see Manager.waitedFor
	handle Handle
	sole   Handle // the only PDC so far, with the context's counters; 0: none, or a second exists
	tally  tally  // carried into the ledger when there is no room
	busy   bool   // counted in Manager.busy
	armed  bool   // has a deadline
	custom bool   // runs an algorithm of the user
}

// counts are the counters of a [Snapshot], the manager's data for a context beside the record, needed by few events.
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
	m.ledgerOf(c).add(full)
}

// add adds the numbers of a tally.
func (n *counts) add(t tally) {
	n.sent += int64(t & (1<<tallyAcks - 1))
	n.acks += int64(t >> tallyAcks & (1<<(tallyMarked-tallyAcks) - 1))
	n.marked += int64(t >> tallyMarked)
}

// counts are all counters of c.
func (m *Manager) counts(c *Context) counts {
	n := *m.ledgerOf(c)
	n.add(c.rec.tally)
	return n
}

// ledgerOf is the ledger of a context of the manager's.
func (m *Manager) ledgerOf(c *Context) *counts { return &m.ledgers[c.rec.handle.Index()] }

// waitedFor is how long data of c has waited for a reason, ns: for the window in the record, so that
// nothing else need be loaded, or without an extra for all. While c.holds names the reason the time of the
// beginning is taken away.
func (m *Manager) waitedFor(c *Context, why Reason) *int64 {
	if why == ReasonWindow || m.extra.due == nil {
		return &c.rec.waited
	}
	return &m.extra.waited[c.rec.handle.Index()][why]
}

// hold has data of c wait for a reason from the last event on, ReasonBacklog for none. While the
// reason stays, events cost nothing here. Out of line to spare the callers' registers.
//
//go:noinline
//uetcc:hot
func (m *Manager) hold(c *Context, why Reason) {
	if c.holds != ReasonBacklog {
		*m.waitedFor(c, c.holds) += c.rec.last
	}
	if why != ReasonBacklog {
		*m.waitedFor(c, why) -= c.rec.last
	}
	c.holds = why
}
