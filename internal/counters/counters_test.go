// SPDX-License-Identifier: Apache-2.0

package counters

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStringNamesWhatIsNotZero(t *testing.T) {
	type stats struct {
		Sent, Lost uint64
		Open       int
	}
	require.Equal(t, "Sent 3, Open -1", String(stats{Sent: 3, Open: -1}))
	require.Equal(t, "all 0", String(stats{}))
}
