package nscc

// A signal is what quick adapt looks at.
type signal struct {
	loss, marked bool
	qdelay       int64
}

// quickAdapt reports whether the event is dealt with: it set the window to what
// got through in the last period, or it is a mark from before that.
func (w *Window) quickAdapt(p *Params, now int64, s signal) bool {
	if p.qaOff {
		return false
	}
	if w.ignored < w.ignore && s.marked {
		w.action = ActionIgnore
		w.incr, w.received = 0, 0
		return true
	}
	return now >= w.qaEnd && w.endPeriod(p, now, s)
}

// endPeriod closes a quick-adapt period and opens the next, which lasts one base
// round trip and one target delay.
func (w *Window) endPeriod(p *Params, now int64, s signal) bool {
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
