// SPDX-License-Identifier: Apache-2.0

package table

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
)

func newPool(t testing.TB, c PoolConfig) *Pool {
	t.Helper()
	p, err := NewPool(c)
	require.NoError(t, err)
	return p
}

func claim(t testing.TB, p *Pool) Handle {
	t.Helper()
	h, err := p.Claim()
	require.NoError(t, err)
	p.Publish(h, 0)
	return h
}

func requireAccount(t testing.TB, p *Pool, live, resting int) {
	t.Helper()
	n := int(p.count)
	require.Equal(t, PoolStats{Capacity: n, Free: n - live - resting, Live: live, Resting: resting}, p.Stats())
}

// reap moves every id whose time has come back to the free ones.
func reap(p *Pool, now int64) (n int) {
	for {
		h, ok := p.Expire(now)
		if !ok {
			return n
		}
		p.Restore(h)
		n++
	}
}

func TestNewPoolNamesTheField(t *testing.T) {
	for _, tc := range []struct {
		name string
		c    PoolConfig
		want string
	}{
		{"id 0", PoolConfig{Count: 1}, "First"},
		{"no ids", PoolConfig{First: 1}, "Count"},
		{"one id too many", PoolConfig{First: 2, Count: 65535}, "Count"},
		{"negative quarantine", PoolConfig{First: 1, Count: 1, Hold: -1}, "Hold"},
		{"bare with a quarantine", PoolConfig{First: 1, Count: 1, Hold: 1, Bare: true}, "Bare"},
		{"bare with slots", PoolConfig{First: 1, Count: 1, Slots: NewSlots(2), Bare: true}, "Bare"},
		{"slots too few", PoolConfig{First: 1, Count: 1, Slots: NewSlots(1)}, "Slots"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := NewPool(tc.c)
			require.ErrorIs(t, err, ErrConfig)
			require.ErrorContains(t, err, tc.want)
		})
	}
	newPool(t, PoolConfig{First: 1, Count: 65535})
}

// A bare pool has words and the queue of free ids, and no more; ids come back by Return, in order.
func TestPoolBare(t *testing.T) {
	p := newPool(t, PoolConfig{First: 1, Count: 3, Bare: true})
	require.Nil(t, p.data)
	require.Nil(t, p.until)
	var ids []Handle
	for range 3 {
		ids = append(ids, claim(t, p))
	}
	_, err := p.Claim()
	require.ErrorIs(t, err, ErrExhausted, "nothing rests")
	for _, h := range ids {
		p.Return(h)
		require.False(t, p.Live(h))
	}
	requireAccount(t, p, 0, 0)
	for _, h := range ids {
		again := claim(t, p)
		require.Equal(t, h.Index(), again.Index())
		require.NotEqual(t, h, again)
	}
}

func TestPoolClaimEveryIDOnce(t *testing.T) {
	p := newPool(t, PoolConfig{First: 100, Count: 20, Start: 65535})
	seen := map[uint16]bool{}
	for range 20 {
		h := claim(t, p)
		require.False(t, seen[h.Index()])
		require.True(t, h.Index() >= 100 && h.Index() < 120, "id %d", h.Index())
		require.EqualValues(t, 1, h.Generation())
		seen[h.Index()] = true
	}
	_, err := p.Claim()
	require.ErrorIs(t, err, ErrExhausted)
	requireAccount(t, p, 20, 0)
}

func TestPoolFirstIDFollowsStart(t *testing.T) {
	h, err := newPool(t, PoolConfig{First: 1, Count: 65535, Start: 0x4000}).Claim()
	require.NoError(t, err)
	require.EqualValues(t, 0x4001, h.Index())
}

func TestPoolQuarantine(t *testing.T) {
	p := newPool(t, PoolConfig{First: 1, Count: 2, Hold: 100})
	a, b := claim(t, p), claim(t, p)
	_, ok := p.NextDue()
	require.False(t, ok)
	require.NoError(t, p.Release(a, 1000))
	require.NoError(t, p.Release(b, 1010))
	requireAccount(t, p, 0, 2)
	_, err := p.Claim()
	require.ErrorIs(t, err, ErrResting, "never shortened, however great the demand")

	due, ok := p.NextDue()
	require.True(t, ok)
	require.EqualValues(t, 1100, due)
	_, ok = p.Expire(1099)
	require.False(t, ok, "one nanosecond early")
	h, ok := p.Expire(1100)
	require.True(t, ok)
	require.Equal(t, a, h, "the handle of the life that ended")
	_, err = p.Claim()
	require.ErrorIs(t, err, ErrResting, "not yet free: its owner removes the old traces first")
	p.Restore(h)

	c := claim(t, p)
	require.Equal(t, a.Index(), c.Index())
	require.EqualValues(t, 3, c.Generation())
	require.False(t, p.Live(a), "the old handle")
	require.True(t, p.Live(c))
	_, ok = p.Expire(1109)
	require.False(t, ok)
	require.Equal(t, 1, reap(p, math.MaxInt64))
	requireAccount(t, p, 1, 0)
}

func TestPoolReleaseStale(t *testing.T) {
	p := newPool(t, PoolConfig{First: 1, Count: 1})
	a := claim(t, p)
	require.NoError(t, p.Release(a, 0))
	require.ErrorIs(t, p.Release(a, 0), ErrStale, "twice")
	require.Equal(t, 1, reap(p, 0))
	b := claim(t, p)
	require.ErrorIs(t, p.Release(a, 0), ErrStale, "an earlier life")
	require.ErrorIs(t, p.Release(None, 0), ErrStale)
	require.ErrorIs(t, p.Release(NewHandle(7, 1), 0), ErrStale, "another pool's")
	require.True(t, p.Live(b))
	requireAccount(t, p, 1, 0)
}

func TestPoolReturnSkipsQuarantine(t *testing.T) {
	p := newPool(t, PoolConfig{First: 1, Count: 1, Hold: 1 << 40})
	a := claim(t, p)
	p.Return(a)
	b := claim(t, p)
	require.Equal(t, a.Index(), b.Index())
	require.NotEqual(t, a, b, "a new life all the same")
	require.False(t, p.Live(a))
}

func TestPoolReleaseTimeOverflow(t *testing.T) {
	p := newPool(t, PoolConfig{First: 1, Count: 1, Hold: 100})
	require.NoError(t, p.Release(claim(t, p), math.MaxInt64-10))
	_, ok := p.Expire(math.MaxInt64 - 1)
	require.False(t, ok, "the sum would be negative, long past")
}

func TestPoolGenerationWraps(t *testing.T) {
	p := newPool(t, PoolConfig{First: 1, Count: 1})
	first := claim(t, p)
	require.NoError(t, p.Release(first, 0))
	for range 1<<15 - 1 {
		reap(p, 0)
		h := claim(t, p)
		require.NotEqual(t, first, h)
		require.NoError(t, p.Release(h, 0))
	}
	reap(p, 0)
	require.Equal(t, first, claim(t, p), "after 2^15 lives, as documented")
}

func TestPoolSlotWord(t *testing.T) {
	p := newPool(t, PoolConfig{First: 1, Count: 1})
	h, err := p.Claim()
	require.NoError(t, err)
	id := h.Index()
	require.False(t, p.Load(id).Live(), "claimed is not visible yet")
	p.Publish(h, 0xabc)
	w := p.Load(id)
	require.True(t, w.Live())
	require.EqualValues(t, 0xabc, w.User())
	require.True(t, p.Update(id, w, 0xdef))
	require.False(t, p.Update(id, w, 0x123), "changed since")
	require.NoError(t, p.Release(h, 0))
	require.EqualValues(t, 0xdef, p.Load(id).User(), "remembered in quarantine")
	require.False(t, p.Load(0).Live(), "id 0 names none")
}

func TestRingWrapsManyTimes(t *testing.T) {
	for _, n := range []int{1, 2, 3, 64} {
		r := newRing(n)
		for i := range 1000 {
			for j := range n {
				r.push(uint16(i + j))
			}
			require.Equal(t, n, r.len())
			for j := range n {
				id, ok := r.pop()
				require.True(t, ok)
				require.Equal(t, uint16(i+j), id)
			}
			_, ok := r.pop()
			require.False(t, ok)
		}
	}
}

// TestRingFinishesForOthers stops a goroutine between the two steps of a push and
// of a pop: the next one to come does the second step.
func TestRingFinishesForOthers(t *testing.T) {
	r := newRing(2)
	r.cells[0].Store(1*turnUnit | 7) // pushed, tail not moved
	r.push(8)
	id, ok := r.pop()
	require.True(t, ok)
	require.EqualValues(t, 7, id)
	r.cells[1].Store((1 + 2) * turnUnit) // 8 popped, head not moved
	_, ok = r.pop()
	require.False(t, ok)
	r.push(9)
	id, _ = r.pop()
	require.EqualValues(t, 9, id)

	r = newRing(2)
	r.cells[0].Store(3*turnUnit | 7) // pushed, popped, pushed again; neither moved
	r.cells[1].Store(3 * turnUnit)   // pushed, popped
	id, ok = r.pop()
	require.True(t, ok)
	require.EqualValues(t, 7, id)
}

func TestPoolAllocs(t *testing.T) {
	p := newPool(t, PoolConfig{First: 1, Count: 8})
	alloctest.Zero(t, "Claim, Publish, Release, Expire, Restore", func() {
		h, err := p.Claim()
		if err != nil {
			panic(err)
		}
		p.Publish(h, 1)
		if p.Release(h, 0) != nil || reap(p, 0) != 1 {
			panic("the path under test did not run")
		}
	})
}

// TestQuota: a source takes as many as it may, whatever others take, and gets back what it
// gives.
func TestQuota(t *testing.T) {
	q := NewQuota(1024, 3, 1)
	a, b := q.Source(1, 2), q.Source(1, 3)
	for range 3 {
		require.True(t, q.Take(a))
	}
	require.False(t, q.Take(a))
	require.False(t, q.Take(a), "a refusal charges nothing")
	require.Equal(t, 3, q.Held(a))
	require.True(t, q.Take(b), "another source still may")
	require.Zero(t, q.Held(a^1), "one of two counters in common with a")
	require.Zero(t, q.Held(a^1<<32), "the other")
	q.Give(a)
	require.True(t, q.Take(a))
	require.True(t, NewQuota(0, 1, 1).Take(a), "there is always a counter")
	alloctest.Zero(t, "Take, Give", func() {
		q.Give(a)
		if !q.Take(a) {
			panic("the path under test did not run")
		}
	})
}

// TestQuotaNeighbours: a thousand sources that hold all they may leave nearly
// everybody else alone.
func TestQuotaNeighbours(t *testing.T) {
	q := NewQuota(1<<16, 10, 3)
	for i := range uint64(1000) {
		s := q.Source(0, i)
		for range 10 {
			q.Take(s)
		}
	}
	refused := 0
	for i := range uint64(10000) {
		if s := q.Source(1, i); q.Take(s) {
			q.Give(s)
		} else {
			refused++
		}
	}
	require.LessOrEqual(t, refused, 20, "expected 10000 x (1000/65536)^2 = 2.3")
}
