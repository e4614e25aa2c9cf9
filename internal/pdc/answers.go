// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"encoding/binary"

	"github.com/uetcc/uetcc/internal/table"
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
	if w.ackDue(p) || int32(p.rx.MaxRcvd()-a.base) < sackBits { // else the newest arrivals wait for an acknowledgement of their own
		p.ackBytes = 0
	}
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

// NackClass is the reaction of a refused packet's source. The zero
// value does nothing.
type NackClass uint8

const (
	NackIgnore   NackClass = iota // count the NACK; the retransmission timer decides
	NackRetx                      // the PDC lives: send the refused PSN again
	NackRetry                     // the target has no PDC yet: send the SYN again later
	NackGoBack                    // ordered PDC: send everything from the refused PSN again
	NackRenumber                  // number everything anew from the PSN in the payload
	NackNewPDC                    // the PDC will not take the packet; a new PDC may
	NackFatal                     // the PDC fails
)

// nackClasses follows UE Specification 1.0.x, Table 3-59. RCVD_SES_PROCG is
// ignored as the reference provider does: a packet sent again while the target still
// works on the first copy only brings the next NACK.
var nackClasses = [256]NackClass{
	pds.NackTrimmed: NackRetx, pds.NackTrimmedLastHop: NackRetx, pds.NackTrimmedACK: NackRetx,
	pds.NackNoPDCAvail: NackRetry, pds.NackNoCCCAvail: NackRetry, pds.NackNoBitmap: NackRetry,
	pds.NackNoPktBuffer: NackRetx, pds.NackNoGtdDelAvail: NackRetx, pds.NackNoSESMsgAvail: NackRetx, pds.NackNoResource: NackRetx,
	pds.NackPSNOORWindow: NackRetx, pds.NackRODOOO: NackGoBack,
	pds.NackInvDPDCID: NackNewPDC, pds.NackPDCHdrMismatch: NackNewPDC, pds.NackClosing: NackNewPDC, pds.NackClosingInErr: NackFatal,
	pds.NackPktNotRcvd: NackRetx, pds.NackGtdRespUnavail: NackFatal, pds.NackACKWithData: NackRetx,
	pds.NackInvalidSYN: NackFatal, pds.NackPDCModeMismatch: NackFatal, pds.NackNewStartPSN: NackRenumber,
	pds.NackUnexpEvent: NackFatal, pds.NackRcvrInferLoss: NackRetx,
	pds.NackExpNormal: NackRetx, pds.NackExpErr: NackNewPDC, pds.NackExpFatal: NackFatal,
}

// ClassOf returns the source's reaction to c; [NackIgnore] for reserved codes.
func ClassOf(c pds.NackCode) NackClass { return nackClasses[c] }

// Answers to packets with no PDC: a source gets so many at once, and one
// more each limiterRefill ns.
const (
	limiterBuckets = 256
	limiterBurst   = 32
	limiterRefill  = 10_000
)

// limiter is a token bucket for each of a number of hashed sources, so nobody can make
// the endpoint flood a victim with answers, or starve other sources of answers, all or
// a single one: the hash is keyed, so nobody knows the sharers of a bucket.
type limiter struct {
	hasher table.Hasher
	bucket [limiterBuckets]struct {
		at   int64 // when the bucket was last full, in effect
		used bool
	}
}

// allow takes a token of a, if any.
func (l *limiter) allow(now int64, a Addr) bool {
	b := &l.bucket[l.hasher.Sum(&table.Key{a.Hi, a.Lo})%limiterBuckets]
	full := now - limiterBurst*limiterRefill
	if !b.used || b.at < full {
		b.at, b.used = full, true
	}
	if b.at > now-limiterRefill {
		return false
	}
	b.at += limiterRefill
	return true
}
