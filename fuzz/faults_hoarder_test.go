// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/fuzz/internal/faultnet"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
)

// faultHoarder is a peer that acknowledges all and never clears: it has a PDC at each of
// the others, goes on with requests and questions of every kind, and is told what it is
// asked in vain. It stops for nothing but the end of its PDC.
type faultHoarder struct {
	w     *faultWorld
	place int
	next  int64
	hoard []faultHoard // by place of the target
	buf   [80]byte
}

// faultHoard is the PDC of a hoarder at a target.
type faultHoard struct {
	id, peer   pds.PDCID // 0 before it is open, and before it is answered
	start, psn pds.PSN   // psn is the next
	cack       pds.PSN
	ends       int   // PDCs that have come to their end
	rest       int64 // until then nothing is begun
	askedAt    int64 // since when it is asked to clear, 0 it is not
	longest    int64 // from then to the end
}

// A hoarder's packet comes a hundred times in the time that a peer may be silent.
const faultHoardPace = 20_000 * us

func newFaultHoarder(w *faultWorld, place int) *faultHoarder {
	return &faultHoarder{w: w, place: place, next: w.net.Now, hoard: make([]faultHoard, place)}
}

func (x *faultHoarder) act() {}

func (x *faultHoarder) quiet() bool {
	for i := range x.hoard {
		if x.hoard[i].id != 0 {
			return false
		}
	}
	return true
}

func (x *faultHoarder) deadline() int64 {
	if x.w.net.Healed() && x.quiet() {
		return math.MaxInt64
	}
	return x.next
}

// arrive takes what a target says. Only a word that the PDC has gone counts.
func (x *faultHoarder) arrive(p *faultnet.Packet) {
	if p.From >= len(x.hoard) || p.Fabled {
		return
	}
	h := &x.hoard[p.From]
	var a pds.AckCC
	var k pds.Nack
	var c pds.Control
	if _, err := a.Decode(p.Head); err == nil && a.DPDCID == h.id {
		if h.peer = a.SPDCID; a.CACK.After(h.cack) {
			h.cack = a.CACK
		}
	}
	if _, err := c.Decode(p.Head); err == nil && c.DPDCID == h.id && h.id != 0 {
		x.heed(p.From, h, &c)
	}
	if _, err := k.Decode(p.Head); err == nil && k.DPDCID == h.id && h.peer != 0 && pdc.ClassOf(k.Code) >= pdc.NackNewPDC {
		if h.askedAt != 0 {
			h.longest = max(h.longest, x.w.net.Now-h.askedAt)
		}
		*h = faultHoard{ends: h.ends + 1, longest: h.longest, rest: x.w.net.Now + 5_000_000*us}
	}
}

// heed acknowledges what wants that, and does nothing of it.
func (x *faultHoarder) heed(to int, h *faultHoard, c *pds.Control) {
	switch c.Ctl {
	case pds.CtlClearReq:
		if h.askedAt == 0 {
			h.askedAt = x.w.net.Now
		}
	case pds.CtlCloseReq:
		a := pds.AckCC{Ack: pds.Ack{SPDCID: h.id, DPDCID: c.SPDCID, CACK: c.PSN}}
		x.w.net.Inject(faultnet.Hostile, x.place, to, a.AppendTo(x.buf[:0]))
	}
}

func (x *faultHoarder) tick() {
	x.next = x.w.net.Now + x.w.net.Rand.Int64N(2*faultHoardPace)
	for to := range x.hoard {
		if h := &x.hoard[to]; h.id != 0 || !x.w.net.Healed() && h.rest <= x.w.net.Now {
			x.w.net.Inject(faultnet.Hostile, x.place, to, x.packet(h))
		}
	}
}

// packet is something to a target, which says that there still is somebody.
func (x *faultHoarder) packet(h *faultHoard) []byte {
	r := x.w.net.Rand
	if h.id == 0 {
		start := pds.PSN(r.Uint32())
		h.id, h.start, h.psn, h.cack = pds.PDCID(1+r.IntN(65535)), start, start, start-1
	}
	psn := h.psn
	switch n := r.IntN(6); {
	case h.peer == 0 || n < 3 && h.psn-h.cack < 1000:
		if h.peer != 0 || h.psn == h.start {
			h.psn++
		} else {
			psn = h.start // until it is answered
		}
		return x.request(h, psn)
	case n == 3 && h.psn != h.start:
		return x.request(h, h.start+pds.PSN(r.IntN(int(h.psn-h.start))))
	case n == 4:
		c := pds.Control{Ctl: pds.CtlACKReq, Flags: pds.FlagAR, SPDCID: h.id, DPDCID: h.peer, PSN: psn - 1}
		return c.AppendTo(x.buf[:0])
	default:
		c := pds.Control{Ctl: pds.CtlProbe, Flags: pds.FlagAR, SPDCID: h.id, DPDCID: h.peer, Payload: pds.Payload(h.cack)}
		return c.AppendTo(x.buf[:0])
	}
}

// request is the packet psn; it clears nothing.
func (x *faultHoarder) request(h *faultHoard, psn pds.PSN) []byte {
	q := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, Flags: pds.FlagRetx | pds.FlagAR, SPDCID: h.id, DPDCID: h.peer, PSN: psn}
	q.ClearOffset, _ = pds.ClearOffset(psn, h.start-1)
	if h.peer == 0 {
		q.Flags |= pds.FlagSYN
		q.Info = pds.MakePDCInfo(false, uint16(psn-h.start))
	}
	return append(q.AppendTo(x.buf[:0]), make([]byte, 60)...)
}

// hoardSetting is one in which the store is a few places, all of which a hoarder takes.
var hoardSetting = faultSetting{name: "hoarding peer", loss: .05, dup: .03, replay: .01, jitter: 35, tail: 100,
	window: 32, perMessage: 9, budget: 600, guaranteed: .3, read: .2, retries: 8, closing: .05, responses: 6, pdcs: 12, hoarder: true}

// runHoardSeed is runFaultSeed with a hoarder beside two or three honest ends.
func runHoardSeed(seed uint64) (res faultResult) {
	res.seed, res.name = seed, hoardSetting.name
	w := newPDCWorld(&hoardSetting, seed, 2+int(seed%2))
	x := w.parties[w.drop].(*faultHoarder)
	defer func() {
		res.caught(recover(), func(lines int) string { return w.log.tail(lines) + w.state() })
		res.sent, res.counts = w.net.Sent, w.net.Counts
	}()
	w.run()
	hoarded, ends := uint64(0), 0
	for i, e := range w.ends {
		hoarded += e.m.Stats().Hoarded
		ends += x.hoard[i].ends
		// Two IdleTimes, the answer to the last question, and the time to close.
		if h := &x.hoard[i]; h.longest > 2*2_000_000*us+2_000_000*us {
			w.failf("a PDC of the hoarder at %d has lasted for %d ms", i, h.longest/1e6)
		}
	}
	if hoarded == 0 || ends == 0 {
		w.failf("%d PDCs of the hoarder were closed, %d ended", hoarded, ends)
	}
	return res
}

// A peer that takes responses and clears none does not keep them: others get the store
// back in bounded time, and end what they have begun.
func TestFaultsHoarder(t *testing.T) {
	n := max(12, *faultSeeds/20)
	if *faultSeed >= 0 {
		t.Log(runHoardSeed(uint64(*faultSeed)).log)
	}
	var counts faultnet.Counts
	onAllCores(*faultFrom, n, runHoardSeed, func(r faultResult) {
		counts.Add(&r.counts)
		if r.err != nil {
			t.Errorf("seed %d: %v\n%s", r.seed, r.err, r.log)
		}
	})
	require.NotZero(t, counts[faultnet.NoStore])
}
