// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/deadline"
)

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
	if l.mem.events.free() < l.mem.reserve || pausing(now, l.searchAt) {
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
	silent := l.p.longestRTO()
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
// control is free, nor can be taken. A look put off by the pause is made up for by the next
// Tick, since nothing else may happen.
func (l *life) ensureBound(now int64, p *PDC) bool {
	if p.cc != 0 || l.bind(now, p) == nil {
		return true
	}
	if pausing(now, l.spareAt) {
		l.deferred = true
		l.arm(now)
		return false
	}
	return l.takeContext(now) && l.bind(now, p) == nil
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
		p := l.look()
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
