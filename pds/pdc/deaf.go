package pdc

import "github.com/uetcc/uetcc/pds"

// Control packets that not every peer knows: the reference provider answers each PROBE and each
// CLEAR_REQ with UNEXP_EVENT, about PSN 0 and from no PDC. Such a peer is not probed again, and
// asked to clear rarely. Both can be done without: a timeout finds what a probe would have
// found, and clearing is what an initiator does on its own.
const (
	ctlProbes   = ctlProbe | ctlMeasure
	ctlOptional = ctlProbes | ctlClearReq
)

// isDeaf takes a NACK that says that the peer does not know what it was asked, and reports
// whether it is such: one of PSN 0, which is what those packets have, while one of them has
// no answer. Who forges it gains that a loss costs a timeout.
func (p *PDC) isDeaf(n *pds.Nack) bool {
	if n.Code != pds.NackUnexpEvent || n.PSN != 0 || p.asked == 0 {
		return false
	}
	if p.asked&ctlClearReq != 0 {
		p.refusals = min(p.refusals+1, 20)
	}
	p.deaf |= p.asked
	p.asked = 0
	if p.deaf&ctlProbes != 0 {
		p.ctl &^= ctlProbes
		p.probed, p.probeAt = 0, never
	}
	return true
}

// knowsProbes reports whether the peer may be probed.
func (p *PDC) knowsProbes() bool { return p.deaf&ctlProbes == 0 }
