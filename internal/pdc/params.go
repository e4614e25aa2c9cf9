// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"math"

	"github.com/uetcc/uetcc/internal/deadline"
)

const (
	rtoForever  = 15            // as MaxRTORetx: no limit
	nackForever = 31            // as MaxNackRetx: no limit
	forever     = math.MaxInt   // no limit, for either in Params
	rtoMax      = 8_000_000_000 // cap of the backed-off timeout, ns
)

// Params is a validated [Config]. Params are immutable and shared.
type Params struct {
	c Config // with the defaults filled in

	ranges uint32 // Range
	room   uint32 // packets queued and not released, at most: Range, and a row that waits behind
	mpr    uint8  // announced
	ackAll int64  // trigger in effect

	limits [256]uint16 // by mpr, see limit

	maxRTOs, maxNacks int // MaxRTORetx and MaxNackRetx, or forever
	maxShort          int // MaxNackRetx for want of memory

	unanswered int64 // the time-outs of a packet until the PDC fails, in all

	responseMax int // longest response
	replyMax    int // longest packet in answer
}

// MaxAckData is how much read data rides in an ACK, bytes.
func (p *Params) MaxAckData() int { return p.c.MaxAckData }

// NackRetxTime is the wait of a refused packet, ns.
func (p *Params) NackRetxTime() int64 { return p.c.NackRetxTime }

// ReplyMax is the longest answer of a manager: [ReplyMax], or more with a
// MaxAckData above the default.
func (p *Params) ReplyMax() int { return p.replyMax }

// rto is the timeout of a packet timed out n times:
// min(RTO_Init_Time x 2^n, 8 s).
func (p *Params) rto(n uint8) int64 { return deadline.Backoff(p.c.RTOInit, n, rtoMax) }

// longestRTO is the timeout of the last retransmission.
func (p *Params) longestRTO() int64 {
	return p.rto(uint8(min(p.maxRTOs, rtoForever)))
}

// refused is the wait after the target's (n+1)th refusal to open a PDC:
// NACK_Retx_Time x 2^n, at most 8 s. The missing resource comes back when a peer
// closes, not sooner for more questions.
func (p *Params) refused(n uint8) int64 { return deadline.Backoff(p.c.NackRetxTime, n, rtoMax) }

// limit is the number of PSNs an mpr stands for, but not more than tracked here.
func (p *Params) limit(mpr uint8) uint16 { return p.limits[mpr] }

const never = math.MaxInt64
