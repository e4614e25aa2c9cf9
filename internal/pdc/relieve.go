// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/deadline"
)

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
	if l.waits() == 0 && !over || l.mem.events.Free() < l.mem.reserve {
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
		l.vain = 0
	} else {
		l.vain = min(l.vain+l.looks(), len(l.pdc))
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
func (l *life) look() *PDC { return l.lookOn(&l.cursor) }

// lookOn is look for a search of its own: one that went on where others have been would miss the same PDCs again and again.
func (l *life) lookOn(at *uint16) *PDC {
	*at++
	if int(*at) >= len(l.pdc) {
		*at = 1
	}
	return &l.pdc[*at]
}

// idle reports whether p is in use, and nothing happens on it.
func (p *PDC) idle() bool {
	return p.state == StateEstablished && !p.inUse() && p.tx.done() && p.resp.Head == 0
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

// roomPause, ns, is the pause after a vain search for a PDC to close for others' SYN
// packets. A search costs a hundred times as much as the refusal of the packet, and may be
// in vain for as long as a flood of SYN packets lasts.
const roomPause = 100_000

// pausing reports whether a search was in vain less than a roomPause ago, to be made again
// at the time again. A clock gone back does not prolong the pause.
func pausing(now, again int64) bool { return again > now && again-now <= roomPause }

// makeRoom asks for the close of a PDC opened and unused by a peer, after a SYN packet has
// been refused for want of a PDCID. A live peer closes in order and loses nothing; a dead
// peer would have kept the id for twice the idle time.
//
// While only PDCs of unproven peers crowd the table, those alone are asked.
//
// Source: UE Specification 1.0.x section 3.5: a target may ask for a close for want of
// resources at any time; the choice is the target's.
func (l *life) makeRoom(now int64, crowded bool) {
	if l.mem.events.Free() < l.mem.reserve || pausing(now, l.searchAt) {
		return
	}
	if p := l.unused(now, crowded); p != nil {
		l.askClose(now, p)
	} else {
		l.searchAt = deadline.After(now, roomPause)
	}
}

// unused chooses the PDC for makeRoom, or nil.
//
// First go PDCs known only by SYN packets and silent for longer than a packet waits for
// retransmission. While such PDCs exist, or their ids rest, no other peer is asked: SYN
// packets in others' names take places only from each other. Otherwise a PDC goes that has
// been silent for as long as the id will rest.
func (l *life) unused(now int64, flood bool) *PDC {
	var unproven, proven *PDC
	silent := l.p.longestRTO() + spreadMost(l.p.longestRTO())
	for range l.looks() {
		p := l.look()
		rests := p.state == StateQuarantine && l.table.rests(p.handle.ID(), now)
		if p.is(flagInitiator) || !live(p.state) && !rests || l.table.besides(p.handle.ID()) {
			continue
		}
		idle := l.prospect(now, p) == prospectIdle
		if l.table.unproven(p.handle.ID()) {
			flood = true
			if idle && now >= deadline.After(p.activeAt, silent) {
				unproven = older(unproven, p)
			}
		} else if idle && now >= deadline.After(p.activeAt, max(silent, l.table.quarantine)) {
			proven = older(proven, p)
		}
	}
	if flood {
		return unproven
	}
	return proven
}

// mayBind reports whether a PDC opened from here may have the context of k: already open, or
// with more free contexts than are left to targets.
func (l *life) mayBind(now int64, k *ccc.Key) bool {
	for !l.ctxs.Has(k, l.spare) {
		if !l.takeContext(now) {
			return false
		}
	}
	return true
}

// ensureBound binds a target PDC before a first packet. False if no context of congestion
// control is free, nor can be taken. The Tick after the pause looks again, since nothing else may happen.
func (l *life) ensureBound(now int64, p *PDC) bool {
	if p.cc != 0 || l.bind(now, p) == nil || l.takeContext(now) && l.bind(now, p) == nil {
		return true
	}
	l.deferred = true
	l.arm(now)
	return false
}

// takeContext frees the context of a PDC opened by a peer and with nothing to send; new data
// gets a context again. Otherwise a target with more peers than contexts would let late
// peers wait until other PDCs have been idle for long.
func (l *life) takeContext(now int64) bool {
	if pausing(now, l.spareAt) {
		return false
	}
	var idle *PDC
	for range l.looks() {
		p := l.lookOn(&l.spareCursor)
		switch {
		case p.is(flagInitiator) || p.cc == 0 || !p.tx.done() || p.unsubmitted != 0:
		case l.cc.Context(p.cc).PDCs() > 1:
			l.unbind(now, p) // perhaps the last that uses it has nothing to send, either
		default:
			idle = older(idle, p)
		}
	}
	if idle == nil {
		l.spareAt = deadline.After(now, roomPause)
		return false
	}
	l.unbind(now, idle)
	return true
}
