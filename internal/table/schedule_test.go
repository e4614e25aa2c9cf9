// SPDX-License-Identifier: Apache-2.0

//go:build tablestep

package table

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A schedule runs several functions as goroutines, one at a time, and decides at
// each step() who goes on. explore repeats that under every schedule with at most
// a given number of preemptions (Musuvathi and Qadeer, "Iterative Context Bounding
// for Systematic Testing of Multithreaded Programs", PLDI 2007).
type schedule struct {
	path   []choice // decisions of this run; the replayed prefix first
	at     int
	resume []chan struct{}
	yield  chan bool // true: the running goroutine is done
}

type choice struct {
	who  int   // index into can
	can  []int // runnable, the one that was running first
	cost int   // preemptions so far, this one included
}

func (s *schedule) run(fns []func()) {
	s.at, s.yield = 0, make(chan bool)
	s.resume = make([]chan struct{}, len(fns))
	can := make([]int, len(fns))
	for i, fn := range fns {
		s.resume[i], can[i] = make(chan struct{}), i
		go func() {
			<-s.resume[i]
			fn()
			s.yield <- true
		}()
	}
	now := -1
	stepHook = func() {
		i := now
		s.yield <- false
		<-s.resume[i]
	}
	defer func() { stepHook = yieldNowAndThen }()
	for len(can) > 0 {
		now = s.pick(can, now)
		s.resume[now] <- struct{}{}
		if <-s.yield {
			can = slices.DeleteFunc(slices.Clone(can), func(i int) bool { return i == now })
		}
	}
}

func (s *schedule) pick(can []int, now int) int {
	if s.at == len(s.path) {
		order := slices.Clone(can)
		if i := slices.Index(order, now); i > 0 {
			order[0], order[i] = order[i], order[0]
		}
		cost := 0
		if s.at > 0 {
			cost = s.path[s.at-1].cost
		}
		s.path = append(s.path, choice{0, order, cost})
	}
	c := s.path[s.at]
	s.at++
	return c.can[c.who]
}

// advance moves to the next schedule in depth-first order.
func (s *schedule) advance(bound int) bool {
	for i := len(s.path) - 1; i >= 0; i-- {
		c, before, last := s.path[i], 0, -1
		if i > 0 {
			before, last = s.path[i-1].cost, s.path[i-1].can[s.path[i-1].who]
		}
		if c.who+1 == len(c.can) {
			continue
		}
		c.who++
		if c.cost = before; c.can[0] == last {
			c.cost++ // the one that ran could have gone on
		}
		if c.cost <= bound {
			s.path = append(s.path[:i], c)
			return true
		}
	}
	return false
}

func explore(bound int, body func(run func(...func()))) (runs int) {
	for s := new(schedule); ; runs++ {
		body(func(fns ...func()) { s.run(fns) })
		if !s.advance(bound) {
			return runs + 1
		}
	}
}

// TestScheduleInsert drives the real Insert and Delete through all schedules of a
// few preemptions, with all keys in one bucket that may be full, so that entries
// of the second bucket and its count take part.
func TestScheduleInsert(t *testing.T) {
	for _, tc := range []struct{ others, inserters, deleteX, deleteK, bound int }{
		{0, 2, 0, 0, 3}, {0, 3, 0, 0, 2}, {1, 2, 1, 0, 2}, {0, 2, 0, 1, 2}, {6, 2, 1, 0, 2}, {7, 2, 1, 0, 2}, {7, 2, 1, 1, 1},
	} {
		t.Run(fmt.Sprintf("%+v", tc), func(t *testing.T) {
			runs := explore(tc.bound, func(run func(...func())) {
				m := newMap(2, 16, hashIsLastWord)
				for i := range tc.others {
					mustInsert(t, m, sameHash(100+i), handle(8+i))
				}
				got := make([]Handle, tc.inserters)
				var fns []func()
				for i := range got {
					fns = append(fns, func() {
						k := sameHash(0)
						var err error
						if got[i], err = m.Insert(&k, handle(i)); err != nil {
							panic(err)
						}
					})
				}
				deleted := 0
				for range tc.deleteX {
					fns = append(fns, func() {
						if !m.Delete(handle(8)) {
							panic("X was there")
						}
					})
				}
				for range tc.deleteK {
					fns = append(fns, func() {
						k := sameHash(0)
						if h := m.Lookup(&k); h != None && m.Delete(h) {
							deleted++
						}
					})
				}
				run(fns...)
				won := 0
				for i, h := range got {
					if h == handle(i) {
						won++
					}
				}
				all := map[Key]Handle{}
				n := 0
				for k, h := range m.All() {
					all[k] = h
					n++
				}
				if won-deleted != n-(tc.others-tc.deleteX) || len(all) != n {
					t.Fatalf("%d won, %d deleted, %d there: %v", won, deleted, n, slices.Collect(maps.Values(all)))
				}
				requireClean(t, m, all)
			})
			t.Logf("%d schedules", runs)
			require.Greater(t, runs, 50)
		})
	}
}

// TestInsertAgainIsAnotherAttempt: who is late to settle an insertion that was collided
// meanwhile finds another word there when it is tried again, also where the sequence number of
// the slot comes round.
func TestInsertAgainIsAnotherAttempt(t *testing.T) {
	m := newMap(2, 16, hashIsLastWord)
	for i := range m.slots {
		m.slots[i].word.Store(seqMask)
	}
	var tries []uint64
	stepHook = func() {
		s := &m.slots[0]
		if w := s.word.Load(); w&stateMask == inserting && len(tries) < 3 && !slices.Contains(tries, w) {
			tries = append(tries, w)
			s.word.Store(w + collided - inserting) // as one in front would that was deleted since
		}
	}
	defer func() { stepHook = yieldNowAndThen }()
	mustInsert(t, m, sameHash(0), handle(5))
	require.Len(t, tries, 3)
	for i, w := range tries {
		require.Equal(t, uint64(77<<tagShift|inserting|uint64(handle(5))), w&^seqMask)
		require.Equal(t, uint64(int64(i-1)*seqUnit)&seqMask, w&seqMask)
	}
	k := sameHash(0)
	require.Equal(t, handle(5), m.Lookup(&k))
}

// TestScheduleRing: goroutines that pop an id and push it back, some of them twice,
// on a ring that wraps all the time. Nothing is lost, nothing is out twice.
func TestScheduleRing(t *testing.T) {
	for _, tc := range []struct{ ids, workers, turns, bound int }{{1, 2, 2, 3}, {2, 2, 2, 3}, {2, 3, 1, 2}, {3, 3, 1, 2}} {
		t.Run(fmt.Sprintf("%+v", tc), func(t *testing.T) {
			runs := explore(tc.bound, func(run func(...func())) {
				r := newRing(tc.ids)
				for i := range tc.ids {
					r.push(uint16(i))
				}
				out := make([]bool, tc.ids)
				var fns []func()
				for range tc.workers {
					fns = append(fns, func() {
						for range tc.turns {
							id, ok := r.pop()
							if !ok {
								continue
							}
							if out[id] {
								t.Errorf("id %d is out twice", id)
							}
							out[id] = true
							step()
							out[id] = false
							r.push(id)
						}
					})
				}
				run(fns...)
				require.Equal(t, tc.ids, r.len())
				for range tc.ids {
					id, ok := r.pop()
					require.True(t, ok)
					require.False(t, out[id])
					out[id] = true
				}
			})
			t.Logf("%d schedules", runs)
		})
	}
}

func sameHash(i int) Key { k := key(i); k[4] = 77; return k }
