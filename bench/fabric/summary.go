package fabric

import "slices"

// A Summary describes a set of times.
type Summary struct {
	Min  float64 `json:"min"`
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
}

// A jain is Jain's fairness index of some shares: 1 if they are equal, 1/n if one of n
// has all.
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

func summarize(v []int64) Summary {
	slices.Sort(v)
	var sum float64
	for _, x := range v {
		sum += us(x)
	}
	at := func(percent int) float64 { return us(v[len(v)*percent/100]) }
	return Summary{Min: us(v[0]), Mean: sum / float64(len(v)), P50: at(50), P99: at(99), Max: us(v[len(v)-1])}
}

// us is ps in microseconds.
func us(ps int64) float64 { return float64(ps) / 1e6 }
