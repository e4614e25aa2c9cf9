// SPDX-License-Identifier: Apache-2.0

package nscc_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/nscc"
)

func TestRcvdBytesUnits(t *testing.T) {
	for bytes, units := range map[int64]uint32{0: 0, 1: 1, 255: 1, 256: 1, 257: 2, 300: 2, 12_288: 48, 16_384: 64,
		1<<32 - 256: 1<<24 - 1, 1<<32 - 255: 0, 1 << 32: 0, 1<<32 + 1: 1} {
		var r nscc.RcvdBytes
		r.Add(bytes)
		require.Equal(t, units, r.Units(), "%d bytes", bytes)
	}
	var r nscc.RcvdBytes
	r.Add(-5)
	require.Zero(t, r.Units())
}

func TestRcvdTrackerAdvance(t *testing.T) {
	for _, tc := range []struct {
		name      string
		last, now uint32
		n         int64
		kept      uint32
	}{
		{"figure 6-12", 48, 64, 4_096, 64},
		{"repeated", 64, 64, 0, 64},
		{"older, overtaken", 64, 48, 0, 64},
		{"wraps", 0xfffff0, 0x000010, 8_192, 0x000010},
		{"older across the wrap", 0x000010, 0xfffff0, 0, 0x000010},
		{"largest step", 0, 1<<23 - 1, (1<<23 - 1) * 256, 1<<23 - 1},
		{"half the range is no step", 0, 1 << 23, 0, 0},
		{"bits above the field are ignored", 48, 0xab000040, 4_096, 64},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var r nscc.RcvdTracker
			for r.Advance(tc.last) != 0 || tc.last >= 1<<23 { // beyond half the range: in two steps
				if tc.last >= 1<<23 {
					r.Advance(tc.last / 2)
					r.Advance(tc.last)
					break
				}
			}
			require.Equal(t, tc.n, r.Advance(tc.now))
			require.Zero(t, r.Advance(tc.kept), "what it keeps")
			require.EqualValues(t, 256, r.Advance(tc.kept+1))
		})
	}
}

// Rounding up may leave in flight negative by 212 bytes for a while, and comes
// right with the next packet.
func TestRcvdRoundingDoesNotAccumulate(t *testing.T) {
	p, w := started(t, fabric100())
	var dst nscc.RcvdBytes
	var src nscc.RcvdTracker
	least := int64(0)
	for i := range int64(1_000) {
		size := 300 + i%1_000
		w.OnSend(size)
		dst.Add(size)
		w.OnACK(p, i*100, nscc.Ack{Bytes: src.Advance(dst.Units())})
		if i == 0 {
			require.EqualValues(t, -212, w.Inflight())
		}
		least = min(least, w.Inflight())
	}
	require.GreaterOrEqual(t, least, int64(-255))
	require.LessOrEqual(t, w.Inflight(), int64(0))
}

func TestServiceTime(t *testing.T) {
	for ns, units := range map[int64]nscc.ServiceTime{-1: 0, 0: 0, 127: 0, 128: 1, 12_800: 100, 8_388_479: 65_534,
		8_388_480: 65_535, 8_388_608: 65_535, math.MaxInt64: 65_535, math.MinInt64: 0} {
		require.Equal(t, units, nscc.ServiceTimeOf(ns), "%d ns", ns)
	}
	require.EqualValues(t, 8_388_480, nscc.ServiceTime(65_535).Nanoseconds())
}

func TestRTT(t *testing.T) {
	require.EqualValues(t, 12_000, nscc.RTT(112_640, 100_000, 5), "5 units of 128 ns at the destination")
	require.Zero(t, nscc.RTT(100_000, 100_001, 0), "clock went backwards")
	require.Zero(t, nscc.RTT(100_128, 100_000, 1), "claims all the time that has passed")
	require.Zero(t, nscc.RTT(100_100, 100_000, 65_534), "claims more")
	require.EqualValues(t, 1_000_000-128*65_534+8_000_000, nscc.RTT(9_000_000, 0, 65_534))
	require.Zero(t, nscc.RTT(9_000_000, 0, 65_535), "that long, or any longer time")
}

func TestWireAllocs(t *testing.T) {
	var dst nscc.RcvdBytes
	var src nscc.RcvdTracker
	alloctest.Zero(t, "rcvd_bytes", func() {
		dst.Add(4_096)
		if src.Advance(dst.Units()) != 4_096 {
			panic("the path under test did not run")
		}
	})
}

// UET congestion chapters, figure 6-8: 75,000 + 150,000/1024.
func ExampleAdditiveStep() {
	fmt.Println(nscc.AdditiveStep(10))
	fmt.Printf("%.2f\n", 75_000+nscc.AdditiveStep(10))
	for _, shift := range []uint{9, 11, 12, 13} {
		fmt.Printf("/%d: %.2f\n", 1<<shift, nscc.AdditiveStep(shift))
	}
	fmt.Println("integers:", 150_000>>10)
	// Output:
	// 146.484375
	// 75146.48
	// /512: 292.97
	// /2048: 73.24
	// /4096: 36.62
	// /8192: 18.31
	// integers: 146
}

// The additive step as the window's increase a round trip: two links of different
// rates gain the same.
// A shift beyond the width of the divisor is the largest.
func TestAdditiveStepOfAnyShift(t *testing.T) {
	require.Equal(t, 150_000.0, nscc.AdditiveStep(0))
	require.Equal(t, math.Ldexp(150_000, -63), nscc.AdditiveStep(63))
	require.Equal(t, nscc.AdditiveStep(63), nscc.AdditiveStep(64))
}

func TestAdditiveStepAsEta(t *testing.T) {
	for _, rate := range []int64{100, 400} {
		c := nscc.Config{LinkRate: rate * gbps, BaseRTT: 6_000, MTU: 4_096, InitialCwnd: 75_000}
		c.Tuning.Eta = nscc.AdditiveStep(10)
		p, w := started(t, c)
		w.OnACK(p, 6_000, nscc.Ack{RTT: 6_000})
		require.EqualValues(t, 75_146, w.Cwnd(), "%d Gb/s: the window counts whole bytes", rate)
	}
}
