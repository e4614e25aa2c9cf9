// SPDX-License-Identifier: Apache-2.0

package table

import (
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMapParallelInsertSameKey: of several goroutines that insert one key, exactly
// one wins and all the others are told who.
func TestMapParallelInsertSameKey(t *testing.T) {
	const workers, rounds = 4, 2000
	m := NewMap(workers, 1)
	for r := range rounds {
		var got [workers]Handle
		parallel(workers, func(w int) {
			k := key(r)
			got[w], _ = m.Insert(&k, NewHandle(uint16(w), uint16(2*r+1)))
		})
		k := key(r)
		winner := m.Lookup(&k)
		require.NotEqual(t, None, winner)
		for _, h := range got {
			require.Equal(t, winner, h)
		}
		var deleted atomic.Int32
		parallel(workers, func(int) {
			if m.Delete(winner) {
				deleted.Add(1)
			}
		})
		require.EqualValues(t, 1, deleted.Load())
	}
	requireClean(t, m, nil)
}

func parallel(n int, fn func(worker int)) {
	var g sync.WaitGroup
	for w := range n {
		g.Go(func() { fn(w) })
	}
	g.Wait()
}

// TestMapParallelReadersSeeTheirKey: readers ask for keys while writers give the
// same few indices to other keys all the time. What a hit names must have been
// live with that key: every life's key is on record.
func TestMapParallelReadersSeeTheirKey(t *testing.T) {
	const writers, keys, rounds = 2, 6, 20000
	m := NewMap(2*writers, 1)
	var stop atomic.Bool
	// record[index][generation/2] is the number of the key + 1.
	var record [2 * writers][1 << 15]atomic.Uint32
	var readers sync.WaitGroup
	hits := 0
	readers.Go(func() {
		for i := 0; !stop.Load() || hits == 0; i++ {
			k := key(i % keys)
			if h := m.Lookup(&k); h != None {
				hits++
				if got := record[h.Index()][h.Generation()/2].Load(); got != uint32(i%keys)+1 {
					t.Errorf("key %d found handle %#x, which had key %d", i%keys, h, got-1)
					return
				}
			}
		}
	})
	readers.Go(func() {
		for !stop.Load() {
			for k, h := range m.All() {
				if got := record[h.Index()][h.Generation()/2].Load(); k != key(int(got)-1) {
					t.Errorf("iteration: handle %#x with the wrong key", h)
					return
				}
			}
		}
	})
	parallel(writers, func(w int) {
		r := rand.New(rand.NewPCG(1, uint64(w)))
		for n := range rounds {
			i := 2*w + n%2
			m.Delete(NewHandle(uint16(i), uint16(n/2)*2-1))
			h, no := NewHandle(uint16(i), uint16(n/2)*2+1), r.IntN(keys)
			record[i][h.Generation()/2].Store(uint32(no) + 1)
			k := key(no)
			m.Insert(&k, h)
		}
	})
	stop.Store(true)
	readers.Wait()
	requireClean(t, m, maps.Collect(m.All()))
}

// TestMapParallelChurn: workers churn keys of their own in one small table; each
// always finds what it put there, and nothing is left over.
func TestMapParallelChurn(t *testing.T) {
	const workers, each, rounds = 4, 4, 5000
	m := NewMap(workers*each, 1)
	parallel(workers, func(w int) {
		held := map[int]Handle{}
		r := rand.New(rand.NewPCG(2, uint64(w)))
		for n := range rounds {
			i := r.IntN(each)
			k := key(w*each + i)
			h, there := held[i]
			if m.Lookup(&k) != h {
				t.Errorf("worker %d lost key %d", w, i)
			}
			if there {
				m.Delete(h)
				delete(held, i)
			} else {
				held[i] = NewHandle(uint16(w*each+i), uint16(2*n+1))
				m.Insert(&k, held[i])
			}
		}
	})
	requireClean(t, m, maps.Collect(m.All()))
}

// TestPoolParallel: ids are never handed out twice, and none gets lost.
func TestPoolParallel(t *testing.T) {
	const workers, ids, rounds = 4, 6, 20000
	p := newPool(t, PoolConfig{First: 1, Count: ids, Hold: 3})
	var owner [ids + 1]atomic.Int32
	var clock atomic.Int64
	var releasedAt [ids + 1]atomic.Int64
	for i := range releasedAt {
		releasedAt[i].Store(-100)
	}
	parallel(workers, func(w int) {
		r := rand.New(rand.NewPCG(3, uint64(w)))
		for range rounds {
			now := clock.Add(1)
			if h, ok := p.Expire(now); ok {
				if now < releasedAt[h.Index()].Load()+3 {
					t.Error("quarantine shortened")
				}
				p.Restore(h)
			}
			h, err := p.Claim()
			if err != nil {
				continue
			}
			if !owner[h.Index()].CompareAndSwap(0, int32(w)+1) {
				t.Error("one id, two owners")
			}
			p.Publish(h, uint64(w))
			owner[h.Index()].Store(0)
			if r.IntN(4) == 0 {
				p.Return(h)
				continue
			}
			at := clock.Load()
			releasedAt[h.Index()].Store(at)
			if p.Release(h, at) != nil {
				t.Error("release of a live handle failed")
			}
		}
	})
	reap(p, 1<<40)
	requireAccount(t, p, 0, 0)
}

func TestPoolParallelReleaseOnce(t *testing.T) {
	p := newPool(t, PoolConfig{First: 1, Count: 1})
	for range 2000 {
		reap(p, 0)
		h := claim(t, p)
		var released atomic.Int32
		parallel(3, func(int) {
			if p.Release(h, 0) == nil {
				released.Add(1)
			}
		})
		require.EqualValues(t, 1, released.Load())
	}
}

func TestQuotaParallel(t *testing.T) {
	q := NewQuota(16, 5, 1)
	s := q.Source(0, 1)
	var held atomic.Int32
	parallel(4, func(int) {
		for range 5000 {
			if q.Take(s) {
				if held.Add(1) > 5 {
					t.Error("above the limit")
				}
				held.Add(-1)
				q.Give(s)
			}
		}
	})
	require.Zero(t, q.Held(s))
}
