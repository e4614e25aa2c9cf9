// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/ses"
)

var unlikeSeeds = flag.Int("seeds", 6, "TestUnlikeMTU: seeds of each pairing")

// Ends with different MTUs do all that like ones do, with every byte. The initiator learns the
// smaller MTU, and its target takes shorter packets than its own. Until then, at 2 us of jitter
// and 500 seeds a pairing, 1,282 of 1,327 reads that ended with StatusOK missed bytes, and every
// write of several packets was refused.
func TestUnlikeMTU(t *testing.T) {
	const length = 60_000
	mtus := []uint32{1024, 2048, 4096, 8192}
	for _, a := range mtus {
		for _, b := range mtus {
			t.Run(fmt.Sprint(a, "/", b), func(t *testing.T) {
				for seed := range uint64(*unlikeSeeds) {
					unlikeEnds(t, seed+1, [2]uint32{a, b}, length)
				}
			})
		}
	}
}

// A read that brings header data cannot say how much its first packet asks for. With a target of
// a larger MTU it ends at once, and not well.
func TestUnlikeMTUAndHeaderData(t *testing.T) {
	for _, b := range []uint32{1024, 2048, 4096, 8192} {
		i := 0
		n := newNetwork(t, 1, netFaults{reorder: 2000}, 2, func(c *uetcc.Config) {
			c.MTU, c.Memory.Chunks, i = [2]uint32{2048, b}[i], 0, i+1
		})
		a := n.ends[0]
		a.local[1] = make([]byte, 60_000)
		m := uetcc.Message{To: uetcc.Destination{Address: n.ends[1].addr, Job: 1}, Key: 1, Length: 60_000, Cookie: 1, HasData: true}
		_, err := a.e.Read(n.now, &m)
		require.NoError(t, err)
		n.run(func() bool { return len(a.events) == 1 })
		got := a.events[0].Outcome
		if b > 2048 {
			require.Equal(t, ses.StatusFailed, got.Status)
			require.Equal(t, ses.RCOpViolation, got.Code)
			continue
		}
		require.Equal(t, ses.StatusOK, got.Status)
		require.EqualValues(t, 60_000, got.Length)
		require.Less(t, n.now, int64(ms))
	}
}

func unlikeEnds(t *testing.T, seed uint64, mtu [2]uint32, length int) {
	i := 0
	n := newNetwork(t, seed, netFaults{reorder: 2000}, 2, func(c *uetcc.Config) {
		c.MTU, c.Memory.Chunks, i = mtu[i], 0, i+1
	})
	a, b := n.ends[0], n.ends[1]
	copy(b.mem, fill(length, 7))
	mode := []ses.Mode{ses.ModeRUD, ses.ModeROD}[seed%2]
	read, again := a.local[n.read(mode, length)], a.local[n.read(ses.ModeRUDI, length)]
	n.endWell(a, 2)
	require.Equal(t, b.mem[:length], read)
	require.Equal(t, b.mem[:length], again)
	wrote := a.local[n.write(mode, length)]
	n.endWell(a, 3)
	require.Equal(t, wrote, b.mem[:length])
	n.post(b, 1<<19, uint32(length))
	cookie := uint64(len(a.local) + 1)
	a.local[cookie] = fill(length, 9)
	m := uetcc.Message{To: uetcc.Destination{Address: b.addr, Job: 1, Index: netQueue}, Mode: mode, Length: uint32(length), Cookie: cookie}
	m.Deferrable = seed%3 == 0
	_, err := a.e.Send(n.now, &m)
	require.NoError(t, err)
	n.endWell(a, 4)
	require.Equal(t, a.local[cookie], b.mem[1<<19:][:length])
	if mode == ses.ModeRUD { // what a PDC has learnt holds for its next messages
		require.Less(t, int(a.events[3].Outcome.Retries), 2)
	}
}

// Ends with different MTUs put off sends of each other, and each says later that it is ready: one packet, whatever the
// length of the send and whatever MTU the peer has turned out to have.
func TestUnlikeMTUAndSendsPutOff(t *testing.T) {
	const length = 60_000
	for seed := range uint64(*unlikeSeeds) {
		for _, mtu := range [][2]uint32{{1024, 8192}, {8192, 1024}, {2048, 4096}} {
			i := 0
			n := newNetwork(t, seed+1, netFaults{reorder: 2000}, 2, func(c *uetcc.Config) {
				c.MTU, c.Memory.Chunks, i = mtu[i], 0, i+1
			})
			for round := range 3 {
				for i, from := range n.ends {
					to, cookie := n.ends[1-i], uint64(round+1)
					from.local[cookie] = fill(length, byte(cookie)+byte(i))
					m := uetcc.Message{To: uetcc.Destination{Address: to.addr, Job: 1, Index: netQueue}, Length: length, Cookie: cookie, Deferrable: true}
					_, err := from.e.Send(n.now, &m)
					require.NoError(t, err)
				}
				n.run(func() bool { return n.ends[0].e.Usage().Pending == 1 && n.ends[1].e.Usage().Pending == 1 })
				for _, end := range n.ends {
					n.post(end, 1<<19, length)
				}
				for i, end := range n.ends {
					n.endWell(end, round+1)
					require.Equal(t, end.local[uint64(round+1)], n.ends[1-i].mem[1<<19:][:length])
				}
			}
		}
	}
}

// A peer that tracks fewer PSNs than this side takes for its default, DefaultMPR, refuses what is
// beyond, and is sent no more than it tracks from then on, as far as the wire tells: in units of
// 128 PSNs.
func TestRangeBelowThePeersDefault(t *testing.T) {
	for _, most := range []struct {
		track  int
		resent float64 // part of what is sent
	}{{512, .02}, {64, .1}, {8, .2}} {
		i := 0
		n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
			if c.PDS = (pdc.Config{}); i == 1 {
				c.PDS.Range = most.track
			}
			i++
		})
		for range 4 {
			n.write(ses.ModeRUD, 500*netMTU)
		}
		n.read(ses.ModeRUD, 500*netMTU)
		n.endWell(n.ends[0], 5)
		st := n.ends[0].e.PDS().Stats()
		require.Less(t, float64(st.Resent), most.resent*float64(st.Sent), "%d PSNs: %v", most.track, st)
	}
}

// Of a thousand atomics at once to such a peer none fails: SYN packets outside the window go again.
func TestAtomicsBeyondTheRange(t *testing.T) {
	i := 0
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
		if c.PDS, c.Messages, c.Answers, c.CC.Control = (pdc.Config{}), 1000, 0, ccc.ControlNone; i == 1 {
			c.PDS.Range = 64
		}
		i++
	})
	a, b := n.ends[0], n.ends[1]
	n.postTag(b, 4096, 16, 1, 0)
	for k := range uint64(1000) {
		m := n.matched(b, 1, k, 8)
		m.To.Index, m.Tagged, m.Key, m.Swap.Opcode, m.Swap.Type = 0, false, 1, ses.AtomicSum, ses.TypeUint64
		m.Fetch, a.local[k] = true, make([]byte, 8)
		_, err := a.e.Atomic(n.now, &m)
		require.NoError(t, err)
	}
	n.endWell(a, 1000)
}

// Ends with receiver credit whose links differ, and so the most credit that each holds, share it all the same. A new
// context with much self-granted credit was taken for an old one: its second message waited 10 ms, and with lost packets
// the slow end took totals of the fast one for impossible until its messages failed with CauseNoCredit.
func TestUnlikeRatesUnderCredit(t *testing.T) {
	rates := []int64{1_250_000_000, 50_000_000_000}
	for _, control := range []ccc.Control{ccc.ControlRCCC, ccc.ControlBoth} {
		for _, loss := range []float64{0, .1} {
			for seed := range uint64(max(*unlikeSeeds, 16)) {
				i := seed
				n := newNetwork(t, seed+1, netFaults{loss: loss}, 2, func(c *uetcc.Config) {
					c.CC.Control, c.CC.NSCC.LinkRate, c.Memory.Chunks = control, rates[i%2], 0
					i++
				})
				a := n.ends[0]
				n.write(ses.ModeRUD, 1000)
				n.endWell(a, 1)
				for _, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD} {
					for range 3 {
						n.write(mode, 40*netMTU)
						n.read(mode, 40*netMTU)
					}
				}
				n.endWell(a, 13)
				if loss == 0 {
					require.Less(t, n.now, int64(2*ms))
				}
			}
		}
	}
}
