package nscc

// average moves the average by a fixed share of the sample.
func (w *Window) average(p *Params, q int64, b ackBits) {
	draining := w.base >> 2
	if q > p.drainAbove[b&markBit] {
		q = draining
	}
	w.avg = float64(p.gain*float64(q)) + float64(p.keep*w.avg)
}

// forget moves the average by the share of a base round trip that has passed.
func (w *Window) forget(now, q int64) {
	share := 1.0
	if since := now - w.lastSample; since < w.base {
		share = float64(max(since, 0)) / float64(w.base)
	}
	w.lastSample = now
	w.avg += float64(share * (float64(q) - w.avg))
}
