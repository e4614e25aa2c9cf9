// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/internal/table"
	"github.com/uetcc/uetcc/pds"
)

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
