// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"math/rand/v2"
	"net/netip"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/node"
	"github.com/uetcc/uetcc/hw/port"
	"github.com/uetcc/uetcc/hw/udp"
)

// A lossyPort loses packets that it is to send.
type lossyPort struct {
	port.Port
	share  float64 // of them
	random *rand.Rand
	dead   atomic.Bool // loses all, in both directions
	lost   atomic.Int64
}

// listenLossy opens a node whose packets are lost with a probability.
func listenLossy(t *testing.T, address string, share float64, o node.Options) (*node.Node, *lossyPort) {
	t.Helper()
	p, err := udp.Open(udp.Config{Local: netip.MustParseAddrPort(address), ByPort: true})
	require.NoError(t, err)
	l := &lossyPort{Port: p, share: share, random: rand.New(rand.NewPCG(1, 2))}
	o.Port = l
	return listen(t, address, o), l
}

func (l *lossyPort) Send(packets []port.Packet) (int, error) {
	sent := 0
	for i := range packets {
		if l.dead.Load() || l.random.Float64() < l.share {
			l.lost.Add(1)
			if i > sent {
				if n, err := l.Port.Send(packets[sent:i]); err != nil || n < i-sent {
					return sent + n, err
				}
			}
			sent = i + 1
		}
	}
	n, err := l.Port.Send(packets[sent:])
	return sent + n, err
}

func (l *lossyPort) Receive(packets []port.Packet) (int, error) {
	n, err := l.Port.Receive(packets)
	if l.dead.Load() {
		n = 0
	}
	return n, err
}
