// SPDX-License-Identifier: Apache-2.0

package pdc

import "github.com/uetcc/uetcc/pds"

// resting answers a request for a PDC in quarantine, within limits. First transmissions may be
// left over from the PDC's life: only one is answered. Every retransmission is answered, since
// the sender has to learn that nobody is there, and answers can be lost.
func (w *answers) resting(now int64, p *PDC, b *inbound, out []byte, r *Result) error {
	w.stats.Unknown++
	if !p.is(flagRefused) || b.flags&pds.FlagRetx != 0 {
		p.flags |= flagRefused
		w.nackStranger(now, b, out, r, pds.NackInvDPDCID)
	}
	return ErrUnknown
}

// restingSYN drops a late SYN packet of a PDC in quarantine: the packet must not open a second
// PDC. A retransmission comes from an initiator that has never heard of the PDC; after the
// quarantine the packet would open a PDC, and deliver the data a second time: the initiator is told.
func (w *answers) restingSYN(now int64, p *PDC, b *inbound, out []byte, r *Result) error {
	if b.flags&pds.FlagRetx != 0 {
		return w.resting(now, p, b, out, r)
	}
	w.stats.Resting++
	return ErrResting
}

// restingControl acknowledges a CLOSE_CMD again from the remembered state.
func (w *answers) restingControl(now int64, p *PDC, b *inbound, c *pds.Control, out []byte, r *Result) error {
	if c.Ctl != pds.CtlCloseCmd || !p.is(flagClose) || b.psn != p.closePSN {
		p.flags &^= flagRefused // what asks for credit or an acknowledgement is repeated without a mark
		return w.resting(now, p, b, out, r)
	}
	r.Reply = w.ackClose(p, b, out)
	r.Verdict = VerdictDone
	return nil
}
