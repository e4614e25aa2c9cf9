// SPDX-License-Identifier: Apache-2.0

package nscc

import "github.com/uetcc/uetcc/internal/enum"

// Filter is the averaging rule of the queueing delay for the multiplicative
// decrease. The specification leaves the rule to the implementation.
type Filter uint8

const (
	// FilterRecorded moves by 1/80 of the difference to each sample, and takes a
	// quarter of the base round trip instead of an unmarked sample above target: the
	// queue behind is draining. The rule of htsim.
	FilterRecorded Filter = iota
	// FilterEWMA moves by 1/80 of the difference to each sample.
	FilterEWMA
	// FilterForgetting moves by the share of a base round trip passed since the last
	// sample. The rule of the ns-3 model.
	FilterForgetting
)

var filterNames = [...]string{"recorded", "ewma", "forgetting"}

// String is recorded, ewma or forgetting.
func (f Filter) String() string { return enum.Name(filterNames[:], f) }

// average moves the average by a fixed share of the sample.
//
//uetcc:hot inlines nobounds
func (w *Window) average(p *Params, sample int64) float64 {
	w.avg = float64(p.gain*float64(sample)) + float64(p.keep*w.avg)
	return w.avg
}

// forget moves the average by the share of a base round trip passed.
func (w *Window) forget(now, q int64) {
	share := 1.0
	if since := now - w.lastSample; since < w.base {
		share = float64(max(since, 0)) / float64(w.base)
	}
	w.lastSample = now
	w.avg += float64(share * (float64(q) - w.avg))
}
