// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/internal/table"
	"github.com/uetcc/uetcc/pds"
)

var (
	here  = netip.MustParseAddr("10.0.0.2")
	peerA = netip.MustParseAddr("10.0.0.1")
	peerB = netip.MustParseAddr("2001:db8::b")
)

func newTable(t testing.TB, c TableConfig) *Table {
	t.Helper()
	tab, err := NewTable(c)
	require.NoError(t, err)
	return tab
}

func syn(from netip.Addr, id int) *TargetKey {
	return &TargetKey{Source: from, Destination: here, SPDCID: pds.PDCID(id)}
}

func openTarget(t testing.TB, tab *Table, now int64, k *TargetKey) Handle {
	t.Helper()
	h, opened, err := tab.OpenTarget(now, k, false)
	require.NoError(t, err)
	require.True(t, opened)
	return h
}

func openInitiator(t testing.TB, tab *Table, k *InitiatorKey) Handle {
	t.Helper()
	h, opened, err := tab.OpenInitiator(0, k)
	require.NoError(t, err)
	require.True(t, opened)
	return h
}

func TestTableConfigNamesTheField(t *testing.T) {
	for _, tc := range []struct {
		c    TableConfig
		want string
	}{
		{TableConfig{}, "General"},
		{TableConfig{General: MaxPDCs + 1}, "General"},
		{TableConfig{General: MaxPDCs, Reserved: 1}, "Reserved"},
		{TableConfig{General: 1, Quarantine: -1}, "Quarantine"},
		{TableConfig{General: 1, PerSource: -1}, "PerSource"},
		{TableConfig{General: 1, Kept: 2}, "Kept"},
		{TableConfig{General: 1, Initiators: 2}, "Initiators"},
		{TableConfig{General: 1, Initiators: -1}, "Initiators"},
		{TableConfig{General: 1, FirstID: 2}, "FirstID"},
	} {
		_, err := NewTable(tc.c)
		require.ErrorContains(t, err, tc.want)
	}
	newTable(t, TableConfig{General: MaxPDCs})
}

// TestTablePacketWalk: the ids of the UET congestion chapters, 0x4001 at the initiator
// and 0x8001 at the target, and what each end looks up on the way.
func TestTablePacketWalk(t *testing.T) {
	initiator := newTable(t, TableConfig{General: 0x4100, FirstID: 0x4001})
	target := newTable(t, TableConfig{General: 0x8100, FirstID: 0x8001})
	h := openInitiator(t, initiator, &InitiatorKey{Source: peerA, Destination: here, JobID: 101})
	require.Equal(t, pds.PDCID(0x4001), h.ID())

	g, opened, err := target.OpenTarget(0, syn(peerA, 0x4001), false)
	require.NoError(t, err)
	require.True(t, opened)
	require.Equal(t, pds.PDCID(0x8001), g.ID())
	again, opened, err := target.OpenTarget(0, syn(peerA, 0x4001), false)
	require.NoError(t, err)
	require.False(t, opened, "the second SYN packet of the flight")
	require.Equal(t, g, again)

	found, err := initiator.Match(0x4001, here, 0x8001) // the first ACK
	require.NoError(t, err)
	require.Equal(t, h, found)
	require.True(t, initiator.Learn(h, 0x8001))
	found, err = target.Match(0x8001, peerA, 0x4001) // the first packet without SYN
	require.NoError(t, err)
	require.Equal(t, g, found)
}

func TestTableMatch(t *testing.T) {
	tab := newTable(t, TableConfig{General: 4, Reserved: 2, FirstID: 1})
	h := openInitiator(t, tab, &InitiatorKey{Source: here, Destination: peerB})
	gone := openTarget(t, tab, 0, syn(peerA, 7))
	require.NoError(t, tab.Release(0, gone))
	reserved, _, err := tab.OpenTarget(0, syn(peerA, 9), true)
	require.NoError(t, err)
	require.Equal(t, pds.PDCID(5), reserved.ID())
	require.True(t, tab.Learn(h, 3))
	for _, tc := range []struct {
		name   string
		dpdcid pds.PDCID
		from   netip.Addr
		spdcid pds.PDCID
		want   error
	}{
		{"right", h.ID(), peerB, 3, nil},
		{"right, reserved pool", 5, peerA, 9, nil},
		{"NACK without spdcid", h.ID(), peerB, 0, nil},
		{"id 0", 0, peerB, 3, ErrUnknown},
		{"free", 3, peerB, 3, ErrUnknown},
		{"beyond the pools", 7, peerB, 3, ErrUnknown},
		{"in quarantine", gone.ID(), peerA, 7, ErrUnknown},
		{"wrong source", h.ID(), peerA, 3, ErrPeer},
		{"wrong spdcid", h.ID(), peerB, 4, ErrPeer},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := tab.Match(tc.dpdcid, tc.from, tc.spdcid)
			require.ErrorIs(t, err, tc.want)
		})
	}
}

func TestTableMatchMappedSource(t *testing.T) {
	tab := newTable(t, TableConfig{General: 1})
	h := openTarget(t, tab, 0, syn(peerA, 7))
	got, err := tab.Match(h.ID(), netip.AddrFrom16(peerA.As16()), 7)
	require.NoError(t, err)
	require.Equal(t, h, got)
}

func TestTableLearn(t *testing.T) {
	tab := newTable(t, TableConfig{General: 2})
	h := openInitiator(t, tab, &InitiatorKey{Destination: peerA})
	_, err := tab.Match(h.ID(), peerA, 55)
	require.NoError(t, err, "any id is right until it is known")
	require.True(t, tab.Learn(h, 9))
	require.True(t, tab.Learn(h, 9), "the same again")
	require.False(t, tab.Learn(h, 10))
	_, err = tab.Match(h.ID(), peerA, 55)
	require.ErrorIs(t, err, ErrPeer)
	require.NoError(t, tab.Release(0, h))
	require.False(t, tab.Learn(h, 9), "stale")
}

// TestTableTargetKeyParts: each part of the key tells PDCs apart (P5: one id of
// two peers).
func TestTableTargetKeyParts(t *testing.T) {
	tab := newTable(t, TableConfig{General: 8})
	other := netip.MustParseAddr("10.0.0.3")
	seen := map[Handle]bool{}
	for _, k := range []*TargetKey{syn(peerA, 1), syn(peerA, 2), syn(peerB, 1), {Source: peerA, Destination: other, SPDCID: 1}} {
		seen[openTarget(t, tab, 0, k)] = true
	}
	require.Len(t, seen, 4)
}

func TestTableInitiatorKeyParts(t *testing.T) {
	base := InitiatorKey{Source: here, Destination: peerA, JobID: 101, TC: 3}
	keys := []InitiatorKey{base}
	for _, change := range []func(k *InitiatorKey){
		func(k *InitiatorKey) { k.Source = peerB },
		func(k *InitiatorKey) { k.Destination = peerB },
		func(k *InitiatorKey) { k.JobID = 102 },
		func(k *InitiatorKey) { k.JobID = 0xff_ffff },
		func(k *InitiatorKey) { k.TC = 255 },
		func(k *InitiatorKey) { k.Ordered = true },
		func(k *InitiatorKey) { k.Reserved = true },
		func(k *InitiatorKey) { k.Context = 0xffff },
	} {
		k := base
		change(&k)
		keys = append(keys, k)
	}
	var all, none table.Key
	fillInitiator(&InitiatorKey{Source: here, Destination: peerA, JobID: 0xffff_ffff, TC: 0xff, Ordered: true, Reserved: true, Context: 0xffff}, &all)
	fillInitiator(&InitiatorKey{Source: here, Destination: peerA}, &none)
	require.EqualValues(t, int64(1<<50-1), all[4]^none[4], "each bit of each part, in a place of its own")
	require.EqualValues(t, uint64(initiatorRole), none[4], "the role alone")
	tab := newTable(t, TableConfig{General: 20, Reserved: 20})
	got := map[Handle]bool{}
	for i := range keys {
		got[openInitiator(t, tab, &keys[i])] = true
	}
	require.Len(t, got, len(keys))
	for i := range keys {
		require.True(t, got[tab.Initiator(&keys[i])])
	}
}

// TestTableRetiredKeyOpensAnother: while the id of the PDC that closes lives on, as the
// peer's packets must still find it.
func TestTableRetiredKeyOpensAnother(t *testing.T) {
	tab := newTable(t, TableConfig{General: 20})
	k := &InitiatorKey{Source: here, Destination: peerA, JobID: 1}
	h := openInitiator(t, tab, k)
	require.True(t, tab.Retire(h))
	require.False(t, tab.Retire(h))
	require.Zero(t, tab.Initiator(k))
	_, err := tab.Match(h.ID(), peerA, 0)
	require.NoError(t, err)
	fresh := openInitiator(t, tab, k)
	require.Equal(t, fresh, tab.Initiator(k))
	require.NoError(t, tab.Release(0, h))
	require.Equal(t, fresh, tab.Initiator(k), "the release of the old one leaves the new one alone")
}

// TestTableOneInitiatorOfAKey: of those who open it at the same time one does, and the ids
// that the others had claimed go back.
func TestTableOneInitiatorOfAKey(t *testing.T) {
	tab := newTable(t, TableConfig{General: 16})
	for now := range int64(500) {
		k := &InitiatorKey{Source: here, Destination: peerA, Context: uint16(now)}
		var got [4]Handle
		var opened atomic.Int32
		var g sync.WaitGroup
		for w := range got {
			g.Go(func() {
				h, mine, err := tab.OpenInitiator(now, k)
				if err != nil {
					t.Errorf("%v", err)
				}
				if got[w] = h; mine {
					opened.Add(1)
				}
			})
		}
		g.Wait()
		require.EqualValues(t, 1, opened.Load())
		require.Equal(t, [4]Handle{got[0], got[0], got[0], got[0]}, got)
		require.Equal(t, 15, tab.Stats().General.Free)
		require.NoError(t, tab.Release(now, got[0]))
		require.Equal(t, 1, tab.Reap(now, 8))
	}
}

// TestTableInitiatorsLeaveIDsToTargets: also while their ids rest, and an open that
// fails for another reason takes no share.
func TestTableInitiatorsLeaveIDsToTargets(t *testing.T) {
	tab := newTable(t, TableConfig{General: 4, Reserved: 4, Quarantine: 10})
	key := func(i int) *InitiatorKey { return &InitiatorKey{Source: here, Destination: peerA, Context: uint16(i)} }
	h := openInitiator(t, tab, key(0))
	openInitiator(t, tab, key(1))
	openInitiator(t, tab, key(2))
	other := &InitiatorKey{Source: here, Destination: peerB}
	_, _, err := tab.OpenInitiator(0, other)
	require.ErrorIs(t, err, ErrInitiators)
	require.Equal(t, 1, tab.Stats().General.Free, "nothing was claimed")
	for i := range 3 {
		openInitiator(t, tab, &InitiatorKey{Source: here, Destination: peerA, Reserved: true, TC: uint8(i)})
	}
	_, _, err = tab.OpenInitiator(0, &InitiatorKey{Source: here, Destination: peerB, Reserved: true})
	require.ErrorIs(t, err, ErrInitiators, "the reserved pool is divided alike")

	openTarget(t, tab, 0, syn(peerA, 1))
	_, _, err = tab.OpenTarget(0, syn(peerA, 2), false)
	require.ErrorIs(t, err, ErrNoPDC)
	require.NoError(t, tab.Release(0, h))
	_, _, err = tab.OpenInitiator(9, other)
	require.ErrorIs(t, err, ErrInitiators, "its id rests")
	_, _, err = tab.OpenInitiator(10, other)
	require.NoError(t, err)

	tab = newTable(t, TableConfig{General: 8})
	first := openInitiator(t, tab, key(0))
	for range 20 {
		got, opened, err := tab.OpenInitiator(0, key(0))
		require.NoError(t, err)
		require.False(t, opened)
		require.Equal(t, first, got)
	}
	for i := range 5 {
		openInitiator(t, tab, key(1+i))
	}
	_, _, err = tab.OpenInitiator(0, other)
	require.ErrorIs(t, err, ErrInitiators)
}

// TestTableParallelInitiators: opens that race for the last ids of their share.
func TestTableParallelInitiators(t *testing.T) {
	tab := newTable(t, TableConfig{General: 8, Initiators: 5})
	for now := range int64(500) {
		var opened [4][]Handle
		var g sync.WaitGroup
		for w := range opened {
			g.Go(func() {
				for i := range 3 {
					h, _, err := tab.OpenInitiator(now, &InitiatorKey{Source: here, Destination: peerA, TC: uint8(w), Context: uint16(i)})
					if err == nil {
						opened[w] = append(opened[w], h)
					} else if err != ErrInitiators {
						t.Errorf("%v", err)
					}
				}
			})
		}
		g.Wait()
		all := slices.Concat(opened[:]...)
		require.NotEmpty(t, all)
		require.LessOrEqual(t, len(all), 5)
		for _, h := range all {
			require.NoError(t, tab.Release(now, h))
		}
		require.Equal(t, len(all), tab.Reap(now, 8))
	}
	for i := range 5 {
		openInitiator(t, tab, &InitiatorKey{TC: uint8(i)})
	}
	_, _, err := tab.OpenInitiator(0, &InitiatorKey{TC: 9})
	require.ErrorIs(t, err, ErrInitiators, "no share was lost, none was won")
}

// TestTableQuarantine is P4: an old SYN packet after the close must not open.
func TestTableQuarantine(t *testing.T) {
	tab := newTable(t, TableConfig{General: 2, Quarantine: 1000, FirstID: 1})
	h := openTarget(t, tab, 0, syn(peerA, 7))
	require.NoError(t, tab.Release(500, h))
	require.ErrorIs(t, tab.Release(500, h), ErrUnknown)

	_, _, err := tab.OpenTarget(1499, syn(peerA, 7), false)
	require.ErrorIs(t, err, ErrResting)
	_, err = tab.Target(syn(peerA, 7))
	require.ErrorIs(t, err, ErrResting)
	at, ok := tab.NextReap()
	require.True(t, ok)
	require.EqualValues(t, 1500, at)

	again := openTarget(t, tab, 1500, syn(peerA, 7))
	require.NotEqual(t, h, again)
	require.False(t, tab.Live(h))
	require.True(t, tab.Live(again))
}

// What rests in front of an id does not prolong its quarantine, nor what its PDC is
// charged for: an open that would be refused looks at all that is due.
func TestTableQuarantineEndsInTime(t *testing.T) {
	const front, n = 5 * reapPerOpen, 3
	behind := func(t *testing.T, open func(tab *Table, i int) Handle) *Table {
		tab := newTable(t, TableConfig{General: 2 * front, Quarantine: 1000, PerSource: n, Initiators: n, Seed: 1})
		for i := range front {
			from := netip.AddrFrom4([4]byte{10, 9, byte(i), 1})
			require.NoError(t, tab.Release(0, openTarget(t, tab, 0, syn(from, 1))))
		}
		for i := range n {
			require.NoError(t, tab.Release(0, open(tab, i)))
		}
		return tab
	}
	targets := func(tab *Table, i int) Handle { return openTarget(t, tab, 0, syn(peerA, i+1)) }
	t.Run("key", func(t *testing.T) {
		tab := behind(t, targets)
		_, _, err := tab.OpenTarget(999, syn(peerA, n), false)
		require.ErrorIs(t, err, ErrResting)
		openTarget(t, tab, 1000, syn(peerA, n))
	})
	t.Run("quota", func(t *testing.T) {
		tab := behind(t, targets)
		_, _, err := tab.OpenTarget(999, syn(peerA, n+1), false)
		require.ErrorIs(t, err, ErrQuota)
		openTarget(t, tab, 1000, syn(peerA, n+1))
	})
	t.Run("initiators", func(t *testing.T) {
		tab := behind(t, func(tab *Table, i int) Handle { return openInitiator(t, tab, &InitiatorKey{TC: uint8(i)}) })
		other := &InitiatorKey{Context: 1}
		_, _, err := tab.OpenInitiator(999, other)
		require.ErrorIs(t, err, ErrInitiators)
		_, _, err = tab.OpenInitiator(1000, other)
		require.NoError(t, err)
	})
}

func TestTableNeverShortensQuarantine(t *testing.T) {
	tab := newTable(t, TableConfig{General: 3, Initiators: 1, Quarantine: 1000})
	for i := range 3 {
		require.NoError(t, tab.Release(0, openTarget(t, tab, 0, syn(peerA, i+1))))
	}
	for now := range int64(1000) {
		_, _, err := tab.OpenTarget(now, syn(peerB, 1), false)
		require.ErrorIs(t, err, ErrNoPDC)
		_, _, err = tab.OpenInitiator(now, &InitiatorKey{})
		require.ErrorIs(t, err, ErrNoPDC)
	}
	openTarget(t, tab, 1000, syn(peerB, 1))
	_, _, err := tab.OpenInitiator(1000, &InitiatorKey{})
	require.NoError(t, err)
	_, _, err = tab.OpenInitiator(1000, &InitiatorKey{TC: 1})
	require.ErrorIs(t, err, ErrInitiators, "those without an id have left the share of initiators as it was")
}

func TestTableStaleHandle(t *testing.T) {
	tab := newTable(t, TableConfig{General: 1})
	old := openTarget(t, tab, 0, syn(peerA, 1))
	require.NoError(t, tab.Release(0, old))
	young := openTarget(t, tab, 0, syn(peerB, 1))
	require.Equal(t, old.ID(), young.ID())
	require.False(t, tab.Live(old))
	require.ErrorIs(t, tab.Release(0, old), ErrUnknown)
	require.False(t, tab.Retire(old))
	require.True(t, tab.Live(young), "P6: no effect on the new owner of the slot")
	require.False(t, tab.Live(0))
	require.ErrorIs(t, tab.Release(0, 0), ErrUnknown)
	require.False(t, tab.Retire(0))
	require.False(t, tab.Learn(0, 1))
}

// TestTablePoolsApart: the general pool's flood leaves the reserved one alone.
func TestTablePoolsApart(t *testing.T) {
	tab := newTable(t, TableConfig{General: 3, Reserved: 1})
	for i := range 3 {
		openTarget(t, tab, 0, syn(peerA, i+1))
	}
	_, _, err := tab.OpenTarget(0, syn(peerA, 9), false)
	require.ErrorIs(t, err, ErrNoPDC)
	h, opened, err := tab.OpenTarget(0, syn(peerA, 9), true)
	require.NoError(t, err)
	require.True(t, opened)
	require.Equal(t, pds.PDCID(4), h.ID())
	_, _, err = newTable(t, TableConfig{General: 3}).OpenTarget(0, syn(peerA, 9), true)
	require.ErrorIs(t, err, ErrNoPDC, "no reserved pool")
}

// TestTableSYNFlood is S1: random ids of one source end at its quota; other
// sources go on.
func TestTableSYNFlood(t *testing.T) {
	tab := newTable(t, TableConfig{General: 100, PerSource: 10, Quarantine: 50})
	opened := 0
	for i := range 1000 {
		if _, _, err := tab.OpenTarget(0, syn(peerA, i+1), false); err == nil {
			opened++
		} else {
			require.ErrorIs(t, err, ErrQuota)
		}
	}
	require.Equal(t, 10, opened)
	h := openTarget(t, tab, 0, syn(peerB, 1))
	require.NoError(t, tab.Release(0, h))

	flood, _ := tab.Target(syn(peerA, 1))
	require.NoError(t, tab.Release(0, flood))
	_, _, err := tab.OpenTarget(49, syn(peerA, 5000), false)
	require.ErrorIs(t, err, ErrQuota, "an id that rests is still held")
	_, _, err = tab.OpenTarget(50, syn(peerA, 5000), false)
	require.NoError(t, err)
}

// Without a quota a source with as many PDCs as ids are free gets none of the last quarter, nor the
// very last; others do.
func TestTableLastQuarterIsShared(t *testing.T) {
	tab := newTable(t, TableConfig{General: 8, Seed: 1}) // under one seed in 64 both sources share their counters
	for i := range 6 {
		h := openTarget(t, tab, 0, syn(peerA, i+1))
		_, err := tab.Match(h.ID(), peerA, pds.PDCID(i+1))
		require.NoError(t, err)
	}
	for i := range 2 {
		_, _, err := tab.OpenTarget(0, syn(peerA, 7), false)
		require.ErrorIs(t, err, ErrQuota, "%d free", 2-i)
		openTarget(t, tab, 0, syn(peerB, i+1))
	}
}

// Without a quota a source that holds every PDCID is not at it: there is none free.
func TestTableWithoutQuotaIsJustFull(t *testing.T) {
	tab := newTable(t, TableConfig{General: 2})
	for i := range 2 {
		h := openTarget(t, tab, 0, syn(peerA, i+1))
		_, err := tab.Match(h.ID(), peerA, pds.PDCID(i+1))
		require.NoError(t, err)
	}
	h, _, err := tab.OpenTarget(0, syn(peerA, 3), false)
	require.ErrorIs(t, err, ErrNoPDC)
	require.Zero(t, h)
	require.Equal(t, 2, tab.held.Total())
}

func TestTableKept(t *testing.T) {
	tab := newTable(t, TableConfig{General: 10, Kept: 4})
	h := openTarget(t, tab, 0, syn(peerA, 1))
	n := 0
	for ; ; n++ {
		from := netip.AddrFrom4([4]byte{172, 16, byte(n >> 8), byte(n)})
		if _, _, err := tab.OpenTarget(0, syn(from, 1), false); err != nil {
			require.ErrorIs(t, err, ErrNoPDC)
			break
		}
	}
	require.Equal(t, 5, n)
	_, _, err := tab.OpenTarget(0, syn(peerA, 2), false)
	require.ErrorIs(t, err, ErrNoPDC, "a PDC alone proves nothing")
	_, err = tab.Match(h.ID(), peerA, 1)
	require.NoError(t, err)
	second := openTarget(t, tab, 0, syn(peerA, 2))

	require.NoError(t, tab.Release(0, second))
	require.NoError(t, tab.Release(0, h))
	require.Equal(t, 2, tab.Reap(0, 100))
	openTarget(t, tab, 0, syn(peerB, 1))
	_, _, err = tab.OpenTarget(0, syn(peerA, 3), false)
	require.ErrorIs(t, err, ErrNoPDC, "what is gone proves nothing")
}

// The PDC of a core that lost the race for a key goes back with all that its source was charged
// for it: also what a packet proved that named its id in the meantime. A share that stays would
// let the source in where only proven ones are let in (Kept), for ever.
func TestTableLoserOfARaceIsNotProven(t *testing.T) {
	for _, guessed := range []bool{false, true} {
		tab := newTable(t, TableConfig{General: 4, Kept: 2, PerSource: 3})
		k := syn(peerA, 7)
		var key table.Key
		fillTarget(k, &key)
		p, err := tab.admit(&key, opening{})
		require.NoError(t, err)
		h, err := p.Claim()
		require.NoError(t, err)
		from := tab.slots.Data(h.Index())
		from[0].Store(key[0])
		from[1].Store(key[1])
		p.Publish(h, slotTarget|key[4])
		src := tab.held.Source(key[0], key[1])
		if guessed {
			_, err := tab.Match(pds.PDCID(h.Index()), peerA, 7)
			require.NoError(t, err)
			require.EqualValues(t, 1, tab.proven.Held(src))
		}
		tab.discharge(src, p.Return(h))
		require.Zero(t, tab.proven.Held(src))
		require.Zero(t, tab.held.Held(src))
	}
}

// The core that comes second with a key gets the PDC of the first, and gives all its own back.
func TestTableLoserOfARaceGetsTheWinners(t *testing.T) {
	tab := newTable(t, TableConfig{General: 1000, PerSource: 3})
	k := syn(peerA, 7)
	var key table.Key
	fillTarget(k, &key)
	var got [2]Handle
	for i := range got {
		p, err := tab.admit(&key, opening{})
		require.NoError(t, err)
		h, opened, err := tab.insertTarget(p, &key, 0)
		require.NoError(t, err)
		require.Equal(t, i == 0, opened)
		got[i] = h
	}
	require.Equal(t, got[0], got[1])
	require.EqualValues(t, 1, tab.held.Held(tab.held.Source(key[0], key[1])))
	require.Equal(t, 999, tab.Stats().General.Free)
}

func TestTableAll(t *testing.T) {
	tab := newTable(t, TableConfig{General: 3, Reserved: 1, FirstID: 1})
	var want []Handle
	for i := range 3 {
		want = append(want, openTarget(t, tab, 0, syn(peerA, i+1)))
	}
	h, _, err := tab.OpenTarget(0, syn(peerA, 9), true)
	require.NoError(t, err)
	want = append(want, h)
	require.NoError(t, tab.Release(0, want[1]))
	require.Equal(t, slices.Delete(want, 1, 2), slices.Collect(tab.All()))
	require.Equal(t, TableStats{
		General:  PoolStats{Capacity: 3, Live: 2, Resting: 1},
		Reserved: PoolStats{Capacity: 1, Live: 1},
	}, tab.Stats())
	n := 0
	for range newTable(t, TableConfig{General: MaxPDCs}).All() {
		n++
	}
	require.Zero(t, n)
}

// TestTableParallelSYN is X1: two cores receive SYN packets of one PDC.
func TestTableParallelSYN(t *testing.T) {
	tab := newTable(t, TableConfig{General: 4, PerSource: 4, Quarantine: 1})
	for i := range 1000 {
		now := int64(10 * i)
		var got [3]Handle
		var opened [3]bool
		var g sync.WaitGroup
		for w := range got {
			g.Go(func() { got[w], opened[w], _ = tab.OpenTarget(now, syn(peerA, 7), false) })
		}
		g.Wait()
		require.Equal(t, got[0], got[1])
		require.Equal(t, got[0], got[2])
		require.NotZero(t, got[0])
		n := 0
		for _, o := range opened {
			if o {
				n++
			}
		}
		require.Equal(t, 1, n)
		require.NoError(t, tab.Release(now, got[0]))
		require.Equal(t, 1, tab.Reap(now+1, 10))
		require.Equal(t, PoolStats{Capacity: 4, Free: 4}, tab.Stats().General, "the losers' ids are free")
	}
}

func TestTableAllocs(t *testing.T) {
	tab := newTable(t, TableConfig{General: 10, PerSource: 5})
	k, i := syn(peerB, 7), &InitiatorKey{Source: here, Destination: peerA}
	alloctest.Zero(t, "life of a target PDC", func() {
		h, opened, err := tab.OpenTarget(0, k, false)
		m, errMatch := tab.Match(h.ID(), peerB, 7)
		if err != nil || !opened || errMatch != nil || m != h || tab.Release(0, h) != nil || tab.Reap(0, 1) != 1 {
			panic("the path under test did not run")
		}
	})
	alloctest.Zero(t, "life of an initiator PDC", func() {
		h, opened, err := tab.OpenInitiator(0, i)
		if err != nil || !opened || tab.Initiator(i) != h || !tab.Learn(h, 3) || tab.Release(0, h) != nil || tab.Reap(0, 1) != 1 {
			panic("the path under test did not run")
		}
	})
	alloctest.Zero(t, "refusal", func() {
		if _, err := tab.Match(3, peerA, 0); err != ErrUnknown {
			panic(err)
		}
	})
	alloctest.Zero(t, "All", func() {
		for range tab.All() {
			panic("the table is empty")
		}
	})
}

// TestTableBytesPerPDC: what the tables cost for each PDC, 65,535 of them.
func TestTableBytesPerPDC(t *testing.T) {
	require.LessOrEqual(t, alloctest.Bytes(func() any { return newTable(t, TableConfig{General: MaxPDCs}) })/MaxPDCs, 160)
}

// A target gets the same SYN packet twice and a packet for the PDC, then closes.
func ExampleTable() {
	tab, _ := NewTable(TableConfig{General: 1000, Quarantine: 2e9, FirstID: 1})
	from := netip.MustParseAddr("192.0.2.1")
	k := &TargetKey{Source: from, Destination: netip.MustParseAddr("192.0.2.2"), SPDCID: 0x4001}

	h, opened, _ := tab.OpenTarget(0, k, false)
	fmt.Println(h.ID(), opened)
	h, opened, _ = tab.OpenTarget(0, k, false)
	fmt.Println(h.ID(), opened)
	h, err := tab.Match(1, from, 0x4001)
	fmt.Println(h.ID(), err)
	_, err = tab.Match(1, from, 0x4002)
	fmt.Println(err)

	tab.Release(1e9, h)
	_, _, err = tab.OpenTarget(2e9, k, false)
	fmt.Println(err)
	h, opened, _ = tab.OpenTarget(3e9, k, false)
	fmt.Println(h.ID(), opened)
	// Output:
	// 1 true
	// 1 false
	// 1 <nil>
	// pdc: packet from another peer than the PDC's
	// pdc: PDC in quarantine
	// 2 true
}
