// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
)

// What an end may send unasked, how often, and what it must not forget (I10).

// faultBucket lets so many through at once, and one more each refill ns.
type faultBucket struct{ level, last int64 }

// take reports whether the bucket, of n, lets one more through at now.
func (b *faultBucket) take(now, n, refill int64) bool {
	b.give(now, refill, 0)
	b.level += refill
	return b.level <= n*refill
}

// give lets more through: somebody asked for them.
func (b *faultBucket) give(now, refill, more int64) {
	b.level = max(b.level-max(now-b.last, 0)-more*refill, 0)
	b.last = now
}

// faultPace is how often a PDC may send control packets of a type.
type faultPace struct{ burst, refill int64 }

// faultPaces: timers pace them all. Those with a PSN of their own have timeouts, and
// are sent again for each NACK; a CLEAR_CMD also answers a CLEAR_REQ, and tells news as soon as the peer has
// sent some.
var faultPaces = [16]faultPace{
	pds.CtlNOOP: {3, 60 * us}, pds.CtlCloseCmd: {3, 60 * us}, pds.CtlCloseReq: {3, 60 * us}, pds.CtlNegotiation: {3, 60 * us},
	pds.CtlClearCmd: {3, 30 * us}, pds.CtlClearReq: {2, 60 * us}, pds.CtlProbe: {3, 10 * us}, pds.CtlCreditReq: {3, 10 * us},
}

// faultLimits watches one end in one life.
type faultLimits struct {
	e         *pdcEnd
	ctl       [][16]faultBucket // by PDCID and type
	owner     []pdc.Handle      // of that
	cleared   []pds.PSN         // told by the last CLEAR_CMD, by PDCID
	strangers []faultBucket     // refusals to a place, of packets without a PDC
	gaps      []faultGap        // ROD_OOO sent, by PDCID
	closed    []faultClosed     // by PDCID
}

// faultGap is a PSN that a ROD_OOO has named.
type faultGap struct {
	h   pds.PDCID // of the peer
	psn pds.PSN
	at  int64
}

// faultClosed is a CLOSE_CMD that a target has acknowledged.
type faultClosed struct {
	h    pdc.Handle
	from int
	peer pds.PDCID
	psn  pds.PSN
	at   int64
}

func newFaultLimits(e *pdcEnd, ids int) *faultLimits {
	return &faultLimits{e: e, ctl: make([][16]faultBucket, ids+1), owner: make([]pdc.Handle, ids+1), cleared: make([]pds.PSN, ids+1),
		gaps: make([]faultGap, ids+1), strangers: make([]faultBucket, 8), closed: make([]faultClosed, ids+1)}
}

func (l *faultLimits) bucket(h pdc.Handle, ctl pds.CtlType) *faultBucket {
	id := h.ID()
	if l.owner[id] != h {
		l.owner[id], l.ctl[id] = h, [16]faultBucket{}
	}
	return &l.ctl[id][ctl&15]
}

// sent holds that a control packet is not one too many.
func (l *faultLimits) sent(out *pdc.Out, head []byte) {
	var c pds.Control
	if _, err := c.Decode(head); err != nil || !out.Control {
		return
	}
	p := faultPaces[c.Ctl&15]
	if at := &l.cleared[out.PDC.ID()]; c.Ctl == pds.CtlClearCmd && *at != pds.PSN(c.Payload) {
		*at = pds.PSN(c.Payload)
		return
	}
	if c.Ctl == pds.CtlACKReq { // each packet of the window times out by itself
		p = faultPace{int64(l.e.w.s.window) + 4, max(faultRTO/int64(l.e.w.s.window), 1)}
	}
	if !l.bucket(out.PDC, c.Ctl).take(l.e.clock.now, p.burst, p.refill) {
		l.e.w.failf("I10: %s is one too many", headText(head))
	}
}

// received notes what a packet provokes.
func (l *faultLimits) received(b []byte, r *pdc.Result) {
	t, _ := pds.PeekType(b)
	if r.Err != nil || r.ID.PDC == 0 || int(r.ID.PDC.ID()) >= len(l.ctl) {
		return
	}
	var c pds.Control
	switch t {
	case pds.TypeNACK, pds.TypeNACKCCX:
		for _, ctl := range []pds.CtlType{pds.CtlNOOP, pds.CtlCloseCmd, pds.CtlCloseReq, pds.CtlNegotiation} {
			l.bucket(r.ID.PDC, ctl).give(l.e.clock.now, 60*us, 1)
		}
	case pds.TypeCP:
		if _, err := c.Decode(b); err == nil && c.Ctl == pds.CtlClearReq {
			l.bucket(r.ID.PDC, pds.CtlClearCmd).give(l.e.clock.now, 30*us, 1)
		}
	}
}

// answered holds that packets without a PDC are not refused more often than the
// limit for each source allows, but for packets that a switch has cut, and a gap of an ordered PDC is not told of more often
// than once in NACK_Retx_Time.
func (l *faultLimits) answered(to int, b []byte) {
	var n pds.Nack
	if _, err := n.Decode(b); err == nil && n.Code == pds.NackRODOOO && n.SPDCID != 0 {
		g := &l.gaps[n.SPDCID]
		if g.h == n.DPDCID && g.psn == pds.PSN(n.Payload) && g.at+faultNackRetx > l.e.clock.now {
			l.e.w.failf("I10: %s twice in %d ns", headText(b), l.e.clock.now-g.at)
		}
		*g = faultGap{n.DPDCID, pds.PSN(n.Payload), l.e.clock.now}
		return
	}
	if _, err := n.Decode(b); err != nil || n.SPDCID != 0 || n.Flags&pds.FlagNT != 0 || n.Code.IsTrimmed() || to >= len(l.strangers) {
		return
	}
	if n.Code.IsTrimmed() { // each packet that a switch has cut is answered, by no more than is left of it
		return
	}
	if !l.strangers[to].take(l.e.clock.now, 33, 10*us) {
		l.e.w.failf("I10: %s to %d is one too many", headText(b), to)
	}
}

// remembered reports whether b is a CLOSE_CMD that was acknowledged before, for an
// id that has not been used again since: then it must be acknowledged again.
func (l *faultLimits) remembered(from int, b []byte) bool {
	var c pds.Control
	if _, err := c.Decode(b); err != nil || c.Ctl != pds.CtlCloseCmd || c.Flags&pds.FlagSYN != 0 || int(c.DPDCID) >= len(l.closed) {
		return false
	}
	x := &l.closed[c.DPDCID]
	return x.h != 0 && x.from == from && x.peer == c.SPDCID && x.psn == c.PSN && l.e.seen[c.DPDCID].h == x.h &&
		l.e.table.ByID(c.DPDCID) == 0 && l.e.clock.now-x.at < l.e.w.quarantine()
}

// closing notes a CLOSE_CMD that has ended its PDC.
func (l *faultLimits) closing(from int, b []byte, r *pdc.Result, answer []byte) {
	var c pds.Control
	if _, err := c.Decode(b); err != nil || c.Ctl != pds.CtlCloseCmd || r.ID.PDC == 0 || int(c.DPDCID) >= len(l.closed) {
		return
	}
	t, _ := pds.PeekType(answer)
	if _, alive := l.e.m.PDC(r.ID.PDC); !alive && len(answer) > 0 && (t == pds.TypeACK || t == pds.TypeACKCC) && l.closed[c.DPDCID].h != r.ID.PDC {
		l.closed[c.DPDCID] = faultClosed{r.ID.PDC, from, c.SPDCID, c.PSN, l.e.clock.now}
	}
}
