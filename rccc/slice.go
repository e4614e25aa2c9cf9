// SPDX-License-Identifier: Apache-2.0

package rccc

import (
	"cmp"

	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/deadline"
)

// SliceConfig is for [NewSlicePolicy].
type SliceConfig struct {
	// Slice is the length of a time slice, in nanoseconds, up to a million. Default 1000.
	Slice int64

	// Carry moves the remainder of a slice's division to the next slice; otherwise the
	// remainder is lost, unless nobody would get a byte.
	Carry bool
}

// slicePolicy is what [NewSlicePolicy] returns.
type slicePolicy struct {
	slice  int64 // ns
	keep   bool
	open   bool   // some sender of this slice is not served yet
	number uint32 // of the slice, modulo 2^32; stamps the senders served
	share  int64  // bytes for each unit of weight
	carry  int64  // left over by the division, billionths of a byte
}

// NewSlicePolicy returns a policy that divides the capacity of each time slice equally
// among the senders with demand at the slice's begin, in proportion to the weights. The
// unneeded part of a share stays unused. A joining sender waits for the next slice; a
// leaving sender keeps granted credit.
//
// The model is that of UET congestion chapter 8: 12,500 bytes a microsecond at 100 Gb/s,
// 6,250 each for two senders. Errors wrap [ErrConfig].
func NewSlicePolicy(c SliceConfig) (GrantPolicy, error) {
	c.Slice = cmp.Or(c.Slice, 1000)
	if err := check.Range(ErrConfig, "Slice", c.Slice, 1, maxSlice); err != nil {
		return nil, err
	}
	return &slicePolicy{slice: c.Slice, keep: c.Carry}, nil
}

// maxSlice keeps the capacity of a slice in range at any speed, ns.
const maxSlice = 1e6

// Start begins the first slice's grants at the end of the slice.
func (p *slicePolicy) Start(now int64) int64 {
	p.open = false
	return deadline.After(now, p.slice)
}

// Update makes a sender active, from the next slice on: no sender has more credit than
// asked for, so a sender asking for more has demand, and the rest are owed an answer.
//
//uetcc:hot
func (p *slicePolicy) Update(t *Senders, i Slot, _ bool) {
	if s := &t.slab[i]; s.list != ListActive {
		s.stamp = p.number
		t.Move(i, ListActive)
	}
}

// Next serves the next sender of the slice, in the order of joining; the last
// one's grant carries the wait for the next slice.
//
//uetcc:hot
func (p *slicePolicy) Next(t *Senders, pace *Pace) (Grant, bool) {
	if t.active.n == 0 {
		return Grant{}, false
	}
	i := t.active.head
	s := &t.slab[i]
	if !p.open {
		p.begin(t, pace)
	} else if s.stamp == p.number { // the rest of the slice's senders left meanwhile
		p.open = false
		return Grant{Wait: p.slice * 1000}, true
	}
	need := max(s.target-s.cum, 0)
	n := min(p.share*int64(s.weight), need)
	s.stamp = p.number
	g := t.Grant(i, n, 0)
	if n < need {
		t.active.head = t.links[i].next
	} else {
		t.Move(i, ListNone)
	}
	if t.active.n == 0 || t.slab[t.active.head].stamp == p.number { // every sender of the slice was served
		p.open = false
		g.Wait = p.slice * 1000
	}
	return g, true
}

// begin divides the capacity of a new slice. Capacity too small for a byte each is kept:
// lost slice by slice, the remainder would leave everybody without credit for ever.
func (p *slicePolicy) begin(t *Senders, pace *Pace) {
	p.open = true
	p.number++
	capacity := pace.rate*p.slice + p.carry
	each := t.weight * 1e9
	p.share = capacity / each
	p.carry = 0
	if p.keep || p.share == 0 {
		p.carry = capacity - p.share*each
	}
}
