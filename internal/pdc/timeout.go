// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/pds"
)

// timeouts queues the packets whose acknowledgement is overdue. False if a time-out ended the PDC.
func (rec *recovery) timeouts(now int64, p *PDC) bool {
	rec.mem.weighTrip(now, p)
	for off := p.tx.base; ; off++ {
		var ok bool
		if off, ok = p.tx.expired(rec.p, rec.mem, now, off); !ok {
			return true
		}
		pkt := p.tx.packet(rec.mem, off)
		most := rec.source.maxRTOs(p)
		if int(pkt.rtos) >= most && !rec.goesOn(p, pkt) {
			rec.overdue(now, p)
			return false
		}
		if pkt.rtos = min(pkt.rtos+1, rtosEver); int(pkt.rtos) >= most {
			rec.source.askAgain(now, p)
		}
		rec.stats.RTOs++
		if p.probed == 0 { // what goes now may be lost again, and would wait for twice the time-out
			p.probes = 0
		}
		rec.source.timedOut(now, p, off)
		if p.is(flagROD) && !p.tx.hasArrived(rec.mem, off) {
			if pkt.rtos >= rodPatience { // all goes again, so no order is lost
				rec.cc.Repath(ccc.Handle(p.handle))
			}
			rec.source.goBackOnRTO(now, p, off+1)
		}
	}
}

// rtosEver is after how many time-outs of a packet nobody believes its peer any more, unless
// MaxRTORetx is for ever.
const rtosEver = 63

// goesOn reports whether a packet is sent again that has timed out as often as it may: its peer has
// answered since, or shortly before it left, so the way there is full and not gone. A queue that
// others keep full drops the packet of a newcomer many times in a row.
func (rec *recovery) goesOn(p *PDC, pkt *packet) bool {
	return p.state != StateCloseAckWait && !p.is(flagFailed) && pkt.rtos < rtosEver &&
		rec.mem.trip[p.tx.slot].heard > max(pkt.sentAt-rec.p.longestRTO()/2, 0)
}

// maxRTOs is how often a packet of p is sent again on time. The CLOSE_CMD of a PDC
// that has failed is not sent for ever: a target may act on it only when all before it
// has come, and what was given up never will.
func (s *source) maxRTOs(p *PDC) int {
	if p.is(flagFailed) {
		return min(s.p.maxRTOs, failedRetx)
	}
	return s.p.maxRTOs
}

const failedRetx = 5

// rodPatience is the number of time-outs of a packet after which an ordered PDC takes a new path,
// each time.
const rodPatience = 2

// goBackOnRTO sends everything behind a lost packet of an ordered PDC again, in
// order, unless a SACK shows the packets kept by the target. Otherwise the target has dropped the
// packets and has said so once, in a ROD_OOO that may be lost: if each packet waited for a
// timeout, new packets would overtake and be dropped as well. (UE Specification 1.0.x: ROD
// recovers by go-back-N.)
func (s *source) goBackOnRTO(now int64, p *PDC, off uint32) {
	s.rewind(now, p, off, now, &pds.Nack{Code: pds.NackRODOOO, SPDCID: p.peerID})
}

// timedOut queues a packet taken for lost, or the question about an arrived packet: for each
// packet once in a doubling time-out, so questions are never more than the window's packets, nor
// answers more than questions. The specification has no further bound, and no question replaces
// another: each may want a response.
func (s *source) timedOut(now int64, p *PDC, off uint32) {
	l := p.tx.enqueue(s.mem, off, now)
	if p.tx.hasArrived(s.mem, off) {
		s.sched.control(p, ctlQuestion)
		return
	}
	if l.counted {
		s.recall(now, p, l.size)
		s.cc.OnInferredLoss(ccc.Handle(p.handle), now, ccc.Loss{Size: l.size, Entropy: l.entropy, NoPDC: p.peerID == 0})
		s.sched.release(p)
	}
	s.sched.wake(p)
}

// overdue ends a PDC whose peer does not answer. The CLOSE_CMD of a PDC closing anyway is not an
// error for anybody.
func (rec *recovery) overdue(now int64, p *PDC) {
	if p.state == StateCloseAckWait {
		rec.stats.Unconfirmed++
		rec.life.retire(now, p, CauseNone)
		return
	}
	rec.life.fail(now, p, CauseRTO)
}
