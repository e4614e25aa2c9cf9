// SPDX-License-Identifier: Apache-2.0

package switchq

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
)

// fixed is a random source that always says the same.
type fixed uint64

func (f fixed) Uint64() uint64 { return uint64(f) }

func mustParams(t testing.TB, c Config) *Params {
	t.Helper()
	p, err := NewParams(c)
	require.NoError(t, err)
	return &p
}

// data is a trimmable packet of the oracle's size.
func data(id uint32) Packet { return Packet{ID: id, Size: 4150, DSCP: DSCPTrimmable} }

func TestQueueDequeueMarksByWhatIsLeft(t *testing.T) {
	cfg := Config{PlaneBDP: 75_000, Trim: true} // the chapters' fabric: 15,000 and 60,000
	for _, tc := range []struct {
		name  string
		left  int64 // bytes behind the packet that leaves
		draw  uint64
		noECN bool
		want  bool
	}{
		{"nothing behind is not marked", 0, 0, false, false},
		{"the minimum itself is not marked", 15_000, 0, false, false},
		{"one byte above the minimum is marked by the smallest draw", 15_001, 0, false, true},
		{"one byte above the minimum is not marked by the next draw", 15_001, 1 << 50, false, false},
		{"half way is marked below one half", 37_500, 1<<63 - 1, false, true},
		{"half way is not marked from one half", 37_500, 1 << 63, false, false},
		{"the maximum is marked by the largest draw", 60_000, 1<<64 - 1, false, true},
		{"above the maximum all are marked", 60_001, 1<<64 - 1, false, true},
		{"with ECN off nothing is marked", 60_001, 0, true, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := cfg
			c.NoECN = tc.noECN
			p := mustParams(t, c)
			var q Queue
			q.Enqueue(p, data(1), nil)
			if tc.left > 0 {
				q.Enqueue(p, Packet{ID: 2, Size: int32(tc.left), DSCP: DSCPTrimmable}, nil)
			}
			var rnd rand.Source = fixed(tc.draw)
			if tc.left == 0 || tc.left > 60_000 {
				rnd = nil // no draw is made
			}
			got, ok := q.Dequeue(p, 0, rnd)
			require.True(t, ok)
			require.EqualValues(t, 1, got.ID)
			require.Equal(t, tc.want, got.CE)
		})
	}
}

func TestQueueCEStaysSet(t *testing.T) {
	p := mustParams(t, Config{PlaneBDP: 75_000, Trim: true, LowLimit: 1})
	var q Queue
	in := data(1)
	in.CE = true
	v, _ := q.Enqueue(p, in, nil)
	require.Equal(t, Trimmed, v)
	out, _ := q.Dequeue(p, 0, nil)
	require.Equal(t, Packet{ID: 1, Size: 64, DSCP: DSCPTrimmed, CE: true}, out)

	wide := mustParams(t, Config{PlaneBDP: 75_000})
	q.Enqueue(wide, in, nil)
	out, _ = q.Dequeue(wide, 0, nil)
	require.Equal(t, in, out)

	in.CE = false
	q.Enqueue(p, in, nil)
	out, _ = q.Dequeue(p, 0, nil)
	require.False(t, out.CE, "trimming itself does not mark")
}

func TestQueueEnqueueWhenFull(t *testing.T) {
	full := func(c Config) Config { c.PlaneBDP = 75_000; c.LowLimit = 2 * 4150; return c }
	for _, tc := range []struct {
		name    string
		cfg     Config
		coin    rand.Source
		dscp    DSCP
		verdict Verdict
		lost    uint32
		order   []Packet // as they leave
	}{
		{"the arriving packet is trimmed", Config{Trim: true, MedPercent: 100}, nil, DSCPTrimmable, Trimmed, 0,
			[]Packet{{ID: 3, Size: 64, DSCP: DSCPTrimmed}, data(1), data(2)}},
		{"on the last hop the code point says so", Config{Trim: true, LastHop: true, MedPercent: 100}, nil, DSCPTrimmableRTX, Trimmed, 0,
			[]Packet{{ID: 3, Size: 64, DSCP: DSCPTrimmedLastHop}, data(1), data(2)}},
		{"heads: the newest that waits is trimmed", Config{Trim: true, MedPercent: 100, Coin: true}, fixed(1 << 63), DSCPTrimmable, Trimmed, 0,
			[]Packet{{ID: 2, Size: 64, DSCP: DSCPTrimmed}, data(1), data(3)}},
		{"tails: the arriving one is", Config{Trim: true, MedPercent: 100, Coin: true}, fixed(1<<63 - 1), DSCPTrimmable, Trimmed, 0,
			[]Packet{{ID: 3, Size: 64, DSCP: DSCPTrimmed}, data(1), data(2)}},
		{"without trimming the arriving one is dropped", Config{}, nil, DSCPTrimmable, Dropped, 3, []Packet{data(1), data(2)}},
		{"heads without trimming: the newest is dropped", Config{Coin: true}, fixed(1 << 63), DSCPTrimmable, Dropped, 2, []Packet{data(1), data(3)}},
		{"what must not be trimmed is dropped", Config{Trim: true}, nil, DSCPNoTrim, Dropped, 3, []Packet{data(1), data(2)}},
		{"room for the header and no more", Config{Trim: true, MedPercent: 100, MedLimit: 64}, nil, DSCPTrimmable, Trimmed, 0,
			[]Packet{{ID: 3, Size: 64, DSCP: DSCPTrimmed}, data(1), data(2)}},
		{"no room for the header either", Config{Trim: true, MedLimit: 63}, nil, DSCPTrimmable, Dropped, 3, []Packet{data(1), data(2)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := mustParams(t, full(tc.cfg))
			var q Queue
			q.Enqueue(p, data(1), nil)
			q.Enqueue(p, data(2), nil)
			in := data(3)
			in.DSCP = tc.dscp
			v, lost := q.Enqueue(p, in, tc.coin)
			require.Equal(t, tc.verdict, v)
			require.Equal(t, tc.lost, lost)
			var got []Packet
			for out, ok := q.Dequeue(p, 0, fixed(1<<64-1)); ok; out, ok = q.Dequeue(p, 0, fixed(1<<64-1)) {
				got = append(got, out)
			}
			require.Equal(t, tc.order, got)
			packets, bytes := q.Imbalance()
			require.Zero(t, packets)
			require.Zero(t, bytes)
		})
	}
}

func TestQueueCoinNeverBreaksTheLimit(t *testing.T) {
	p := mustParams(t, Config{PlaneBDP: 75_000, Trim: true, LowLimit: 1000, Coin: true})
	var q Queue
	q.Enqueue(p, Packet{ID: 1, Size: 900, DSCP: DSCPTrimmable}, nil)
	q.Enqueue(p, Packet{ID: 2, Size: 100, DSCP: DSCPTrimmable}, nil)
	v, _ := q.Enqueue(p, Packet{ID: 3, Size: 500, DSCP: DSCPTrimmable}, fixed(1<<63))
	require.Equal(t, Trimmed, v)
	require.EqualValues(t, 1000, q.Bytes(ClassLow), "2 is too small to make room for 3")
}

// With nothing that waits there is nobody to toss a coin with.
func TestQueueCoinAlone(t *testing.T) {
	p := mustParams(t, Config{PlaneBDP: 75_000, Trim: true, LowLimit: 1000, Coin: true})
	var q Queue
	v, _ := q.Enqueue(p, Packet{ID: 3, Size: 1001, DSCP: DSCPTrimmable}, nil)
	require.Equal(t, Trimmed, v)
}

func TestQueueTrimOfPacketWithoutPayload(t *testing.T) {
	p := mustParams(t, Config{PlaneBDP: 75_000, Trim: true, LowLimit: 10})
	var q Queue
	v, _ := q.Enqueue(p, Packet{ID: 1, Size: 40, DSCP: DSCPTrimmable}, nil)
	require.Equal(t, Trimmed, v)
	out, _ := q.Dequeue(p, 0, nil)
	require.EqualValues(t, 40, out.Size)
	require.Zero(t, q.Counters().CutBytes)
}

func TestQueueDropsWhatTakesAClassAboveItsLimit(t *testing.T) {
	p := mustParams(t, Config{PlaneBDP: 75_000, Trim: true, MedLimit: 128, HighLimit: 128})
	var q Queue
	for _, d := range []DSCP{DSCPControl, DSCPTrimmed, DSCPTrimmedLastHop} {
		for id := range uint32(3) {
			v, lost := q.Enqueue(p, Packet{ID: id, Size: 64, DSCP: d}, nil)
			if d == DSCPTrimmedLastHop { // no room is left for any
				require.Equal(t, Dropped, v)
				continue
			}
			require.Equal(t, []Verdict{Queued, Queued, Dropped}[id], v)
			require.Equal(t, []uint32{0, 0, 2}[id], lost)
		}
	}
}

func TestQueueServiceOrder(t *testing.T) {
	p := mustParams(t, Config{PlaneBDP: 75_000, Trim: true, MedPercent: 100})
	var q Queue
	for id, d := range []DSCP{DSCPTrimmable, DSCPTrimmed, DSCPControl, DSCPNoTrim, DSCPTrimmedLastHop} {
		q.Enqueue(p, Packet{ID: uint32(id), Size: 64, DSCP: d}, nil)
	}
	require.Equal(t, 5, q.Len())
	require.EqualValues(t, 128, q.Counters().PeakLow)
	for _, want := range []uint32{2, 1, 4, 0, 3} {
		oldest, ok := q.Oldest()
		require.True(t, ok)
		require.Equal(t, want, oldest)
		got, ok := q.Dequeue(p, 0, nil)
		require.True(t, ok)
		require.Equal(t, want, got.ID)
	}
	_, ok := q.Dequeue(p, 0, nil)
	require.False(t, ok)
	_, ok = q.Oldest()
	require.False(t, ok)
	require.EqualValues(t, 128, q.Counters().PeakLow)
}

// TC_med may take its share of the port from waiting data, in bytes, whichever packets are
// the larger ones.
func TestQueueMedShare(t *testing.T) {
	for _, size := range [][2]int32{{64, 4150}, {4150, 64}, {999, 1000}} {
		for _, percent := range []int32{1, 25, 50, 80} {
			p := mustParams(t, Config{PlaneBDP: 1 << 40, Trim: true, MedPercent: percent})
			var q Queue
			for id := range uint32(20_000) {
				q.Enqueue(p, Packet{ID: id, Size: size[0], DSCP: DSCPTrimmed}, nil)
				q.Enqueue(p, Packet{ID: id, Size: size[1], DSCP: DSCPTrimmable}, nil)
			}
			var med, total float64
			for q.Bytes(ClassLow) > 0 && q.Bytes(ClassMed) > 0 {
				out, _ := q.Dequeue(p, 0, nil)
				if total += float64(out.Size); out.DSCP == DSCPTrimmed {
					med += float64(out.Size)
				}
			}
			require.InDelta(t, float64(percent)/100, med/total, 0.002+float64(size[0])/total, "%d %% %v", percent, size)
		}
	}
}

// What TC_med took of a port that was idle or paused for data it does not owe.
func TestQueueMedOwesNothingForAnIdlePort(t *testing.T) {
	p := mustParams(t, Config{PlaneBDP: 1 << 30, Trim: true})
	var q Queue
	for _, low := range []bool{false, true} {
		for id := range uint32(700) {
			q.Enqueue(p, Packet{ID: id, Size: 4150, DSCP: DSCPTrimmed}, nil)
			if low {
				q.Enqueue(p, data(id), nil)
			}
		}
		for range 100 {
			got, _ := q.Dequeue(p, ClassSet(0).with(ClassLow), nil)
			require.Equal(t, DSCPTrimmed, got.DSCP)
		}
	}
	for turn := range 1200 { // what a packet costs is exact: nothing adds up
		got, _ := q.Dequeue(p, 0, nil)
		require.Equal(t, turn%2 == 1, got.DSCP == DSCPTrimmed, "turn %d", turn)
	}
}

// A share that TC_med did not use while it was empty is not kept for a burst.
func TestQueueMedSavesNothingUp(t *testing.T) {
	p := mustParams(t, Config{PlaneBDP: 1 << 30, Trim: true})
	var q Queue
	for id := range uint32(200) {
		q.Enqueue(p, data(id), nil)
	}
	for range 100 {
		q.Dequeue(p, 0, nil)
	}
	for id := range uint32(200) {
		q.Enqueue(p, Packet{ID: id, Size: 4150, DSCP: DSCPTrimmed}, nil)
	}
	for turn := range 100 {
		got, _ := q.Dequeue(p, 0, nil)
		require.Equal(t, turn%2 == 0, got.DSCP == DSCPTrimmed, "turn %d", turn)
	}
}

func TestQueueMedGoesAheadOfPausedLow(t *testing.T) {
	p := mustParams(t, Config{PlaneBDP: 75_000, Trim: true})
	var q Queue
	q.Enqueue(p, data(1), nil)
	q.Enqueue(p, Packet{ID: 2, Size: 64, DSCP: DSCPTrimmed}, nil)
	low := ClassSet(0).with(ClassLow)
	got, ok := q.Dequeue(p, low, nil)
	require.True(t, ok)
	require.EqualValues(t, 2, got.ID)
	_, ok = q.Dequeue(p, low, nil)
	require.False(t, ok)
	require.False(t, low.without(ClassLow).Has(ClassLow))
	got, _ = q.Dequeue(p, 0, nil)
	require.EqualValues(t, 1, got.ID)
}

// A long random run against the laws of Counters, the limits, the order among
// untrimmed packets of one class, and a recount of every packet by hand.
func TestQueueInvariantsUnderRandomLoad(t *testing.T) {
	configs := map[string]Config{
		"trim":          {Trim: true},
		"trim and coin": {Trim: true, Coin: true},
		"last hop":      {Trim: true, LastHop: true, NoECN: true},
		"drop":          {LowLimit: 20_000},
		"drop and coin": {LowLimit: 20_000, Coin: true},
		"tiny med":      {Trim: true, MedLimit: 200, MedPercent: 100},
	}
	for name, c := range configs {
		for seed := range uint64(3) {
			t.Run(name, func(t *testing.T) {
				c.PlaneBDP = 30_000
				randomLoad(t, mustParams(t, c), rand.New(rand.NewPCG(seed, 1)))
			})
		}
	}
}

func randomLoad(t *testing.T, p *Params, rnd *rand.Rand) {
	const inside, outside, gone = 1, 2, 3
	var q Queue
	state := map[uint32]int{}
	lastOut := map[Class]uint32{}
	peak := int64(0)
	for id := uint32(1); id < 1_500; id++ {
		pkt := Packet{ID: id, Size: 64 + rnd.Int32N(4087), DSCP: DSCP(rnd.IntN(6))}
		v, lost := q.Enqueue(p, pkt, rnd)
		state[id] = inside
		if v == Dropped {
			require.Equal(t, inside, state[lost])
			state[lost] = gone
		}
		peak = max(peak, q.Bytes(ClassLow))
		require.LessOrEqual(t, q.Bytes(ClassLow), p.c.LowLimit)
		require.LessOrEqual(t, q.Bytes(ClassMed), p.c.MedLimit)
		require.LessOrEqual(t, q.Bytes(ClassHigh), p.c.HighLimit)
		for rnd.IntN(100) < 45 {
			paused := ClassSet(rnd.IntN(8))
			behind, highest := q.Bytes(ClassLow), ClassHigh
			for highest > ClassLow && q.Bytes(highest) == 0 {
				highest--
			}
			oldest, some := q.Oldest()
			q.Touch(highest)
			out, ok := q.Dequeue(p, paused, rnd)
			if !ok {
				break
			}
			c := out.DSCP.Class()
			require.True(t, some)
			if c == highest {
				require.Equal(t, out.ID, oldest)
			}
			require.False(t, paused.Has(c))
			require.Equal(t, inside, state[out.ID])
			state[out.ID] = outside
			if c != ClassMed {
				require.Greater(t, out.ID, lastOut[c], "order within %v", c)
				lastOut[c] = out.ID
			}
			if behind-int64(out.Size) > p.c.ECNMax && c == ClassLow {
				require.Equal(t, !p.c.NoECN, out.CE)
			}
		}
		packets, bytes := q.Imbalance()
		require.Zero(t, packets)
		require.Zero(t, bytes)
	}
	require.Equal(t, peak, q.Counters().PeakLow)
}

// What a packet is comes out as it went in.
func TestEntryHoldsAPacket(t *testing.T) {
	for _, size := range []int32{1, 1<<23 - 1} {
		for _, id := range []uint32{0, 1, 1<<32 - 1} {
			for d := range DSCP(255) {
				for _, ce := range []bool{false, true} {
					p := Packet{ID: id, Size: size, DSCP: d, CE: ce}
					require.Equal(t, p, entryOf(p).packet())
				}
			}
		}
	}
}

func TestQueueMarkProbability(t *testing.T) {
	p := mustParams(t, Config{PlaneBDP: 75_000, Trim: true})
	rnd := rand.NewPCG(7, 7)
	const n = 20_000
	marked := 0
	for range n {
		var q Queue
		q.low.buf = make([]entry, 8)
		q.Enqueue(p, data(1), nil)
		q.Enqueue(p, Packet{ID: 2, Size: 26_250, DSCP: DSCPTrimmable}, nil) // a quarter of the way
		if out, _ := q.Dequeue(p, 0, rnd); out.CE {
			marked++
		}
	}
	require.InDelta(t, 0.25, float64(marked)/n, 0.015)
}

func TestQueueAllocs(t *testing.T) {
	p := mustParams(t, Config{PlaneBDP: 75_000, Trim: true, Coin: true})
	rnd := rand.NewPCG(1, 2)
	var q Queue
	id := uint32(0)
	round := func() {
		for range 40 { // 166,000 bytes: some are trimmed
			id++
			q.Enqueue(p, data(id), rnd)
		}
		for range 40 {
			if _, ok := q.Dequeue(p, 0, rnd); !ok {
				panic("a packet is missing")
			}
		}
	}
	for range 100 {
		round()
	}
	alloctest.Zero(t, "Enqueue and Dequeue", round)
}

// How fast a queue grows in the chapters' figures before anybody reacts: in units of
// 125 bytes, which a 100 Gb/s line moves in 10 ns.
func TestQueueGrowth(t *testing.T) {
	for _, tc := range []struct {
		name    string
		in, out int // lines of 100 Gb/s
		level   int64
		want    int // ns
	}{
		{"incast of six: 62,500 bytes a microsecond, one BDP", 6, 1, 75_000, 1_200},
		{"incast of seven: 75,000", 7, 1, 75_000, 1_000},
		{"two on one uplink: 12,500, ECN minimum", 2, 1, 15_000, 1_200},
		{"two on one uplink: ECN maximum", 2, 1, 60_000, 4_800},
		{"two on one uplink: one BDP", 2, 1, 75_000, 6_000},
		{"five on a spine's 400 Gb/s: ECN minimum", 5, 4, 60_000, 4_800},
		{"five on a spine's 400 Gb/s: ECN maximum", 5, 4, 240_000, 19_200},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := mustParams(t, Config{PlaneBDP: 300_000, NoECN: true})
			var q Queue
			now := 0
			for ; q.Bytes(ClassLow) < tc.level; now += 10 {
				for range tc.in {
					q.Enqueue(p, Packet{Size: 125, DSCP: DSCPTrimmable}, nil)
				}
				for range tc.out {
					q.Dequeue(p, 0, nil)
				}
			}
			require.Equal(t, tc.want, now)
		})
	}
}
