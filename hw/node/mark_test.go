// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/node"
	"github.com/uetcc/uetcc/hw/port"
	"github.com/uetcc/uetcc/hw/udp"
)

// A markingPort marks each packet that it sends and that is ECN-capable, and counts those with data.
type markingPort struct {
	port.Port
	marked int
}

func (m *markingPort) Send(packets []port.Packet) (int, error) {
	for i := range packets {
		if packets[i].TOS&3 == 2 {
			packets[i].TOS |= 3
		}
	}
	n, err := m.Port.Send(packets)
	for i := range packets[:n] {
		if len(packets[i].Tail) > 0 {
			m.marked++
		}
	}
	return n, err
}

// Each packet of data that is marked on its way through sockets comes back to its sender's congestion control as a mark.
func TestMarks(t *testing.T) {
	ctx := soon(t)
	p, err := udp.Open(udp.Config{Local: netip.MustParseAddrPort("127.0.0.1:0")})
	require.NoError(t, err)
	m, each := &markingPort{Port: p}, func(c *uetcc.Config) { c.PDS.AckPerPacket = true }
	a, b := listen(t, "127.0.0.1:0", node.Options{Port: m, Endpoint: each}), listen(t, "127.0.0.1:0", node.Options{Endpoint: each})
	_, err = b.Expose(make([]byte, 1<<20))
	require.NoError(t, err)
	require.NoError(t, a.Write(ctx, b.Addr(), node.At{}, make([]byte, 1<<20)))
	require.NoError(t, a.Look(b.Addr(), func(_ int64, e *uetcc.Endpoint) {
		var view ccc.View
		for h := range e.PDS().All() {
			info, _ := e.PDS().PDC(h)
			require.True(t, e.CC().Refresh(info.Context, &view))
		}
		s := view.Snapshot()
		t.Logf("%d packets marked, %d acknowledgements, %d of them marked", m.marked, s.Acks, s.Marked)
		require.Positive(t, s.Marked)
		require.Equal(t, s.Acks, s.Marked)
		require.EqualValues(t, m.marked, s.Marked)
	}))
}
