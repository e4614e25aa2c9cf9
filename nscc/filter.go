// SPDX-License-Identifier: Apache-2.0

package nscc

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
