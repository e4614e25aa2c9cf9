// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/nscc"
)

// nsccFabrics are the configurations that event sequences choose from.
func nsccFabrics() []nscc.Config {
	base := nscc.Config{LinkRate: 12_500_000_000, BaseRTT: 12_000, MTU: 4096, Trimming: true, Profile: nscc.ProfileSpec}
	var all []nscc.Config
	for _, change := range []func(*nscc.Config){
		func(*nscc.Config) {},
		func(c *nscc.Config) { c.Trimming = false },
		func(c *nscc.Config) { c.RCCC = true },
		func(c *nscc.Config) { c.PenaltyShareOnly, c.ForgettingFilter = true, true },
		func(c *nscc.Config) { c.LinkRate *= 8; c.MTU = 9216 },
		func(c *nscc.Config) { c.LinkRate, c.BaseRTT, c.MTU = 4e12, 700_000, 65 },
		func(c *nscc.Config) { c.LinkRate, c.BaseRTT, c.MTU, c.Tuning.MaxWnd = 1, 60e9, 65536, nscc.MaxWindow },
		func(c *nscc.Config) { c.InitialCwnd, c.Tuning.QAGate = 4096, -1 },
		func(c *nscc.Config) { c.Tuning.NoQuickAdapt = true },
		func(c *nscc.Config) { c.GrowOnlyFull = true },
		func(c *nscc.Config) { c.Tuning.FairIncrease, c.Tuning.FastScale, c.Tuning.Eta = 4e9, 4e9, 4e9 },
		func(c *nscc.Config) { c.Profile = nscc.ProfileHTSim },
		func(c *nscc.Config) { c.Profile, c.InitialCwnd = nscc.ProfileHTSim, 1<<20 },
		func(c *nscc.Config) { c.Profile, c.RCCC, c.Trimming = nscc.ProfileHTSimWide, true, false },
		func(c *nscc.Config) {
			c.Profile, c.LinkRate = nscc.ProfileHTSim, 100e9
			c.Tuning.FairIncrease, c.Tuning.FastScale, c.Tuning.Eta = 4e9, 4e9, 4e9
		},
		func(c *nscc.Config) { c.Profile, c.Trimming = nscc.ProfileAdaptive, false },
		func(c *nscc.Config) { c.Profile, c.Trimming, c.Unmeasured = nscc.ProfileAdaptive, false, true },
		func(c *nscc.Config) { c.Profile, c.LinkRate, c.BaseRTT, c.MTU = nscc.ProfileAdaptive, 4e12, 1, 65 },
		func(c *nscc.Config) {
			c.Profile, c.Trimming, c.LinkRate, c.Unrated = nscc.ProfileAdaptive, false, 1e9, true
		},
	} {
		c := base
		change(&c)
		all = append(all, c)
	}
	return all
}

// nsccRun feeds one window with events and judges its state after each.
type nsccRun struct {
	p     nscc.Params
	w     nscc.Window
	model *nsccModel // nil where the model does not apply
	now   int64
	most  int64 // the longest base round trip that a window may find: 60 s
	seen  map[nscc.Action]int
}

func newNSCCRun(t testing.TB, c nscc.Config) *nsccRun {
	p, err := nscc.NewParams(c)
	require.NoError(t, err)
	r := &nsccRun{p: p, most: 60e9, seen: map[nscc.Action]int{}}
	if c.Picoseconds {
		r.most = 60e12
	}
	r.w.Init(&r.p, 0, 0)
	if c.Profile == nscc.ProfileSpec {
		r.model = newNSCCModel(c, p.Constants())
	}
	return r
}

// nsccEvent is one event with every value that a peer or a clock can hand in.
type nsccEvent struct {
	kind   uint8 // 0..3 ACK, 4 NACK, 5 loss, 6 send, 7 unmark
	step   int64 // added to the clock, may be negative
	bytes  int64
	rtt    int64
	flags  uint8 // 1 ECN, 2 restore, 4.. sample kind
	pend   uint8
	reason uint8
}

// apply performs e on the window and, while its values are honest, on the model.
func (r *nsccRun) apply(t testing.TB, e nsccEvent) {
	r.now += e.step
	honest := e.bytes >= 0 && e.bytes <= 1<<24 && e.rtt < 1<<40 && r.now >= 0 && r.now < 1<<50
	if !honest {
		r.model = nil
	}
	before := r.w.Snapshot()
	switch e.kind {
	case 4:
		n := nscc.Nack{Size: e.bytes, RTT: e.rtt, Reason: nscc.NackReason(e.reason)}
		r.w.OnNACK(&r.p, r.now, n)
		if r.model != nil {
			if n.Reason > nscc.ReasonTrimmedLastHop {
				n.Reason = nscc.ReasonOther
			}
			r.model.onNACK(r.now, n)
		}
	case 5:
		r.w.OnInferredLoss(&r.p, e.bytes)
		if r.model != nil {
			r.model.onInferredLoss(float64(e.bytes))
		}
	case 6, 7:
		size := min(max(e.bytes, 0), 1<<20) // our own packets
		if e.kind == 6 {
			r.w.OnSend(size)
		} else {
			r.w.OnUnmark(size)
		}
		if r.model != nil {
			r.model.F += float64(size)
		}
		return
	default:
		a := nscc.Ack{Bytes: e.bytes, RTT: e.rtt, ECN: e.flags&1 != 0, Restore: e.flags&2 != 0, Pend: e.pend, Kind: nscc.SampleKind(e.flags >> 2 & 3)}
		plain := r.w
		r.w.OnACK(&r.p, r.now, a)
		if plain.OnPlainACK(&r.p, r.now, nscc.MakePlainAck(a.Bytes, a.RTT, a.ECN)); a == (nscc.Ack{Bytes: a.Bytes, RTT: a.RTT, ECN: a.ECN}) && plain != r.w {
			require.Failf(t, "the plain step differs", "%+v\nplain   %+v\ngeneral %+v", e, plain.Snapshot(), r.w.Snapshot())
		}
		if r.model != nil {
			a.Pend &= 0x7f
			r.model.onACK(r.now, a)
		}
	}
	r.judge(t, before, e)
}

// judge checks the invariants of the window, and the model's opinion.
func (r *nsccRun) judge(t testing.TB, before nscc.Snapshot, e nsccEvent) {
	s := r.w.Snapshot()
	r.seen[s.Action]++
	most, base, ceiling := r.p.MaxWnd(), before.BaseRTT, before.MaxWnd
	if r.p.Profile() == nscc.ProfileAdaptive { // which may find a longer round trip
		most, base, ceiling = max(before.MaxWnd, s.MaxWnd), r.most, nscc.MaxWindow
	}
	if s.Cwnd < r.p.MTU() || s.Cwnd > max(most, before.Cwnd) || s.MaxWnd < r.p.MTU() || s.MaxWnd > ceiling ||
		s.BaseRTT < 1 || s.BaseRTT > base || s.Inflight > before.Inflight || s.Inflight < -1<<40 ||
		s.AvgDelay < 0 || s.QDelay < 0 || s.SavedCwnd > max(most, before.SavedCwnd) ||
		!(s.IncBytes >= 0) || math.IsInf(s.IncBytes, 0) { // a comparison that NaN fails
		require.Failf(t, "invariant", "%+v\nbefore %+v\nafter  %+v", e, before, s)
	}
	if r.model == nil {
		return
	}
	m := r.model.snapshot()
	// What floating point may round differently, then what it may not.
	if diff := s.Cwnd - m.Cwnd; diff < -1 || diff > 1 || math.Abs(s.IncBytes-m.IncBytes) > 1e-9*(1+m.IncBytes) ||
		s.AvgDelay-m.AvgDelay > 1 || m.AvgDelay-s.AvgDelay > 1 {
		require.Failf(t, "model differs", "%+v\nbefore %+v\nafter  %+v\nmodel  %+v", e, before, s, m)
	}
	m.Cwnd, m.IncBytes, m.AvgDelay = s.Cwnd, s.IncBytes, s.AvgDelay
	m.Fulfilled, m.QDelay, m.LastSample = s.Fulfilled, s.QDelay, s.LastSample // not modelled
	m.FastCount, m.BytesIgnored = min(m.FastCount, math.MaxUint32), min(m.BytesIgnored, math.MaxUint32)
	if m != s {
		require.Failf(t, "model differs", "%+v\nbefore %+v\nafter  %+v\nmodel  %+v", e, before, s, m)
	}
	r.model.follow(s)
}

// nsccExtremes are values that a hostile peer or a broken clock would choose.
var nsccExtremes = []int64{0, 1, -1, 127, 128, 1_000, 4_095, 4_096, 12_000, 1 << 23 * 256, 1<<31 - 1, 1 << 31, 1 << 32, 1 << 40,
	1 << 53, 1 << 62, math.MaxInt64 - 1, math.MaxInt64, math.MinInt64, math.MinInt64 + 1, -1 << 40}

// nsccValue reads a number: mostly v x scale, for the last bytes an extreme one.
func nsccValue(v uint8, scale int64) int64 {
	if i := int(v) - (256 - len(nsccExtremes)); i >= 0 {
		return nsccExtremes[i]
	}
	return int64(v) * scale
}

// decodeNSCCEvent reads an event of 8 bytes.
func decodeNSCCEvent(b []byte) nsccEvent {
	return nsccEvent{
		kind: b[0] & 7, flags: b[0] >> 4, step: nsccValue(b[1], 97), bytes: nsccValue(b[2], 64),
		rtt: nsccValue(b[3], 211) + nsccValue(b[4]&0x7f, 1_009), pend: b[5], reason: b[6] & 3,
	}
}

// FuzzNSCCEvents feeds windows of every profile and filter with event sequences
// and looks for: cwnd outside [MTU, ceiling], a base round trip or a ceiling that
// rises, NaN, a panic; and, while the events are possible ones, any difference to
// the model.
func FuzzNSCCEvents(f *testing.F) {
	honest := []byte{
		0x06, 0, 64, 0, 0, 0, 0, 0, // send
		0x00, 8, 64, 71, 0, 0, 0, 0, // ACK, proportional
		0x00, 8, 64, 57, 0, 0, 0, 0, // ACK, at about no delay
		0x00, 8, 64, 71, 40, 0, 0, 0, // ACK, fair
		0x10, 8, 64, 71, 90, 0, 0, 0, // ACK, marked, long
		0x10, 8, 64, 60, 0, 0, 0, 0, // ACK, marked, short
		0x00, 8, 64, 60, 0, 64, 0, 0, // ACK, penalty
		0x20, 8, 64, 60, 0, 0, 0, 0, // ACK, restore
		0x04, 8, 64, 60, 0, 0, 1, 0, // NACK, trimmed
		0x04, 220, 64, 60, 0, 0, 2, 0, // NACK, last hop, a period later
		0x05, 0, 64, 0, 0, 0, 0, 0, // loss
		0x07, 0, 64, 0, 0, 0, 0, 0, // unmark
	}
	for i := range nsccFabrics() {
		f.Add(append([]byte{byte(i)}, honest...))
		f.Add([]byte{byte(i), 0x20, 248, 64, 102, 17, 6, 0, 0}) // the first ACK restores and has a penalty
		for v := range nsccExtremes {                           // each extreme as clock step, bytes and round trip
			x := byte(255 - v)
			f.Add(append([]byte{byte(i)}, 0, x, 64, 71, 0, 0, 0, 0, 0, 0, x, 71, 0, 0, 0, 0, 0, 0, 64, x, 0, 0, 0, 0, 4, 0, x, x, 0, 0, 1, 0, 5, 0, x, 0, 0, 0, 0, 0))
		}
	}
	fabrics := nsccFabrics()
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) == 0 {
			return
		}
		r := newNSCCRun(t, fabrics[int(in[0])%len(fabrics)])
		for in = in[1:]; len(in) >= 8; in = in[8:] {
			r.apply(t, decodeNSCCEvent(in))
		}
	})
}

// TestNSCCModel compares the engine with the model on a long random run for each
// configuration of the specification's profile, and demands that every kind of
// action was met.
func TestNSCCModel(t *testing.T) {
	seen := map[nscc.Action]int{}
	for i, c := range nsccFabrics() {
		if c.Profile != nscc.ProfileSpec {
			continue
		}
		rng := rand.New(rand.NewPCG(uint64(i), 7))
		for range 40 {
			r := newNSCCRun(t, c)
			for range 2_000 {
				r.apply(t, randomNSCCEvent(rng, c, &r.w))
			}
			require.NotNil(t, r.model)
			for a, n := range r.seen {
				seen[a] += n
			}
		}
	}
	for a := nscc.ActionNone; a <= nscc.ActionReduce; a++ {
		require.NotZero(t, seen[a], "action %s never happened", a)
	}
}

// randomNSCCEvent is an event of a network that changes its mood every few
// hundred microseconds.
func randomNSCCEvent(rng *rand.Rand, c nscc.Config, w *nscc.Window) nsccEvent {
	e := nsccEvent{bytes: rng.Int64N(2 * c.MTU), step: rng.Int64N(c.BaseRTT/20 + 1), reason: uint8(rng.IntN(4))}
	mood := w.Snapshot().QAEnd / c.BaseRTT % 4
	e.rtt = c.BaseRTT + []int64{rng.Int64N(c.BaseRTT/8 + 1), rng.Int64N(c.BaseRTT), rng.Int64N(6 * c.BaseRTT), 0}[mood]
	switch rng.IntN(400) {
	case 0:
		e.rtt -= rng.Int64N(c.BaseRTT/50 + 1)
	case 1, 2:
		e.step = rng.Int64N(5 * c.BaseRTT)
	}
	switch k := rng.IntN(100); {
	case k < 1:
		e.kind = 5
	case k < 3:
		e.kind = 4
	case k < 4:
		e.kind = 7
	case k < 40:
		e.kind, e.bytes = 6, 2*c.MTU // so that there is something in flight
	case k < 44:
		e.pend = uint8(rng.IntN(128))
	case k < 48:
		e.flags = 2
	case k < 50:
		e.rtt = 0
	}
	if rng.Int64N(3) < mood {
		e.flags |= 1
	}
	return e
}

// FuzzNSCCParams builds constants from anything and demands that they are usable.
func FuzzNSCCParams(f *testing.F) {
	add := func(values ...int64) {
		var b []byte
		for _, v := range values {
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		}
		f.Add(b)
	}
	add(12_500_000_000, 0, 12_000, 4096)
	add(100_000_000_000, 12_500_000_000, 12_000, 9216, 1, 1, 16_384, 32_768)
	add(1<<25, 1<<25, 60e12, 1<<16, 0, 0, 0, 0, 2, 1, 0, 1)
	add(1, 1, 1, 65, 0, 0, 0, 0, 0, 0, 0, 0, 1<<32-1, 1, 1, 1, 1, 1)
	add(math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64)
	add(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1)
	f.Fuzz(func(t *testing.T, in []byte) {
		c := nsccConfigFrom(in)
		p, err := nscc.NewParams(c)
		if err != nil {
			require.ErrorIs(t, err, nscc.ErrConfig)
			return
		}
		k := p.Constants()
		for _, v := range []float64{k.ScalingA, k.ScalingB, k.Alpha, k.FairIncrease, k.FastScale, k.Eta, k.Gamma, k.MaxMDJump} {
			require.False(t, math.IsNaN(v) || math.IsInf(v, 0) || v < 0, "%+v", k)
		}
		most := k.MaxWnd
		if c.Profile != nscc.ProfileSpec {
			most = nscc.MaxWindow
		}
		require.True(t, p.MTU() <= k.InitialCwnd && k.InitialCwnd <= most && k.MaxWnd <= nscc.MaxWindow && k.TargetQdelay > 0, "%+v", k)
		r := newNSCCRun(t, c)
		r.model = nil
		for i := range int64(64) { // a little of everything
			r.apply(t, nsccEvent{kind: uint8(i % 8), step: c.BaseRTT / 8, bytes: p.MTU(), rtt: c.BaseRTT + i*k.TargetQdelay/16,
				flags: uint8(i % 3), pend: uint8(i * 5), reason: uint8(i % 3)})
		}
	})
}

// nsccConfigFrom reads a configuration as 64-bit words; missing words are 0.
func nsccConfigFrom(in []byte) nscc.Config {
	word := func() int64 {
		var b [8]byte
		n := copy(b[:], in)
		in = in[n:]
		return int64(binary.LittleEndian.Uint64(b[:]))
	}
	real := func() float64 { return math.Float64frombits(uint64(word())) }
	c := nscc.Config{LinkRate: word(), ReceiverRate: word(), BaseRTT: word(), MTU: word()}
	c.Trimming, c.RCCC = word()&1 != 0, word()&1 != 0
	c.InitialCwnd, c.AckTrigger = word(), word()
	c.Profile, c.Picoseconds, c.ForgettingFilter, c.PenaltyShareOnly = nscc.Profile(word()), word()&1 != 0, word()&1 != 0, word()&1 != 0
	c.Tuning = nscc.Tuning{MaxWnd: word(), TargetQdelay: word(), AdjustBytes: word(), AdjustPeriod: word(), FastDelay: word(),
		QAGate: int(word()), QAThreshold: word(), FairIncrease: real(), FastScale: real(), Eta: real(), Gamma: real(), MaxMDJump: real()}
	return c
}
