// SPDX-License-Identifier: Apache-2.0

package pdc

import "github.com/uetcc/uetcc/internal/deadline"

// lookAhead is the number of PDCs visited by a search for a PDC to close.
const lookAhead = 256

// A prospect is the view of a PDC in a search for a PDC to close.
type prospect uint8

const (
	prospectNone   prospect = iota // not to be closed, or gone
	prospectComing                 // closing already, or resting: the id will be free again
	prospectIdle                   // no activity
	prospectBusy                   // messages or packets would have to end first
	prospects
)

// prospect returns the prospect of p. The id of a second PDC would help no message that waits.
func (l *life) prospect(now int64, p *PDC) prospect {
	if l.table.besides(p.handle.ID()) {
		return prospectNone
	}
	switch p.state {
	case StateCreating, StateEstablished:
		switch {
		case p.locks != 0 || p.promised(now, l.p.c.RTOInit) || l.awaited(p):
			return prospectNone
		case p.idle():
			return prospectIdle
		default:
			return prospectBusy
		}
	case StateQuiesce, StateAckWait, StateCloseAckWait:
		return prospectComing
	case StateQuarantine:
		if p.is(flagInitiator) && l.table.rests(p.handle.ID(), now) {
			return prospectComing
		}
	}
	return prospectNone
}

// relieve closes a PDC when messages wait for a PDC or more than Close_Thresh are open. Of
// the next few PDCs the longest idle is taken, or else the least recently active busy PDC,
// but no locked one. A PDC opened by a peer is closed for Close_Thresh alone, and by the
// initiator. The PDC except, if not 0, stays: just promised to a message.
//
// For waiting messages a busy PDC is closed only if the id can be used again before the
// messages give up, and if no other id is coming free: overload would take all PDCs out of
// use.
//
// Source: UE Specification 1.0.x section 3.5, PDS manager: Close_Thresh.
func (l *life) relieve(now int64, except Handle) {
	over := l.open > l.p.c.CloseThresh
	if l.waits() == 0 && !over || l.mem.events.free() < l.mem.reserve {
		return
	}
	var oldest [prospects]*PDC
	for range l.looks() {
		if p := l.look(); p.handle != except && (over || p.is(flagInitiator)) {
			w := l.prospect(now, p)
			oldest[w] = older(oldest[w], p)
		}
	}
	p := oldest[prospectIdle]
	if p == nil && (over || oldest[prospectComing] == nil && l.table.quarantine < l.p.c.PendTimeout) {
		p = oldest[prospectBusy]
	}
	if p != nil {
		l.close(now, p)
	}
}

// yield has an initiator whose PDC p the target has just refused for want of a resource
// close an idle PDC there, maybe the holder of the missing resource. PDCs are closed one at
// a time, and the next not before the last one's resources have rested.
//
// Otherwise two ends with few PDCIDs, each keeping PDCs open that the peer has no ids to
// answer for, would refuse each other until the PDCs have been idle for too long.
//
// Source: UE Specification 1.0.x section 3.5: an initiator may close a PDC for want of
// resources at any time; the choice is the initiator's.
func (l *life) yield(now int64, p *PDC) {
	var idle *PDC
	for range l.looks() {
		q := l.look()
		if !q.is(flagInitiator) || q.peer != p.peer || q.peerID == 0 { // without peerID the PDC holds nothing there
			continue
		}
		switch l.prospect(now, q) {
		case prospectComing:
			return
		case prospectIdle:
			idle = older(idle, q)
		}
	}
	if idle != nil {
		l.startClose(now, idle)
	}
}

// looks is how many PDCs a search looks at.
func (l *life) looks() int { return min(lookAhead, len(l.pdc)-1) }

// look returns the next PDC to look at.
func (l *life) look() *PDC {
	l.cursor++
	if int(l.cursor) >= len(l.pdc) {
		l.cursor = 1
	}
	return &l.pdc[l.cursor]
}

// idle reports whether p is in use, and nothing happens on it.
func (p *PDC) idle() bool {
	return p.state == StateEstablished && !p.inUse() && p.tx.done() && p.resp.head == 0
}

// awaited reports whether the peer of p, a target, waits for the target to come back. The
// peer has locked the PDC for as long, and could not close.
func (l *life) awaited(p *PDC) bool {
	return l.awaits != nil && !p.is(flagInitiator) && l.awaits(p.handle)
}

// promised reports whether p was opened a moment ago for a message that has yet to begin.
// Closing the PDC then helps nobody: two messages waiting for an id would take it from each
// other for ever.
func (p *PDC) promised(now, moment int64) bool {
	return p.state == StateCreating && p.openMsgs == 0 && p.tx.tail == 0 && now < deadline.After(p.activeAt, moment)
}

// older returns the less recently active PDC. a may be nil.
func older(a, b *PDC) *PDC {
	if a == nil || b.activeAt < a.activeAt {
		return b
	}
	return a
}
