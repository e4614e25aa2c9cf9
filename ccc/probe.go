package ccc

// OnProbe takes the round trip of a probe, ns without the time that the
// destination held it: a sample of the base round trip and of nothing else.
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
