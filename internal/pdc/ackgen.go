// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/internal/view"
	"github.com/uetcc/uetcc/pds"
)

// answers write the immediate replies to a peer: acknowledgements, NACKs and control packets.
type answers struct {
	p       *Params
	mem     *memory
	stats   *Stats
	limiter limiter // of answers to packets without a PDC
}

// ackSpec is the content of an acknowledgement besides the state of the window.
type ackSpec struct {
	psn    pds.PSN // the packet that caused it; with a probe, the SACK base wanted
	flags  pds.Flags
	opaque uint16 // with FlagP
	next   pds.NextHdr
	bytes  []byte
	state  *AckState
	rove   bool // enough bytes have arrived; no packet asked
}

// putACK writes an acknowledgement to out and returns the length.
//
//uetcc:hot
func (w *answers) putACK(p *PDC, out []byte, a *ackSpec) int {
	h := ackHead{flags: a.flags, next: a.next}
	if a.flags&pds.FlagP != 0 {
		h.offset, h.base = int16(a.opaque), p.rx.SACKFrom(a.psn)
	} else {
		h.offset, _ = pds.AckOffset(p.rx.CACK(), a.psn)
		if h.base = p.rx.SACKBase(a.psn); a.rove {
			h.base = p.rx.SACKRove()
		}
	}
	n := w.writeACK(p, (*[pds.AckCCLen]byte)(out), h, a.state)
	if len(a.bytes) != 0 && &a.bytes[0] != &out[n] {
		copy(out[n:], a.bytes)
	}
	return n + len(a.bytes)
}

// ackHead is an ackSpec once the begin of the SACK is known.
type ackHead struct {
	base   pds.PSN // of the SACK
	offset int16   // of the packet that caused it; with FlagP what the probe brought
	flags  pds.Flags
	next   pds.NextHdr
}

// writeACK writes the header of an acknowledgement and returns the length.
//
//uetcc:hot
func (w *answers) writeACK(p *PDC, out *[pds.AckCCLen]byte, a ackHead, st *AckState) int {
	p.ackBytes = 0
	w.stats.ACKs++
	if p.is(flagAskClose) && a.flags.Req() == pds.AckReqNone {
		a.flags = a.flags.WithReq(pds.AckReqClose)
		p.flags &^= flagAskClose
	}
	if w.p.c.NoAckCC {
		return p.writePlain(out, a)
	}
	cack := p.rx.edge - 1
	var bitmap uint64
	var ooo int
	if p.rx.holding || !p.rx.inOrder() {
		cack, bitmap, ooo = p.rx.CACK(), p.rx.SACK(w.mem.far(p), a.base), p.rx.OOO(w.mem.far(p))
	}
	v := (*view.AckCC)(out)
	v.SetAck(pds.Prologue{Next: a.next, Flags: a.flags}, a.offset, cack)
	v.SetPDCs(p.handle.ID(), p.peerID)
	v.SetSACK(st.Type, w.p.mpr, int16(a.base-cack), bitmap)
	if st.Type == pds.CCCredit {
		v.SetCredit(&pds.CreditState{Credit: st.Credit, OOOCount: uint16(ooo)})
	} else {
		v.SetNSCC(st.Service, penalty(st), p.rcvdUnits(), uint16(ooo))
	}
	return pds.AckCCLen
}

// rcvdUnits is rcvd_bytes before the cut to 24 bits.
//
//uetcc:hot inlines nobounds
func (p *PDC) rcvdUnits() uint32 { return (p.rcvd + pds.ByteUnit - 1) / pds.ByteUnit }

// writePlain is writeACK without SACK and congestion state.
func (p *PDC) writePlain(out *[pds.AckCCLen]byte, a ackHead) int {
	h := pds.Ack{
		Next: a.next, Flags: a.flags, Offset: a.offset, SPDCID: p.handle.ID(), DPDCID: p.peerID, CACK: p.rx.CACK(),
	}
	return len(h.AppendTo(out[:0]))
}

// ackStored sends a guaranteed response, the first time and again.
func (w *answers) ackStored(p *PDC, i uint32, echo pds.Flags, st *AckState, out []byte) int {
	e := &w.mem.responses.slot[i]
	return w.putACK(p, out, &ackSpec{
		psn: e.psn, flags: echo.WithReq(pds.AckReqClear), next: e.hdr, bytes: w.mem.responses.stored(i), state: st,
	})
}

// ackAgain acknowledges a packet whose answer was not kept: the default response.
func (w *answers) ackAgain(p *PDC, b *inbound, out []byte) int {
	a := ackSpec{psn: b.psn, flags: b.echo(), state: &b.state}
	a.putNull(out, b.name)
	return w.putACK(p, out, &a)
}

// ackStanding reports arrivals without answering any packet: for requests held back or worked
// on. Naming such a request would release it, so the acknowledgement names CACK, and the SACK
// shows the rest. The acknowledgement may be the first for the packet at CACK, so the default
// response goes along.
func (w *answers) ackStanding(p *PDC, b *inbound, out []byte) int {
	a := ackSpec{psn: p.rx.CACK(), state: &b.state, rove: true}
	name := b.name
	if uint32(b.psn-a.psn) > b.same { // of another message, maybe
		name = 0
	}
	a.putNull(out, name)
	return w.putACK(p, out, &a)
}

// ackCleared reports the packets passed by CACK with a CLEAR_CMD. On a quiet PDC no other
// acknowledgement would, and each packet would time out. The cleared packet, named here, is
// released, so the acknowledgement answers no packet and is no round trip.
func (w *answers) ackCleared(p *PDC, b *inbound, out []byte) int {
	if !p.rx.CACK().After(p.rx.ClearPSN()) {
		return 0
	}
	return w.putACK(p, out, &ackSpec{psn: p.rx.ClearPSN(), state: &b.state})
}
