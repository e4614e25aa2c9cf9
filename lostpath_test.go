// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ses"
)

// An ordered message whose way is dead takes another one after its second time-out. It was sent
// 17 times the same way and failed after 63 ms, and so did those that came after it, since all
// ordered PDCs of a context shared one value.
func TestOrderedLeavesADeadPath(t *testing.T) {
	e := newEnd(t, uetcc.Config{Address: walkAddr[0], Seed: 5})
	ways := map[uint16]bool{}
	first := uint16(0)
	_, err := e.Write(0, &uetcc.Message{To: uetcc.Destination{Address: walkAddr[1]}, Mode: ses.ModeROD, Length: 100})
	require.NoError(t, err)
	out := uetcc.Datagram{Packet: make([]byte, 0, uetcc.HeaderMax)}
	sent := 0
	for now := int64(0); sent < 6; {
		for e.Transmit(now, &out) {
			if sent++; sent == 1 {
				first = out.Entropy
			}
			if sent <= 2 {
				require.Equal(t, first, out.Entropy, "one time-out is no proof")
			}
			ways[out.Entropy] = true
		}
		now, _ = e.NextDeadline()
		e.Tick(now)
	}
	require.Greater(t, len(ways), 2)
}

// Ordered streams to one peer have a value each.
func TestOrderedPDCsSpread(t *testing.T) {
	e := newEnd(t, uetcc.Config{Address: walkAddr[0], Seed: 5})
	ways := map[uint16]bool{}
	for job := range ses.JobID(16) {
		_, err := e.Write(0, &uetcc.Message{To: uetcc.Destination{Address: walkAddr[1], Job: job}, Mode: ses.ModeROD, Length: 100})
		require.NoError(t, err)
	}
	out := uetcc.Datagram{Packet: make([]byte, 0, uetcc.HeaderMax)}
	for e.Transmit(0, &out) {
		ways[out.Entropy] = true
	}
	require.Greater(t, len(ways), 10)
}
