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
func (p *PDC) giveUpAt(c *Params, now int64) int64 {
	if p.state != StatePending && p.state != StateCloseWait && !(p.isOpening() && c.maxRTOs != forever) {
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
	switch {
	case p.state == StatePending:
		l.stats.PendingOver++
		l.abandon(now, p, Cause(pds.NackNewStartPSN))
		return
	case p.isOpening():
		l.fail(now, p, CauseRTO)
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

// isOpening reports whether p has sent SYN packets without an answer from the PDC at the peer.
func (p *PDC) isOpening() bool { return p.syn() && p.tx.next != 0 }

// opensFrom has p, with the first packet leaving now or a NACK of the peer just come, send SYN packets for as
// long as a PDC that those may have opened since is remembered at the peer: after the quarantine a SYN packet
// opens another PDC, and the data is delivered again. The time-outs of a packet end before, and a peer keeps a
// PDC without an answer for as long; but packets may wait for congestion control between their copies, behind
// packets of other PDCs. Half of the quarantine is left to the last copies, under way, and to
// clocks that differ.
//
// Source: UE Specification 1.0.3, Syn_Retx_Safety_Time, whose default is not public. With Max_RTO_Retx_Cnt
// for ever there is no bound.
func (l *life) opensFrom(now int64, p *PDC) { p.giveUpIn(now, l.opensFor()) }

func (l *life) opensFor() int64 {
	return min(deadline.After(l.p.unanswered, l.table.quarantine/2), lapseMax)
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
