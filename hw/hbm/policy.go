// SPDX-License-Identifier: Apache-2.0

package hbm

import (
	"cmp"

	"github.com/uetcc/uetcc/internal/check"
)

// Policy turns the bytes waiting in a memory controller into the penalty
// (rcv_cwnd_pend) of a receiver's ACKs: from Low to High waiting bytes the penalty
// grows from 1 to Max. An episode ends when the bytes waiting fall to Resume. How a
// destination computes rcv_cwnd_pend is not specified; the rule here is the simplest
// without flapping. Single writer.
type Policy struct {
	low, high, resume int64
	max               int64
	active            bool // an episode is on
	ended             bool // an episode has ended
}

// PolicyConfig describes a policy.
type PolicyConfig struct {
	Low    int64 // waiting bytes above which the penalty begins; 0 or more
	High   int64 // waiting bytes of penalty Max; above Low, up to 2^56
	Resume int64 // waiting bytes at which an episode ends, 0..Low
	Max    uint8 // strongest penalty, 1..127; 127 brings a source down to one packet per round trip
}

// maxThreshold keeps 127 times a threshold within an int64.
const maxThreshold = 1 << 56

// NewPolicy returns a policy without an episode. Errors wrap [ErrConfig] and name the
// field.
func NewPolicy(cfg PolicyConfig) (Policy, error) {
	err := cmp.Or(
		check.Range(ErrConfig, "Low", cfg.Low, 0, maxThreshold-1),
		check.Range(ErrConfig, "High", cfg.High, cfg.Low+1, maxThreshold),
		check.Range(ErrConfig, "Resume", cfg.Resume, 0, cfg.Low),
		check.Range(ErrConfig, "Max", cfg.Max, 1, 127),
	)
	if err != nil {
		return Policy{}, err
	}
	return Policy{low: cfg.Low, high: cfg.High, resume: cfg.Resume, max: int64(cfg.Max)}, nil
}

// Mark returns the fields of an ACK sent while the given number of bytes waits:
// rcv_cwnd_pend (0..127) and whether sources may restore their windows. The restore
// flag stays set after an episode, so a lost ACK does no harm.
func (p *Policy) Mark(waiting int64) (pend uint8, restore bool) {
	switch {
	case waiting > p.low:
		p.active = true
	case p.active && waiting <= p.resume:
		p.active, p.ended = false, true
	}
	if !p.active {
		return 0, p.ended
	}
	over := min(max(waiting-p.low, 0), p.high-p.low)
	return uint8(1 + (p.max-1)*over/(p.high-p.low)), false
}
