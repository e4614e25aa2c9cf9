// SPDX-License-Identifier: Apache-2.0

package pdc

import "github.com/uetcc/uetcc/pds"

// Control packets unknown to some peers: the reference provider answers each PROBE and each
// CLEAR_REQ with UNEXP_EVENT, about PSN 0 and from no PDC. Such a peer is not probed again, and
// asked to clear rarely. Both are dispensable: a timeout finds the losses that a probe would
// have found, and an initiator clears unasked.
const (
	ctlProbes   = ctlProbe | ctlMeasure
	ctlOptional = ctlProbes | ctlClearReq
)

// isDeaf takes a NACK from a peer ignorant of the packet asked with, and reports whether the
// NACK is such: of PSN 0, the PSN in these packets, while such a packet has no answer. A forger
// only gains that a loss costs a timeout.
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
