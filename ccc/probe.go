package ccc

// OnProbe takes the round trip of a probe, ns without the time that the
// destination held it: a sample of the base round trip and of nothing else. It counts in
// every mode and under every [Control], since it tells of the path: the window stays as
// it is, and what limits it later is right from the first event on.
func (c *Context) OnProbe(p *Params, now, rtt int64) {
	c.window.SampleBase(&p.nscc, rtt)
	c.evaluate(p, now)
}

// OnProbe takes the round trip of a probe that a PDC has sent, ns.
func (m *Manager) OnProbe(pdc Handle, now, rtt int64) {
	b := m.live(pdc)
	if b == nil {
		return
	}
	c := &m.seatOf(b).context
	c.OnProbe(m.p, now, rtt)
	m.finish(b, c, now)
}
