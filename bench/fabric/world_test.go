// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/link"
)

func newWorld(t *testing.T, c Config) *World {
	t.Helper()
	c.Node = NodeEndpoint
	if c.Topology == nil {
		c.Topology = FatTree(16, 100e9, link.Microsecond)
	}
	w, err := NewWorld(c)
	require.NoError(t, err)
	return w
}

// Each operation brings its bytes, and the counts of packets add up.
func TestWorldCarriesEachOperation(t *testing.T) {
	for op := OpWrite; op <= OpRendezvous; op++ {
		for _, ordered := range []bool{false, true} {
			w := newWorld(t, Config{Seed: 1})
			var all []*Message
			arrived := 0
			for _, size := range []int64{1, 8, 1024, 4095, 4097, 100_001} {
				if op == OpAtomic {
					size = 8
				}
				m := &Message{Src: 3, Dst: 12, Op: op, Ordered: ordered, Size: size, Here: func() { arrived++ }}
				all = append(all, m)
				w.Post(m)
			}
			w.Run(link.Second)
			require.Equal(t, len(all), arrived, "%v", op)
			for i, m := range all {
				require.True(t, m.OK(), "%v of %d: %v %+v", op, m.Size, m.Err, m.Event)
				require.NoError(t, m.Check(w))
				if op == OpAtomic {
					require.EqualValues(t, i, m.Before)
				} else {
					require.Equal(t, m.Size, m.Placed())
				}
				require.GreaterOrEqual(t, m.Ended, m.Arrived)
			}
			require.Empty(t, w.Result().Violations)
		}
	}
}

// A host that is killed takes its messages with it; those to it end with a cause, and its
// successor is spoken to.
func TestWorldKillAndRestart(t *testing.T) {
	w := newWorld(t, Config{Seed: 1})
	own := &Message{Src: 1, Dst: 0, Size: 10_000_000}
	to := &Message{Src: 0, Dst: 1, Op: OpSend, Size: 10_000_000}
	w.Post(own)
	w.Post(to)
	w.At(200*link.Microsecond, w.Host(1).Kill)
	w.At(20_000*link.Microsecond, func() { require.NoError(t, w.Host(1).Restart()) })
	w.Run(10 * link.Second)
	require.ErrorIs(t, own.Err, errDead)
	require.False(t, to.OK())
	require.GreaterOrEqual(t, to.Ended, to.Started)
	late := &Message{Src: 0, Dst: 1, Op: OpSend, Size: 1000}
	w.Post(late)
	w.Run(w.Now() + 20*link.Second)
	require.True(t, late.OK(), "%v %+v", late.Err, late.Event)
	require.Empty(t, w.Usage())
}

// What a node may not be: nothing else than an endpoint, and no message without bytes.
func TestWorldRefuses(t *testing.T) {
	_, err := NewWorld(Config{})
	require.ErrorIs(t, err, ErrConfig)
	_, err = NewWorld(Config{Node: NodeEndpoint, Loss: 2})
	require.ErrorIs(t, err, ErrConfig)
	w := newWorld(t, Config{Mode: ccc.ModeEnforce})
	m := &Message{Src: 0, Dst: 1}
	w.Post(m)
	require.ErrorIs(t, m.Err, ErrConfig)
}

// A landing is memory: what was overwritten with other bytes is not there.
func TestLanding(t *testing.T) {
	l := landing{content: Content{Message: 7, Length: 2500}}
	at := func(from, n uint32) []byte { return Content{7, from, n}.bytes() }
	l.store(0, at(0, 2048))
	l.store(2048, at(2048, 452))
	require.EqualValues(t, 2500, l.placed)
	l.store(1024, at(0, 1024))
	require.EqualValues(t, 1476, l.placed)
	require.EqualValues(t, 1, l.wrong)
	l.store(1024, at(1024, 1024))
	require.EqualValues(t, 2500, l.placed)
	l.store(2048, at(2048, 1024))
	require.EqualValues(t, 2, l.wrong, "beyond the end")
}
