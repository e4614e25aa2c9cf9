// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// to starts a write of a few bytes to a destination, and returns its packets.
func (n *network) to(d uetcc.Destination, mode ses.Mode) (cookie uint64, ps []wirePacket) {
	a := n.ends[0]
	const length = 10
	cookie = uint64(len(a.local) + 1)
	d.Address, d.Job = n.ends[1].addr, 1
	a.local[cookie] = fill(length, byte(cookie))
	_, err := a.e.Write(n.now, &uetcc.Message{To: d, Mode: mode, Key: 1, Length: length, Cookie: cookie})
	require.NoError(n.t, err)
	return cookie, sendAll(n.now, a.e)
}

func spdcid(t *testing.T, p wirePacket) pds.PDCID {
	var q pds.Request
	_, err := q.Decode(p.data)
	require.NoError(t, err)
	return q.SPDCID
}

// Ordered messages of one context wait for each other, those of another do not.
func TestEndpointContexts(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, nil)
	a := n.ends[0]
	_, lost := n.to(uetcc.Destination{Context: 1}, ses.ModeROD)
	_, behind := n.to(uetcc.Destination{Context: 1}, ses.ModeROD)
	other, beside := n.to(uetcc.Destination{Context: 2}, ses.ModeROD)
	require.Equal(t, spdcid(t, lost[0]), spdcid(t, behind[0]))
	require.NotEqual(t, spdcid(t, lost[0]), spdcid(t, beside[0]))
	for _, p := range append(behind, beside...) {
		_, back := receive(n.now, n.ends[1].e, p)
		for _, b := range back {
			receive(n.now, a.e, b)
		}
	}
	n.poll(a)
	require.Len(t, a.events, 1)
	require.Equal(t, other, a.events[0].Cookie)
	n.run(func() bool { return len(a.events) == 3 })
	h, err := a.e.Connect(n.now, &uetcc.Message{To: uetcc.Destination{Address: n.ends[1].addr, Job: 1, Context: 2}, Mode: ses.ModeROD})
	require.NoError(t, err)
	require.Equal(t, spdcid(t, beside[0]), h.ID())
}

// One PDC for messages that may not share it: each has it in its turn, and it is not closed
// for the next one before it has done anything.
func TestEndpointOnePDCForManyContexts(t *testing.T) {
	for _, thresh := range []int{0, 1} {
		n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
			c.PDCs = pdc.TableConfig{General: 4, Initiators: 1, Quarantine: 1_000_000}
			c.PDS.CloseThresh = thresh
			c.Waiting = 8
		})
		a := n.ends[0]
		for i := range 5 {
			n.to(uetcc.Destination{Context: uint16(i)}, ses.ModeRUD)
		}
		n.endWell(a, 5)
		require.EqualValues(t, 5, a.e.PDS().Stats().Opened)
	}
}

// A reserved message has a PDC of the reserved pool at both ends, also when the general
// one is used up, and when it is sent again.
func TestEndpointReserved(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
		c.PDCs = pdc.TableConfig{General: 1, Reserved: 4, Initiators: 1, Quarantine: 1_000_000_000}
	})
	a, b := n.ends[0], n.ends[1]
	_, ps := n.to(uetcc.Destination{}, ses.ModeRUD)
	require.EqualValues(t, 1, spdcid(t, ps[0]))
	n.run(func() bool { n.transmit(); return len(a.events) == 1 })
	gen, err := b.e.Target().Renew(0, 1<<16, 0)
	require.NoError(t, err)
	require.NotZero(t, gen)
	cookie, ps := n.to(uetcc.Destination{Reserved: true}, ses.ModeRUD)
	var q pds.Request
	_, err = q.Decode(ps[0].data)
	require.NoError(t, err)
	require.True(t, q.Info.UseRsvPDC())
	require.Greater(t, q.SPDCID, pds.PDCID(1))
	n.run(func() bool { return len(a.events) == 2 })
	require.Equal(t, cookie, a.events[1].Cookie)
	require.Equal(t, ses.StatusOK, a.events[1].Outcome.Status, "%+v", a.events[1])
	require.EqualValues(t, 1, a.events[1].Outcome.Retries, "of another generation")
	for h := range b.e.PDS().All() {
		info, _ := b.e.PDS().PDC(h)
		require.Equal(t, info.PeerID > 1, info.ID > 1)
	}
}

// A NIC of two ports of which one goes dark: what is sent again and all that follows leaves through
// the other, and every message ends well.
func TestEndpointLeavesADeadPort(t *testing.T) {
	for _, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD} {
		n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) { c.CC.Entropy.Ports = 2 })
		a := n.ends[0]
		ports := func(ps []wirePacket) (of [2]int) {
			for _, p := range ps {
				of[a.e.CC().Params().Entropy().Port(p.entropy)]++
			}
			return of
		}
		n.write(mode, 64*netMTU)
		first := ports(sendAll(0, a.e)) // all of them are lost
		dead := 0
		if first[1] > first[0] {
			dead = 1
		}
		require.NotZero(t, first[dead])
		a.e.CC().SetPorts(1 << (1 - dead))
		var again []wirePacket
		for len(again) == 0 {
			n.now, _ = a.e.NextDeadline()
			a.e.Tick(n.now)
			again = sendAll(n.now, a.e)
		}
		require.Zero(t, ports(again)[dead])
		n.endWell(a, 1)
	}
}

// Ordered packets take all paths where their target has a reorder buffer, and whatever overtakes is
// neither refused nor sent again; a target without one refuses.
func TestEndpointSpraysOrderedPackets(t *testing.T) {
	for _, buffer := range []bool{true, false} {
		n := newNetwork(t, 1, netFaults{reorder: 3000}, 2, func(c *uetcc.Config) {
			c.PDS.BufferROD, c.PDS.SprayROD = buffer, true
		})
		n.write(ses.ModeROD, 1) // opens the PDC, as only the first packet can
		n.endWell(n.ends[0], 1)
		n.write(ses.ModeROD, 40*netMTU)
		paths := map[uint16]bool{}
		for _, p := range sendAll(n.now, n.ends[0].e) {
			paths[p.entropy] = true
			n.q.Push(n.now+5000+n.r.Int64N(3000), netPacket{wirePacket: p})
		}
		require.Greater(t, len(paths), 8)
		n.endWell(n.ends[0], 2)
		require.Equal(t, !buffer, n.ends[1].e.PDS().Stats().NACKs > 0)
		require.Equal(t, !buffer, n.ends[0].e.PDS().Stats().Resent > 0)
	}
}

// Messages to more peers than there are contexts go on as soon as PDCs with nothing to do have closed. Before, one PDC closed
// at each look, and looks were a millisecond apart and more: of 600 writes to 300 peers, with default settings, 58 failed.
func TestWritesToMorePeersThanContexts(t *testing.T) {
	const peers = 60
	n := newNetwork(t, 1, netFaults{}, 1+peers, func(c *uetcc.Config) {
		c.PDS = pdc.Config{KnownSources: true}
		c.PDCs.General, c.PDCs.Quarantine, c.Contexts, c.Messages, c.Waiting = 512, 2000*ms, 16, 256, 256
	})
	a := n.ends[0]
	for i := range uint64(2 * peers) {
		a.local[i] = make([]byte, netMTU)
		_, err := a.e.Write(n.now, &uetcc.Message{
			To: uetcc.Destination{Address: n.ends[1+i%peers].addr, Job: 1}, Key: 1, Length: netMTU, Cookie: i,
		})
		require.NoError(t, err)
	}
	n.endWell(a, 2*peers)
	require.Less(t, n.now, int64(20*ms))
}
