// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/hw/link"
)

// One message fills a path that holds 6,000 packets, of 20 ms at 10 Gb/s, told no more than the two
// figures, and sends nothing but what was lost again: what has arrived beyond the hole is known,
// though a SACK shows 64 packets. Before, 1,024 packets were under way at most: 2.9 times the ideal time.
func TestOneMessageFillsALongPath(t *testing.T) {
	const size, rate, rtt = 128 << 20, 10e9, 20_000 * link.Microsecond
	for loss, most := range map[float64]float64{0: 1.3, 0.00005: 2.5} { // a time-out is eight round trips
		s := newStar(t, 2, fabric.Config{Rate: rate, Hop: rtt / 4, Loss: loss, Seed: 4}, nil)
		s.post(fabric.Message{Src: 0, Dst: 1, Size: size})
		took := float64(s.end())
		ideal := float64(size/4096*link.Serialization(4096+56+48, rate) + rtt)
		t.Logf("loss %v: %.2f ideal, %v", loss, took/ideal, s.stats(0))
		require.Less(t, took/ideal, most)
		require.Less(t, s.stats(0).Resent, s.stats(0).Sent/20)
		require.Equal(t, loss > 0, s.stats(0).Resent > 0)
	}
}
