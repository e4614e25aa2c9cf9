// SPDX-License-Identifier: Apache-2.0

package splitmix

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The first numbers of the authors' reference implementation for the state 1234567.
func TestNextIsSplitMix64(t *testing.T) {
	state := uint64(1234567)
	for _, want := range []uint64{
		6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821,
	} {
		require.Equal(t, want, Next(&state))
	}
}
