// SPDX-License-Identifier: Apache-2.0

package page

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// A track and a sum hold what one that forgets nothing does, in steps as wide as they came to be.
func TestTracksKeepExtremes(t *testing.T) {
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		c := Clock{Steps: 8 + int(seed)}
		var track Track
		var sum Sum
		type change struct{ at, v int64 }
		var all []change
		at, total := int64(rnd.IntN(300)), int64(0)
		for range 1 + rnd.IntN(400) {
			v := int64(rnd.IntN(2001) - 1000)
			track.Set(&c, at, v)
			sum.Add(&c, at, v)
			total += v
			all = append(all, change{at, v})
			at += int64(rnd.ExpFloat64() * 20)
		}
		until := at + int64(rnd.IntN(100))
		s := track.Series(&c, until, 1)
		require.LessOrEqual(t, c.Used(until), c.Steps)
		require.Equal(t, float64(c.Step()), s.Step)
		require.Zero(t, math.Mod(s.Begin, s.Step))
		end := s.Begin + s.Step*float64(len(s.Lo))
		require.Greater(t, end, float64(until))
		require.LessOrEqual(t, s.Begin, float64(all[0].at))

		var added int64
		for i := range s.Lo {
			from, to := int64(s.Begin)+int64(i)*c.Step(), int64(s.Begin)+int64(i+1)*c.Step()
			lo, hi, amount, held := int64(math.MaxInt64), int64(math.MinInt64), int64(0), all[0].v
			see := func(v int64) { lo, hi = min(lo, v), max(hi, v) }
			for _, x := range all {
				if x.at < from {
					held = x.v
				}
			}
			if i > 0 {
				see(held)
			}
			for _, x := range all {
				if x.at >= from && x.at < to {
					see(x.v)
					amount += x.v
				}
			}
			require.Equal(t, float64(lo), s.Lo[i], "seed %d step %d", seed, i)
			require.Equal(t, float64(hi), s.top(i))
			require.Equal(t, amount, sum.At(&c, int(from/c.Step())))
			added += amount
		}
		require.Equal(t, total, added)
		require.Equal(t, total, sum.Total())
	}
}

// The middle of many tracks is what a sorted list of them says, also where some have not begun.
func TestMiddle(t *testing.T) {
	var all []Series
	for i := range 11 {
		all = append(all, Series{Step: 2, Lo: Values{float64(i), float64(10 * i)}})
	}
	all = append(all, Series{}, Series{Step: 2, Begin: 4, Lo: Values{5}, Hi: Values{7}})
	band, median := Middle(all)
	require.Equal(t, Values{1, 10, 7}, band.Lo)
	require.Equal(t, Values{9, 90, 7}, band.Hi)
	require.Equal(t, Values{5, 50, 7}, median.Lo)
}

func TestValues(t *testing.T) {
	b, err := Values{1, 1234567, -0.5, 1.0 / 3, math.NaN(), math.Inf(1), 1e17}.MarshalJSON()
	require.NoError(t, err)
	require.Equal(t, "[1,1234567,-0.5,0.333333,null,null,1e+17]", string(b))
}
