// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/pds"
)

// lapseUnit and lapseMax, ns, are the unit and the longest time of a lapse.
const (
	lapseUnit = 1 << 16
	lapseMax  = 24 * 3600e9
)

// giveUpIn has p wait no longer than d for the peer.
func (p *PDC) giveUpIn(now, d int64) {
	p.lapse = uint32((min(deadline.After(now, d), never-lapseUnit) + lapseUnit - 1) / lapseUnit)
}

// giveUpAt is when p has waited too long.
func (p *PDC) giveUpAt(now int64) int64 {
	if p.state != StatePending && p.state != StateCloseWait {
		return never
	}
	unit := now / lapseUnit
	return (unit + int64(int32(p.lapse-uint32(unit)))) * lapseUnit
}

// giveUp ends a target PDC whose peer does not obey. A peer asked to close has all open
// messages to end first, and may be waiting to send a packet again: Close_REQ_Time has to
// pass in silence, with nothing on the way to the peer, and nothing the peer waits for. A
// talking peer that clears nothing has no such respite.
func (l *life) giveUp(now int64, p *PDC) {
	if p.state == StatePending {
		l.stats.PendingOver++
		l.abandon(now, p, Cause(pds.NackNewStartPSN))
		return
	}
	_, owed := l.mem.owed(p)
	if p.resp.asked < clearAsks && (p.resp.heard || owed || l.awaited(p) && l.timer.idleAt(p) > now) {
		p.resp.heard = false
		p.giveUpIn(now, l.p.patience())
		return
	}
	l.closeInError(now, p)
}

// closeInError ends a target PDC not closed by the peer.
func (l *life) closeInError(now int64, p *PDC) {
	tells := l.reply.mayTell(p) // while it is known whether the peer has shown that it receives
	l.abandon(now, p, Cause(pds.NackClosingInErr))
	if tells {
		l.sched.control(p, ctlClosingInErr)
	}
}

// patience is how long a peer asked to close may be silent.
func (p *Params) patience() int64 { return max(p.c.CloseReqTime, p.longestRTO()) }
