// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/port"
	"github.com/uetcc/uetcc/internal/porttest"
	"github.com/uetcc/uetcc/pds"
)

func openLoopback(t *testing.T) *opening {
	o, err := openPort(netip.MustParseAddrPort("127.0.0.1:0"), 1)
	require.NoError(t, err)
	t.Cleanup(o.close)
	return o
}

// The entropy value is the UDP source port: a host of four paths sends from four ports, of
// which the first is where it receives. All packets are ECN-capable.
func TestHostEntropyIsTheSourcePort(t *testing.T) {
	peer := openLoopback(t)
	c := hostConfig{mtu: 4096, rate: 25e6, rtt: 2e6, paths: 4, port: peer.Local().Port()}
	h, err := newHost(&c, netip.MustParseAddrPort("127.0.0.1:0"), make([]byte, 64<<10))
	require.NoError(t, err)
	defer h.close()
	require.NoError(t, newSender(h, peer.Local().Addr(), 1, 0, 64<<10).step(1))
	seen := map[netip.AddrPort]int{}
	porttest.Await(t, peer, 16, func(p *port.Packet) {
		require.Equal(t, pds.TOS(0, pds.ECNECT0), p.TOS)
		seen[p.Peer]++
	})
	require.Len(t, seen, 4)
	for path, packets := range seen {
		require.Equal(t, 4, packets, "%v: each path once in a round", path)
	}
	require.Contains(t, seen, h.Local())
}

// A packet that is larger than the path allows is an error that says what to do.
func TestPacketTooLong(t *testing.T) {
	a, b := openLoopback(t), openLoopback(t)
	a.add(port.Packet{Peer: b.Local(), Data: make([]byte, 65_508)})
	err := a.send()
	require.ErrorIs(t, err, port.ErrTooLong)
	require.ErrorContains(t, err, "set a smaller -mtu")
}
