// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
)

// A keyedTable is what the tables of the engine have in common. open returns
// refused if nothing could be claimed for now, or resting if the key was closed but
// is not forgotten yet; all other results are handles, 0 for none.
type keyedTable struct {
	open  func(key int) uint32
	find  func(key int) uint32
	close func(handle uint32) bool
	inUse func() int // ids that are not free, on a quiet table
}

const (
	refused = ^uint32(0)
	resting = refused - 1
)

var tableAddr = netip.MustParseAddr("10.0.0.1")

func pdcKeyedTable(capacity int) keyedTable {
	t, err := pdc.NewTable(pdc.TableConfig{General: capacity})
	if err != nil {
		panic(err)
	}
	key := func(k int) *pdc.TargetKey {
		return &pdc.TargetKey{Source: tableAddr, Destination: tableAddr, SPDCID: pds.PDCID(k + 1)}
	}
	return keyedTable{
		open: func(k int) uint32 {
			h, _, err := t.OpenTarget(0, key(k), false)
			switch err {
			case nil:
				return uint32(h)
			case pdc.ErrResting:
				return resting
			}
			return refused
		},
		find: func(k int) uint32 {
			h, err := t.Target(key(k))
			if err != nil { // it may rest
				h = 0
			}
			return uint32(h)
		},
		close: func(h uint32) bool {
			ok := t.Release(0, pdc.Handle(h)) == nil
			t.Reap(0, 8)
			return ok
		},
		inUse: func() int { s := t.Stats().General; return s.Capacity - s.Free },
	}
}

func cccKeyedTable(capacity int) keyedTable {
	t, err := ccc.NewTable(capacity, true, 0)
	if err != nil {
		panic(err)
	}
	key := func(k int) *ccc.Key { return &ccc.Key{Source: tableAddr, Destination: tableAddr, TC: uint8(k)} }
	return keyedTable{
		open: func(k int) uint32 {
			h, _, err := t.Open(key(k))
			if err != nil {
				return refused
			}
			return uint32(h)
		},
		find:  func(k int) uint32 { return uint32(t.Lookup(key(k))) },
		close: func(h uint32) bool { return t.Close(ccc.Handle(h)) == nil },
		inUse: func() int { live, _ := t.Stats(); return live },
	}
}

// carelessTable is wrong on purpose: it looks first and inserts afterwards.
func carelessTable(int) keyedTable {
	var m sync.Map
	var next atomic.Uint32
	return keyedTable{
		open: func(k int) uint32 {
			if h, ok := m.Load(k); ok {
				return h.(uint32)
			}
			runtime.Gosched()
			h := next.Add(1)
			m.Store(k, h)
			return h
		},
		find: func(k int) uint32 {
			if h, ok := m.Load(k); ok {
				return h.(uint32)
			}
			return 0
		},
		close: func(h uint32) (ok bool) {
			m.Range(func(k, v any) bool {
				if v == h {
					ok = m.CompareAndDelete(k, v)
				}
				return !ok
			})
			return ok
		},
	}
}

type tableOp struct {
	kind   byte // 'o'pen, 'f'ind, 'c'lose
	key    int
	handle uint32 // to close
}

// tableResult is the handle of open and find, or 1 and 0 for a close.
type tableResult uint32

// tableModel is one key: absent (0), or live under a handle. A handle is never
// given out twice within a history, so an open of an absent key may return any. A
// refusal changes nothing; whether it was right is checked apart.
//
// Few operations overlap on two cores. With the build tag tablestep the tables let
// others run in the middle of theirs, and nearly all histories are concurrent.
var tableModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) (parts [][]porcupine.Operation) {
		byKey := map[int]int{}
		for _, op := range history {
			k := op.Input.(tableOp).key
			i, ok := byKey[k]
			if !ok {
				i = len(parts)
				byKey[k], parts = i, append(parts, nil)
			}
			parts[i] = append(parts[i], op)
		}
		return parts
	},
	Init: func() any { return uint32(0) },
	Step: func(state, input, output any) (bool, any) {
		live, op, got := state.(uint32), input.(tableOp), uint32(output.(tableResult))
		switch op.kind {
		case 'f':
			return got == live, live
		case 'c':
			if live != op.handle {
				return got == 0, live
			}
			return got == 1, uint32(0)
		}
		switch {
		case got == refused:
			return true, live
		case got == resting:
			return live == 0, live
		case live == 0:
			return got != 0, got
		}
		return got == live, live
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v -> %#x", input, output) },
}

// record lets workers loose on a table for some operations each. They begin every
// operation together, pick from a few keys, and close what they have seen.
func record(t keyedTable, seed uint64, workers, ops, keys int) []porcupine.Operation {
	var clock, arrived atomic.Int64
	var done sync.WaitGroup
	histories := make([][]porcupine.Operation, workers)
	for w := range workers {
		done.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(w)))
			seen := make([]uint32, keys)
			for n := range ops {
				arrived.Add(1)
				for spins := 0; arrived.Load() < int64((n+1)*workers); spins++ {
					if spins%16 == 15 {
						runtime.Gosched()
					}
				}
				op := tableOp{kind: "ooffc"[r.IntN(5)], key: r.IntN(keys)}
				if op.handle = seen[op.key]; op.kind == 'c' && op.handle == 0 {
					op.kind = 'o'
				}
				call := clock.Add(1)
				out := apply(t, op)
				ret := clock.Add(1)
				if op.kind != 'c' && uint32(out) < resting {
					seen[op.key] = uint32(out)
				}
				histories[w] = append(histories[w], porcupine.Operation{ClientId: w, Input: op, Call: call, Output: out, Return: ret})
			}
		})
	}
	done.Wait()
	var all []porcupine.Operation
	for _, h := range histories {
		all = append(all, h...)
	}
	return all
}

func apply(t keyedTable, op tableOp) tableResult {
	switch op.kind {
	case 'o':
		return tableResult(t.open(op.key))
	case 'f':
		return tableResult(t.find(op.key))
	default:
		if t.close(op.handle) {
			return 1
		}
		return 0
	}
}

// checkHistory returns what is wrong with a history, "" if nothing is.
func checkHistory(history []porcupine.Operation, capacity int) string {
	if porcupine.CheckOperationsTimeout(tableModel, history, 10*time.Second) != porcupine.Ok {
		return "not linearizable"
	}
	for _, op := range history {
		if op.Output == tableResult(refused) && mostInUse(history, op) < capacity {
			return fmt.Sprintf("%+v refused with at most %d ids in use", op.Input, mostInUse(history, op))
		}
	}
	return ""
}

// mostInUse is the number of ids that may have been taken at some time during
// refusal: those of the handles that may have been live, and one for each other open or
// close that ran. An open may lose the race and give its id back only at its end; a close may
// be about to free an id of a handle that another close has ended.
func mostInUse(history []porcupine.Operation, refusal porcupine.Operation) int {
	running, live := 0, map[tableResult]bool{}
	for _, op := range history {
		h := op.Output.(tableResult)
		kind := op.Input.(tableOp).kind
		if kind == 'f' || op.Call == refusal.Call || op.Call > refusal.Return {
			continue
		}
		if op.Return >= refusal.Call {
			running++
		}
		if kind == 'o' && uint32(h) < resting {
			live[h] = true
		}
	}
	for _, op := range history {
		if in := op.Input.(tableOp); in.kind == 'c' && op.Output == tableResult(1) && op.Return < refusal.Call {
			delete(live, tableResult(in.handle))
		}
	}
	return running + len(live)
}

// tableHistories is the number of histories a test checks; UETCC_TABLE_HISTORIES
// asks for more.
func tableHistories(t *testing.T) int {
	n := 1500
	if s := os.Getenv("UETCC_TABLE_HISTORIES"); s != "" {
		_, err := fmt.Sscan(s, &n)
		require.NoError(t, err)
	}
	if testing.Short() {
		n /= 10
	}
	return n
}

func TestTableLinearizable(t *testing.T) {
	for name, make := range map[string]func(int) keyedTable{"pdc": pdcKeyedTable, "ccc": cccKeyedTable} {
		t.Run(name, func(t *testing.T) {
			refusals, overlaps := 0, 0
			for seed := range tableHistories(t) {
				capacity, workers := 4+seed%5, 2+seed%3
				tab := make(capacity)
				h := record(tab, uint64(seed), workers, 12, 2+seed%4)
				if wrong := checkHistory(h, capacity); wrong != "" {
					t.Fatalf("history %d, capacity %d: %s\n%s", seed, capacity, wrong, describe(h))
				}
				live := map[uint32]bool{}
				for k := range 5 {
					if l := tab.find(k); l != 0 {
						live[l] = true
					}
				}
				require.Equal(t, len(live), tab.inUse(), "ids in use without a key\n%s", describe(h))
				refusals += countRefusals(h)
				overlaps += countOverlaps(h)
			}
			t.Logf("%d refusals, %d overlapping pairs on one key", refusals, overlaps)
		})
	}
}

// TestTableLinearizableBites: the check finds a table that looks first and inserts
// afterwards.
func TestTableLinearizableBites(t *testing.T) {
	for seed := range 5000 {
		if checkHistory(record(carelessTable(8), uint64(seed), 3, 12, 2), 8) != "" {
			return
		}
	}
	t.Fatal("a wrong table passed")
}

// TestTableRefusesOnlyWhenFull: on one goroutine the bound is exact.
func TestTableRefusesOnlyWhenFull(t *testing.T) {
	for name, make := range map[string]func(int) keyedTable{"pdc": pdcKeyedTable, "ccc": cccKeyedTable} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(200) {
				tab, live, r := make(5), map[int]uint32{}, rand.New(rand.NewPCG(seed, 1))
				for range 100 {
					k := r.IntN(8)
					if h, there := live[k]; there && r.IntN(2) == 0 {
						require.True(t, tab.close(h))
						delete(live, k)
						continue
					}
					full := len(live) == 5 && live[k] == 0
					h := tab.open(k)
					require.Equal(t, full, h == refused)
					if !full {
						live[k] = h
					}
				}
			}
		})
	}
}

func countRefusals(h []porcupine.Operation) (n int) {
	for _, op := range h {
		if op.Output == tableResult(refused) {
			n++
		}
	}
	return n
}

func countOverlaps(h []porcupine.Operation) (n int) {
	for i, a := range h {
		for _, b := range h[i+1:] {
			if a.Input.(tableOp).key == b.Input.(tableOp).key && a.Call < b.Return && b.Call < a.Return {
				n++
			}
		}
	}
	return n
}

func describe(h []porcupine.Operation) string {
	var b strings.Builder
	for _, op := range h {
		fmt.Fprintf(&b, "  worker %d [%d %d] %s\n", op.ClientId, op.Call, op.Return, tableModel.DescribeOperation(op.Input, op.Output))
	}
	return b.String()
}
