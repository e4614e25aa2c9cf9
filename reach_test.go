// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ses"
)

// One message fills a path that holds 6,000 packets, of 20 ms at 10 Gb/s, told no more than the two
// figures, and sends nothing but what was lost again: what has arrived beyond the hole is known,
// though a SACK shows 64 packets. Before, 1,024 packets were under way at most: 2.9 times the ideal time.
func TestOneMessageFillsALongPath(t *testing.T) {
	const size, rate, rtt = 128 << 20, 10e9 / 8, 20_000_000
	for loss, most := range map[float64]float64{0: 1.3, 0.00005: 2.5} { // a time-out is eight round trips
		r := newReaders(t, 2, 1, rate, rtt)
		r.f.loss = loss
		a, b := r.ends[0], r.ends[1]
		a.local[1], b.mem = fill(size, 3), make([]byte, size)
		_, err := b.e.Target().Register(1<<16, 0, ses.Region{Length: size, Key: 5, Job: ses.AnyJob, Rights: ses.RightWrite})
		require.NoError(t, err)
		_, err = a.e.Write(0, &uetcc.Message{To: uetcc.Destination{Address: b.addr, Job: 1}, Key: 5, Length: size, Cookie: 1})
		require.NoError(t, err)
		for len(a.events) == 0 {
			require.True(t, r.step())
		}
		require.NoError(t, a.events[0].Err())
		require.Equal(t, a.local[1], b.mem)
		ideal := size/4096*(4096+56+udpIP)/rate*1e9 + rtt
		s := a.e.PDS().Stats()
		t.Logf("loss %v: %.2f ideal, %v", loss, float64(r.now)/ideal, s)
		require.Less(t, float64(r.now)/ideal, most)
		require.Less(t, s.Resent, s.Sent/20)
	}
}
