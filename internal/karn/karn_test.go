// SPDX-License-Identifier: Apache-2.0

package karn

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnambiguous(t *testing.T) {
	require.Equal(t, []Copies{First, One, More, More, One},
		[]Copies{None.Again(), First.Again(), One.Again(), More.Again(), Refused.Again()})
	for c, valid := range map[Copies][2]bool{ // echo clear, echo set
		None: {false, false}, First: {true, false}, One: {false, true}, More: {false, false}, Refused: {false, false},
	} {
		require.Equal(t, valid, [2]bool{c.Unambiguous(false), c.Unambiguous(true)}, c)
	}
}

// A refusal tells that the last copy is gone, if that is the only one that was sent again.
func TestRefused(t *testing.T) {
	for c, want := range map[Copies]Copies{None: None, First: First, One: Refused, More: More, Refused: Refused} {
		require.Equal(t, want, c.Refused(), c)
	}
	require.True(t, One.Refused().Again().Unambiguous(true))
}
