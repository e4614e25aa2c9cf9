// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/table"

	"github.com/uetcc/uetcc/internal/alloctest"
)

var (
	fepA = netip.MustParseAddr("10.0.0.1")
	fepB = netip.MustParseAddr("10.0.0.2")
	fepC = netip.MustParseAddr("2001:db8::c")
)

func newTestTable(t testing.TB, n int) *Table {
	t.Helper()
	tab, err := NewTable(n, true, 1)
	require.NoError(t, err)
	return tab
}

func open(t testing.TB, tab *Table, k Key) Handle {
	t.Helper()
	h, opened, err := tab.Open(&k)
	require.NoError(t, err)
	require.True(t, opened)
	return h
}

func TestNewTableLimits(t *testing.T) {
	for _, n := range []int{-1, 0, MaxContexts + 1} {
		_, err := NewTable(n, true, 0)
		require.ErrorContains(t, err, fmt.Sprint(n))
	}
	newTestTable(t, MaxContexts)
}

func TestTableOneContextPerKey(t *testing.T) {
	tab := newTestTable(t, 8)
	base := Key{Source: fepA, Destination: fepB, TC: 1}
	h := open(t, tab, base)
	mapped := base
	mapped.Source = netip.AddrFrom16(fepA.As16())
	for _, k := range []Key{base, mapped} {
		got, opened, err := tab.Open(&k)
		require.NoError(t, err)
		require.False(t, opened)
		require.Equal(t, h, got)
		require.Equal(t, h, tab.Lookup(&k))
	}
	seen := map[Handle]bool{h: true}
	for _, k := range []Key{
		{Source: fepB, Destination: fepA, TC: 1},
		{Source: fepA, Destination: fepC, TC: 1},
		{Source: fepA, Destination: fepB, TC: 2},
		{Source: fepA, Destination: fepB, TC: 1, Reserved: 1},
	} {
		require.Zero(t, tab.Lookup(&k))
		seen[open(t, tab, k)] = true
	}
	require.Len(t, seen, 5, "a context for each direction, destination, class and reservation")
}

func TestTableFullAndClose(t *testing.T) {
	tab := newTestTable(t, 2)
	a := open(t, tab, Key{TC: 1})
	b := open(t, tab, Key{TC: 2})
	none, opened, err := tab.Open(&Key{TC: 3})
	require.ErrorIs(t, err, ErrNoCCC)
	require.Zero(t, none)
	require.False(t, opened)
	require.Equal(t, []Handle{a, b}, slices.Collect(tab.All()))
	for h := range tab.All() {
		require.Equal(t, a, h)
		break
	}

	require.NoError(t, tab.Close(a))
	require.ErrorIs(t, tab.Close(a), errUnknown, "twice")
	require.Zero(t, tab.Lookup(&Key{TC: 1}))
	c := open(t, tab, Key{TC: 3})
	require.Equal(t, a.Index(), c.Index())
	require.False(t, tab.Live(a))
	require.True(t, tab.Live(c))
	require.ErrorIs(t, tab.Close(a), errUnknown, "stale: no effect on the new owner of the index")
	require.True(t, tab.Live(c))
	requireCount(t, tab, 2, 2)
	require.ErrorIs(t, tab.Close(0), errUnknown)
}

// Where the groups of a key are full, which takes an attack on the hash, the newcomer is refused and
// keeps no context.
func TestTableWithoutRoomForAKey(t *testing.T) {
	tab := newTestTable(t, 2)
	var err error
	for i := uint64(1); err == nil; i++ {
		_, err = tab.keys.Insert(&table.Key{i}, table.NewHandle(uint16(i%2), 1))
	}
	h, opened, err := tab.Open(&Key{TC: 1})
	require.ErrorIs(t, err, ErrNoCCC)
	require.Zero(t, h)
	require.False(t, opened)
	requireCount(t, tab, 0, 2)
}

func requireCount(t *testing.T, tab *Table, live, capacity int) {
	t.Helper()
	n, all := tab.Stats()
	require.Equal(t, [2]int{live, capacity}, [2]int{n, all})
}

func TestTableNames(t *testing.T) {
	tab := newTestTable(t, 300)
	a := open(t, tab, Key{Source: fepA, Destination: fepB})
	b := open(t, tab, Key{Source: fepC, Destination: fepB})
	require.NoError(t, tab.Name(a, fepA, 0xa1))
	require.ErrorIs(t, tab.Name(a, fepA, 0xb1), ErrNamed, "has one")
	require.ErrorIs(t, tab.Name(b, fepA, 0xa1), ErrNamed, "is another's")
	require.NoError(t, tab.Name(b, fepC, 0xa1), "the same id of another peer")
	require.Equal(t, a, tab.ByID(fepA, 0xa1))
	require.Equal(t, b, tab.ByID(fepC, 0xa1))
	require.Zero(t, tab.ByID(fepA, 0xb1))

	require.NoError(t, tab.Close(a))
	require.Zero(t, tab.ByID(fepA, 0xa1))
	require.ErrorIs(t, tab.Name(a, fepA, 0xa1), errUnknown)
	require.ErrorIs(t, tab.Name(0, fepA, 0xa1), errUnknown)
}

// TestTableNamesOfOnePeer: 256 contexts can be named towards one peer, the 257th
// can't until one of them goes.
func TestTableNamesOfOnePeer(t *testing.T) {
	tab := newTestTable(t, 300)
	used := map[uint8]Handle{}
	for i := range 256 {
		h := open(t, tab, Key{Destination: fepB, Reserved: uint16(i)})
		id, err := tab.NameAny(h, fepB)
		require.NoError(t, err)
		used[id] = h
	}
	require.Len(t, used, 256)
	h := open(t, tab, Key{Destination: fepB, Reserved: 256})
	id, err := tab.NameAny(h, fepB)
	require.ErrorIs(t, err, ErrNamed)
	require.Zero(t, id)
	require.NoError(t, tab.Close(used[0xb1]))
	id, err = tab.NameAny(h, fepB)
	require.NoError(t, err)
	require.EqualValues(t, 0xb1, id)
}

// TestTableNamesRest: a context that is closed and opened again gets another name
// as long as there are others, since the peer may still know the last one.
func TestTableNamesRest(t *testing.T) {
	tab := newTestTable(t, 1)
	seen := map[uint8]bool{}
	for range 256 {
		h := open(t, tab, Key{Destination: fepB})
		id, err := tab.NameAny(h, fepB)
		require.NoError(t, err)
		require.False(t, seen[id])
		seen[id] = true
		require.NoError(t, tab.Close(h))
	}
}

// The generation of a handle comes round with the 32,768th life at an index, and no sooner.
func TestTableHandleComesRound(t *testing.T) {
	tab := newTestTable(t, 1)
	k := &Key{Source: fepA, Destination: fepB}
	first, _, err := tab.Open(k)
	require.NoError(t, err)
	require.NoError(t, tab.Close(first))
	for life := 1; ; life++ {
		h, _, err := tab.Open(k)
		require.NoError(t, err)
		require.Equal(t, life == 1<<15, tab.Live(first), life)
		if tab.Live(first) {
			break
		}
		require.NoError(t, tab.Close(h))
	}
}

func TestTableParallelOpen(t *testing.T) {
	tab := newTestTable(t, 4)
	for range 1000 {
		var got [3]Handle
		var won [3]bool
		var g sync.WaitGroup
		for w := range got {
			g.Go(func() { got[w], won[w], _ = tab.Open(&Key{Source: fepA, Destination: fepC}) })
		}
		g.Wait()
		require.NotZero(t, got[0])
		require.Equal(t, [3]Handle{got[0], got[0], got[0]}, got)
		n := 0
		for _, w := range won {
			if w {
				n++
			}
		}
		require.Equal(t, 1, n)
		require.NoError(t, tab.Close(got[0]))
		requireCount(t, tab, 0, 4)
	}
}

// TestTableParallelChurn opens and closes contexts of the same few keys on several
// goroutines: no two live handles of one key, and nothing is lost.
func TestTableParallelChurn(t *testing.T) {
	tab := newTestTable(t, 6)
	var g sync.WaitGroup
	for w := range 3 {
		g.Go(func() {
			for i := range 3000 {
				k := Key{TC: uint8((i + w) % 2)}
				if h, opened, err := tab.Open(&k); err == nil && opened {
					if got := tab.Lookup(&k); got != h {
						t.Errorf("found %#x, opened %#x", got, h)
					}
					if tab.Close(h) != nil {
						t.Error("close of a context of one's own failed")
					}
				}
			}
		})
	}
	g.Wait()
	requireCount(t, tab, 0, 6)
}

func TestTableAllocs(t *testing.T) {
	tab := newTestTable(t, 4)
	k := Key{Source: fepA, Destination: fepC, TC: 1}
	alloctest.Zero(t, "life of a context", func() {
		h, opened, err := tab.Open(&k)
		if err != nil || !opened || tab.Lookup(&k) != h || tab.Name(h, fepC, 3) != nil || tab.ByID(fepC, 3) != h || tab.Close(h) != nil {
			panic("the path under test did not run")
		}
	})
	alloctest.Zero(t, "All", func() {
		for range tab.All() {
			panic("the table is empty")
		}
	})
	full := alloctest.Bytes(func() any { return newTestTable(t, MaxContexts) })
	require.LessOrEqual(t, full/MaxContexts, 238, "two keys a context")
}

// All PDCs of a pair of FEPs and a traffic class share one context.
func ExampleTable() {
	tab, _ := NewTable(1000, true, 0)
	k := &Key{Source: netip.MustParseAddr("10.0.0.1"), Destination: netip.MustParseAddr("10.0.0.2"), TC: 1}
	h, opened, _ := tab.Open(k)
	fmt.Println(h.Index(), opened)
	h, opened, _ = tab.Open(k)
	fmt.Println(h.Index(), opened)
	id, _ := tab.NameAny(h, k.Destination)
	fmt.Println(tab.ByID(k.Destination, id) == h)
	// Output:
	// 1 true
	// 1 false
	// true
}
