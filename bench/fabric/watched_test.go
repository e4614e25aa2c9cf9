// SPDX-License-Identifier: Apache-2.0

package fabric_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/bench/fabric"
)

// A counter checks what a Watcher is told.
type counter struct {
	t      *testing.T
	flying map[uint64]fabric.PacketState
	sent   map[fabric.PacketKind]int64
	again  int64
	over   map[fabric.PacketEvent]map[fabric.PacketKind]int64
	cut    int64
	bytes  map[uint32]int64
	peak   map[uint32]int64
	marked map[uint32]int64
	names  map[uint32]string
	data   int64
}

func (c *counter) Packet(p *fabric.PacketState) {
	if p.Event == fabric.PacketSent {
		require.NotContains(c.t, c.flying, p.ID)
		c.flying[p.ID] = *p
		c.sent[p.Kind]++
		if p.Kind == fabric.PacketData && p.Retx {
			c.again++
		}
		return
	}
	was, ok := c.flying[p.ID]
	require.True(c.t, ok, "%v", p)
	delete(c.flying, p.ID)
	require.Equal(c.t, []any{was.Src, was.Dst, was.Conn, was.Kind, was.PSN, was.From, was.PDC}, []any{p.Src, p.Dst, p.Conn, p.Kind, p.PSN, p.From, p.PDC})
	require.Greater(c.t, p.Now, was.Now)
	c.over[p.Event][p.Kind]++
	if p.Event == fabric.PacketArrived && p.Kind == fabric.PacketData && p.Trimmed {
		c.cut++
		require.Zero(c.t, p.Payload)
	} else if p.Event == fabric.PacketArrived {
		c.data += p.Payload
	}
}

func (c *counter) Port(p *fabric.PortState) {
	c.bytes[p.Port] += p.Sent
	c.peak[p.Port] = max(c.peak[p.Port], p.Waiting)
	c.marked[p.Port] = p.Marked
	if c.names[p.Port] == "" {
		c.names[p.Port] = p.Name()
	}
}

// What a Watcher is told adds up to the result, with trims, drops and lost packets.
func TestWatcherSeesAll(t *testing.T) {
	for _, node := range []fabric.NodeKind{fabric.NodeEndpoint, fabric.NodeLight} {
		m := &fabric.Matrix{Nodes: 16}
		for i := 1; i < 12; i++ {
			m.Flows = append(m.Flows, fabric.Flow{Src: i, Dst: 0, Size: 300_000})
		}
		c := &counter{
			t: t, flying: map[uint64]fabric.PacketState{}, sent: map[fabric.PacketKind]int64{},
			over:  map[fabric.PacketEvent]map[fabric.PacketKind]int64{fabric.PacketArrived: {}, fabric.PacketLost: {}},
			bytes: map[uint32]int64{}, peak: map[uint32]int64{}, marked: map[uint32]int64{}, names: map[uint32]string{},
		}
		config := fabric.Config{Node: node, Matrix: m, Seed: 3, Loss: 0.002, Watch: c}
		r, err := fabric.Run(config)
		require.NoError(t, err)
		require.Zero(t, r.Unfinished)
		n := &r.Totals
		require.Equal(t, n.New+n.Retransmitted, c.sent[fabric.PacketData])
		require.Equal(t, n.Retransmitted, c.again)
		require.Equal(t, n.Answers, c.sent[fabric.PacketAck]+c.sent[fabric.PacketNack])
		require.Equal(t, n.Delivered+n.HeadersDelivered, c.over[fabric.PacketArrived][fabric.PacketData])
		require.Equal(t, n.HeadersDelivered, c.cut)
		require.Equal(t, n.DataDropped+n.HeadersDropped, c.over[fabric.PacketLost][fabric.PacketData])
		require.Equal(t, n.AnswersDropped, c.over[fabric.PacketLost][fabric.PacketAck]+c.over[fabric.PacketLost][fabric.PacketNack])
		require.Positive(t, n.Lost)
		require.Positive(t, c.cut)
		require.Empty(t, c.flying)
		require.GreaterOrEqual(t, c.data, int64(11*300_000))
		for _, q := range r.Queues {
			require.Equal(t, q.Name, c.names[q.Port])
			require.Equal(t, q.Peak, c.peak[q.Port], q.Name)
			require.Equal(t, q.Marked, c.marked[q.Port], q.Name)
		}
		config.Watch = nil
		plain, err := fabric.Run(config)
		require.NoError(t, err)
		require.Equal(t, plain, r, "watching changes nothing")
	}
}
