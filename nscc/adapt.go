// SPDX-License-Identifier: Apache-2.0

package nscc

// skip deals with a mark from before a quick adapt.
func (w *Window) skip() {
	w.did(ActionIgnore)
	w.incr, w.received = 0, 0
}

// quickAdapt sets the window to the bytes acknowledged in the period that ends
// now, unless the period is the first or much was acknowledged, and reports
// whether.
//
//uetcc:hot inlines nobounds
func (w *Window) quickAdapt(p *Params) bool {
	if w.qaEnd == 0 || w.achieved >= int64(w.maxWnd)>>p.qaGate {
		return false
	}
	w.cwnd = max(w.achieved, p.mtu)
	w.ignore, w.ignored = small(w.inflight), 0
	w.trigger = false
	w.did(ActionQuickAdapt)
	w.incr, w.received = 0, 0
	return true
}

// openPeriod begins a quick-adapt period: one base round trip and one target
// delay.
//
//uetcc:hot inlines nobounds
func (w *Window) openPeriod(p *Params, now int64) {
	w.achieved = 0
	w.qaEnd = now + w.base + p.target
}
