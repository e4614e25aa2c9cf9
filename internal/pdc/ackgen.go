// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"encoding/binary"

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

// nullLen is the length of a default response. (UE Specification 1.0.x, Table 3-43.)
const nullLen = 12

// requestName is the part of a request repeated in a default response made here: message_id
// and JobID, 0 if unknown. All other fields are 0, including RC_NULL: the answer of the layer
// above is not kept, and went to the initiator with the first copy.
//
// Every acknowledgement that names a request has a response. The reference provider never
// ends a packet whose acknowledgement lacks a response, and after one lost acknowledgement
// the message waited for ever.
type requestName uint64

// Places of the fields in the first 8 bytes of a response, and of a request.
const (
	nameMessage = 0xffff << 32
	nameJob     = 0xff_ffff
)

// nameOf is the name of a request whose semantic header b begins with.
func nameOf(next pds.NextHdr, b []byte) requestName {
	if len(b) < 8 {
		return 0
	}
	v := requestName(binary.BigEndian.Uint64(b))
	switch next {
	case pds.NextRequestStd, pds.NextResponseData:
		return v & (nameMessage | nameJob)
	}
	return v & nameJob // the others have something else where message_id is
}

// sameMessage is the number of packets before a request surely of the same message, on an
// ordered PDC: all whole packets before message_offset.
func sameMessage(next pds.NextHdr, b []byte) uint32 {
	const som, eom = 1, 2
	if next != pds.NextRequestStd || len(b) < semanticLen[next] || b[1]&som != 0 {
		return 0
	}
	size, at := uint32(binary.BigEndian.Uint16(b[34:]))&0x3fff, binary.BigEndian.Uint32(b[36:])
	if b[1]&eom != 0 || size == 0 { // the last may be shorter than those before
		return 1
	}
	return at / size
}

// putNull has the acknowledgement bring the default response for n. The response is written
// in place behind the ACK_CC in out, so nothing is copied.
func (a *ackSpec) putNull(out []byte, n requestName) {
	b := out[pds.AckCCLen:][:nullLen]
	binary.BigEndian.PutUint64(b, uint64(n))
	binary.BigEndian.PutUint32(b[8:], 0)
	a.next, a.bytes = pds.NextResponse, b
}
