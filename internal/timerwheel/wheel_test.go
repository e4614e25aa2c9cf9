// SPDX-License-Identifier: Apache-2.0

package timerwheel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/internal/deadline"
)

// drain expires everything due at now, in order of index.
func drain(w *Wheel, now int64) map[uint32]bool {
	out := map[uint32]bool{}
	for {
		id, ok := w.Expire(now)
		if !ok {
			return out
		}
		out[id] = true
	}
}

func TestWheelExpiresNeitherEarlyNorLate(t *testing.T) {
	for _, tick := range []int64{1, 1024} {
		for _, ticks := range []int64{0, 1, 63, 64, 65, 4095, 4096, 1 << 18, 1<<24 + 17, 1 << 36, 1<<36 + 5, 1 << 40, 1<<50 + 1} {
			t.Run(fmt.Sprint(ticks, "x", tick), func(t *testing.T) {
				w := New(1, tick, 0)
				w.Arm(0, ticks*tick)
				looks := 0
				for {
					next, ok := w.Next()
					require.True(t, ok)
					require.LessOrEqual(t, next, ticks*tick)
					id, ok := w.Expire(next)
					if looks++; !ok {
						continue
					}
					require.Zero(t, id)
					require.Equal(t, ticks*tick, next)
					break
				}
				if ticks < 1<<36 {
					require.LessOrEqual(t, looks, levels)
				}
				require.False(t, w.Armed(0))
			})
		}
	}
}

// A time before the last one that Expire was given is read as that one, due or not.
func TestWheelTimeDoesNotGoBack(t *testing.T) {
	w := New(2, 1, 0)
	w.Arm(1, 5000)
	_, ok := w.Expire(1000)
	require.False(t, ok)
	require.EqualValues(t, 1000, w.Now(10))
	require.EqualValues(t, 1001, w.Now(1001))
	w.Arm(0, 500)
	next, ok := w.Next()
	require.True(t, ok)
	require.EqualValues(t, 1000, next)
	require.Equal(t, map[uint32]bool{0: true}, drain(w, 0))
	w.Arm(0, -5)
	require.Equal(t, map[uint32]bool{0: true}, drain(w, 0))
}

func TestWheelTickRoundsUp(t *testing.T) {
	w := New(2, 1500, 0) // a tick of 1024 ns
	w.Arm(0, 1025)
	w.Arm(1, 1024)
	require.Equal(t, map[uint32]bool{1: true}, drain(w, 2047))
	require.Equal(t, map[uint32]bool{0: true}, drain(w, 2048))
}

func TestWheelClockBackwardsAndLastTime(t *testing.T) {
	const late = math.MaxInt64 - 1000
	w := New(3, 1024, late)
	w.Arm(0, late-1_000_000)
	w.Arm(1, math.MaxInt64)
	w.Arm(2, -5)
	require.Equal(t, map[uint32]bool{0: true, 2: true}, drain(w, 0), "times in the past are due, whatever now says")
	next, ok := w.Next()
	require.True(t, ok)
	require.Positive(t, next)
	require.Empty(t, drain(w, late))
	require.True(t, w.Armed(1))
	w.Cancel(1)
	w.Cancel(1)
	_, ok = w.Next()
	require.False(t, ok)
}

func TestWheelAgainstModel(t *testing.T) {
	const n = 50
	for seed := range uint64(15) {
		r := rand.New(rand.NewPCG(seed, 1))
		now := int64(r.Uint64N(1 << 40))
		tick := int64(1) << r.UintN(12)
		w, model := New(n, tick, now), map[uint32]int64{}
		for range 3000 {
			id := uint32(r.UintN(n))
			switch r.UintN(4) {
			case 0, 1:
				at := now + int64(r.Uint64N(1<<r.UintN(45)))
				w.Arm(id, at)
				model[id] = at
			case 2:
				w.Cancel(id)
				delete(model, id)
			case 3:
				now += int64(r.Uint64N(1 << r.UintN(42)))
				want := map[uint32]bool{}
				for id, at := range model {
					if (at+tick-1)/tick <= now/tick {
						want[id] = true
						delete(model, id)
					}
				}
				require.Equal(t, want, drain(w, now), "seed %d", seed)
			}
			for id := range uint32(n) {
				_, want := model[id]
				require.Equal(t, want, w.Armed(id))
			}
			next, ok := w.Next()
			require.Equal(t, len(model) > 0, ok)
			for _, at := range model {
				require.LessOrEqual(t, next, max((at+tick-1)/tick*tick, now/tick*tick))
			}
		}
	}
}

func TestWheelAllocs(t *testing.T) {
	w := New(64, 1024, 0)
	now := int64(0)
	alloctest.Zero(t, "arm, cancel, expire", func() {
		now += 100_000
		w.Arm(1, now+5_000_000)
		w.Arm(2, now+50)
		w.Cancel(1)
		w.Next()
		w.Expire(now + 2000)
	})
}

func ExampleWheel() {
	w := New(8, 1, 0)
	w.Arm(3, 1000)
	w.Arm(5, 250)
	w.Arm(3, 400) // in place of 1000
	for {
		at, ok := w.Next()
		if !ok {
			break
		}
		if id, ok := w.Expire(at); ok {
			fmt.Println(at, id)
		}
	}
	// Output:
	// 250 5
	// 400 3
}

func TestWheelPanicsBeyondItsIndices(t *testing.T) {
	w := New(3, 1, 0)
	beyond := []uint32{3, 400, math.MaxUint32 - listCount}
	if math.MaxUint > math.MaxUint32 { // with fewer bits the largest would come round to a list
		beyond = append(beyond, math.MaxUint32)
	}
	for _, id := range beyond {
		require.Panics(t, func() { w.Arm(id, 5) }, id)
		require.Panics(t, func() { w.Cancel(id) }, id)
	}
	_, ok := w.Next()
	require.False(t, ok, "nothing was touched")
}

// A user that arms by [Wheel.Now] is behind it, and so done, at any time.
func TestWheelNowHasAnEnd(t *testing.T) {
	for n, now := range []int64{1 << 62, deadline.End - 5000, deadline.End - 1, deadline.End, math.MaxInt64, math.MaxInt64} {
		w := New(1, int64(1+n%2*1023), now)
		w.Arm(0, now)
		at := w.Now(now)
		require.Equal(t, min(now, deadline.End), at)
		for looks := 0; ; looks++ {
			require.Less(t, looks, 3)
			if _, ok := w.Expire(at); !ok {
				break
			}
			w.Arm(0, min(w.Now(now), math.MaxInt64-5000)+5000)
		}
		next, ok := w.Next()
		require.True(t, ok)
		require.Positive(t, next)
	}
}

// A clock that leaps over all of time does not have the wheel go round for each turn of
// it: a thousand of these leaps would take a quarter of an hour.
func TestWheelLeaps(t *testing.T) {
	const far = 1 << 62
	for range 1000 {
		w := New(5, 1, 0)
		for id, at := range []int64{5, 1 << 43, 1<<61 + 7, far, math.MaxInt64} {
			w.Arm(uint32(id), at)
		}
		require.Equal(t, map[uint32]bool{0: true, 1: true, 2: true}, drain(w, far-1))
		require.Equal(t, map[uint32]bool{3: true}, drain(w, far))
		next, ok := w.Next()
		require.True(t, ok)
		require.Greater(t, next, int64(far))
		w.Arm(0, far+5)
		require.True(t, w.Armed(0))
		require.Equal(t, map[uint32]bool{0: true}, drain(w, far+5))
	}
}
