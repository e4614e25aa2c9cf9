// SPDX-License-Identifier: Apache-2.0

package random

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSeed(t *testing.T) {
	require.EqualValues(t, 7, Seed(7), "asked for by name")
	require.NotZero(t, Seed(0))
	require.NotEqual(t, Seed(0), Seed(0))
}
