package pdc

import "github.com/uetcc/uetcc/internal/deadline"

// lookAhead is how many PDCs one search for one to close looks at.
const lookAhead = 256

// A prospect is what a search for a PDC to close sees in one of them.
type prospect uint8

const (
	prospectNone   prospect = iota // not to be closed, or gone
	prospectComing                 // closing already, or resting: its id will be free again
	prospectIdle                   // nothing happens on it
	prospectBusy                   // it would have to end what has begun on it
	prospects
)

// prospect says what p is to a search for a PDC to close.
func (m *Manager) prospect(now int64, p *PDC) prospect {
	switch p.state {
	case StateCreating, StateEstablished:
		switch {
		case p.locks != 0 || p.promised(now, m.p.c.RTOInit) || m.awaited(p):
			return prospectNone
		case p.idle():
			return prospectIdle
		default:
			return prospectBusy
		}
	case StateQuiesce, StateAckWait, StateCloseAckWait:
		return prospectComing
	case StateQuarantine:
		if p.is(flagInitiator) && m.table.rests(p.handle.ID(), now) {
			return prospectComing
		}
	}
	return prospectNone
}

// relieve closes a PDC when messages wait for one or more than Close_Thresh are open. Of the
// next few PDCs it takes the one that has been idle longest, or else the busy one that was
// active least recently, but none that is locked. One that a peer has opened is closed for
// Close_Thresh alone, and by its initiator. The PDC except, if not 0, stays: somebody has
// just been told that it takes messages.
//
// For messages that wait a busy PDC is closed only if its id can be used again before they
// give up, and if no other id is on its way: overload would take all PDCs out of use.
//
// Source: UE Specification 1.0.x section 3.5, PDS manager: Close_Thresh.
func (m *Manager) relieve(now int64, except Handle) {
	over := m.open > m.p.c.CloseThresh
	if m.Waiting() == 0 && !over || m.mem.events.free() < m.mem.reserve {
		return
	}
	var oldest [prospects]*PDC
	for range m.looks() {
		if p := m.look(); p.handle != except && (over || p.is(flagInitiator)) {
			w := m.prospect(now, p)
			oldest[w] = older(oldest[w], p)
		}
	}
	p := oldest[prospectIdle]
	if p == nil && (over || oldest[prospectComing] == nil && m.table.quarantine < m.p.c.PendTimeout) {
		p = oldest[prospectBusy]
	}
	if p != nil {
		m.close(now, p)
	}
}

// yield has an initiator whose PDC p the target has just refused for want of something
// close an idle PDC that it has there: what that one holds may be what p lacks. It closes
// one at a time, and the next not before what the last one held has rested.
//
// Without it two ends with few PDCIDs, each keeping PDCs open that the other has no ids
// to answer for, would refuse each other until those have been idle for too long.
//
// Source: UE Specification 1.0.x section 3.5: an initiator may close a PDC for want of
// resources at any time; which, and when, is left to it.
func (m *Manager) yield(now int64, p *PDC) {
	var idle *PDC
	for range m.looks() {
		q := m.look()
		if !q.is(flagInitiator) || q.peer != p.peer || q.peerID == 0 { // without peerID it holds nothing there
			continue
		}
		switch m.prospect(now, q) {
		case prospectComing:
			return
		case prospectIdle:
			idle = older(idle, q)
		}
	}
	if idle != nil {
		m.startClose(now, idle)
	}
}

// looks is how many PDCs a search looks at.
func (m *Manager) looks() int { return min(lookAhead, len(m.pdc)-1) }

// look returns the next PDC to look at.
func (m *Manager) look() *PDC {
	m.cursor++
	if int(m.cursor) >= len(m.pdc) {
		m.cursor = 1
	}
	return &m.pdc[m.cursor]
}

// idle reports whether p is in use, and nothing happens on it.
func (p *PDC) idle() bool {
	return p.state == StateEstablished && !p.inUse() && p.tx.done() && p.resp.head == 0
}

// awaited reports whether the peer of p, a target, waits for this side to come back to it. It
// has locked the PDC for as long, and could not close it.
func (m *Manager) awaited(p *PDC) bool {
	return m.awaits != nil && !p.is(flagInitiator) && m.awaits(p.handle)
}

// promised reports whether p was opened a moment ago for a message that has yet to begin
// on it. Closing it then helps nobody: of two messages that wait for one id each would
// lose it to the other for ever.
func (p *PDC) promised(now, moment int64) bool {
	return p.state == StateCreating && p.openMsgs == 0 && p.tx.tail == 0 && now < deadline.After(p.activeAt, moment)
}

// older returns the one that was active less recently. a may be nil.
func older(a, b *PDC) *PDC {
	if a == nil || b.activeAt < a.activeAt {
		return b
	}
	return a
}
