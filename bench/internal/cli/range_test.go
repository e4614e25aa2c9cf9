// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRange(t *testing.T) {
	require.NoError(t, Range("-n", 2, 1, 2, "bytes"))
	err := Range("-n", 3, 1, 2, "bytes")
	require.ErrorIs(t, err, ErrValue)
	require.EqualError(t, err, "value out of range: -n is 3, want 1 to 2 bytes")
}
