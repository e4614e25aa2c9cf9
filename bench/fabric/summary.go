// SPDX-License-Identifier: Apache-2.0

package fabric

import "slices"

// A Summary describes a set of numbers. A percentile is the number with so many below.
type Summary struct {
	Min  float64 `json:"min"`
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p99_9"`
	Max  float64 `json:"max"`
}

// A jain is Jain's fairness index of some shares: 1 if equal, 1/n if one of n has all.
type jain struct{ n, sum, squares float64 }

func (j *jain) add(share float64) {
	j.n++
	j.sum += share
	j.squares += share * share
}

// index is 0 without shares.
func (j *jain) index() float64 {
	if j.squares == 0 {
		return 0
	}
	return j.sum * j.sum / (j.n * j.squares)
}

// summarize describes v, sorted in place.
func summarize(v []float64) Summary {
	slices.Sort(v)
	var sum float64
	for _, x := range v {
		sum += x
	}
	at := func(permille int) float64 { return v[len(v)*permille/1000] }
	return Summary{
		Min: v[0], Mean: sum / float64(len(v)), P50: at(500), P90: at(900), P99: at(990), P999: at(999), Max: v[len(v)-1],
	}
}

// us is ps in microseconds.
func us(ps int64) float64 { return float64(ps) / 1e6 }
