// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"math/bits"

	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/pds"
)

// An address that may be forged gets at most three bytes for each received byte, IP and UDP headers
// included. A source proves that it receives by naming the PDCID given here in a packet without the
// SYN flag, or by starting at the PSN asked for. Until then:
//
//   - a SYN packet has one answer, shorter than the packet or little longer;
//   - so many control packets go, for each SYN packet received, CLOSE_REQ, CREDIT and the last NACK among
//     them; the acknowledgement of a request whose answer comes later goes in the place of two;
//   - a first request on a PDC for more than fits into an acknowledgement is refused: the layer
//     above asks [Manager.Doubts], and refuses with NEW_START_PSN;
//   - data submitted nevertheless waits, behind a NOOP asking for a sign.
//
// Source: RFC 9000, section 8.1, has the factor. UET's rules are not public; the use of the
// NEW_START_PSN of section 3.5 is a choice of package pdc.

// So many control packets, of 44 bytes, does a SYN packet pay for beside the acknowledgement: a
// request of 60 bytes beside 88, of 72 or more beside 96, a control packet of 44 beside 60. An
// acknowledgement without an answer, of 72 bytes, counts as two.
const (
	tellsPerRequest = 2
	tellsPerControl = 1
	tellsPerACK     = 2
)

// Doubts reports whether the peer of h, opened by the peer, has yet to show that it receives, and
// whether nothing has been taken on the PDC. Then refuse a request whose answer takes separate
// packets ([RespondRefuse]) with [pds.NackNewStartPSN]; the request comes again a round trip later.
// If requests were taken before, the refused request counts as lost, and comes again once those are
// acknowledged.
func (m *Manager) Doubts(h Handle) (doubts, first bool) {
	p := m.get(h)
	if p == nil || !m.reply.doubts(p) {
		return false, false
	}
	return true, p.isUnheard()
}

// isUnheard reports whether the peer of p, a target, can know nothing of p: nothing has been taken
// or sent on p.
func (p *PDC) isUnheard() bool {
	return p.rx.seen == seenNothing && p.tx.tail == 0 && p.state == StateEstablished
}

func (w *answers) doubts(p *PDC) bool { return p.is(flagUnproven) && !w.p.c.KnownSources }

// DoubtsSource is [Manager.Doubts] for packets without a PDC: true without a PDC, now or of late, on
// which the address has shown that it receives.
func (m *Manager) DoubtsSource(src Addr) bool {
	if m.p.c.KnownSources {
		return false
	}
	return !m.table.provenIn(m.table.general, src) && !m.table.provenIn(m.table.beside, src)
}

// showContext tells the PDCs of show apart from PDCs of messages.
const showContext = 0xffff

// show opens a PDC to a peer that refused a RUDI packet for want of a PDC: when the opening NOOP is
// acknowledged, an ACK_REQ names the PDCID given by the peer. The PDC stays until idle for long, and
// is asked about when the peer refuses again.
func (m *Manager) show(now int64, local, peer Addr) {
	k := InitiatorKey{Source: local.Netip(), Destination: peer.Netip(), Context: showContext}
	h := m.life.usable(now, &k)
	if h == 0 {
		var err error
		if h, err = m.life.openInitiator(now, &k); err != nil || m.Noop(h) != nil {
			return // the RUDI packet comes again, and may find memory then
		}
	}
	if p := m.get(h); p.ctl&ctlAckReq == 0 && (p.peerID == 0 || deadline.After(p.activeAt, m.p.c.RTOInit) <= now) {
		m.sched.control(p, ctlAckReq)
	}
}

// mayTell reports whether a control packet may go to the peer of p.
func (w *answers) mayTell(p *PDC) bool { return w.mayCost(p, 1) }

// mayCost reports whether what counts as so many control packets may go to the peer of p.
func (w *answers) mayCost(p *PDC, tells uint8) bool {
	if !w.doubts(p) {
		return true
	}
	if p.resp.tells < tells {
		w.stats.Muted++
		return false
	}
	p.resp.tells -= tells
	return true
}

// ackUnanswered is ackStanding for a request whose answer comes later, if the peer may have both.
func (w *answers) ackUnanswered(p *PDC, b *inbound, out []byte) int {
	if !w.mayCost(p, tellsPerACK) {
		return 0
	}
	return w.ackStanding(p, b, out)
}

// doubt refuses a request of a peer that has yet to show that it receives. After a first request the
// PDC is forgotten, and the peer asked to start at a new PSN. A later request counts as lost, and
// comes again, with the PDCID the peer has been told by then. Only the first copy is answered, to
// speed up the repetition: the peer would count the answers to each copy.
func (m *Manager) doubt(now int64, p *PDC, b *inbound, out []byte) int {
	if !p.isUnheard() || b.flags&pds.FlagSYN == 0 {
		if m.stats.Doubted++; b.flags&pds.FlagRetx != 0 {
			return 0
		}
		return m.reply.refuse(p, b, out, pds.NackPktNotRcvd)
	}
	p.state = StatePending // which has taken no packet, so that nothing has to be remembered
	m.life.retire(now, p, CauseNone)
	return m.start.askStart(now, b, out)
}

// A NACK may deny the PDC, or report a different PDC under the PDCID, and then names no PDC of
// the sender (spdcid 0): a guess of a PDCID and an outstanding PSN could end a connection with
// one packet. So such a NACK ends nothing, but has the peer asked: with an ACK_REQ about a PSN
// derived from a secret. A peer with the PDC acknowledges; a restarted peer refuses the ACK_REQ
// like the packets before, and so names the PSN, impossible for anybody who does not see the
// packets.
//
// Other NACKs with spdcid 0 to a PDC whose peer is known have packets sent again, and do not
// count among the refusals after which a PDC is given up.
//
// Source: RFC 5961, where TCP answers a RST in the window, or of unknown origin, with a challenge
// ACK.

// challengePeriod is a power of two, as ns: a PDC challenges once in a period, and an answer
// counts for 127 periods. The period is RTO_Init_Time or up to twice as long: a round trip is
// shorter.
func (p *Params) challengePeriod() uint { return uint(bits.Len64(uint64(p.c.RTOInit))) }

// A challenge is the time of a PDC's last challenge: 7 bits of the number of the period, and a
// bit for any at all.
type challenge uint8

const challenged challenge = 1 << 7

func challengeIn(period uint64) challenge { return challenge(period) | challenged }

// challenge asks the peer of p about the PDC.
func (rec *recovery) challenge(now int64, p *PDC) {
	if c := challengeIn(uint64(now) >> rec.p.challengePeriod()); p.challenge != c {
		p.challenge = c
		rec.sched.control(p, ctlAckReq)
	}
}

// challengePSN is the PSN in an ACK_REQ of p: the last packet's, or in a period with a challenge
// a PSN of long ago, not in flight. A peer with the PDC answers with the state of the window.
func (s *starts) challengePSN(now int64, p *PDC) pds.PSN {
	if period := uint64(now) >> s.p.challengePeriod(); p.challenge == challengeIn(period) {
		return s.secretPSN(p, period)
	}
	return p.tx.Next() - 1
}

// The PSNs in challenges lie so far before the Start_PSN.
const challengeNear, challengeSpan = 1 << 16, 1 << 30

func (s *starts) secretPSN(p *PDC, period uint64) pds.PSN {
	return p.tx.start - challengeNear - pds.PSN(s.secret.Sum(uint64(p.handle), period)%challengeSpan)
}

// mayAsk reports whether the peer of p may ask about psn: a packet of long ago, or the PSN of a challenge.
func (p *PDC) mayAsk(psn pds.PSN) bool {
	sent := uint32(psn-p.tx.start) <= uint32(p.rx.CACK()-p.tx.start)
	return sent || uint32(p.tx.start-psn) <= challengeNear+challengeSpan
}

// confirms reports whether a NACK is the answer to the last challenge of p.
func (s *starts) confirms(now int64, p *PDC, n *pds.Nack) bool {
	if p.challenge == 0 {
		return false
	}
	period := uint64(now) >> s.p.challengePeriod()
	period -= uint64(challengeIn(period)-p.challenge) & uint64(challenged-1)
	return n.PSN == s.secretPSN(p, period)
}

// gone reports whether a code says the peer does not have the PDC.
func gone(c pds.NackCode) bool { return c == pds.NackInvDPDCID || c == pds.NackPDCHdrMismatch }

// strange reports whether a NACK for p lacks the secret of the peer, the PDCID, though known by
// now.
func (p *PDC) strange(n *pds.Nack) bool { return n.SPDCID == 0 && p.peerID != 0 }
