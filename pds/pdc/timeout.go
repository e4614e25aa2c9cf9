package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/pds"
)

// timeouts queues the packets whose acknowledgement is overdue. It reports false
// if that ended the PDC.
func (m *Manager) timeouts(now int64, p *PDC) bool {
	m.weighTrip(p)
	for off := p.tx.base; ; off++ {
		var ok bool
		if off, ok = p.tx.expired(m.p, m.mem, now, off); !ok {
			return true
		}
		pkt := p.tx.packet(m.mem, off)
		if int(pkt.rtos) >= m.maxRTOs(p) {
			m.overdue(now, p)
			return false
		}
		pkt.rtos = min(pkt.rtos+1, 63)
		m.stats.RTOs++
		m.timedOut(now, p, off)
		if p.is(flagROD) && !p.tx.hasArrived(m.mem, off) {
			if pkt.rtos >= rodPatience { // all goes again, so no order is lost
				m.cc.Repath(ccc.Handle(p.handle))
			}
			m.goBackOnRTO(now, p, off+1)
		}
	}
}

// maxRTOs is how often a packet of p is sent again on time. The CLOSE_CMD of a PDC
// that has failed is not sent for ever: a target may act on it only when all before it
// has come, and what was given up never will.
func (m *Manager) maxRTOs(p *PDC) int {
	if p.is(flagFailed) {
		return min(m.p.maxRTOs, failedRetx)
	}
	return m.p.maxRTOs
}

const failedRetx = 5

// rodPatience is after how many time-outs of a packet an ordered PDC takes another way, each time.
const rodPatience = 2

// goBackOnRTO sends everything behind a lost packet of an ordered PDC again, in
// order, unless a SACK says that the target keeps it. The target has dropped it and
// has said so once, in a ROD_OOO that may be lost: if each packet waited for its
// own timeout, new ones would overtake it and be dropped as well. (UE Specification
// 1.0.x: ROD recovers by go-back-N.)
func (m *Manager) goBackOnRTO(now int64, p *PDC, off uint32) {
	m.rewind(now, p, off, now, &pds.Nack{Code: pds.NackRODOOO, SPDCID: p.peerID})
}

// timedOut queues a packet that is taken for lost, or the question about one that
// has arrived: of each packet once in a time-out that doubles, so that questions are never
// more than the window's packets, nor answers more than questions. The specification bounds
// them no further, and one is no substitute for others: each may want its own response.
func (m *Manager) timedOut(now int64, p *PDC, off uint32) {
	l := p.tx.enqueue(m.mem, off, now)
	if p.tx.hasArrived(m.mem, off) {
		m.control(p, ctlQuestion)
		return
	}
	if l.counted {
		m.cc.OnInferredLoss(ccc.Handle(p.handle), now, ccc.Loss{Size: l.size, Entropy: l.entropy, NoPDC: p.peerID == 0})
		m.release(p)
	}
	m.wake(p)
}

// overdue ends a PDC whose peer does not answer. The CLOSE_CMD of a PDC that is
// closing anyway is not an error for anybody.
func (m *Manager) overdue(now int64, p *PDC) {
	if p.state == StateCloseAckWait {
		m.stats.Unconfirmed++
		m.retire(now, p, CauseNone)
		return
	}
	m.fail(now, p, CauseRTO)
}
