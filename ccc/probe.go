// SPDX-License-Identifier: Apache-2.0

package ccc

// probeSize is the nominal size of a probe: UDP and a control packet, 24 bytes, and 40.
const probeSize = 64

// OnProbe takes the round trip of a probe, ns without the time at the destination: a sample
// of the base round trip and of nothing else. The sample counts in every mode and under every
// [Control], being about the path: the window is unchanged, and later limits are right from
// the first event on.
//
// The base round trip is for a full packet (config_base_rtt, UE Specification 1.0.x table
// 3-80). A probe is small, so the extra time of a full packet on the sender's link is added;
// otherwise a path of few packets would get too small a window. (In htsim small packets do
// not lower the base round trip at all.)
func (c *Context) OnProbe(p *Params, now, rtt int64) {
	if rtt > 0 {
		c.window.SampleBase(&p.nscc, rtt+p.probeLacks)
	}
	c.evaluate(p, now)
}

// OnProbe takes the round trip of a probe a PDC has sent, ns.
func (m *Manager) OnProbe(pdc Handle, now, rtt int64) {
	b := m.live(pdc)
	if b == nil {
		return
	}
	c := &m.seatOf(b).context
	c.OnProbe(m.p, now, rtt)
	m.settle(c, now)
}
