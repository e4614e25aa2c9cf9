// SPDX-License-Identifier: Apache-2.0

package enum

import (
	"testing"

	"github.com/stretchr/testify/require"
)

type colour uint8

var colours = [...]string{0: "red", 2: "blue"}

func (c colour) String() string { return Name(colours[:], c) }

func TestName(t *testing.T) {
	for c, want := range map[colour]string{0: "red", 1: "colour(1)", 2: "blue", 3: "colour(3)", 255: "colour(255)"} {
		require.Equal(t, want, c.String())
	}
	require.Equal(t, "colour(7)", Name(nil, colour(7)))
}
