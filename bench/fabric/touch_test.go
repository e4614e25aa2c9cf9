// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"math"
	"reflect"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// A group that began with few events may grow while it is handed out. What the batches
// still hold then is of an earlier group, whose packets may wait in a nic by now, where at
// is no port.
func TestTouchLeavesGrownGroupAlone(t *testing.T) {
	s, err := newSim(Config{Matrix: &Matrix{Nodes: 16, Flows: []Flow{{Src: 0, Dst: 1, Size: 1 << 20}}}})
	require.NoError(t, err)
	pkt := s.pool.get()
	stale := batch{}
	for i := range stale.arriving.v {
		stale.arriving.v[i] = pkt
	}
	stale.arriving.n = touchBatch
	s.pool.pkts[pkt] = packet{to: source(0), at: math.MaxUint32}
	s.touching.batches, s.touching.next = [3]batch{stale, stale, stale}, 3

	q := s.events
	q.cur, q.curNext = make([]slot, touchWorth-1), 0
	for i := range q.cur {
		q.cur[i] = newSlot(0, evTimer, 0)
	}
	s.touching.touch(s)
	for range 4 * touchBatch {
		q.insert(newSlot(0, evTimer, 0))
	}
	for q.curNext = touchBatch; q.curNext < len(q.cur); q.curNext += touchBatch {
		require.NotPanics(t, func() { s.touching.touch(s) })
	}
}

// What the hops touch lies in whole cache lines where words are 64 bits.
func TestLayout(t *testing.T) {
	if strconv.IntSize < 64 {
		return
	}
	port := reflect.TypeFor[port]()
	require.EqualValues(t, 256, port.Size())
	busy, _ := port.FieldByName("busy")
	require.EqualValues(t, 216, busy.Offset)
	require.EqualValues(t, 16, reflect.TypeFor[packet]().Size())
	require.EqualValues(t, 32, reflect.TypeFor[detail]().Size())
	require.EqualValues(t, recordBytes, reflect.TypeFor[record]().Size())
	require.EqualValues(t, 6*64, reflect.TypeFor[sender]().Size())
	require.EqualValues(t, 64, reflect.TypeFor[receiver]().Size())
}
