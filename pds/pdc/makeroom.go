package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/deadline"
)

// roomPause, ns, is how long no other search for a PDC to close for others' SYN packets
// follows one that has found none. It costs a hundred times what the refusal of the packet
// does, and there may be nothing to find for as long as a flood of them lasts.
const roomPause = 100_000

// pausing reports whether a search has found none less than a roomPause ago, and may be made
// again at that time. Nobody waits longer than that because the clock has gone back.
func pausing(now, again int64) bool { return again > now && again-now <= roomPause }

// makeRoom asks for the close of a PDC that a peer has opened and does not use, after a SYN
// packet has been refused for want of a PDCID. A peer that is there closes it in order and
// loses nothing by it; one that has gone would have kept the id for twice the idle time.
//
// While only PDCs of peers that have not shown themselves crowd the table, these alone are asked.
//
// Source: UE Specification 1.0.x section 3.5: a target may ask for a close for want of
// resources at any time; which, and when, is left to it.
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

// unused chooses the PDC for makeRoom, nil if there is none.
//
// First go those of which only SYN packets have come, and that have been silent for longer
// than a packet waits to be sent again. While there are such, or their ids rest, nobody else
// is asked: SYN packets in others' names take places from each other only. Of the others
// one goes that has been silent for as long as its id will rest.
func (l *life) unused(now int64, flood bool) *PDC {
	var unproven, proven *PDC
	silent := l.p.longestRTO()
	for range l.looks() {
		p := l.look()
		rests := p.state == StateQuarantine && l.table.rests(p.handle.ID(), now)
		if p.is(flagInitiator) || !p.state.live() && !rests {
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

// mayBind reports whether a PDC that is opened from here may have the context of k: there
// is one, or more are free than are left to targets.
func (l *life) mayBind(now int64, k *ccc.Key) bool {
	for !l.ctxs.Has(k, l.spare) {
		if !l.takeContext(now) {
			return false
		}
	}
	return true
}

// ensureBound binds a target PDC when it has something to send for the first time. It
// reports false if no context of congestion control is free, nor can be taken. A look that
// the pause has put off is made up for by the next Tick, since nothing else may happen.
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

// takeContext frees the context of a PDC that a peer has opened and that has nothing to send.
// It gets one again when it has. Otherwise a target that answers more peers than it has
// contexts would let those who come late wait until others' PDCs have been idle for long.
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
