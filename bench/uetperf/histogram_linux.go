// SPDX-License-Identifier: Apache-2.0

package main

import "math/bits"

// A histogram counts times, ns, to a precision of 3 %. The zero histogram is empty.
type histogram struct {
	counts [64 << histogramBits]int64
	n, min int64
}

const histogramBits = 5

func (h *histogram) add(v int64) {
	v = max(v, 0)
	if h.n == 0 || v < h.min {
		h.min = v
	}
	h.n++
	h.counts[bucket(v)]++
}

// bucket is the number of v's bucket: v while small, then 32 for each doubling.
func bucket(v int64) int {
	shift := max(bits.Len64(uint64(v))-histogramBits-1, 0)
	return shift<<histogramBits + int(v>>shift)
}

// quantile is about the least value with a share q of all values below, 0 if empty.
func (h *histogram) quantile(q float64) int64 {
	rest := int64(q * float64(h.n))
	for i, c := range h.counts {
		if rest -= c; rest < 0 {
			return max(start(i), h.min)
		}
	}
	return 0
}

// start is the least value of bucket i.
func start(i int) int64 {
	const low = 1 << histogramBits
	if i < 2*low {
		return int64(i)
	}
	return int64(low+i%low) << (i/low - 1)
}
