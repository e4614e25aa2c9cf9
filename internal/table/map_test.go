// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
)

func makeKey(a, b netip.Addr, rest uint64) (k Key) {
	k.Set(a, b, rest)
	return k
}

// key returns the i-th of a set of distinct keys.
func key(i int) Key {
	a := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
	return makeKey(a, netip.AddrFrom4([4]byte{10, 200, 0, 1}), uint64(i))
}

// handle returns a handle of the first life of index i.
func handle(i int) Handle { return NewHandle(uint16(i), 1) }

func mustInsert(t testing.TB, m *Map, k Key, h Handle) {
	t.Helper()
	got, err := m.Insert(&k, h)
	require.NoError(t, err)
	require.Equal(t, h, got)
}

func TestMapInsertLookupDelete(t *testing.T) {
	m := NewMap(8, 1)
	k := key(1)
	require.Equal(t, None, m.Lookup(&k))
	mustInsert(t, m, k, handle(3))
	require.Equal(t, handle(3), m.Lookup(&k))

	got, err := m.Insert(&k, handle(4))
	require.NoError(t, err)
	require.Equal(t, handle(3), got, "insert-if-absent returns the one that is there")
	require.False(t, m.Delete(handle(4)), "the loser was not inserted")

	require.True(t, m.Delete(handle(3)))
	require.False(t, m.Delete(handle(3)), "deleted once")
	require.Equal(t, None, m.Lookup(&k))
	mustInsert(t, m, k, handle(4))
}

func TestMapDeleteStaleHandle(t *testing.T) {
	m := NewMap(8, 1)
	mustInsert(t, m, key(1), NewHandle(3, 1))
	require.True(t, m.Delete(NewHandle(3, 1)))
	mustInsert(t, m, key(1), NewHandle(3, 3))
	require.False(t, m.Delete(NewHandle(3, 1)), "generation 1 is over")
	require.False(t, m.Delete(None))
	require.False(t, m.Delete(NewHandle(9, 1)), "beyond the capacity")
	k := key(1)
	require.Equal(t, NewHandle(3, 3), m.Lookup(&k))
}

// TestMapAgainstMap replays random operations on a Go map, on tables so small
// that full buckets, passed buckets and reuse occur all the time.
func TestMapAgainstMap(t *testing.T) {
	for _, capacity := range []int{1, 4, 7, 8, 64, 1000} {
		t.Run(fmt.Sprint(capacity), func(t *testing.T) { replay(t, NewMap(capacity, 7), capacity, 20000, key) })
	}
}

func replay(t *testing.T, m *Map, capacity, steps int, key func(int) Key) {
	r := rand.New(rand.NewPCG(1, uint64(capacity)))
	all, want := make([]Key, 2*capacity), map[Key]Handle{}
	for i := range all {
		all[i] = key(i)
	}
	free := r.Perm(capacity)
	gen := make([]uint16, capacity)
	for n := range steps {
		if n%(10*capacity) == 0 {
			requireFound(t, m, want, all)
		}
		k := all[r.IntN(2*capacity)]
		h, there := want[k]
		switch {
		case r.IntN(3) == 0:
			require.Equal(t, h, m.Lookup(&k))
		case there && r.IntN(2) == 0:
			require.True(t, m.Delete(h))
			delete(want, k)
			free = append(free, int(h.Index()))
		case len(free) > 0:
			i := free[0]
			gen[i] += 2
			h := NewHandle(uint16(i), gen[i]-1)
			got, err := m.Insert(&k, h)
			if err != nil {
				require.ErrorIs(t, err, ErrFull)
				require.False(t, there)
				require.Equal(t, None, m.Lookup(&k))
				continue
			}
			if there {
				require.Equal(t, want[k], got)
				continue
			}
			require.Equal(t, h, got)
			want[k], free = h, free[1:]
		}
	}
	requireFound(t, m, want, all)
	require.Equal(t, want, maps.Collect(m.All()))
	requireClean(t, m, want)
}

// requireFound looks keys up, in whichever of them want has a handle for.
func requireFound(t testing.TB, m *Map, want map[Key]Handle, ks []Key) {
	t.Helper()
	for i := range ks {
		require.Equal(t, want[ks[i]], m.Lookup(&ks[i]))
	}
}

// requireClean checks the structure: one live word for each entry, every group's
// count equal to the entries that passed it, every slot's byte that of its entry,
// and nothing else.
func requireClean(t testing.TB, m *Map, want map[Key]Handle) {
	t.Helper()
	groups := make([]uint64, m.groups) // what each group's word should be
	for k, h := range want {
		hash := m.hasher.Sum(&k)
		p := placeOf(m, hash, h)
		require.Less(t, p, m.limit(), "an entry that no scan can find")
		for q := place(0); q+8 <= p; q += 8 {
			groups[m.group(hash, q)] += passUnit
		}
		groups[m.group(hash, p)] += byteOf(hash) << (8 * (p % 8))
	}
	used := 0
	for i := range m.slots {
		if m.slots[i].word.Load()&stateMask != empty {
			used++
		}
	}
	for g := range groups {
		require.Equal(t, groups[g], m.bytes[g].Load(), "group %d", g)
	}
	require.Equal(t, len(want), used)
}

// placeOf is where h is live in the probe order of hash, the limit if nowhere.
func placeOf(m *Map, hash uint64, h Handle) place {
	for p := place(0); p < m.limit(); p++ {
		if p%8 == groupSize {
			continue
		}
		if w := m.slot(hash, p).word.Load(); w&stateMask == live && Handle(w) == h {
			return p
		}
	}
	return m.limit()
}

// TestMapHashAbuse replaces the hash by bad ones, as an attacker would have it.
func TestMapHashAbuse(t *testing.T) {
	for _, tc := range []struct {
		name string
		hash func(i int) uint64
	}{
		{"constant", func(int) uint64 { return 0 }},
		{"constant, last group, wraps", func(int) uint64 { return ^uint64(0) }},
		{"truncated to two bits", func(i int) uint64 { return uint64(i) << 62 }},
		{"tags all equal", func(i int) uint64 { return uint64(i) << 57 }},
		{"groups all equal, tags differ", func(i int) uint64 { return uint64(i) }},
		{"bytes all equal, tags differ", func(i int) uint64 { return uint64(i) << 8 & 0xffff }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := newMap(16, 64, hashIsLastWord)
			replay(t, m, 64, 5000, func(i int) Key {
				k := key(i)
				k[4] = tc.hash(i)
				return k
			})
		})
	}
}

// hashIsLastWord makes the hash of a key of two IPv4 addresses its last word: both
// inner products have a zero factor then, and the outer one multiplies by one.
var hashIsLastWord = Hasher{s: [5]uint64{4: 1}}

func TestMapErrFullUnderConstantHash(t *testing.T) {
	m := newMap(2*maxProbe, 1000, hashIsLastWord)
	same := func(i int) Key { k := key(i); k[4] = 77; return k }
	n := 0
	for ; ; n++ {
		k := same(n)
		if _, err := m.Insert(&k, handle(n)); err != nil {
			require.ErrorIs(t, err, ErrFull)
			require.Equal(t, None, m.Lookup(&k))
			break
		}
	}
	require.Equal(t, maxProbe*groupSize, n, "the probe range and no more")
	require.True(t, m.Delete(handle(50)))
	mustInsert(t, m, same(5000), handle(50))
	requireClean(t, m, maps.Collect(m.All()))
}

// TestMapErrFullWhereNoMoreCanPass: a group that has as many passers as it can count, which
// takes dozens of goroutines at once, sends nobody on, and a refusal leaves no trace.
func TestMapErrFullWhereNoMoreCanPass(t *testing.T) {
	m := newMap(4, 100, hashIsLastWord)
	same := func(i int) Key { k := key(i); k[4] = 77; return k }
	for i := range 2 * groupSize {
		mustInsert(t, m, same(i), handle(i))
	}
	m.bytes[1].Add(maxPassed * passUnit)
	before := [2]uint64{m.bytes[0].Load(), m.bytes[1].Load()}
	k := same(99)
	_, err := m.Insert(&k, handle(99))
	require.ErrorIs(t, err, ErrFull)
	require.Equal(t, before, [2]uint64{m.bytes[0].Load(), m.bytes[1].Load()})
}

// TestMapFullSizeFits fills the largest map with random seeds and looks at how
// far entries are displaced: maxProbe is far from being reached.
func TestMapFullSizeFits(t *testing.T) {
	for seed := range uint64(4) {
		m := NewMap(MaxCapacity, seed+1)
		for i := range MaxCapacity {
			mustInsert(t, m, key(i), NewHandle(uint16(i), 1))
		}
		require.Less(t, maxDisplacement(m), 24)
	}
}

func maxDisplacement(m *Map) int {
	far := place(0)
	for k, h := range m.All() {
		far = max(far, placeOf(m, m.hasher.Sum(&k), h)/8)
	}
	return int(far)
}

// TestMapChurn replaces entries many times over at full capacity: displacement
// and counts must not creep up. UETCC_CHURN=10000000 is the long run.
func TestMapChurn(t *testing.T) {
	const capacity = 4096
	rounds := envInt("UETCC_CHURN", 400_000)
	m := NewMap(capacity, 11)
	now := make([]Key, capacity)
	for i := range now {
		now[i] = key(i)
		mustInsert(t, m, now[i], handle(i))
	}
	r := rand.New(rand.NewPCG(5, 6))
	for n := range rounds {
		i := r.IntN(capacity)
		h := m.Lookup(&now[i])
		if !m.Delete(h) {
			t.Fatal("delete of a live entry failed")
		}
		now[i] = key(capacity + n)
		if got, err := m.Insert(&now[i], NewHandle(uint16(i), h.Generation()+2)); err != nil || got.Index() != uint16(i) {
			t.Fatal(got, err)
		}
	}
	require.Less(t, maxDisplacement(m), 20)
	requireClean(t, m, maps.Collect(m.All()))
}

func TestMapAllocs(t *testing.T) {
	m := NewMap(64, 1)
	k := key(1)
	alloctest.Zero(t, "Insert, Lookup, Delete", func() {
		if got, err := m.Insert(&k, handle(1)); err != nil || got != handle(1) || m.Lookup(&k) != got || !m.Delete(got) {
			panic("the path under test did not run")
		}
	})
	alloctest.Zero(t, "All", func() {
		for range m.All() {
			panic("the map is empty")
		}
	})
	a := netip.MustParseAddr("2001:db8::1")
	alloctest.Zero(t, "Key.Set", func() {
		if makeKey(a, a, 0) == (Key{}) {
			panic("zero")
		}
	})
}

func TestMakeKeyMapsIPv4(t *testing.T) {
	v4, mapped := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("::ffff:192.0.2.1")
	require.Equal(t, makeKey(v4, v4, 1), makeKey(mapped, v4, 1))
	require.NotEqual(t, makeKey(v4, mapped, 1), makeKey(v4, netip.Addr{}, 1))
	require.Equal(t, makeKey(netip.Addr{}, v4, 1), makeKey(netip.IPv6Unspecified(), v4, 1), "no address is zeros")
	require.Equal(t, Key{0x20010db800000000, 1, 0, 0xffff_c0000201, 7},
		makeKey(netip.MustParseAddr("2001:db8::1%eth0"), v4, 7))
}
