package nscc

// A signal is what quick adapt looks at.
type signal struct {
	loss   bool
	qdelay int64
}

// skip deals with a mark from before a quick adapt.
func (w *Window) skip() {
	w.action = ActionIgnore
	w.incr, w.received = 0, 0
}

// endPeriod closes a quick-adapt period and opens the next, which lasts one base
// round trip and one target delay. It reports whether it set the window to what got
// through in the period.
func (w *Window) endPeriod(p *Params, now int64, s signal) bool {
	if p.qaOff {
		return false
	}
	asked := w.trigger || s.loss || s.qdelay > p.qaThreshold
	cut := w.qaEnd != 0 && asked && w.achieved < w.maxWnd>>p.qaGate
	if cut {
		w.cwnd = max(w.achieved, p.mtu)
		w.ignore, w.ignored = addSat(0, max(w.inflight, 0)), 0
		w.trigger = false
		w.action = ActionQuickAdapt
		w.incr, w.received = 0, 0
	}
	w.achieved = 0
	w.qaEnd = now + w.base + p.target
	return cut
}
