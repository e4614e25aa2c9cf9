// SPDX-License-Identifier: Apache-2.0

package pdc

import "github.com/uetcc/uetcc/pds"

// putNACK writes a NACK to out, counts the NACK, and returns the length.
func (w *answers) putNACK(out []byte, n *pds.Nack) int {
	w.stats.NACKs++
	return len(n.AppendTo(out[:0]))
}

// nack returns a NACK of a packet, from no PDC. A ROD_OOO names the packet that came too early, and
// in its payload Expected_PSN (UE Specification 1.0.3, as two public models have it).
func (w *answers) nack(b *inbound, code pds.NackCode) pds.Nack {
	n := b.nack(code)
	if code == pds.NackRODOOO {
		n.Payload = uint32(b.expected)
		if w.p.c.NackMissing {
			n.PSN = b.expected
		}
	}
	return n
}

// refuse writes a NACK of a packet of p to out and returns its length.
func (w *answers) refuse(p *PDC, b *inbound, out []byte, code pds.NackCode) int {
	n := w.nack(b, code)
	n.SPDCID = p.handle.ID()
	return w.putNACK(out, &n)
}

// nackPDC answers a packet of p.
func (w *answers) nackPDC(p *PDC, b *inbound, out []byte, r *Result, code pds.NackCode) {
	r.Reply = w.refuse(p, b, out, code)
}

// nackStranger answers a packet with no PDC here, within limits. Packets cut by a switch are
// not limited: the answer is no longer than the packet, and a peer without an answer takes all
// cut packets of the first window to be under way until a time-out.
func (w *answers) nackStranger(now int64, b *inbound, out []byte, r *Result, code pds.NackCode) {
	if !code.IsTrimmed() && !w.limiter.allow(now, b.src) {
		w.stats.Muted++
		return
	}
	n := w.nack(b, code)
	r.Reply = w.putNACK(out, &n)
}

// nackUnasked tells the peer that p is gone: the wait for the CLOSE_CMD is over. A NACK counts
// only for an outstanding packet, so the lowest missing packet is named. An initiator with
// nothing outstanding ignores the NACK, like a forged NACK, and is told INV_DPDCID when
// sending again.
func (w *answers) nackUnasked(p *PDC, out []byte) int {
	return w.putNACK(out, &pds.Nack{
		Code: pds.NackClosingInErr, PSN: p.rx.Missing(), SPDCID: p.handle.ID(), DPDCID: p.peerID,
	})
}
