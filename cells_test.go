// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/rccc/tfc"
	"github.com/uetcc/uetcc/ses"
)

// underCells is transport flow control with so many cells of 256 bytes. A packet of netMTU fills 5.
func underCells(control ccc.Control, limit int64) func(*uetcc.Config) {
	return func(c *uetcc.Config) {
		c.CC.Control = control
		c.CC.TFC = tfc.Config{CellSize: 256, PktOverhead: 32, Limit: limit}
	}
}

// With transport flow control, alone or beside NSCC, everything arrives once whatever the network
// does, and no cell is lost: with room for four packets a leak would stand still.
func TestEndpointTFC(t *testing.T) {
	for name, faults := range netSettings {
		for _, control := range []ccc.Control{ccc.ControlNSCC, ccc.ControlNone} {
			for seed := range uint64(4) {
				t.Run(fmt.Sprint(name, "/", control, "/", seed), func(t *testing.T) {
					n := newNetwork(t, seed, faults, 2, underCells(control, 20))
					check := traffic(n, ses.ModeRUD)
					a := n.ends[0]
					n.endWell(a, len(a.local))
					check()
					n.settle()
					for _, end := range n.ends {
						require.Zero(t, end.e.Credit().Senders().Count(), "dropped with its last PDC")
					}
				})
			}
		}
	}
}

// Credit is told again and again for as long as a PDC lives, which does not keep the PDC from ending.
func TestEndpointTFCEndsIdle(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, underCells(ccc.ControlNone, 1000))
	n.write(ses.ModeRUD, 10*netMTU)
	n.read(ses.ModeRUD, 10*netMTU)
	n.endWell(n.ends[0], 2)
	n.wait(10_000 * ms)
	for _, end := range n.ends {
		require.Zero(t, end.e.Usage())
	}
}

// Data of a read that waits for cells goes with the reader: the target asks a silent reader, and forgets
// the PDC by itself.
func TestEndpointTFCReaderGone(t *testing.T) {
	edit := func(c *uetcc.Config) {
		underCells(ccc.ControlNone, 20)(c)
		c.PDS.MaxRTORetx = 5
	}
	for _, loss := range []float64{0, 1} { // the reader has begun again, or does not answer
		n := newNetwork(t, 1, netFaults{}, 2, edit)
		a, b := n.ends[0], n.ends[1].e
		a.e.SetBacklog(0, 1<<30)
		n.read(ses.ModeRUD, 40*netMTU)
		n.wait(3 * ms)
		require.NotZero(t, b.Usage().Answers)
		a.e, n.f.loss = newNetwork(t, 2, netFaults{}, 2, edit).ends[0].e, loss
		n.wait(10_000 * ms)
		require.Zero(t, b.Usage(), "loss %v", loss)
	}
}

// While the memory of the destination takes nothing the source sends what the cells hold and no
// more; as cells become free others follow, and all of them come.
func TestEndpointTFCWaitsForMemory(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, underCells(ccc.ControlNSCC, 22))
	b := n.ends[1].e
	const stuck = 1 << 30
	b.SetBacklog(0, stuck)
	n.write(ses.ModeRUD, 10*netMTU)
	n.wait(3 * ms)
	require.EqualValues(t, 4, b.PDS().Stats().Requests, "a fifth has no room")
	require.Zero(t, b.PDS().Stats().NACKs, "and is not sent")

	b.SetBacklog(n.now, 2*1100) // the two oldest have gone on
	b.SetBacklog(n.now, stuck)
	n.wait(1 * ms)
	require.EqualValues(t, 6, b.PDS().Stats().Requests)
	b.SetBacklog(n.now, 0)
	n.endWell(n.ends[0], 1)
	require.EqualValues(t, 10, b.PDS().Stats().Requests)
	require.Zero(t, n.ends[0].e.PDS().Stats().Resent)
}

// The few cells that one packet has left are told of a round trip later, by a clock that has gone
// back too.
func TestEndpointTFCBacklogAfterAStepBack(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, underCells(ccc.ControlNSCC, 44))
	b := n.ends[1].e
	b.SetBacklog(0, 1<<30)
	n.write(ses.ModeRUD, 8*netMTU)
	n.wait(3 * ms)
	require.EqualValues(t, 8, b.PDS().Stats().Requests)
	require.Empty(t, sendAll(n.now, b))
	b.SetBacklog(0, 7*1100)
	b.Tick(1)
	require.Empty(t, sendAll(1, b))
	b.Tick(1 * ms)
	require.Len(t, sendAll(1*ms, b), 1)
}

// A peer that asks for no cells is served all the same.
func TestEndpointTFCServesOthers(t *testing.T) {
	cells := func(*uetcc.Config) {}
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
		cells(c)
		cells = underCells(ccc.ControlNSCC, 20)
	})
	n.write(ses.ModeRUD, 8*netMTU)
	n.endWell(n.ends[0], 1)
}

// A peer that knows nothing of cells frees none, which is what the error says.
func TestEndpointTFCUnlikeEnds(t *testing.T) {
	edit := underCells(ccc.ControlNSCC, 20)
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
		edit(c)
		edit = func(*uetcc.Config) {}
	})
	n.write(ses.ModeRUD, 8*netMTU)
	n.run(func() bool { return len(n.ends[0].events) == 1 })
	require.Equal(t, pdc.CauseNoCredit, n.ends[0].events[0].Cause)
	require.ErrorContains(t, n.ends[0].events[0].Err(), "CC.TFC")
}

// Ends with unlike cells, limits or overheads: each message ends, well or in MessageTimeout to 1.5 MessageTimeout, and the
// error says CC.TFC. With NSCC beside, ordered messages whose packets the peer had no cells for ended with MessageTimeout alone.
func TestEndpointTFCUnlikeCells(t *testing.T) {
	const timeout = 2000 * ms
	own := tfc.Config{CellSize: 256, PktOverhead: 32, Limit: 20}
	for _, other := range []tfc.Config{
		{CellSize: 512, PktOverhead: 32, Limit: 20}, {CellSize: 128, PktOverhead: 32, Limit: 20}, {CellSize: 256, PktOverhead: 32, Limit: 10},
		{CellSize: 256, PktOverhead: 32, Limit: 40}, {CellSize: 256, PktOverhead: 600, Limit: 20}, {CellSize: 256, Limit: 20},
	} {
		for _, control := range []ccc.Control{ccc.ControlNSCC, ccc.ControlNone} {
			for i, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD, ses.ModeRUD, ses.ModeROD} {
				cells := []tfc.Config{own, other, own}[i/2:]
				n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
					c.CC.Control, c.CC.TFC, c.MessageTimeout = control, cells[0], timeout
					cells = cells[1:]
				})
				a := n.ends[0]
				for range 4 {
					n.write(mode, 50*netMTU)
					n.write(mode, 50*netMTU)
					n.read(mode, 50*netMTU)
				}
				for len(a.events) < 12 {
					require.True(t, n.step())
					require.Less(t, n.now, int64(timeout*3/2+10*ms), "%v %v %v", other, control, mode)
				}
				for _, ev := range a.events {
					if err := ev.Err(); err != nil {
						require.ErrorContains(t, err, "CC.TFC", "%v %v %v", other, control, mode)
					}
				}
			}
		}
	}
}

// A source that sends more than its cells hold is refused (NO_PKT_BUFFER); what it sends
// gets through when there is room.
func TestEndpointTFCRefuses(t *testing.T) {
	limit := int64(44) // as the source has it
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
		underCells(ccc.ControlNSCC, limit)(c)
		limit /= 2
	})
	a, b := n.ends[0].e, n.ends[1].e
	b.SetBacklog(0, 1<<30)
	n.write(ses.ModeRUD, 8*netMTU)
	codes := map[pds.NackCode]int{}
	for _, p := range sendAll(0, a) {
		_, back := receive(0, b, p)
		for _, q := range back {
			var nack pds.Nack
			if _, err := nack.Decode(q.data); err == nil {
				codes[nack.Code]++
			}
			receive(0, a, q)
		}
	}
	require.Equal(t, map[pds.NackCode]int{pds.NackNoPktBuffer: 4}, codes)
	b.SetBacklog(0, 0)
	n.endWell(n.ends[0], 1)
}

// Alone, acknowledgements tell the cells so far, which rise as the memory takes packets, but the
// first of a PDC, whose source knows what it begins with.
func TestEndpointTFCInAcknowledgements(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
		underCells(ccc.ControlNone, 20)(c)
		c.PDS.AckPerPacket = true
	})
	a, b := n.ends[0].e, n.ends[1].e
	n.write(ses.ModeRUD, 12*netMTU)
	var told []uint32
	for now := int64(0); now < 40_000; now += 1_000 {
		for _, p := range sendAll(now, b) {
			receive(now, a, p)
		}
		for _, p := range sendAll(now, a) {
			var q pds.Request
			_, err := q.Decode(p.data)
			require.NoError(t, err)
			_, back := receive(now, b, p)
			for _, p := range back {
				var ack pds.AckCC
				_, err := ack.Decode(p.data)
				require.NoError(t, err)
				var credit pds.CreditState
				require.Equal(t, q.Flags&pds.FlagSYN == 0, ack.Credit(&credit))
				if q.Flags&pds.FlagSYN == 0 {
					told = append(told, credit.Credit)
				}
				receive(now, a, p)
			}
		}
	}
	require.NotEmpty(t, told)
	require.IsNonDecreasing(t, told)
	require.Greater(t, told[len(told)-1], uint32(20), "more than at first")
}
