// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/hw/link"
)

// How soon delivery is back after losses, with the delivery defaults.

const (
	trip          = 12 * link.Microsecond // of the path, at 100 Gb/s
	starPacket    = netMTU + 56 + 48
	recoverySeeds = 6
)

// newLossy is a star of lossy Ethernet, with seed and faults as in c.
func newLossy(t testing.TB, hosts int, c fabric.Config) *star {
	c.Rate, c.Hop, c.PacketBytes = 100e9, trip/4, starPacket
	return newStar(t, hosts, c, func(u *uetcc.Config) {
		u.CC.NSCC.Trimming, u.Memory.Chunks, u.Answers, u.PDCs.General = false, 1024, 4096, 32
	})
}

// A lossy path costs hardly a time-out, whatever is lost: what was sent again and lost again, the
// response that keeps the cumulative acknowledgement, the ROD_OOO that comes once for a gap.
func TestLossHardlyCostsTimeouts(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		for _, op := range []fabric.Op{fabric.OpWrite, fabric.OpRead} {
			for seed := range uint64(3) {
				s := newLossy(t, 2, fabric.Config{Seed: seed + 1, Loss: .05})
				s.post(fabric.Message{Src: 0, Dst: 1, Op: op, Ordered: ordered, Size: 800 * netMTU})
				require.Less(t, s.end(), 1500*link.Microsecond, "ordered %v, %v, seed %d: RTO_Init_Time is 1 ms", ordered, op, seed+1)
			}
		}
	}
}

// flood keeps four writes from host 0 to host 1 under way.
func (s *star) flood(ordered bool) {
	s.post(fabric.Message{Src: 0, Dst: 1, Ordered: ordered, Size: 512 * netMTU, Done: func() { s.flood(ordered) }})
}

// trips lets round trips pass and returns the share of its link that host 1 has received in them.
func (s *star) trips(k int64) float64 {
	before := s.stats(1).Requests
	s.Run(s.Now() + link.Ps(k)*trip)
	return float64(s.stats(1).Requests-before) * starPacket / (12.5 * 12_000 * float64(k))
}

// recovers requires that host 1 receives 90 % of its rate in five round trips before so many have
// passed, and lets them pass.
func (s *star) recovers(within int64, what ...any) {
	for left := within; s.trips(5) < .9; left -= 5 {
		require.Positive(s.t, left, what...)
	}
}

// 90 % of the rate is back within 50 round trips after 30 % loss, however long, and within 100 after
// an outage of 20 ms: up to 140 and 930 before, since the next time-out was awaited.
func TestRecovery(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		for seed := range uint64(recoverySeeds) {
			loss := fabric.Fault{Place: fabric.Place{Tier: -1, Number: 1, Link: -1}, Kind: fabric.FaultLoss, Value: .3, From: 100 * trip}
			loss.Until = loss.From + []link.Ps{200, 417, 100}[seed%3]*trip
			down := loss
			down.Kind, down.From = fabric.FaultDown, loss.Until+150*trip
			down.Until = down.From + 20_000*link.Microsecond
			s := newLossy(t, 2, fabric.Config{Seed: seed + 1, Faults: []fabric.Fault{loss, down}})
			for range 4 {
				s.flood(ordered)
			}
			s.recovers(20, "from the start")
			s.Run(loss.Until)
			s.recovers(50, "ordered %v after 30 %% loss, seed %d", ordered, seed+1)
			s.Run(down.Until)
			s.recovers(100, "ordered %v after an outage, seed %d", ordered, seed+1)
			for _, m := range s.messages {
				require.True(t, m.Ended < 0 || m.OK(), m.Event)
			}
		}
	}
}

// Where nothing is lost nothing is sent again, and nothing times out, with the default Clear_Time:
// eight hosts that all talk to each other. (Such ends, with another pattern, once had 857 time-outs.)
func TestAllToAllWithoutLoss(t *testing.T) {
	s := newLossy(t, 8, fabric.Config{Seed: 1})
	for src := range 8 {
		for dst := range 8 {
			if src != dst {
				s.post(fabric.Message{Src: src, Dst: dst, Size: 200_000})
				s.post(fabric.Message{Src: src, Dst: dst, Op: fabric.OpRead, Size: 50_000})
			}
		}
	}
	s.end()
	for host := range 8 {
		st := s.stats(host)
		require.Zero(t, st.Resent+st.RTOs+st.NACKs, "%v", st)
	}
}

// Hosts that write to one at the same time, through a queue with room for a few of their first packets,
// all end well and soon: what is dropped goes again at different times. While all hosts had waited for
// as long, two packets each filled the queue again each time, and a third of the writes failed.
func TestIncastIntoAShallowQueue(t *testing.T) {
	const writers = 128
	queue := fabric.Queue{Limit: fabric.Bytes(30_000), ECNMin: fabric.Bytes(6_000), ECNMax: fabric.Bytes(24_000)}
	s := newStar(t, writers+1, fabric.Config{Rate: 100e9, Hop: 3 * link.Microsecond, Queue: &queue}, func(c *uetcc.Config) {
		c.CC.NSCC.Trimming = false
	})
	for i := range writers {
		s.post(fabric.Message{Src: 1 + i, Dst: 0, Size: 2 * 4096})
	}
	require.Less(t, s.end(), 5000*link.Microsecond)
}
