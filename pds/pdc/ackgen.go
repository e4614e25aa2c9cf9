package pdc

import "github.com/uetcc/uetcc/pds"

// ackSpec is what an acknowledgement says beside the state of the window.
type ackSpec struct {
	psn    pds.PSN // the packet that caused it; with a probe, the SACK base wanted
	flags  pds.Flags
	opaque uint16 // with FlagP
	next   pds.NextHdr
	bytes  []byte
	state  *AckState
	rove   bool // enough bytes have arrived; no packet asked
}

// putACK writes an acknowledgement to out and returns its length.
func (m *Manager) putACK(p *PDC, out []byte, a *ackSpec) int {
	p.ackBytes = 0
	m.stats.ACKs++
	if p.is(flagAskClose) && a.flags.Req() == pds.AckReqNone {
		a.flags = a.flags.WithReq(pds.AckReqClose)
		p.flags &^= flagAskClose
	}
	cack := p.rx.CACK()
	h := &m.ack
	h.Next, h.Flags, h.SPDCID, h.DPDCID, h.CACK = a.next, a.flags, p.handle.ID(), p.peerID, cack
	var base pds.PSN
	if a.flags&pds.FlagP != 0 {
		h.Offset, base = int16(a.opaque), p.rx.SACKFrom(a.psn)
	} else {
		h.Offset, _ = pds.AckOffset(cack, a.psn)
		if base = p.rx.SACKBase(a.psn); a.rove {
			base = p.rx.SACKRove()
		}
	}
	var n int
	if m.p.PlainACK {
		n, _ = h.Ack.Encode(out)
	} else {
		h.SACKOffset, _ = pds.AckOffset(cack, base)
		h.Bitmap = p.rx.SACK(base)
		m.state(p, h, a.state)
		n, _ = h.Encode(out)
	}
	if len(a.bytes) != 0 && &a.bytes[0] != &out[n] {
		n += copy(out[n:], a.bytes)
	} else {
		n += len(a.bytes)
	}
	return n
}

// state fills in the congestion state of an ACK_CC.
func (m *Manager) state(p *PDC, h *pds.AckCC, st *AckState) {
	h.MPR = m.p.mpr
	ooo := uint16(p.rx.OOO())
	if st.Type == pds.CCCredit {
		h.SetCredit(&pds.CreditState{Credit: st.Credit, OOOCount: ooo})
		return
	}
	h.SetNSCC(&pds.NSCCState{ServiceTime: st.Service, Restore: st.Restore, CwndPend: st.Pend,
		RcvdBytes: (p.rcvd + pds.ByteUnit - 1) / pds.ByteUnit & (1<<24 - 1), OOOCount: ooo})
}

// ackStored sends a guaranteed response, the first time and again.
func (m *Manager) ackStored(p *PDC, i uint32, echo pds.Flags, st *AckState, out []byte) int {
	e := &m.mem.responses.slot[i]
	return m.putACK(p, out, &ackSpec{psn: e.psn, flags: echo.WithReq(pds.AckReqClear), next: e.hdr, bytes: e.data[:e.len], state: st})
}

// ackAgain acknowledges a packet whose answer was not kept: the default response.
func (m *Manager) ackAgain(p *PDC, b *inbound, out []byte) int {
	return m.putACK(p, out, &ackSpec{psn: b.psn, flags: b.echo(), next: m.p.NullNext, bytes: m.p.NullResponse, state: &b.state})
}

// ackStanding says what has arrived without answering any packet: for requests
// that are held back or worked on. Naming one of those would release it, so the
// acknowledgement names CACK, and the SACK shows the rest.
func (m *Manager) ackStanding(p *PDC, b *inbound, out []byte) int {
	return m.putACK(p, out, &ackSpec{psn: p.rx.CACK(), state: &b.state, rove: true})
}
