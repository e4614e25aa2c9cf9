// SPDX-License-Identifier: Apache-2.0

package link

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSerialization(t *testing.T) {
	for _, tc := range []struct {
		name        string
		bytes, rate int64
		want        Ps
	}{
		{"4,150 bytes at 100 Gb/s last 332 ns", 4150, 100e9, 332 * Nanosecond},
		{"one byte at 800 Gb/s lasts 10 ps", 1, 800e9, 10},
		{"a third of a picosecond rounds up", 1, 24e12, 1},
		{"nothing takes no time", 0, 100e9, 0},
		{"a negative length takes no time", -1, 100e9, 0},
		{"a link without rate is not a division by zero", 1, 0, 0},
		{"256 MB at 1 bit a second saturates", math.MaxInt64, 1, math.MaxInt64},
		{"a terabyte at 100 Gb/s does not overflow on the way", 1e12, 100e9, 80 * Second},
	} {
		t.Run(tc.name, func(t *testing.T) { require.Equal(t, tc.want, Serialization(tc.bytes, tc.rate)) })
	}
}
