// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHeldByOrdersReasons(t *testing.T) {
	require.Equal(t, "62 % window, 30 % credit", HeldBy(map[string]float64{"credit": 30, "window": 62, "pacing": 0.1}, 100))
	require.Equal(t, "-", HeldBy(nil, 100))
}
