// SPDX-License-Identifier: Apache-2.0

package rccc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The simulator divides whole numbers; the factor has the same bits.
func TestHostFactorExact(t *testing.T) {
	l := DefaultHostLimits()
	for b := int64(1_000_000); b <= 4_750_000; b += 997 {
		room := 5_000_000 - b
		require.Equal(t, float64(room*room)/16e12, l.Factor(b), "backlog %d", b)
	}
}

func TestHostLimits(t *testing.T) {
	l := DefaultHostLimits()
	for _, c := range []struct {
		backlog int64
		want    float64
	}{{0, 1}, {999_999, 1}, {1_000_000, 1}, {3_000_000, 0.25}, {4_750_000, 0.00390625}, {4_750_001, 0.001}, {1 << 40, 0.001}} {
		require.Equal(t, c.want, l.Factor(c.backlog), "backlog %d", c.backlog)
	}
	require.Equal(t, 1.0, HostLimits{}.Factor(5), "the default, without a division by zero")
	require.Equal(t, 0.001, HostLimits{Low: 5, High: 9, Full: 5}.Factor(7))
	require.Equal(t, 0.001, HostLimits{Low: 1, High: 20, Full: 5}.Factor(15), "behind Full there is no room")
}
