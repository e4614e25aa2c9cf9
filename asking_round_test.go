// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The answers to what was asked for first are spread over some round trips, as the peer's window grows. No round
// counts as shorter than a round trip for all that, and the window grows to what the path takes: 10 MB at 4 Gb/s
// and 2 ms took 2.8 times the ideal time.
func TestAskingFillsALongPath(t *testing.T) {
	const rtt, packets, units, took = 2_000_000, 2500, 16, 8_350 // of a packet of 4 KiB, ns
	var a asking
	var due []int64
	now, free, asked := int64(0), int64(0), 0
	for got := 0; got < packets; got++ {
		for n := int(a.room(units)); n > 0 && asked < packets; n = int(a.room(units)) {
			a.ask(now, uint32(n), units)
			for range n {
				if free = max(free+took, now+rtt); asked < firstAsked/units {
					free += rtt / 4
				}
				due = append(due, free)
				asked++
			}
		}
		if now = due[got]; a.arrive(units) {
			a.learn(now, rtt)
		}
	}
	require.GreaterOrEqual(t, int64(a.least)<<6, int64(rtt))
	require.Less(t, now, int64(1.8*(packets*took+1.5*rtt)))
}

// Once all that was asked for has been answered, nothing tells of room any more: answers that the peer may still
// keep then hold back nothing. Fetching atomics behind a write that was lost stood still until MessageTimeout.
func TestAskingGoesOnWhenAllIsAnswered(t *testing.T) {
	a := asking{peer: 2, keeps: true}
	a.ask(0, 2, 1)
	a.kept = 2
	require.Zero(t, a.room(1))
	a.arrive(1)
	require.Zero(t, a.room(1), "the next answer tells")
	a.arrive(1)
	require.NotZero(t, a.room(1))
}
