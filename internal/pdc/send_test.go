// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/pds"
)

// dumbSender is the sender's bookkeeping in sets and loops; keys are offsets.
type dumbSender struct {
	size                              map[int64]int64
	flight, queued, arrived, released map[int64]bool
	base, next, tail, cack            int64
	bytes, rtxBytes, events           int64
}

func newDumbSender() *dumbSender {
	set := func() map[int64]bool { return map[int64]bool{} }
	return &dumbSender{size: map[int64]int64{}, flight: set(), queued: set(), arrived: set(), released: set()}
}

func (d *dumbSender) arrive(x int64) {
	if x < d.base || x >= d.next || d.arrived[x] {
		return
	}
	d.arrived[x] = true
	switch {
	case d.flight[x]:
		d.bytes += d.size[x]
		delete(d.flight, x)
	case d.queued[x]:
		d.rtxBytes += d.size[x]
		delete(d.queued, x)
	}
}

func (d *dumbSender) release(x int64) {
	if x < d.base || x >= d.next || d.released[x] {
		return
	}
	d.arrive(x)
	delete(d.queued, x)
	d.released[x] = true
	d.events++
}

func (d *dumbSender) ack(cack, one, base int64, sack uint64) {
	d.bytes, d.rtxBytes = 0, 0
	d.release(one)
	if cack+1 > d.cack {
		d.cack = cack + 1
		for x := d.base; x <= cack; x++ {
			d.release(x)
		}
	}
	for i := range int64(64) {
		if sack>>i&1 != 0 {
			d.arrive(base + i)
		}
	}
	for d.released[d.base] {
		d.base++
	}
}

// sendRig is a window beside its model.
type sendRig struct {
	t   *testing.T
	r   *rand.Rand
	p   Params
	m   *memory
	w   sendWindow
	d   *dumbSender
	now int64

	size uint16 // of what is pushed
}

// sendRigChunks is memory for a window of two laps.
const sendRigChunks = (widest + rowLen) / chunkLen

// widest is the least range with which the packets queued fill the ring of rows.
const widest = 2*defaultRange - rowLen

func newSendRig(t *testing.T, start pds.PSN, n int, seed uint64) *sendRig {
	p, err := NewParams(Config{Range: n})
	require.NoError(t, err)
	m, err := newMemory(memoryConfig{MemoryConfig: MemoryConfig{Chunks: sendRigChunks, Events: 64}, pdcs: 1, ranges: n})
	require.NoError(t, err)
	g := &sendRig{t: t, r: rand.New(rand.NewPCG(seed, 7)), p: p, d: newDumbSender(), m: m}
	g.w.Init(&g.p, g.m, 1, start)
	return g
}

func (g *sendRig) push() {
	if g.size == 0 || g.r.IntN(50) == 0 {
		g.size = uint16(100 + g.r.IntN(4000)) // packets alike in a row, mostly
	}
	err := g.w.push(&g.p, g.m, uint64(g.d.tail), g.size, 0)
	if g.d.tail-g.d.base >= int64(g.p.c.Range)+rowLen {
		require.ErrorIs(g.t, err, ErrWindowFull)
		return
	}
	require.NoError(g.t, err)
	require.Equal(g.t, g.w.start+pds.PSN(g.d.tail), g.w.psn(g.w.tail-1))
	g.d.size[g.d.tail] = int64(g.size)
	g.d.tail++
}

func (g *sendRig) send() {
	if !g.w.mayStart() {
		return
	}
	pkt := sendNext(&g.w, &g.p, g.m, g.now)
	require.Equal(g.t, g.d.size[g.d.next], int64(pkt.size))
	g.d.flight[g.d.next] = true
	g.d.next++
}

func (g *sendRig) lose() {
	off := uint32(g.d.base + g.r.Int64N(g.d.next-g.d.base+1))
	if !g.w.live(g.m, off) || g.w.waiting(g.m, off) {
		return
	}
	l := g.w.enqueue(g.m, off, g.now)
	require.Equal(g.t, g.d.flight[int64(off)], l.counted)
	require.Equal(g.t, g.d.size[int64(off)], l.size)
	delete(g.d.flight, int64(off))
	g.d.queued[int64(off)] = true
}

func (g *sendRig) resend() {
	lost := map[int64]bool{}
	for x := range g.d.queued {
		if !g.d.arrived[x] {
			lost[x] = true
		}
	}
	off, ok := g.w.nextQueued(g.m, g.now)
	low, some := lowest(lost)
	if asked, has := g.w.find(g.m, g.w.base, standingAsked); !some && has {
		require.True(g.t, g.d.arrived[int64(asked)] && g.d.queued[int64(asked)])
		off, low, ok, some = asked, int64(asked), true, true
	}
	require.Equal(g.t, some, ok)
	if !ok {
		return
	}
	require.Equal(g.t, low, int64(off))
	g.w.resent(&g.p, g.m, off, g.now)
	delete(g.d.queued, low)
	if !g.d.arrived[low] {
		g.d.flight[low] = true
	}
}

func (g *sendRig) ack() {
	span := g.d.next - g.d.base
	cack := g.d.cack - 1 + g.r.Int64N(3)*g.r.Int64N(span/2+2)
	cack = min(cack, g.d.next-1)
	one := min(g.d.base+g.r.Int64N(span+1)-2, g.d.next-1)
	base, sack := g.d.base+g.r.Int64N(span+130)-100, g.r.Uint64()&g.r.Uint64()
	a := ackNews{Now: g.now, CACK: g.w.start + pds.PSN(cack), AckPSN: g.w.start + pds.PSN(one), SACKBase: g.w.start + pds.PSN(base), SACK: sack}
	var r ackGain
	require.True(g.t, g.w.OnACK(g.m, 0, &a, &r))
	g.d.ack(cack, one, base, sack)
	require.Equal(g.t, [2]int64{g.d.bytes, g.d.rtxBytes}, [2]int64{r.Bytes, r.RtxBytes})
	var ev Event
	for g.m.pop(&ev) {
		for i := range uint64(ev.More) + 1 {
			require.Equal(g.t, pds.PSN(ev.Handle+i)+g.w.start, ev.PSN+pds.PSN(i), "handles are offsets here")
			g.d.events--
		}
	}
	require.Zero(g.t, g.d.events, "every release is told of once")
}

// sendNext sends the packet whose turn it is.
func sendNext(w *sendWindow, p *Params, m *memory, now int64) *packet {
	r, i := w.at(m, w.next)
	pkt := m.record(r, i)
	w.sent(p, m, r, pkt, now)
	return pkt
}

func (g *sendRig) check() {
	want := [...]int64{g.d.base, g.d.next, g.d.tail, g.d.cack, int64(len(g.d.queued))}
	have := [...]int64{int64(g.w.base), int64(g.w.next), int64(g.w.tail), int64(g.w.cack), int64(g.w.queued)}
	require.Equal(g.t, want, have)
	g.checkMemory()
	for x := g.d.base; x < g.d.tail; x++ {
		c, i := g.w.at(g.m, uint32(x))
		if h := g.m.handle(c, i); h != uint64(x) {
			require.Equal(g.t, uint64(x), h)
		}
	}
	for x := g.d.base; x < g.d.next; x++ {
		c, i := g.w.at(g.m, uint32(x))
		want := [...]bool{g.d.released[x], g.d.flight[x], g.d.queued[x], g.d.arrived[x]}
		have := [...]bool{c.released>>i&1 != 0, c.flight>>i&1 != 0, c.queued>>i&1 != 0, g.w.hasArrived(g.m, uint32(x))}
		if want != have {
			require.Equal(g.t, want, have, "offset %d", x)
		}
	}
}

// checkMemory checks that the window holds what it needs and no more: an empty one nothing. There
// are as many rows as chunks, so no window may hold a row without a chunk.
func (g *sendRig) checkMemory() {
	used, rows := map[uint32]bool{}, len(g.m.row)-1
	for i := g.m.freeRow; i != 0; i = g.m.row[i].next {
		rows--
	}
	defer func() { require.LessOrEqual(g.t, rows, len(used)) }()
	for off := g.w.base &^ (chunkLen - 1); g.w.base != g.w.tail && int32(g.w.tail-off) > 0; off += chunkLen {
		r, i := g.w.at(g.m, off)
		require.NotZero(g.t, r.chunk[i/chunkLen])
		used[r.chunk[i/chunkLen]] = true
	}
	require.Equal(g.t, len(g.m.chunk)-1-len(used), len(g.m.free))
	require.Equal(g.t, g.w.rowOf(g.m, g.w.base), g.w.first)
	require.Equal(g.t, g.w.rowOf(g.m, g.w.next), g.w.current)
	require.Equal(g.t, g.m.chunkOf(g.w.first, g.w.base), g.w.acked)
	require.Equal(g.t, g.m.chunkOf(g.w.current, g.w.next), g.w.sends)
}

func TestSendWindowAgainstModel(t *testing.T) {
	for i, start := range wrapStarts {
		for _, n := range []int{1, 8, 130, 1024, widest} {
			t.Run(fmt.Sprintf("%#x/%d", uint32(start), n), func(t *testing.T) {
				g := newSendRig(t, start, n, uint64(i*10+n))
				steps := []func(){g.push, g.push, g.push, g.send, g.send, g.send, g.lose, g.resend, g.ack}
				for k := range 1200 {
					g.now += 100
					steps[g.r.IntN(len(steps))]()
					if k%7 == 0 {
						g.check()
					}
				}
				g.check()
				g.w.free(g.m)
				require.Equal(t, sendRigChunks, g.m.freeChunks(), "all chunks are back")
			})
		}
	}
}

func TestSendWindowRefusesACKOfUnsent(t *testing.T) {
	g := newSendRig(t, 0xffff_fffe, 64, 1)
	for range 5 {
		g.push()
	}
	for range 3 {
		g.send() // PSNs 0xfffffffe, 0xffffffff, 0
	}
	before := g.w
	for _, tc := range []struct {
		name      string
		cack, one pds.PSN
	}{
		{"CACK one beyond", 1, 0},
		{"ACK_PSN one beyond", 0xffff_fffd, 1},
		{"CACK a quarter of the space beyond", 0x4000_0000, 0},
		{"ACK_PSN a quarter of the space beyond", 0xffff_fffd, 0x4000_0000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var r ackGain
			require.False(t, g.w.OnACK(g.m, 0, &ackNews{CACK: tc.cack, AckPSN: tc.one}, &r))
			require.Equal(t, before, g.w)
			require.Equal(t, ackGain{}, r)
		})
	}
}

func TestSendWindowRTTSample(t *testing.T) {
	for _, tc := range []struct {
		name  string
		sends int
		retx  bool
		valid bool
	}{
		{"sent once, not marked", 1, false, true},
		{"sent once, marked as a resend", 1, true, false},
		{"sent twice, marked", 2, true, true},
		{"sent twice, the first copy is acknowledged", 2, false, false},
		{"sent three times", 3, true, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := newSendRig(t, 10, 64, 1)
			g.push()
			g.now = 1000
			g.send()
			for range tc.sends - 1 {
				g.w.enqueue(g.m, 0, g.now)
				g.now += 1000
				g.w.resent(&g.p, g.m, 0, g.now)
			}
			var r ackGain
			a := ackNews{Now: g.now + 77, CACK: 10, AckPSN: 10, Retx: tc.retx}
			require.True(t, g.w.OnACK(g.m, 0, &a, &r))
			require.Equal(t, tc.valid, r.RTT == 77)
			require.Equal(t, tc.valid, r.RTT != 0)
			require.True(t, g.w.OnACK(g.m, 0, &a, &r))
			require.Equal(t, ackGain{}, r, "the same acknowledgement again says nothing")
		})
	}
}

func TestSendWindowMPR(t *testing.T) {
	g := newSendRig(t, 0, 1024, 1)
	g.w.mprFrom(&g.p, 10, 2)
	require.EqualValues(t, 256, g.w.limit, "a newer CACK changes it")
	g.w.mprFrom(&g.p, 9, 8)
	require.EqualValues(t, 256, g.w.limit, "an older one does not")
	g.w.mprFrom(&g.p, 10, 1)
	require.EqualValues(t, 256, g.w.limit, "one as old does not narrow it")
	g.w.mprFrom(&g.p, 10, 255)
	require.EqualValues(t, 1024, g.w.limit, "but may widen it, as far as this side tracks")
	g.w.mprFrom(&g.p, 11, 0)
	require.EqualValues(t, 128, g.w.limit, "0 is taken for 1")
}

// The lowest packet that may go again is found without a look at the rows whose packets all go later: rows of a
// chunk that does not exist, where a look would panic.
func TestNextQueuedPassesOverRowsThatGoLater(t *testing.T) {
	const rows = defaultRange / rowLen
	g := newSendRig(t, 0, defaultRange, 1)
	for range defaultRange {
		require.NoError(t, g.w.push(&g.p, g.m, 0, 4096, 0))
		sendNext(&g.w, &g.p, g.m, 0)
	}
	g.w.limit = defaultRange
	for off := range uint32(defaultRange) {
		g.w.enqueue(g.m, off, ms+int64(off%100))
	}
	*g.w.rtxAt(g.m) = 0 // as after each acknowledgement
	_, ok := g.w.nextQueued(g.m, 10)
	require.False(t, ok)
	require.EqualValues(t, ms, *g.w.rtxAt(g.m))
	for row := uint32(1); row < rows-1; row++ { // the first tells when the first may go
		r, _ := g.w.at(g.m, row*rowLen)
		r.chunk = [rowLen / chunkLen]uint32{1 << 30, 1 << 30, 1 << 30, 1 << 30}
	}
	*g.w.rtxAt(g.m) = 0
	_, ok = g.w.nextQueued(g.m, 20)
	require.False(t, ok)
	last := uint32(defaultRange - 7)
	g.w.waitUntil(g.m, last, 30) // as hurry does
	*g.w.rtxAt(g.m) = 0
	off, ok := g.w.nextQueued(g.m, 30)
	require.True(t, ok)
	require.Equal(t, last, off)
}

// Whatever waits for whatever times, it is found as by a look at each packet.
func TestNextQueuedIsThatOfALookAtEach(t *testing.T) {
	for seed := range uint64(20) {
		g := newSendRig(t, pds.PSN(seed*0x10000000), widest, seed)
		g.w.limit = uint16(500 + g.r.IntN(widest))
		for range 10_000 {
			g.now += g.r.Int64N(3000)
			switch g.r.IntN(8) {
			case 0, 1, 2:
				g.push()
				if g.w.mayStart() {
					sendNext(&g.w, &g.p, g.m, g.now)
				}
			case 3, 4:
				if off := g.w.base + g.r.Uint32N(g.w.next-g.w.base+1); g.w.live(g.m, off) && !g.w.waiting(g.m, off) {
					g.w.enqueue(g.m, off, g.now+g.r.Int64N(3*ms))
				}
			case 5:
				if off, ok := g.w.find(g.m, g.w.base+g.r.Uint32N(g.w.next-g.w.base+1), standingLost); ok {
					g.w.waitUntil(g.m, off, g.now)
				}
			case 6:
				var k ackGain
				if one := g.w.base + g.r.Uint32N(g.w.next-g.w.base+1); one != g.w.next {
					cack := g.w.cack - 1
					if g.r.IntN(10) == 0 {
						cack += g.r.Uint32N(min(g.w.next-g.w.cack, 100) + 1)
					}
					g.w.OnACK(g.m, 1, &ackNews{Now: g.now, CACK: g.w.psn(cack), AckPSN: g.w.psn(one), SACKBase: g.w.psn(one), SACK: g.r.Uint64()}, &k)
					g.d.base = int64(g.w.base)
					for g.m.pop(&Event{}) {
					}
				}
			}
			*g.w.rtxAt(g.m) = 0
			want, found, at := uint32(0), false, int64(never)
			for x := g.w.base; x != g.w.next && g.w.inPeerWindow(x); x++ {
				if r, i := g.w.at(g.m, x); r.queued&^(r.acked|r.released)>>i&1 != 0 {
					if at = min(at, g.m.due(0, r, i)); at <= g.now {
						want, found = x, true
						break
					}
				}
			}
			off, ok := g.w.nextQueued(g.m, g.now)
			require.Equal(t, found, ok)
			require.Equal(t, want, off)
			if g.w.queued != 0 {
				require.Equal(t, at, *g.w.rtxAt(g.m))
			}
			if ok && g.r.IntN(2) == 0 {
				g.w.resent(&g.p, g.m, off, g.now)
			}
		}
	}
}

func TestSendWindowAllocs(t *testing.T) {
	g := newSendRig(t, 0, 1024, 1)
	psn := pds.PSN(0)
	alloctest.Zero(t, "push, send, lose, resend, acknowledge", func() {
		if err := g.w.push(&g.p, g.m, 0, 4096, 0); err != nil {
			panic(err)
		}
		sendNext(&g.w, &g.p, g.m, 0)
		g.w.enqueue(g.m, uint32(psn), 0)
		off, _ := g.w.nextQueued(g.m, 0)
		g.w.resent(&g.p, g.m, off, 0)
		var r ackGain
		if !g.w.OnACK(g.m, 0, &ackNews{CACK: psn, AckPSN: psn, SACKBase: psn, SACK: 1}, &r) || r.Bytes != 4096 {
			panic("not acknowledged")
		}
		g.m.pop(&Event{})
		psn++
	})
}

// In a window as wide as it can be a row holds packets of two laps of the ring, whose
// handles do not go on from each other: sent or not, each keeps its own.
func TestSendWindowOfTwoLaps(t *testing.T) {
	const full = widest + rowLen
	for _, sent := range []int{100, widest} {
		for _, first := range []int{1, 15, 16, 40, 63} {
			g := newSendRig(t, 0xffff_ff00, widest, 1)
			require.EqualValues(t, full, g.m.lap())
			g.size = 1000
			for g.d.tail < full {
				err := g.w.push(&g.p, g.m, uint64(g.d.tail), g.size, 0)
				require.NoError(t, err)
				g.d.tail += 1 + int64(g.w.more(&g.p, g.m, full))
			}
			for range sent {
				sendNext(&g.w, &g.p, g.m, 1)
			}
			for range first {
				var k ackGain
				require.True(t, g.w.OnACK(g.m, 1, &ackNews{CACK: g.w.psn(g.w.base), AckPSN: g.w.psn(g.w.base)}, &k))
				require.EqualValues(t, 1000, k.Bytes)
			}
			for h := range first {
				err := g.w.push(&g.p, g.m, uint64(7000+h), 1000, 0)
				require.NoError(t, err)
			}
			for off := g.w.base; off != g.w.tail; off++ {
				if off == g.w.next {
					sendNext(&g.w, &g.p, g.m, 2)
				}
				r, i := g.w.at(g.m, off)
				h, size, _ := g.m.submitted(r, i)
				want := uint64(off)
				if off >= full {
					want = 7000 + uint64(off) - full
				}
				require.Equal(t, want, h)
				require.EqualValues(t, 1000, size)
				require.EqualValues(t, 1000, g.m.record(r, i).size)
			}
		}
	}
}
