// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/hw/link"
)

// Reads over a network that loses nothing end well, soon, and with hardly a packet refused,
// whatever the link: they ask for what the path and the peer can take. Before, with requests
// bounded by PSNs alone: one read of 16 MB at 200 MB/s failed after 11.4 ms, both ends that read
// failed, 7 of 64 readers of 4 MB and 1 of 32 of 8 MB, after 89,517 and 46,437 NACKs. Now those
// two, which are cells of TestWhole, take 1.02 of the ideal time.
func TestReadsAskForWhatCanBeTaken(t *testing.T) {
	for _, c := range []struct {
		name    string
		readers int // of host 0; 0: two hosts of each other
		size    int64
		rate    int64
		rtt     link.Ps
		most    float64 // of the ideal time
	}{
		{"one at 200 MB/s", 1, 16 << 20, 1.6e9, 40 * link.Microsecond, 1.1},
		{"one at 10 Gb/s", 1, 16 << 20, 10e9, 100 * link.Microsecond, 1.25},
		{"one at 100 Gb/s", 1, 16 << 20, 100e9, 12 * link.Microsecond, 1.25},
		{"one at 400 Gb/s", 1, 16 << 20, 400e9, 8 * link.Microsecond, 1.25},
		{"both at 100 Gb/s", 0, 16 << 20, 100e9, 12 * link.Microsecond, 1.3},
		{"8", 8, 4 << 20, 100e9, 12 * link.Microsecond, 1.25},
		{"32", 32, 1 << 20, 100e9, 12 * link.Microsecond, 1.25},
		{"64", 64, 1 << 20, 100e9, 12 * link.Microsecond, 1.25},
	} {
		t.Run(c.name, func(t *testing.T) {
			readers := max(c.readers, 1)
			s := newStar(t, readers+1, fabric.Config{Rate: c.rate, Hop: c.rtt / 4}, nil)
			for i := range readers {
				s.post(fabric.Message{Src: i + 1, Dst: 0, Op: fabric.OpRead, Size: c.size})
			}
			if c.readers == 0 {
				s.post(fabric.Message{Src: 0, Dst: 1, Op: fabric.OpRead, Size: c.size})
			}
			took := float64(s.end())
			var sent, nacks uint64
			for i := range readers + 1 {
				x := s.stats(i)
				sent, nacks = sent+x.Sent, nacks+x.NACKs-x.Doubted // not those of the first round trip, see TestFirstReadsOfHonestPeers
			}
			packets := int64(readers) * c.size / 4096
			ideal := float64(link.Ps(packets)*link.Serialization(4096+20+12+48, c.rate) + c.rtt*3/2)
			t.Logf("%s: %.3f ideal, %.4f NACKs", c.name, took/ideal, float64(nacks)/float64(sent))
			require.Less(t, float64(nacks), 0.01*float64(sent))
			require.Less(t, took/ideal, c.most, s.stats(0))
		})
	}
}

// Peers with few answers are read from at the pace that their answers allow: each gives a packet in a round trip,
// and one reader alone gets half of them. Before, refused requests went again a NACK_Retx_Time later, all at once,
// and the window grew into a refusal each other round: the cases took 345, 114, 13, 1.4, 2.4 and 4.8 times as long, and
// in the last a reader found the one answer taken each time, until its message failed.
func TestReadsOfFewAnswers(t *testing.T) {
	for _, c := range []struct {
		name          string
		answers, room int // of the server; for all readers together
		readers       int
		size          int64
		rate          int64
		rtt           link.Ps
		most          float64 // of the time that the room allows
	}{
		{"1", 1, 1, 1, 64 << 10, 100e9, 2 * link.Microsecond, 1.2},
		{"2", 2, 1, 1, 4 << 20, 400e9, 2 * link.Microsecond, 1.2},
		{"4", 4, 2, 1, 1 << 20, 10e9, 10 * link.Microsecond, 1.2},
		{"16", 16, 8, 1, 4 << 20, 100e9, 200 * link.Microsecond, 1.2},
		{"1 for 5", 1, 1, 5, 256 << 10, 10e9, 200 * link.Microsecond, 1.5},
		{"2 for 8", 2, 2, 8, 64 << 10, 100e9, 200 * link.Microsecond, 1.5},
		{"1 for 3, long", 1, 1, 3, 24 << 20, 10e9, 100 * link.Microsecond, 1.5},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStar(t, c.readers+1, fabric.Config{Rate: c.rate, Hop: c.rtt / 4}, func(u *uetcc.Config) { u.Answers = c.answers })
			for i := range c.readers {
				s.post(fabric.Message{Src: i + 1, Dst: 0, Op: fabric.OpRead, Size: c.size})
			}
			took, packets := float64(s.end()), int64(c.readers)*c.size/4096
			data := link.Serialization(4096+20+12+48, c.rate)
			ideal := float64(max(link.Ps(packets)*(c.rtt+2*data)/link.Ps(c.room), link.Ps(packets)*data) + c.rtt/2)
			sent, nacks := uint64(0), s.stats(0).NACKs-s.stats(0).Doubted
			for i := range c.readers + 1 {
				sent += s.stats(i).Sent
			}
			t.Logf("%s: %.3f of the ideal time, %.4f NACKs", c.name, took/ideal, float64(nacks)/float64(sent))
			require.Less(t, took/ideal, c.most)
		})
	}
}
