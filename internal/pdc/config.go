// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"cmp"
	"fmt"
	"math"

	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/pds"
)

// NewParams checks c and fills in the defaults. Errors wrap [ErrConfig] and name the
// field.
func NewParams(c Config) (Params, error) {
	if err := fill("BaseRTT", &c.BaseRTT, 12_000, 60_000_000_000); err != nil {
		return Params{}, err
	}
	rtts := func(n, least, limit int64) int64 { return min(max(n*c.BaseRTT, least), limit) }
	err := cmp.Or(
		fill("AckTrigger", &c.AckTrigger, 16<<10, 32<<10),
		fill("AckMinPktAdd", &c.AckMinPktAdd, 1<<10, 2<<10),
		fill("RTOInit", &c.RTOInit, rtts(8, 1_000_000, rtoMax), rtoMax),
		fill("NackRetxTime", &c.NackRetxTime, rtts(8, 1_000_000, rtoMax), rtoMax),
		fill("ClearTime", &c.ClearTime, max(rtts(8, 1_000_000, c.RTOInit/2), 1), rtoMax),
		fill("CloseReqTime", &c.CloseReqTime, rtts(8, 1_000_000, lapseMax), lapseMax),
		fill("NewPDCTime", &c.NewPDCTime, rtts(40, 5_000_000, lapseMax), lapseMax),
		fill("PendTimeout", &c.PendTimeout, rtts(800, 100_000_000, 100*rtoMax), 100*rtoMax),
		fill("TargetQDelay", &c.TargetQDelay, min(c.BaseRTT, rtoMax), rtoMax),
		fill("TailLossTime", &c.TailLossTime, rtts(8, 1_000_000, rtoMax), rtoMax),
		check.Range(ErrConfig, "IdleTime", c.IdleTime, 0, math.MaxInt64/4),
		fill("Range", &c.Range, defaultRange, MaxRange),
		fill("DefaultMPR", &c.DefaultMPR, 8, 255),
		check.Range(ErrConfig, "OverrideMPRZero", c.OverrideMPRZero, 0, MaxRange),
		check.Range(ErrConfig, "RcvrInferLoss", c.RcvrInferLoss, 0, MaxRange),
		fill("MaxAckData", &c.MaxAckData, 16, 8192),
		fill("MaxRTORetx", &c.MaxRTORetx, 5, rtoForever),
		fill("MaxNackRetx", &c.MaxNackRetx, 5, nackForever),
		fill("MaxTailLossRetx", &c.MaxTailLossRetx, 5, 15),
		fill("CloseThresh", &c.CloseThresh, MaxPDCs, MaxPDCs),
	)
	if err != nil {
		return Params{}, err
	}
	return derive(c)
}

// fill gives *v the default and checks the range 1 to limit.
func fill[T int | int64](name string, v *T, def, limit T) error {
	*v = cmp.Or(*v, def)
	return check.Range(ErrConfig, name, *v, 1, limit)
}

// derive checks conditions beyond ranges and computes the rest.
func derive(c Config) (Params, error) {
	if c.Start > StartExpected0RTT {
		return Params{}, fmt.Errorf("%w: Start is %d, want at most %d", ErrConfig, c.Start, StartExpected0RTT)
	}
	p := Params{c: c, room: uint32(c.Range) + rowLen, mpr: uint8((c.Range + mprUnit - 1) / mprUnit), ackAll: c.AckTrigger}
	if p.ranges = uint32(p.mpr) * mprUnit; c.OverrideMPRZero != 0 && c.OverrideMPRZero <= c.Range && c.Range < mprUnit {
		p.mpr, p.ranges = 0, uint32(c.Range)
	}
	p.c.OverrideMPRZero = cmp.Or(c.OverrideMPRZero, mprUnit)
	for mpr := range p.limits {
		p.limits[mpr] = uint16(min(cmp.Or(mpr*mprUnit, p.c.OverrideMPRZero), c.Range))
	}
	p.maxRTOs, p.maxNacks = retries(c.MaxRTORetx, rtoForever), retries(c.MaxNackRetx, nackForever)
	if p.maxShort = forever; p.maxNacks != forever {
		p.maxShort = min(2*p.maxNacks, nackForever-1)
	}
	p.responseMax = max(ResponseMax, dataHeaderLen+c.MaxAckData)
	p.replyMax = pds.AckCCLen + p.responseMax
	if c.AckPerPacket {
		p.ackAll = 0
	}
	if err := cmp.Or(answered("RTOInit", c.RTOInit, c.BaseRTT), answered("TailLossTime", c.TailLossTime, c.BaseRTT)); err != nil {
		return Params{}, err
	}
	for n := range uint8(min(p.maxRTOs, rtoForever) + 1) {
		p.unanswered += p.rto(n)
	}
	longest := p.longestRTO()
	p.c.IdleTime = cmp.Or(c.IdleTime, max(4_000_000_000, longest))
	if p.c.IdleTime < longest {
		const text = "%w: IdleTime is %d, want at least %d, the longest timeout by RTOInit and MaxRTORetx"
		return Params{}, fmt.Errorf(text, ErrConfig, p.c.IdleTime, longest)
	}
	return p, nil
}

// answered checks that an answer can come within a time.
func answered(name string, time, baseRTT int64) error {
	if time < min(baseRTT, rtoMax) {
		return fmt.Errorf("%w: %s is %d, want at least BaseRTT, %d: no answer comes in less", ErrConfig, name, time, baseRTT)
	}
	return nil
}

// retries is a number of retransmissions, where the value unlimited means no limit.
func retries(n, unlimited int) int {
	if n == unlimited {
		return forever
	}
	return n
}

const (
	rtoForever  = 15            // as MaxRTORetx: no limit
	nackForever = 31            // as MaxNackRetx: no limit
	forever     = math.MaxInt   // no limit, for either in Params
	rtoMax      = 8_000_000_000 // cap of the backed-off timeout, ns
)

// Params is a validated [Config]. Params are immutable and shared.
type Params struct {
	c Config // with the defaults filled in

	ranges uint32 // tracked as a target: no fewer than announced
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
