// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/ses"
)

// How soon delivery is back after losses, with the delivery defaults.

// atDefaults leaves delivery and congestion control to their defaults, but for what is told of
// the path: 100 Gb/s and 12 us.
func atDefaults(c *uetcc.Config) {
	c.PDS, c.CC = pdc.Config{}, ccc.Config{NSCC: nscc.Config{LinkRate: 12_500_000_000, BaseRTT: 12_000}}
	c.Network, c.Memory.Chunks, c.Answers = uetcc.NetworkLossy, 1024, 4096
}

// A lossy path costs hardly a time-out, whatever is lost: what was sent again and lost again, the
// response that keeps the cumulative acknowledgement, the ROD_OOO that comes once for a gap.
func TestLossHardlyCostsTimeouts(t *testing.T) {
	for _, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD} {
		for _, read := range []bool{false, true} {
			for seed := range uint64(3) {
				n := newNetwork(t, seed+1, netFaults{loss: .05, delay: 6000, rate: 12_500_000_000}, 2, atDefaults)
				a, begin := n.ends[0], n.write
				if read {
					begin = n.read
				}
				begin(mode, 800*netMTU)
				n.endWell(a, 1)
				require.Less(t, n.now, int64(3*ms/2), "%v, read %v, seed %d: RTO_Init_Time is 1 ms", mode, read, seed+1)
			}
		}
	}
}

// flood keeps writes under way from end 0 to end 1.
func (n *network) flood(mode ses.Mode) {
	for a := n.ends[0]; len(a.local)-len(a.events) < 4; {
		n.write(mode, 512*netMTU)
	}
}

// trips lets round trips of 12 us pass and returns the share of its link that end 1 has received
// in them.
func (n *network) trips(mode ses.Mode, k int64) float64 {
	const packet = netMTU + 56 + udpIP
	b, until := n.ends[1].e, n.now+k*12_000
	before := b.PDS().Stats().Requests
	n.q.Push(until, netPacket{}) // to nobody
	n.run(func() bool { n.flood(mode); return n.now >= until })
	return float64(b.PDS().Stats().Requests-before) * packet / (12.5 * 12_000 * float64(k))
}

// recovery is how many round trips pass until end 1 receives 90 % of its rate in five.
func (n *network) recovery(mode ses.Mode) (trips int64) {
	for ; n.trips(mode, 5) < .9; trips += 5 {
		require.Less(n.t, trips, int64(5000))
	}
	return trips
}

// 90 % of the rate is back within 50 round trips after 30 % loss, however long, and within 100 after
// an outage of 20 ms: up to 140 and 930 before, since the next time-out was awaited.
func TestRecovery(t *testing.T) {
	for _, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD} {
		for seed := range uint64(6) {
			n := newNetwork(t, seed+1, netFaults{delay: 6000, rate: 12_500_000_000}, 2, atDefaults)
			require.LessOrEqual(t, n.recovery(mode), int64(20), "from the start")
			n.trips(mode, 50)
			n.f.loss = .3
			n.trips(mode, []int64{200, 417, 100}[seed%3])
			n.f.loss = 0
			require.LessOrEqual(t, n.recovery(mode), int64(50), "%v after 30 %% loss, seed %d", mode, seed+1)
			n.trips(mode, 50)
			for _, end := range n.ends {
				n.cut[pdc.AddrFrom(end.addr)] = true
			}
			n.trips(mode, 20*ms/12_000)
			clear(n.cut)
			require.LessOrEqual(t, n.recovery(mode), int64(100), "%v after an outage, seed %d", mode, seed+1)
			for _, ev := range n.ends[0].events {
				require.Equal(t, ses.StatusOK, ev.Outcome.Status)
			}
		}
	}
}

// Where nothing is lost nothing is sent again, and nothing times out, with the default Clear_Time:
// eight ends that all talk to each other. (Such ends, with another pattern, once had 857 time-outs.)
func TestAllToAllWithoutLoss(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 8, func(c *uetcc.Config) {
		atDefaults(c)
		c.PDCs.General = 32
	})
	for _, a := range n.ends {
		for _, b := range n.ends {
			if a == b {
				continue
			}
			for _, m := range []uetcc.Message{{Length: 200_000}, {Length: 50_000}} {
				m.To, m.Key, m.Cookie = uetcc.Destination{Address: b.addr, Job: 1}, 1, uint64(len(a.local)+1)
				start := a.e.Write
				if m.Length == 50_000 {
					start = a.e.Read
				}
				a.local[m.Cookie] = make([]byte, m.Length)
				_, err := start(n.now, &m)
				require.NoError(t, err)
			}
		}
	}
	for _, a := range n.ends {
		n.endWell(a, 14)
		st := a.e.PDS().Stats()
		require.Zero(t, st.Resent+st.RTOs+st.NACKs, "%v", st)
	}
}
