// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
)

// A path is a scheme under test with its memory.
type path struct {
	p    EntropyParams
	e    Entropy
	side []uint64
}

func newPath(t testing.TB, c EntropyConfig) *path {
	t.Helper()
	p, err := NewEntropyParams(c)
	require.NoError(t, err)
	h := &path{p: p, side: make([]uint64, p.Words())}
	h.e.Init(&h.p, 42)
	return h
}

func (h *path) next() uint16 { return h.e.Next(&h.p, h.side, Progress{Seq: 1 << 20}) }

func (h *path) feed(now int64, v uint16, f feedback) {
	h.e.feed(&h.p, h.side, now, report{v, f})
}

func TestObliviousUsesEveryValueOnceARound(t *testing.T) {
	for _, n := range []int{1, 2, 64, 256, 1 << 16} {
		h := newPath(t, EntropyConfig{Values: n})
		for range 3 {
			seen := map[uint16]bool{}
			for range n {
				seen[h.next()] = true
			}
			require.Len(t, seen, n)
		}
	}
}

// Packets that keep to one path keep to different ones in different contexts, whatever
// the scheme of the others, and take no draw from those.
func TestFixedValueDiffersByContext(t *testing.T) {
	for s := SchemeOblivious; s < schemes; s++ {
		p, err := NewEntropyParams(EntropyConfig{Scheme: s, Values: 64})
		require.NoError(t, err)
		seen := map[uint16]bool{}
		for seed := range uint64(256) {
			var e Entropy
			e.Init(&p, seed)
			seen[e.base%64] = true
		}
		require.Greater(t, len(seen), 56, s.String())
	}
}

// What a key decides is one of the values of the scheme, the same each time, and keys spread over
// all of them.
func TestFixedValueOfAKey(t *testing.T) {
	for s := SchemeOblivious; s < schemes; s++ {
		p, err := NewEntropyParams(EntropyConfig{Scheme: s, Values: 64})
		require.NoError(t, err)
		var e Entropy
		e.Init(&p, 7)
		high := e.base &^ 63
		if s == SchemeREPS || s == SchemeREPSLegacy {
			high = 0
		}
		seen := map[uint16]bool{}
		for key := range uint64(1000) {
			v := e.fixedFor(&p, key)
			require.Equal(t, high, v&^63, s.String())
			require.Equal(t, v, e.fixedFor(&p, key))
			seen[v] = true
		}
		require.Len(t, seen, 64, s.String())
	}
}

// The paths of ordered PDCs, as recorded runs have them: of two contexts, of two PDCs of one, and
// after a path has failed.
func TestOrderedPathsOnRecord(t *testing.T) {
	p := testParams(t, chapterFabric())
	m := newManager(t, ManagerConfig{Params: p, Contexts: 2, PDCs: 3, Seed: 1})
	var ways [][]uint16
	for i, context := range []Handle{NewHandle(0, 1), NewHandle(1, 1), NewHandle(1, 1)} {
		pdc := NewHandle(uint16(i), 1)
		if m.Context(context) == nil {
			require.NoError(t, m.Open(context, 0, 0))
		}
		require.NoError(t, m.Bind(pdc, context, 0, true))
		m.OnNewData(pdc, 0, 4*mtu)
		var taken []uint16
		for range 4 {
			taken = append(taken, m.Send(pdc, 0, Sent{Size: mtu}).Entropy)
			m.Repath(pdc)
		}
		ways = append(ways, taken)
	}
	require.Equal(t, [][]uint16{
		{0xb362, 0xb31f, 0xb3bc, 0xb326}, {0xf5a6, 0xf546, 0xf501, 0xf5f9}, {0xf552, 0xf5dd, 0xf52d, 0xf5e9},
	}, ways)
}

func TestObliviousOneValueIsOnePath(t *testing.T) {
	h := newPath(t, EntropyConfig{Values: 1})
	for range 10 {
		require.Equal(t, h.e.base, h.next())
	}
}

func TestBitmapPenaltiesSaturateAndWearOff(t *testing.T) {
	for _, scheme := range []Scheme{SchemeBitmap, SchemeMixed} {
		h := newPath(t, EntropyConfig{Scheme: scheme, Values: 4})
		bad := h.next()
		for range 5 {
			h.feed(0, bad, feedbackNACK)
		}
		h.feed(0, bad, feedbackTimeout)
		if scheme == SchemeBitmap { // else a good value is the next one
			h.feed(0, bad, feedbackGood)
		}
		h.feed(0, bad, feedbacks) // nothing that is known
		rounds := 0
		for h.next() != bad {
			rounds++
		}
		require.Greater(t, rounds, 15*3, "%v: one point of 15 a round of the three others", scheme)
		for range 3 {
			h.next()
		}
	}
}

// The scheme's rule one place at a time, against the code that skips words.
func TestBitmapSkipsAsOneByOne(t *testing.T) {
	for _, n := range []int{1, 8, 16, 64, 256} {
		fast := newPath(t, EntropyConfig{Scheme: SchemeBitmap, Values: n})
		slow := newPath(t, EntropyConfig{Scheme: SchemeBitmap, Values: n})
		penalty := make([]int, n)
		rnd := rand.New(rand.NewPCG(3, uint64(n)))
		for i := range 20_000 {
			e := &slow.e
			v := e.candidate()
			for skipped := 0; skipped < n && penalty[int(v)%n] > 0; skipped++ {
				if skipped == 0 {
					penalty[int(v)%n]--
				}
				e.advance(&slow.p)
				v = e.candidate()
			}
			e.advance(&slow.p)
			require.Equal(t, v, fast.next(), "n %d, step %d", n, i)
			if i/1000%3 == 0 { // a bad spell: more and more values are penalised
				bad := feedback(rnd.IntN(feedbacks))
				worse := uint16(rnd.IntN(n))
				fast.feed(0, worse, bad)
				penalty[worse] = min(penalty[worse]+int(penaltyOf[bad]), 15)
			}
		}
	}
}

func TestREPSRecyclesGoodValues(t *testing.T) {
	h := newPath(t, EntropyConfig{Scheme: SchemeREPS, Values: 1 << 16})
	for _, v := range []uint16{11, 22, 33} {
		h.feed(0, v, feedbackGood)
	}
	h.feed(0, 44, feedbackECN)
	h.feed(0, 55, feedbackNACK)
	require.Equal(t, []uint16{11, 22, 33}, []uint16{h.next(), h.next(), h.next()}, "oldest first, once each")
	require.Zero(t, h.p.REPSState(h.side).Fresh)
}

func TestREPSFreezesOnLossAndExploresAfter(t *testing.T) {
	h := newPath(t, EntropyConfig{Scheme: SchemeREPS, Values: 1 << 16, Freeze: 100})
	h.feed(0, 11, feedbackGood)
	h.feed(0, 22, feedbackGood)
	h.feed(10, 0, feedbackTimeout)
	require.True(t, h.p.REPSState(h.side).Frozen)
	for range 3 {
		require.Equal(t, []uint16{11, 22}, []uint16{h.next(), h.next()}, "again and again")
	}
	h.feed(110, 33, feedbackECN)
	require.True(t, h.p.REPSState(h.side).Frozen, "not after its end yet")
	h.feed(111, 33, feedbackGood)
	require.Equal(t, REPSState{Explore: 16, Fresh: 1, Filled: 1}, h.p.REPSState(h.side))
	explored := map[uint16]bool{}
	for range 16 {
		explored[h.next()] = true
	}
	require.Greater(t, len(explored), 8, "of 65,536 values")
	require.EqualValues(t, 33, h.next())
	h.feed(120, 0, feedbackTimeout)
	require.True(t, h.p.REPSState(h.side).Frozen)
}

func TestREPSFreezesForGood(t *testing.T) {
	h := newPath(t, EntropyConfig{Scheme: SchemeREPS, Freeze: math.MaxInt64})
	h.feed(1, 11, feedbackGood)
	h.feed(2, 0, feedbackTimeout)
	require.True(t, h.p.REPSState(h.side).Frozen)
	require.Equal(t, []uint16{11, 11}, []uint16{h.next(), h.next()})
}

func TestREPSDoesNotFreezeWhileExploring(t *testing.T) {
	h := newPath(t, EntropyConfig{Scheme: SchemeREPS, Values: 16, Freeze: 100})
	h.feed(0, 1, feedbackTimeout)
	h.feed(101, 1, feedbackTimeout)
	require.Equal(t, REPSState{Explore: 16}, h.p.REPSState(h.side))
	h.feed(102, 1, feedbackTimeout)
	require.False(t, h.p.REPSState(h.side).Frozen)
}

func TestLegacyFirstWindowThenRecycles(t *testing.T) {
	h := newPath(t, EntropyConfig{Scheme: SchemeREPSLegacy, Values: 4})
	for seq, want := range []uint16{1, 2, 3, 0} {
		require.Equal(t, want, h.e.Next(&h.p, h.side, Progress{Seq: uint64(seq), WindowPackets: 10}))
	}
	h.feed(0, 1234, feedbackGood)
	require.EqualValues(t, 1234, h.next())
	require.Less(t, h.next(), uint16(4))
}

// The simulator keeps one current path for the walk of the first window, for
// recycled values and for drawn ones.
func TestLegacyWalkGoesOnFromLastValue(t *testing.T) {
	h := newPath(t, EntropyConfig{Scheme: SchemeREPSLegacy, Values: 16})
	next := func(seq uint64, window int64) uint16 {
		return h.e.Next(&h.p, h.side, Progress{Seq: seq, WindowPackets: window})
	}
	require.EqualValues(t, 1, next(0, 2))
	require.EqualValues(t, 2, next(1, 2))
	h.feed(0, 14, feedbackGood)
	require.EqualValues(t, 14, next(2, 2), "recycled")
	require.EqualValues(t, 15, next(3, 8), "the window has grown: on from 14")
	require.EqualValues(t, 0, next(4, 8))
	drawn := next(5, 2)
	require.Equal(t, (drawn+1)%16, next(6, 8), "on from what was drawn")
}

func TestRecyclingQueueForgetsOldest(t *testing.T) {
	h := newPath(t, EntropyConfig{Scheme: SchemeMixed, Values: 16, Queue: 4})
	for v := range uint16(1000) {
		h.feed(0, v, feedbackGood)
	}
	for v := range uint16(4) {
		require.Equal(t, 996+v, h.next())
	}
	require.Equal(t, h.e.base&^15, h.next()&^15, "empty: a value of the round")
}

func TestEntropyConfigErrors(t *testing.T) {
	for _, c := range []struct {
		config EntropyConfig
		field  string
	}{
		{EntropyConfig{Scheme: schemes}, "Scheme"},
		{EntropyConfig{Values: -1}, "Values"},
		{EntropyConfig{Values: 1<<16 + 1, Scheme: SchemeREPS}, "Values"},
		{EntropyConfig{Values: 100}, "Values"},
		{EntropyConfig{Queue: 100}, "Queue"},
		{EntropyConfig{Queue: 1 << 16}, "Queue"},
		{EntropyConfig{Freeze: -1}, "Freeze"},
	} {
		_, err := NewEntropyParams(c.config)
		require.ErrorIs(t, err, ErrConfig, "%+v", c.config)
		require.ErrorContains(t, err, c.field)
	}
	_, err := NewEntropyParams(EntropyConfig{Scheme: SchemeREPS, Values: 100})
	require.NoError(t, err)
}

func TestEntropyAllocs(t *testing.T) {
	for s := SchemeOblivious; s < schemes; s++ {
		h := newPath(t, EntropyConfig{Scheme: s, Values: 64})
		now := int64(0)
		alloctest.Zero(t, s.String(), func() {
			now++
			h.feed(now, h.next(), feedback(now%feedbacks))
		})
	}
}
