package ccc

// probeSize is the nominal size of a probe: UDP and a control packet, 24 bytes, and 40.
const probeSize = 64

// OnProbe takes the round trip of a probe, ns without the time that the
// destination held it: a sample of the base round trip and of nothing else. It counts in
// every mode and under every [Control], since it tells of the path: the window stays as
// it is, and what limits it later is right from the first event on.
//
// The base round trip is that of a full packet (config_base_rtt, UE Specification 1.0.x
// table 3-80). A probe is a small one, so the time by which a full packet takes longer on the
// sender's link is added; otherwise a path that holds few packets would get too small a
// window. (In htsim small packets do not lower the base round trip at all.)
func (c *Context) OnProbe(p *Params, now, rtt int64) {
	if rtt > 0 {
		c.window.SampleBase(&p.nscc, rtt+p.probeLacks)
	}
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
	m.settle(c, now)
}
