// SPDX-License-Identifier: Apache-2.0

package udp_test

import (
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/port"
	"github.com/uetcc/uetcc/hw/udp"
	"github.com/uetcc/uetcc/internal/porttest"
)

func open(t *testing.T, c udp.Config) *udp.Port {
	t.Helper()
	p, err := udp.Open(c)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = p.Close()
		_ = p.Wait(0, false)
	})
	return p
}

func at(address string) netip.AddrPort { return netip.AddrPortFrom(netip.MustParseAddr(address), 0) }

func TestPort(t *testing.T) {
	for _, address := range []string{"127.0.0.1", "::1"} {
		for _, plain := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/NoOffload %v", address, plain), func(t *testing.T) {
				porttest.Run(t, func(t *testing.T) (a, b port.Port) {
					c := udp.Config{Local: at(address), NoOffload: plain}
					return open(t, c), open(t, c)
				})
			})
		}
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []udp.Config{
		{}, {Local: at("0.0.0.0")}, {Local: at("::")}, {Local: at("224.0.0.1")},
		{Local: at("127.0.0.1"), Paths: 257}, {Local: at("127.0.0.1"), Paths: -1}, {Local: at("127.0.0.1"), Buffer: -1},
	} {
		_, err := udp.Open(c)
		require.ErrorIs(t, err, udp.ErrConfig, "%+v", c)
	}
	_, err := udp.Open(udp.Config{Local: at("192.0.2.1")})
	require.ErrorContains(t, err, "192.0.2.1", "an address of another machine")
	a := open(t, udp.Config{Local: at("127.0.0.1")})
	_, err = udp.Open(udp.Config{Local: a.Local()})
	require.ErrorContains(t, err, a.Local().String(), "taken")
}

// A packet to the other IP version reaches nobody: from IPv4 ports it went to this machine, at the same port. An
// IPv4 address in its IPv6 form, as package net has it, is the IPv4 address.
func TestFamilies(t *testing.T) {
	for _, x := range []struct{ local, other, same string }{
		{"127.0.0.1", "::1", "::ffff:127.0.0.1"}, {"127.0.0.1", "fe80::1", "127.0.0.1"}, {"::1", "127.0.0.1", "::1"}, {"::1", "::ffff:127.0.0.1", "::1"},
	} {
		a, b := open(t, udp.Config{Local: at(x.local)}), open(t, udp.Config{Local: at(x.local)})
		other := netip.AddrPortFrom(netip.MustParseAddr(x.other), b.Local().Port())
		same := netip.AddrPortFrom(netip.MustParseAddr(x.same), b.Local().Port())
		n, err := a.Send([]port.Packet{{Peer: other, Data: []byte("x")}, {Peer: other, Data: []byte("x")}, {Peer: same, Data: []byte("y")}})
		require.NoError(t, err)
		require.Equal(t, 3, n)
		porttest.Await(t, b, 1, func(q *port.Packet) { require.Equal(t, "y", string(q.Data), x) })
		var f [8]port.Fault
		require.Positive(t, a.Faults(f[:]), x)
		require.Equal(t, other, f[0].Peer)
		if runtime.GOOS == "linux" {
			require.Equal(t, port.ErrUnreachable, f[0].Err)
		}
		require.EqualValues(t, 1, a.Stats().Sent)
	}
}

// A packet's entropy is the socket that it leaves from, and so its source port.
func TestPaths(t *testing.T) {
	a, b := open(t, udp.Config{Local: at("127.0.0.1"), Paths: 4}), open(t, udp.Config{Local: at("127.0.0.1")})
	var out []port.Packet
	for i := range 32 {
		out = append(out, port.Packet{Peer: b.Local(), Data: []byte{byte(i)}, Path: uint16(i)})
	}
	n, err := a.Send(out)
	require.NoError(t, err)
	require.Equal(t, len(out), n)
	from := map[uint16]netip.AddrPort{}
	porttest.Await(t, b, len(out), func(q *port.Packet) {
		path := uint16(q.Data[0]) % 4
		if from[path].IsValid() {
			require.Equal(t, from[path], q.Peer)
		}
		from[path] = q.Peer
	})
	require.Equal(t, a.Local(), from[0])
	require.Len(t, from, 4)
}

// Ports that were opened and closed leave nothing.
func TestNoLeak(t *testing.T) {
	peer := open(t, udp.Config{Local: at("127.0.0.1")})
	porttest.NoLeak(t, 10_000, func(i int) {
		p, err := udp.Open(udp.Config{Local: at("127.0.0.1"), Paths: 1 + i%2})
		require.NoError(t, err)
		if i%10 == 0 {
			for _, ends := range [][2]*udp.Port{{p, peer}, {peer, p}} {
				_, err = ends[0].Send([]port.Packet{{Peer: ends[1].Local(), Data: []byte("x")}})
				require.NoError(t, err)
				porttest.Await(t, ends[1], 1, func(*port.Packet) {})
			}
		}
		require.NoError(t, p.Close())
		require.ErrorIs(t, p.Wait(0, false), net.ErrClosed)
	})
}

// Two sockets, a packet with an ECN mark.
func Example() {
	a, _ := udp.Open(udp.Config{Local: netip.MustParseAddrPort("127.0.0.1:0")})
	b, _ := udp.Open(udp.Config{Local: netip.MustParseAddrPort("127.0.0.1:0")})
	defer a.Close()
	defer b.Close()
	_, _ = a.Send([]port.Packet{{Peer: b.Local(), Data: []byte("head "), Tail: []byte("and tail"), TOS: 3}})
	in := make([]port.Packet, 16)
	for n := 0; n == 0; n, _ = b.Receive(in) {
		_ = b.Wait(-1, false)
	}
	fmt.Printf("%s, from a: %v\n", in[0].Data, in[0].Peer == a.Local())
	// Output: head and tail, from a: true
}
