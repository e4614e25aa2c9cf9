// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/view"
	"github.com/uetcc/uetcc/pds"
)

// crowd is a target with few PDCIDs, and many peers that each send packets of their own.
type crowd struct{ *pair }

const crowdIDs = 8

func newCrowd(t *testing.T, kept int) crowd {
	g := newPair(t, pairConfig{manager: func(c *ManagerConfig) {
		var err error
		c.Table, err = NewTable(TableConfig{General: crowdIDs, Kept: kept, PerSource: crowdIDs, Quarantine: 100 * ms, FirstID: 1, Seed: 1})
		require.NoError(t, err)
	}})
	return crowd{g}
}

func crowdPeer(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 9, byte(i >> 8), byte(i)}) }

// syn has peer i open a PDC with a message of one packet. It returns the id, 0 if it is refused.
func (g crowd) syn(i int) pds.PDCID {
	q := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, Flags: pds.FlagSYN, SPDCID: pds.PDCID(100 + i), PSN: 1000, ClearOffset: -1}
	_, answer := g.give(wire{from: g.a, b: append(q.AppendTo(nil), make([]byte, 60)...), dst: crowdPeer(i)})
	if typ, _ := pds.PeekType(answer[0].b); typ == pds.TypeACKCC {
		return ackCC(g.t, answer[0]).SPDCID
	}
	require.Contains(g.t, []pds.NackCode{pds.NackNoPDCAvail, pds.NackNewStartPSN}, nackOf(g.t, answer[0]).Code)
	return 0
}

// more has peer i send another packet, now that it has the answer.
func (g crowd) more(i int, id pds.PDCID) Result {
	q := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, SPDCID: pds.PDCID(100 + i), DPDCID: id, PSN: g.b.m.target.byID(id).rx.Missing(), ClearOffset: -1}
	r, _ := g.give(wire{from: g.a, b: append(q.AppendTo(nil), make([]byte, 60)...), dst: crowdPeer(i)})
	return r
}

// pass lets time go by, in which nothing arrives.
func (g crowd) pass(d int64) {
	for range d / ms {
		g.wait(ms)
		g.send(g.b)
	}
}

// Peers that have vanished hold no PDCID for longer than it takes to find out, once
// somebody else wants it; one that is there keeps its own.
func TestVanishedPeersMakeRoom(t *testing.T) {
	g := newCrowd(t, 0)
	var ids []pds.PDCID
	for i := range crowdIDs {
		ids = append(ids, g.syn(i))
		require.NoError(t, g.more(i, ids[i]).Err)
	}
	require.Zero(t, g.syn(50))
	require.Zero(t, g.b.m.Stats().Closed)
	g.pass(101 * ms)
	require.NoError(t, g.more(3, ids[3]).Err)
	for i := range 2 * crowdIDs {
		require.Zero(t, g.syn(50+i))
	}
	g.pass(70 * ms)
	require.EqualValues(t, crowdIDs-1, g.b.m.Stats().Closed)
	require.Zero(t, g.syn(50), "the ids rest")
	require.NoError(t, g.more(3, ids[3]).Err)
	g.pass(101 * ms)
	for i := range crowdIDs - 1 {
		require.NotZero(t, g.syn(50+i))
	}
}

// SYN packets in the names of others, as many as one likes, take no place from a peer that
// has shown that it is where it says.
func TestFloodThrowsNobodyOut(t *testing.T) {
	g := newCrowd(t, 0)
	var ids []pds.PDCID
	for i := range 3 {
		ids = append(ids, g.syn(i))
		require.NoError(t, g.more(i, ids[i]).Err)
	}
	for i := range 2000 {
		g.syn(1000 + i)
		g.pass(ms)
	}
	require.Greater(t, g.b.m.Stats().Opened, uint64(3*crowdIDs), "what the flood holds goes round")
	for i, id := range ids {
		require.NoError(t, g.more(i, id).Err)
	}
}

// PDCIDs that are kept for peers which have shown where they are, are for those. Others are asked
// to show it.
func TestKeptPDCIDs(t *testing.T) {
	g := newCrowd(t, 2)
	id := g.syn(0)
	for i := range crowdIDs {
		require.Equal(t, i < crowdIDs-3, g.syn(10+i) != 0)
	}
	require.EqualValues(t, 3, g.b.m.Stats().Doubted)
	require.NoError(t, g.more(0, id).Err)
	for i := range 2 {
		q := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, Flags: pds.FlagSYN, SPDCID: pds.PDCID(7 + i), PSN: 1000, ClearOffset: -1}
		r, _ := g.give(wire{from: g.a, b: append(q.AppendTo(nil), make([]byte, 60)...), dst: crowdPeer(0)})
		require.NoError(t, r.Err)
	}
	require.Zero(t, g.b.m.table.Stats().General.Free)
}

// A peer that is asked for a Start_PSN has a silent PDC of others asked to close meanwhile, and has
// shown by that Start_PSN that it receives.
func TestWhoStartsWhereAskedReceives(t *testing.T) {
	g := newCrowd(t, 2)
	for i := range crowdIDs - 2 {
		require.NotZero(t, g.syn(10+i))
	}
	g.pass(100 * ms)
	from := crowdPeer(0)
	q := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, Flags: pds.FlagSYN, SPDCID: 7, PSN: 1000, ClearOffset: -1}
	send := func() wire {
		_, answer := g.give(wire{from: g.a, b: append(q.AppendTo(nil), make([]byte, 60)...), dst: from})
		return answer[0]
	}
	n := nackOf(t, send())
	require.Equal(t, pds.NackNewStartPSN, n.Code)
	asked := 0
	for h := range g.b.m.table.All() {
		if g.b.m.get(h).state == StateCloseWait {
			asked++
		}
	}
	require.Equal(t, 1, asked)
	require.True(t, g.b.m.DoubtsSource(AddrFrom(from)))
	q.PSN = pds.PSN(n.Payload)
	require.Equal(t, q.PSN, ackCC(t, send()).CACK)
	require.False(t, g.b.m.DoubtsSource(AddrFrom(from)))
}

// The first packet that is no SYN proves who sent it, which only Receive notes: the short
// way leaves that packet alone, next in order or not, and takes those behind it.
func TestTakeLeavesTheFirstProofAlone(t *testing.T) {
	g := newCrowd(t, 0)
	id := g.syn(0)
	p := g.b.m.target.byID(id)
	take := func(ahead pds.PSN) bool {
		q := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, SPDCID: 100, DPDCID: id, PSN: p.rx.Missing() + ahead, ClearOffset: -1 - int16(ahead)}
		src := AddrFrom(crowdPeer(0))
		_, ok := g.b.m.Fast().Take(g.now, p, &Taken{Request: (*view.Request)(q.AppendTo(nil)), Src: &src, State: &AckState{}}, new([pds.AckCCLen]byte))
		return ok
	}
	require.False(t, take(0))
	require.False(t, take(3))
	require.NoError(t, g.more(0, id).Err)
	require.True(t, take(0))
	require.True(t, take(3))
}

// A target that answers more peers than it has contexts of congestion control takes that of
// one that has nothing more to be sent. One with data on its way keeps its own.
func TestAnswersToMorePeersThanContexts(t *testing.T) {
	g := crowd{newPair(t, pairConfig{Config: Config{KnownSources: true}, manager: func(c *ManagerConfig) {
		var err error
		c.Contexts, err = ccc.NewTable(2, true, 1)
		require.NoError(t, err)
	}})}
	answer := func(i int) (pds.PDCID, error) {
		id := g.syn(i)
		_, err := g.b.m.Submit(g.now, g.b.m.target.byID(id).handle, Packet{Handle: uint64(i), Size: 4160, Next: pds.NextResponseData})
		return id, err
	}
	var ids []pds.PDCID
	for i := range 2 {
		id, err := answer(i)
		require.NoError(t, err)
		ids = append(ids, id)
	}
	third, err := answer(2)
	require.ErrorIs(t, err, ErrNoMemory)
	ws := g.send(g.b)
	require.Len(t, ws, 2)
	q := request(t, ws[0])
	a := pds.Ack{Next: pds.NextNone, SPDCID: 100, DPDCID: ids[0], CACK: q.PSN}
	r, _ := g.give(wire{from: g.a, b: a.AppendTo(nil), dst: crowdPeer(0)})
	require.NoError(t, r.Err)
	g.now += roomPause
	_, err = g.b.m.Submit(g.now, g.b.m.target.byID(third).handle, Packet{Handle: 2, Size: 4160, Next: pds.NextResponseData})
	require.NoError(t, err)
	require.Zero(t, g.b.m.target.byID(ids[0]).cc)
	require.NotZero(t, g.b.m.target.byID(ids[1]).cc)
	require.Len(t, g.send(g.b), 1)
}

// newCrowdOf is a crowd whose target has so many contexts of congestion control.
func newCrowdOf(t *testing.T, contexts, spare int) crowd {
	return crowd{newPair(t, pairConfig{Config: Config{KnownSources: true}, manager: func(c *ManagerConfig) {
		var err error
		c.Contexts, err = ccc.NewTable(contexts, true, 1)
		require.NoError(t, err)
		c.Spare = spare
	}})}
}

// data sends some on a PDC that a peer has opened.
func (g crowd) data(id pds.PDCID) error {
	_, err := g.b.m.Submit(g.now, g.b.m.target.byID(id).handle, Packet{Handle: 1, Size: 4160, Next: pds.NextResponseData})
	return err
}

// acknowledge has the peer of a PDC acknowledge all that has been sent on it.
func (g crowd) acknowledge(id pds.PDCID) {
	p := g.b.m.target.byID(id)
	a := pds.Ack{Next: pds.NextNone, SPDCID: p.peerID, DPDCID: id, CACK: p.tx.Next() - 1}
	r, _ := g.give(wire{from: g.a, b: a.AppendTo(nil), dst: p.peer.Netip()})
	require.NoError(g.t, r.Err)
}

// Messages of this side leave a spare context to targets, and take those of targets that
// have nothing to send.
func TestMessagesLeaveASpareContext(t *testing.T) {
	g := newCrowdOf(t, 2, 1)
	open := func(i int) error {
		h, err := g.b.m.Open(g.now, &InitiatorKey{Source: g.b.addr, Destination: crowdPeer(i)}, uint64(i))
		if err == nil {
			require.NoError(t, g.b.m.Lock(h))
		}
		return err
	}
	ids := []pds.PDCID{g.syn(1), g.syn(2)}
	for _, id := range ids {
		require.NoError(t, g.data(id))
	}
	require.ErrorIs(t, open(8), ErrWaiting)
	g.send(g.b)
	for _, id := range ids {
		g.acknowledge(id)
	}
	g.wait(2 * ms)
	require.Zero(t, g.b.m.Waiting())
	require.ErrorIs(t, open(9), ErrWaiting, "the last is no message's")
	require.NoError(t, g.data(g.syn(3)))
}

// A context that several PDCs share is free for others when all of them have nothing to send.
func TestAnswersTakeAContextThatOthersShare(t *testing.T) {
	g := newCrowdOf(t, 1, 0)
	ids := []pds.PDCID{g.syn(1), 0}
	q := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, Flags: pds.FlagSYN, SPDCID: 50, PSN: 1000, ClearOffset: -1}
	_, answer := g.give(wire{from: g.a, b: append(q.AppendTo(nil), make([]byte, 60)...), dst: crowdPeer(1)})
	ids[1] = ackCC(t, answer[0]).SPDCID
	for _, id := range ids {
		require.NoError(t, g.data(id))
	}
	g.send(g.b)
	other := g.syn(2)
	g.acknowledge(ids[0])
	require.ErrorIs(t, g.data(other), ErrNoMemory, "the other one waits for an acknowledgement")
	g.acknowledge(ids[1])
	g.now += roomPause
	require.NoError(t, g.data(other))
}

// A target that finds no context is told to look again after the pause of the search: the acknowledgement that has made
// one free meanwhile may have been the last packet. Before, only who had asked again during the pause was told: of 300 peers
// that read at the same time, 44 waited up to 4 s.
func TestATargetWithoutAContextLooksAgain(t *testing.T) {
	for _, again := range []bool{false, true} {
		g := newCrowdOf(t, 1, 0)
		first, other := g.syn(1), g.syn(2)
		require.NoError(t, g.data(first))
		g.send(g.b)
		require.ErrorIs(t, g.data(other), ErrNoMemory)
		g.acknowledge(first)
		if again {
			require.ErrorIs(t, g.data(other), ErrNoMemory, "it pauses")
		}
		due := g.now + roomPause
		for at, ok := g.b.m.NextDeadline(); g.now < due; at, ok = g.b.m.NextDeadline() {
			require.True(t, ok && at <= due+1024, "%d", at-due)
			g.now = max(g.now, at)
			g.b.m.Tick(g.now)
		}
		require.NoError(t, g.data(other))
	}
}
