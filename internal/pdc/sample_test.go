// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/table"
	"github.com/uetcc/uetcc/internal/view"
	"github.com/uetcc/uetcc/pds"
)

// A service time that says "this long or longer", or the whole round trip or more, is no
// sample, in whatever way the answer comes in: an acknowledgement in the short way or the
// general one, or the answer to a probe. It lowered the base round trip to 1 ns, and the
// window's ceiling to one packet for the life of the context.
func TestServiceTimeBeyondTheSample(t *testing.T) {
	for _, kept := range []uint16{100, 0xffff} { // 12.8 us, and at least 8.4 ms
		for _, how := range []string{"short", "general", "probe"} {
			t.Run(fmt.Sprint(how, kept), func(t *testing.T) {
				g := newPair(t, pairConfig{})
				g.submit(1, 1)
				g.now = 1000
				g.giveAll(g.giveAll(g.send(g.a))) // 12 us: the configured base
				p := &g.a.m.pdc[g.h.ID()]
				c := g.a.m.cc.Context(p.cc)
				most := c.Window().MaxWnd
				g.submit(2, 1)
				if how == "probe" {
					g.a.m.sched.control(p, ctlMeasure)
				}
				at := g.now
				for _, w := range g.giveAll(g.send(g.a)) {
					a := (*view.AckCC)(w.b)
					a.SetNSCC(kept, a[26], a.RcvdBytes(), a.OOOCount())
					g.now = at + 12_800
					if how == "short" && a.Plain() { // its caller asks
						_, n := g.a.m.Fast().Exchange(g.now, []*view.AckCC{a}, new(AddrFrom(g.b.addr)), 0)
						require.EqualValues(t, 1, n)
						continue
					}
					g.give(wire{from: g.b, b: w.b})
				}
				require.EqualValues(t, 12_000, c.BaseRTT())
				require.Equal(t, most, c.Window().MaxWnd)
				require.Zero(t, c.InflightPackets())
			})
		}
	}
}

// A copy that was trimmed is known to be gone, so the next one gives a round trip, however
// often that happens. Two copies under way of which nothing is known still give none.
func TestTrimmedCopiesLeaveTheNextOneUnambiguous(t *testing.T) {
	for _, trims := range []int{0, 1, 2, 3, 5} {
		for _, timeouts := range []int{0, 1, 2} {
			g := newPair(t, pairConfig{Config: Config{MaxNackRetx: 31}})
			g.submit(1, 1)
			g.settle()
			c := g.a.m.cc.Context(g.a.m.pdc[g.h.ID()].cc)
			g.now += 1_000_000
			g.submit(2, 1)
			ws := g.send(g.a)
			for range timeouts {
				g.wait(g.a.m.p.longestRTO())
				ws = g.send(g.a)
				require.Len(t, ws, 1)
			}
			for range trims {
				ws[0].trim = pds.NackTrimmed
				g.giveAll(g.giveAll(ws))
				ws = g.send(g.a)
				require.Len(t, ws, 1)
			}
			heard := ccc.Ack{}
			g.a.m.cc.SetAlgorithm(g.a.m.pdc[g.h.ID()].cc, g.now, acksTo{&heard})
			g.giveAll(g.giveAll(ws))
			sampled := timeouts < 2
			require.Equal(t, sampled, heard.RTT == 12_000, "%d trims after %d time-outs", trims, timeouts)
			require.Equal(t, sampled, heard.RTT != 0)
			require.Equal(t, 1, heard.Packets)
			require.EqualValues(t, 0, c.InflightPackets())
		}
	}
}

// A peer that refuses a packet is there: time-outs of the packet begin anew.
func TestRefusalEndsTheBackoff(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 1)
	g.send(g.a)
	resent := func() int64 {
		start := g.now
		for range 100 {
			g.wait(100_000)
			if len(filterData(g.send(g.a))) != 0 {
				break
			}
		}
		return g.now - start
	}
	require.InDelta(t, ms, resent(), 200_000)
	require.InDelta(t, 2*ms, resent(), 200_000)
	g.nack(pds.Nack{Code: pds.NackTrimmed, PSN: g.info(g.a).Base, Flags: pds.FlagRetx})
	require.Len(t, filterData(g.send(g.a)), 1)
	require.InDelta(t, ms, resent(), 200_000)
}

// acksTo notes the last acknowledgement.
type acksTo struct{ last *ccc.Ack }

func (a acksTo) OnSend(int64, int64, bool)                {}
func (a acksTo) OnACK(_ int64, k ccc.Ack)                 { *a.last = k }
func (a acksTo) OnNACK(int64, ccc.Nack)                   {}
func (a acksTo) OnInferredLoss(int64, ccc.Loss)           {}
func (a acksTo) Allow(int64, ccc.Standing) (int64, int64) { return 1 << 40, 0 }

// A time-out shorter than the base round trip sends all packets again for nothing: with 1 to 64 ns
// and 12 us messages failed on a network without losses.
func TestRTOInitBelowBaseRTT(t *testing.T) {
	for _, rto := range []int64{1, 64, 11_999} {
		_, err := NewParams(Config{RTOInit: rto})
		require.ErrorIs(t, err, ErrConfig)
		require.ErrorContains(t, err, "RTOInit")
	}
	_, err := NewParams(Config{RTOInit: 12_000})
	require.NoError(t, err)
}

// A destination's base round trip outlives its context, whose PDCs have closed: the next one
// begins with it, and not with the configuration.
func TestBaseRTTOutlivesItsContext(t *testing.T) {
	g := established(t, pairConfig{})
	p := &g.a.m.pdc[g.h.ID()]
	c := g.a.m.cc.Context(p.cc)
	require.EqualValues(t, 12_000, c.BaseRTT())
	c.OnProbe(g.a.m.cc.Params(), g.now, 7_000)
	found := c.BaseRTT()
	require.Less(t, found, int64(12_000))

	g.a.m.life.unbind(g.now, p)
	require.Nil(t, g.a.m.cc.Context(p.cc))
	require.NoError(t, g.a.m.life.bind(g.now, p))
	require.Equal(t, found, g.a.m.cc.Context(p.cc).BaseRTT())

	g.a.m.life.unbind(g.now, p)
	p.tc++
	require.NoError(t, g.a.m.life.bind(g.now, p))
	require.EqualValues(t, 12_000, g.a.m.cc.Context(p.cc).BaseRTT(), "of another traffic class nothing is known")
}

// As many destinations are remembered as there are PDCs, nearly: some displace each other.
func TestBaseRTTsOfManyDestinations(t *testing.T) {
	const pdcs = 1000
	k := newKnownPaths(pdcs, table.NewHasher(1))
	var p PDC
	for i := range uint64(pdcs) {
		p.peer.Lo = i
		k.keep(&p, int64(i)+1)
	}
	known := 0
	for i := range uint64(pdcs) {
		p.peer.Lo = i
		switch k.rtt(&p) {
		case int64(i) + 1:
			known++
		default:
			require.Zero(t, k.rtt(&p), "what is known is of another destination")
		}
	}
	require.Greater(t, known, pdcs*3/4)
}

// What rcvd_bytes counts leaves flight, shown or not, and once: nine packets of which eight have
// arrived, and an acknowledgement whose bitmap has room for one. (Seed figure 6-12: 16,384 behind
// 12,288 is 4,096 bytes less in flight.)
func TestRcvdBytesLeaveFlight(t *testing.T) {
	for _, shown := range []uint64{^uint64(0), 1, 0} { // bits of the bitmap
		g := newPair(t, pairConfig{})
		g.submit(1, 1)
		g.settle()
		c := g.a.m.cc.Context(g.a.m.pdc[g.h.ID()].cc)
		g.submit(2, 9)
		ws := g.send(g.a)
		require.EqualValues(t, 9*4160, c.Inflight())
		acks := g.giveAll(ws[1:])
		last := acks[len(acks)-1]
		a := (*view.AckCC)(last.b)
		require.EqualValues(t, (9*4160+255)/256, a.RcvdBytes())
		require.EqualValues(t, 8, a.OOOCount())
		var h pds.AckCC
		_, err := h.Decode(last.b)
		require.NoError(t, err)
		a.SetSACK(h.CCType, h.MPR, h.SACKOffset, h.Bitmap&shown)
		g.give(last)
		require.InDelta(t, 4160, c.Inflight(), 255)
		g.giveAll(acks[:len(acks)-1])
		require.InDelta(t, 4160, c.Inflight(), 255)
		g.giveAll(g.giveAll(ws[:1]))
		g.settle()
		require.Zero(t, c.Inflight())
	}
}

// An acknowledgement without a count leaves alone what is less than a unit, to the last byte, and takes what it
// shows from more.
func TestRoundingStaysWithoutACount(t *testing.T) {
	for n, agrees := range map[int64]bool{0: true, 254: true, 255: true, 256: false} {
		p := &PDC{}
		p.setBeyond(n)
		require.Equal(t, agrees, p.agrees(4160, 0))
		require.Equal(t, n, p.beyond())
	}
}

// A peer that counts bytes never sent empties the flight and no more; packets sent since are in flight.
func TestRcvdBytesOfALiar(t *testing.T) {
	g := newPair(t, pairConfig{})
	g.submit(1, 1)
	g.settle()
	c := g.a.m.cc.Context(g.a.m.pdc[g.h.ID()].cc)
	g.submit(2, 9)
	ws := g.send(g.a)
	acks := g.giveAll(ws[1:])
	last := acks[len(acks)-1]
	a := (*view.AckCC)(last.b)
	a.SetNSCC(0, 0, a.RcvdBytes()+1<<20, 65534)
	g.give(last)
	require.Zero(t, c.Inflight())
	g.submit(11, 2)
	more := g.send(g.a)
	require.EqualValues(t, 2*4160, c.Inflight())
	g.giveAll(g.giveAll(append(ws[:1:1], more...)))
	g.settle()
	require.Zero(t, c.Inflight())
}
