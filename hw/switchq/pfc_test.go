// SPDX-License-Identifier: Apache-2.0

package switchq

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// htsim's RoCE thresholds: 15 packets off, 12 on, both strict.
func roce(t *testing.T) *PFCConfig {
	t.Helper()
	p := PFCConfig{XOff: 15 * 4150, XOn: 12 * 4150, Pause: 10_000}
	require.NoError(t, p.Validate())
	return &p
}

func TestIngressThresholdsAreStrict(t *testing.T) {
	p := roce(t)
	var in Ingress
	for range 15 {
		require.False(t, in.Arrive(p, 0, 4150))
	}
	require.True(t, in.Arrive(p, 0, 4150), "the 16th is above xOFF")
	require.False(t, in.Arrive(p, 1, 4150), "the pause is still fresh")
	for range 5 {
		require.False(t, in.Leave(p, 4150))
	}
	require.EqualValues(t, 12*4150, in.Bytes)
	require.True(t, in.Leave(p, 4150), "below xON")
	require.False(t, in.Leave(p, 4150), "once is enough")
}

func TestIngressRepeatsThePauseBeforeItEnds(t *testing.T) {
	p := roce(t)
	var in Ingress
	require.True(t, in.Arrive(p, 0, 20*4150))
	require.False(t, in.Arrive(p, 4_999, 1))
	require.True(t, in.Arrive(p, 5_000, 1))
	require.True(t, in.Arrive(p, 50_000, 1), "long over")
}

func TestPauserTimerEndsThePause(t *testing.T) {
	var g Pauser
	g.On(ClassLow, 100, 1_000)
	set, next := g.Paused(1_099)
	require.True(t, set.Has(ClassLow))
	require.False(t, set.Has(ClassHigh), "other classes keep flowing")
	require.EqualValues(t, 1_100, next)
	set, next = g.Paused(1_100)
	require.Zero(t, set)
	require.Zero(t, next)
}

// A clock may begin anywhere: what was never paused stays so before time 0, and a port that
// fills up there asks for a pause.
func TestPFCBeforeTimeZero(t *testing.T) {
	var g Pauser
	set, next := g.Paused(-1)
	require.Zero(t, set)
	require.Zero(t, next)
	g.On(ClassLow, -1_000, 1_000)
	set, next = g.Paused(-1)
	require.Equal(t, ClassSet(0).with(ClassLow), set)
	require.Zero(t, next)
	set, _ = g.Paused(0)
	require.Zero(t, set)

	p := roce(t)
	var in Ingress
	require.True(t, in.Arrive(p, -p.Pause, 20*4150), "ends at 0")
	require.False(t, in.Arrive(p, 1-p.Pause, 1), "still fresh")
	require.True(t, in.Leave(p, 9*4150))
	require.True(t, in.Arrive(p, math.MinInt64, 9*4150))
}

// A pause that would end after the last time there is lasts until then.
func TestPFCAtTheEndOfTime(t *testing.T) {
	var g Pauser
	g.On(ClassLow, math.MaxInt64-5, 10)
	set, next := g.Paused(math.MaxInt64 - 1)
	require.Equal(t, ClassSet(0).with(ClassLow), set)
	require.EqualValues(t, int64(math.MaxInt64), next)
	g.On(ClassLow, 0, -1)
	set, _ = g.Paused(0)
	require.Zero(t, set)

	p := roce(t)
	var in Ingress
	require.True(t, in.Arrive(p, math.MaxInt64-7_000, 20*4150))
	require.False(t, in.Arrive(p, math.MaxInt64-6_000, 1))
}

func TestPauserResume(t *testing.T) {
	var g Pauser
	g.On(ClassLow, 0, 1_000)
	g.On(ClassMed, 0, 500)
	g.On(ClassHigh, 0, 700)
	_, next := g.Paused(1)
	require.EqualValues(t, 500, next)
	g.On(ClassHigh, 2, 0)
	g.On(ClassLow, 2, 0)
	set, _ := g.Paused(3)
	require.Equal(t, ClassSet(0).with(ClassMed), set)
}

// A sender at line rate behind a cable that carries data and pauses: what comes
// in after xOFF stays within the headroom and needs most of it.
func TestHeadroomIsEnoughAndNeeded(t *testing.T) {
	const rate, cable, react, mtu = 100e9, 500, 200, 4150
	room := Headroom(rate, cable, react, mtu)
	require.EqualValues(t, 12_500*(2*cable+react)/1000+2*mtu, room)
	p := PFCConfig{XOff: 40_000, XOn: 30_000, Pause: 1 << 40}
	require.NoError(t, p.Validate())
	const slot = mtu * 8 * 1e9 / rate // ns a packet
	var in Ingress
	stop := int64(1 << 62)
	for sent := int64(0); sent < stop; sent += slot {
		if in.Arrive(&p, sent+cable, mtu) {
			stop = sent + cable + cable + react
		}
	}
	require.LessOrEqual(t, in.Bytes, p.XOff+room)
	require.Greater(t, in.Bytes, p.XOff+room-3*mtu, "within the packet that is cut off here")
}

// A port stands still for far longer than a pause. Asked with a size of 0 in time the upstream never goes on, and the
// headroom is enough; with the packets that come alone each pause lets as much again in.
func TestHeadroomIsEnoughForAPortThatStandsStill(t *testing.T) {
	const rate, cable, react, mtu = 100e9, 500, 200, 4150
	const slot = mtu * 8 * 1e9 / rate // ns a packet
	p := PFCConfig{XOff: 40_000, XOn: 30_000, Pause: 10_000}
	for _, again := range []int64{0, p.Pause / 2} {
		var in Ingress
		var up Pauser
		arrivals, pauses := map[int64]bool{}, map[int64]bool{}
		ask := func(now, size int64) {
			if in.Arrive(&p, now, size) {
				pauses[now+cable+react] = true
			}
		}
		for now, next, last := int64(0), int64(0), int64(0); now < 50*p.Pause; now++ {
			if arrivals[now] {
				ask(now, mtu)
			}
			if again != 0 && now-last >= again {
				ask(now, 0)
				last = now
			}
			if pauses[now] {
				up.On(ClassLow, now, p.Pause)
			}
			if set, _ := up.Paused(now); set == 0 && now >= next {
				arrivals[now+cable], next = true, now+slot
			}
		}
		room := p.XOff + Headroom(rate, cable, react, mtu)
		require.Equal(t, again != 0, in.Bytes <= room, "%d of %d bytes", in.Bytes, room)
	}
}

// A byte of which only a part arrives before the upstream stops needs room, too.
func TestHeadroomRoundsUp(t *testing.T) {
	require.EqualValues(t, 13+2*4150, Headroom(100e9, 0, 1, 4150), "12.5 bytes a nanosecond")
	for rate, want := range map[int64]int64{1: 1, 8: 1, 9: 2, 16: 2} {
		require.Equal(t, want, Headroom(rate, 0, 1e9, 0), "%d bits in a second", rate)
		require.EqualValues(t, 1, Headroom(rate, 0, 1, 0), "%d bits a second", rate)
	}
	require.EqualValues(t, 2_000_000_000+2*4150, Headroom(1600e9, 4_000_000, 2_000_000, 4150))
}

func TestMaxPause(t *testing.T) {
	require.EqualValues(t, 335_539, MaxPause(100e9))
}

func TestPFCConfigValidate(t *testing.T) {
	for _, c := range []PFCConfig{{Pause: 1}, {XOff: math.MinInt64, Pause: 1}, {XOff: 10, XOn: 10, Pause: 1}, {XOff: 10, XOn: -1, Pause: 1}, {XOff: 10, XOn: 5}} {
		require.ErrorIs(t, c.Validate(), ErrConfig)
	}
	for _, c := range []PFCConfig{{XOff: 1, Pause: 1}, {XOff: 10, XOn: 9, Pause: 1}} {
		require.NoError(t, c.Validate())
	}
}

// The chain of the chapter on network congestion in small: when a port two
// hops away fills up, its pause holds back a queue in between, which pauses the
// first one; resumes walk back the same way and every counter ends at 0.
func TestPFCChainWalksBack(t *testing.T) {
	p := PFCConfig{XOff: 30_000, XOn: 20_000, Pause: 1 << 40}
	require.NoError(t, p.Validate())
	q := mustParams(t, Config{PlaneBDP: 1 << 30})
	var leaf, spine Queue
	var leafIn, spineIn Ingress
	var spinePort, sourcePort Pauser
	var sent, drained, pausedSlots int
	arrive := func(now int64, in *Ingress, from *Pauser) {
		if in.Arrive(&p, now, 4150) {
			from.On(ClassLow, now, p.Pause)
		}
	}
	leave := func(now int64, in *Ingress, from *Pauser) {
		if in.Leave(&p, 4150) {
			from.On(ClassLow, now, 0)
		}
	}
	for now := int64(0); drained < 100; now++ {
		if set, _ := sourcePort.Paused(now); !set.Has(ClassLow) && sent < 100 {
			sent++
			spine.Enqueue(q, data(uint32(sent)), nil)
			arrive(now, &spineIn, &sourcePort)
		} else if sent < 100 {
			pausedSlots++
		}
		set, _ := spinePort.Paused(now)
		if pkt, ok := spine.Dequeue(q, set, nil); ok {
			leave(now, &spineIn, &sourcePort)
			leaf.Enqueue(q, pkt, nil)
			arrive(now, &leafIn, &spinePort)
		}
		if now%5 == 0 { // the last hop is five times slower
			if _, ok := leaf.Dequeue(q, 0, nil); ok {
				drained++
				leave(now, &leafIn, &spinePort)
			}
		}
	}
	require.Positive(t, pausedSlots, "the source was stopped although its own link is idle")
	require.Zero(t, leafIn.Bytes)
	require.Zero(t, spineIn.Bytes)
	require.False(t, leafIn.paused)
	require.False(t, spineIn.paused)
	require.LessOrEqual(t, leaf.Counters().PeakLow, p.XOff+2*4150)
}
