package pdc

import (
	"math/bits"

	"github.com/uetcc/uetcc/pds"
)

// A NACK may say that its sender has no such PDC, or has another one under the PDCID, and then
// names no PDC of its own (spdcid 0): whoever guesses a PDCID and a PSN that is out could end a
// connection with one packet. So such a NACK ends nothing, but has the peer asked: with an ACK_REQ
// about a PSN that follows from a secret. A peer that has the PDC acknowledges it; one that has
// begun again refuses that packet as it has refused the others, and so names the PSN, which
// nobody can who does not see the packets.
//
// What else a NACK with spdcid 0 may say to a PDC whose peer is known has packets sent again,
// and does not count among the refusals after which a PDC is given up.
//
// Source: RFC 5961, which has TCP answer a RST in the window, and one of unknown origin, with a
// challenge ACK.

// challengePeriod is a power of two, as ns: a PDC challenges once in so long, and an answer
// counts for 127 of them. It is RTO_Init_Time or up to twice that: a round trip is shorter.
func (p *Params) challengePeriod() uint { return uint(bits.Len64(uint64(p.c.RTOInit))) }

// A challenge is when the last one of a PDC was sent: 7 bits of the number of the period, and
// whether there was one.
type challenge uint8

const challenged challenge = 1 << 7

func challengeIn(period uint64) challenge { return challenge(period) | challenged }

// challenge asks the peer of p whether it has the PDC.
func (rec *recovery) challenge(now int64, p *PDC) {
	if c := challengeIn(uint64(now) >> rec.p.challengePeriod()); p.challenge != c {
		p.challenge = c
		rec.sched.control(p, ctlAckReq)
	}
}

// challengePSN is what an ACK_REQ of p is about: the last packet, or in a period with a challenge
// a PSN of long ago, which no packet in flight has. A peer that has the PDC says where it is.
func (s *starts) challengePSN(now int64, p *PDC) pds.PSN {
	if period := uint64(now) >> s.p.challengePeriod(); p.challenge == challengeIn(period) {
		return s.secretPSN(p, period)
	}
	return p.tx.Next() - 1
}

func (s *starts) secretPSN(p *PDC, period uint64) pds.PSN {
	const near, far = 1 << 16, 1 << 30
	return p.tx.start - near - pds.PSN(s.secret.Sum(uint64(p.handle), period)%far)
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

// gone reports whether a code says that the peer does not have the PDC.
func gone(c pds.NackCode) bool { return c == pds.NackInvDPDCID || c == pds.NackPDCHdrMismatch }

// strange reports whether a NACK for p tells nothing that only its peer knows, though that is
// known by now.
func (p *PDC) strange(n *pds.Nack) bool { return n.SPDCID == 0 && p.peerID != 0 }
