// SPDX-License-Identifier: Apache-2.0

package ccc

import "github.com/uetcc/uetcc/nscc"

// A member is the part of one PDC in its context, of which the context's counters
// are the sums: while the PDC is the context's sole one these are its own, and the record
// counts nothing. Bytes only grow, so that a packet moves one counter:
//
//	backlog  = due - sent - rtxBacklog
//	inflight = sent - heard - rtxBacklog
type member struct {
	handle Handle
	way    uint16 // the entropy value of the PDC's packets, if fixed
	fixed  bool   // takes no part in path choice

	waitingRtx      int32 // packets marked for retransmission
	inflightPackets int32

	due        int64 // bytes to send, counted again at each mark for retransmission
	sent       int64 // bytes sent, each time
	heard      int64 // part of sent: reported by the destination or sent again
	rtxBacklog int64 // bytes marked for retransmission

	_ [16]byte // a cache line each
}

// backlog is the bytes that the PDC has to send for the first time.
func (b *member) backlog() int64 { return b.due - b.sent - b.rtxBacklog }

// left is the rest that the PDC would leave behind now.
func (b *member) left() Left {
	return Left{
		Backlog: b.backlog(), RtxBacklog: b.rtxBacklog, Inflight: b.sent - b.heard - b.rtxBacklog,
		WaitingRtx: b.waitingRtx, InflightPackets: b.inflightPackets,
	}
}

func (b *member) send(size int64, rtx bool) {
	if rtx {
		b.rtxBacklog = less(b.rtxBacklog, size)
		b.waitingRtx = less(b.waitingRtx, 1)
		b.heard += size
	} else {
		less(b.backlog(), size)
	}
	b.fly(size, 1)
}

// fly counts n packets as in flight.
func (b *member) fly(bytes int64, n int) {
	b.sent += bytes
	b.inflightPackets += int32(n)
}

// count takes the counters of c, which serves no other PDC.
//
//uetcc:hot inlines nobounds
func (b *member) count(c *Context) {
	b.due, b.sent, b.heard = c.waits, 0, -c.window.Inflight()-c.rtxBacklog
	b.rtxBacklog, b.waitingRtx, b.inflightPackets = c.rtxBacklog, c.waitingRtx, c.inflightPkts
}

// rcvdUnit is the unit that rcvd_bytes is rounded up to, bytes.
const rcvdUnit = 256

// acknowledge takes an acknowledgement in, and cuts a.Bytes to the possible. A window
// believing more would let everything out.
func (b *member) acknowledge(a *Ack) {
	if packets := int32(a.Packets - a.RtxPackets); !b.hear(a.Bytes, packets) {
		a.Bytes = min(max(a.Bytes, 0), b.most())
		b.hear(a.Bytes, packets)
	}
	if a.RtxPackets != 0 || a.RtxBytes != 0 {
		b.rtxBacklog = less(b.rtxBacklog, a.RtxBytes)
		b.waitingRtx = less(b.waitingRtx, int32(a.RtxPackets))
		b.due -= a.RtxBytes
	}
}

// hear takes packets out of flight. False, without a change, if bytes are negative or more
// than a truthful destination can report.
//
//uetcc:hot inlines nobounds
func (b *member) hear(bytes int64, packets int32) bool {
	if uint64(bytes) > uint64(b.most()) {
		return false
	}
	b.heard += bytes
	b.inflightPackets -= packets
	return true
}

// most is the most bytes reported by a truthful destination, counting each packet once.
func (b *member) most() int64 { return b.sent - b.heard + rcvdUnit - 1 }

// cut is an acknowledgement of no more bytes than that, as acknowledge would cut it.
//
//uetcc:hot nobounds
func (b *member) cut(a nscc.PlainAck) nscc.PlainAck {
	if uint64(a.Bytes()) <= uint64(b.most()) {
		return a
	}
	return nscc.MakePlainAck(min(max(a.Bytes(), 0), b.most()), a.Ack().RTT, a.ECN())
}

// mark takes packets of size bytes together out of flight and counts them as waiting for
// retransmission.
func (b *member) mark(size int64, packets int32) {
	b.due += size
	b.rtxBacklog += size
	b.waitingRtx += packets
	b.inflightPackets -= packets
}

// A record is the manager's data for a context needed in every event, next to the context's
// counters.
type record struct {
	last   int64  // time of the last event, ns
	waited int64  // see Manager.waitedFor
	sole   Handle // the only PDC so far, with the context's counters; 0: none, or a second exists
	tally  tally  // carried into the ledger when there is no room
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
func (m *Manager) ledgerOf(c *Context) *counts { return &m.ledgers[c.handle.Index()] }

// waitedFor is how long data of c has waited for a reason, ns: for the window in the record, so that
// nothing else need be loaded, or without an extra for all. While c.holds names the reason the time of the
// beginning is taken away.
func (m *Manager) waitedFor(c *Context, why Reason) *int64 {
	if why == ReasonWindow || m.extra.due == nil {
		return &c.rec.waited
	}
	return &m.extra.waited[c.handle.Index()][why]
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
