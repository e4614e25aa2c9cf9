// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"math/bits"

	"github.com/uetcc/uetcc/pds"
)

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
