package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/pds"
)

// measure has a probe take the base round trip of a congestion control context
// that is new: as a small packet in the class of control packets it meets no
// queue, which data may. It goes out when the first answer of the peer names the
// PDC, since a probe cannot open one, and only where more is to be sent than the
// path holds: less is over before the result would matter.
//
// Source: UE Specification 1.0.x section 3.6.13.
func (m *Manager) measure(p *PDC) {
	if !p.is(flagMeasure) {
		return
	}
	c := m.cc.Context(p.cc)
	if c.Backlog()+c.Inflight() > m.cc.Params().NSCC().Constants().BDP {
		m.control(p, ctlMeasure)
	}
}

// answersProbe reports whether an acknowledgement is the answer to the last probe.
func (p *PDC) answersProbe(h *pds.AckCC) bool {
	return h.Flags&pds.FlagP != 0 && h.ProbeOpaque() == p.opaque && p.probed != 0
}

// measured takes the answer to the last probe.
func (m *Manager) measured(now int64, p *PDC, h *pds.AckCC) {
	var st pds.NSCCState
	h.NSCC(&st) // else 0
	if p.cc == 0 {
		return // failed meanwhile
	}
	m.cc.OnProbe(ccc.Handle(p.handle), now, now-p.probed-int64(st.ServiceTime)*pds.ServiceTimeUnit)
	if !m.p.c.InferLoss { // else afterACK is to see it
		p.probed = 0
	}
}
