package ccc

import "math"

// A record is the manager's data for a context needed in every event, next to the context's
// counters.
type record struct {
	last   int64 // time of the last event, ns
	handle Handle
	busy   bool   // counted in Manager.busy
	armed  bool   // has a deadline
	custom bool   // runs an algorithm of the user
	held   Reason // what has held data since the last event; ReasonBacklog: nothing
	kept   Reason // what held it for as long as waited says

	// Counted here, and carried into the ledger at a wrap or a change of reason.
	marked uint16 // acknowledgements with a mark
	waited uint32 // how long data waited, ns
	sent   uint32 // packets
	acks   uint32
}

// A ledger is the manager's data for a context beside the record, needed by few events.
type ledger struct {
	edge   edge
	due    int64          // the armed deadline, ns
	waited [reasons]int64 // see Snapshot.Held
	counts counts
}

// counts are the counters of a [Snapshot].
type counts struct{ sent, acks, marked, nacks, losses int64 }

// countSent counts a packet of c being sent.
func (m *Manager) countSent(c *Context) {
	if c.rec.sent++; c.rec.sent == 0 {
		m.ledgerOf(c).counts.sent += 1 << 32
	}
}

// countAck counts an acknowledgement of c.
func (m *Manager) countAck(c *Context, marked bool) {
	r := &c.rec
	if r.acks++; r.acks == 0 {
		m.ledgerOf(c).counts.acks += 1 << 32
	}
	if !marked {
		return
	}
	if r.marked++; r.marked == 0 {
		m.ledgerOf(c).counts.marked += 1 << 16
	}
}

// countAcks is countAck for n acknowledgements, of which so many are marked.
func (m *Manager) countAcks(c *Context, n, marked int) {
	r := &c.rec
	if r.acks += uint32(n); r.acks < uint32(n) {
		m.ledgerOf(c).counts.acks += 1 << 32
	}
	if r.marked += uint16(marked); r.marked < uint16(marked) {
		m.ledgerOf(c).counts.marked += 1 << 16
	}
}

// counts are all counters of c.
func (m *Manager) counts(c *Context) counts {
	n := m.ledgerOf(c).counts
	n.sent += int64(c.rec.sent)
	n.acks += int64(c.rec.acks)
	n.marked += int64(c.rec.marked)
	return n
}

// ledgerOf is the ledger of a context of the manager's.
func (m *Manager) ledgerOf(c *Context) *ledger { return &m.ledgers[c.rec.handle.Index()] }

// wait adds the time since the last event to the time of the reason holding data since then.
// The sum is kept in the record, so the ledger need not be loaded; for a sum too large wait
// returns false, and the caller calls carry.
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
	l := m.ledgerOf(c)
	l.waited[r.kept] += int64(r.waited)
	l.waited[r.held] += d
	r.waited, r.kept, r.last = 0, r.held, now
}
