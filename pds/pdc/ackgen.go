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
	h := ackHead{flags: a.flags, next: a.next}
	if a.flags&pds.FlagP != 0 {
		h.offset, h.base = int16(a.opaque), p.rx.SACKFrom(a.psn)
	} else {
		h.offset, _ = pds.AckOffset(p.rx.CACK(), a.psn)
		if h.base = p.rx.SACKBase(a.psn); a.rove {
			h.base = p.rx.SACKRove()
		}
	}
	n := m.writeACK(p, (*[pds.AckCCLen]byte)(out), h, a.state)
	if len(a.bytes) != 0 && &a.bytes[0] != &out[n] {
		copy(out[n:], a.bytes)
	}
	return n + len(a.bytes)
}

// ackHead is an ackSpec once it is known where the SACK begins.
type ackHead struct {
	base   pds.PSN // of the SACK
	offset int16   // of the packet that caused it; with FlagP what the probe brought
	flags  pds.Flags
	next   pds.NextHdr
}

// writeACK writes the header of an acknowledgement and returns its length.
func (m *Manager) writeACK(p *PDC, out *[pds.AckCCLen]byte, a ackHead, st *AckState) int {
	p.ackBytes = 0
	m.stats.ACKs++
	if p.is(flagAskClose) && a.flags.Req() == pds.AckReqNone {
		a.flags = a.flags.WithReq(pds.AckReqClose)
		p.flags &^= flagAskClose
	}
	h := &m.ack
	h.Next, h.Flags, h.Offset, h.SPDCID, h.DPDCID, h.CACK = a.next, a.flags, a.offset, p.handle.ID(), p.peerID, p.rx.CACK()
	if m.p.PlainACK {
		n, _ := h.Ack.Encode(out[:])
		return n
	}
	h.MPR = m.p.mpr
	h.SACKOffset, _ = pds.AckOffset(h.CACK, a.base)
	var ooo uint16
	if h.Bitmap = 0; p.rx.holding || p.rx.high.After(p.rx.edge) {
		h.Bitmap, ooo = p.rx.SACK(a.base), uint16(p.rx.OOO())
	}
	if st.Type == pds.CCCredit {
		h.SetCredit(&pds.CreditState{Credit: st.Credit, OOOCount: ooo})
	} else {
		h.SetNSCC(&pds.NSCCState{ServiceTime: st.Service, Restore: st.Restore, CwndPend: st.Pend,
			RcvdBytes: (p.rcvd + pds.ByteUnit - 1) / pds.ByteUnit & (1<<24 - 1), OOOCount: ooo})
	}
	n, _ := h.Encode(out[:])
	return n
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
