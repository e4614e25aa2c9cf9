// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/node"
	"github.com/uetcc/uetcc/hw/port"
	"github.com/uetcc/uetcc/hw/udp"
	"github.com/uetcc/uetcc/hw/xdp"
	"github.com/uetcc/uetcc/internal/porttest"
)

// Both ends on rings, in both forms of the hook, and either end on sockets.
func TestPort(t *testing.T) {
	for _, six := range []bool{false, true} {
		for name, open := range map[string]func(t *testing.T, l lab) (a, b port.Port){
			"native": func(t *testing.T, l lab) (a, b port.Port) {
				return l.open(t, 0, xdp.Config{Local: at(six, 0)}), l.open(t, 1, xdp.Config{Local: at(six, 1)})
			},
			"generic": func(t *testing.T, l lab) (a, b port.Port) {
				return l.open(t, 0, xdp.Config{Local: at(six, 0), Generic: true}), l.open(t, 1, xdp.Config{Local: at(six, 1), Generic: true})
			},
			"to udp": func(t *testing.T, l lab) (a, b port.Port) {
				return l.open(t, 0, xdp.Config{Local: at(six, 0)}), l.openUDP(t, 1, udp.Config{Local: at(six, 1)})
			},
			"of udp": func(t *testing.T, l lab) (a, b port.Port) {
				return l.openUDP(t, 0, udp.Config{Local: at(six, 0)}), l.open(t, 1, xdp.Config{Local: at(six, 1)})
			},
		} {
			t.Run(fmt.Sprintf("%s/IPv6 %v", name, six), func(t *testing.T) {
				l := newLab(t)
				porttest.Run(t, func(t *testing.T) (a, b port.Port) { return open(t, l) })
			})
		}
	}
}

// The driver's own hook and the generic one; an interface has one port, and the UDP port is the port's alone.
func TestOpen(t *testing.T) {
	l := newLab(t)
	a := l.open(t, 0, xdp.Config{Local: at(false, 0)})
	b := l.open(t, 1, xdp.Config{Local: at(false, 1), Generic: true})
	require.False(t, a.Generic())
	require.True(t, b.Generic())
	require.False(t, a.ZeroCopy(), "what these interfaces do not have")
	require.Equal(t, 1500, a.LinkMTU())
	for _, c := range []xdp.Config{
		{}, {Local: at(false, 0), Frames: 100}, {Local: at(false, 0), Paths: 257}, {Local: at(false, 0), Queue: -1},
		{Local: at(false, 0), Neighbors: map[netip.Addr]net.HardwareAddr{at(false, 1).Addr(): {1}}},
		{Local: netip.MustParseAddrPort("127.0.0.1:0")}, // no Ethernet
		{Local: at(false, 0), Interface: "nowhere"},
		{Local: at(false, 1)}, // of another machine
		{Local: a.Local()},    // taken
		{Local: at(false, 0)}, // the interface is taken
	} {
		require.Error(t, l[0].Do(func() error { _, err := xdp.Open(c); return err }), "%+v", c)
	}
	x, y := l.openUDP(t, 0, udp.Config{Local: at(false, 0)}), l.openUDP(t, 1, udp.Config{Local: at(false, 1)})
	for _, ends := range [][2]port.Port{{x, y}, {y, x}} { // what is not ours is the kernel's
		_, err := ends[0].Send([]port.Packet{{Peer: ends[1].Local(), Data: []byte("x")}})
		require.NoError(t, err)
		porttest.Await(t, ends[1], 1, func(q *port.Packet) { require.Equal(t, ends[0].Local(), q.Peer) })
	}
}

// What is left when a port was closed: nothing.
func TestNoLeak(t *testing.T) {
	l := newLab(t)
	porttest.NoLeak(t, 10, func(int) { // a device takes its time to let go
		var p *xdp.Port
		require.NoError(t, l[0].Do(func() (err error) {
			p, err = xdp.Open(xdp.Config{Local: at(false, 0), Frames: 64})
			return err
		}))
		require.NoError(t, p.Close())
		require.ErrorIs(t, p.Wait(0, false), net.ErrClosed)
		_ = p.Stats()
	})
}

// The first packet goes by the kernel, which asks for the hardware address of the peer or of the gateway on the way. Then
// it is known, and the kernel has no part in it. Configured addresses need no kernel.
func TestNeighbors(t *testing.T) {
	l := newLab(t)
	l.run(t, 1, "ip addr add 10.79.0.1/32 dev lo")
	l.run(t, 0, "ip route add 10.79.0.0/24 via 10.78.0.2")
	l.run(t, 1, "ip -6 neigh flush dev x1 nud permanent")
	for _, test := range []struct {
		local, peer netip.AddrPort
		known       bool // from the beginning
		config      map[netip.Addr]net.HardwareAddr
	}{
		{local: at(false, 0), peer: at(false, 1)},
		{local: at(false, 0), peer: netip.MustParseAddrPort("10.79.0.1:0"), known: true}, // by now
		{local: at(true, 0), peer: at(true, 1), known: true},
		{local: at(false, 0), peer: at(false, 1), known: true, config: map[netip.Addr]net.HardwareAddr{at(false, 1).Addr(): {2, 0, 0, 0, 0, 2}}},
	} {
		a := l.open(t, 0, xdp.Config{Local: test.local, Neighbors: test.config})
		b := l.open(t, 1, xdp.Config{Local: test.peer, Interface: "x1"})
		out := []port.Packet{{Peer: b.Local(), Data: []byte("x")}}
		for sent := uint64(1); ; sent++ {
			_, err := a.Send(out)
			require.NoError(t, err)
			porttest.Await(t, b, 1, func(q *port.Packet) { require.Equal(t, a.Local(), q.Peer) })
			fast, slow := a.Sent()
			require.Equal(t, sent, fast+slow)
			if fast > 0 {
				require.Equal(t, !test.known, slow > 0, "%v", test.peer)
				break
			}
		}
		for _, p := range []port.Port{a, b} {
			require.NoError(t, p.Close())
			_ = p.Wait(0, false)
		}
	}
}

// What the simple way cannot carry goes the other: a packet in fragments, one that is too long, one for nobody.
func TestOdd(t *testing.T) {
	l := newLab(t)
	a := l.open(t, 0, xdp.Config{Local: at(true, 0)})
	gone := l.openUDP(t, 1, udp.Config{Local: at(true, 1)})
	require.NoError(t, gone.Close())
	require.Error(t, gone.Wait(0, false))
	b := l.open(t, 1, xdp.Config{Local: at(true, 1)})
	n, err := a.Send([]port.Packet{
		{Peer: gone.Local(), Data: []byte("x")}, {Peer: b.Local(), Data: make([]byte, 1453)}, {Peer: b.Local(), Data: make([]byte, 1452)},
	})
	require.NoError(t, err)
	require.Equal(t, 3, n)
	await(t, b, 1452, func() { _, _ = a.Send([]port.Packet{{Peer: b.Local(), Data: make([]byte, 1452)}}) })
	faults := map[error]port.Fault{}
	for {
		var f [8]port.Fault
		for _, x := range f[:a.Faults(f[:])] {
			faults[x.Err] = x
		}
		if len(faults) == 2 {
			break
		}
		require.NoError(t, a.Wait(int64(time.Second), false))
		_, err = a.Receive(make([]port.Packet, 1))
		require.NoError(t, err)
	}
	require.Equal(t, port.Fault{Peer: gone.Local(), Err: port.ErrRefused}, faults[port.ErrRefused])
	require.Equal(t, port.Fault{Peer: b.Local(), Err: port.ErrTooLong, MTU: 1500}, faults[port.ErrTooLong])

	await(t, b, 5000, func() {
		require.NoError(t, l[0].Do(func() error { // a socket that fragments
			c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(b.Local()))
			if err == nil {
				_, err = c.Write(make([]byte, 5000))
				_ = c.Close()
			}
			return err
		}))
	})
}

// await waits for a packet of so many bytes, which is sent again while none comes: a kernel under
// load loses some. Others are not looked at.
func await(t *testing.T, p port.Port, size int, send func()) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); send() {
		require.NoError(t, p.Wait(int64(time.Second), false))
		var in [64]port.Packet
		n, err := p.Receive(in[:])
		require.NoError(t, err)
		for _, q := range in[:n] {
			if len(q.Data) == size {
				return
			}
		}
	}
	require.Fail(t, "nothing came", "%d bytes; %+v", size, p.Stats())
}

// A packet's entropy is its source port.
func TestPaths(t *testing.T) {
	l := newLab(t)
	a, b := l.open(t, 0, xdp.Config{Local: at(true, 0), Paths: 4}), l.open(t, 1, xdp.Config{Local: at(true, 1)})
	var out []port.Packet
	for i := range 32 {
		out = append(out, port.Packet{Peer: b.Local(), Data: []byte{byte(i)}, Path: uint16(i)})
	}
	n, err := a.Send(out)
	require.NoError(t, err)
	require.Equal(t, len(out), n)
	from := map[uint16]int{}
	porttest.Await(t, b, len(out), func(q *port.Packet) { from[q.Peer.Port()]++ })
	require.Equal(t, map[uint16]int{a.Local().Port(): 8, 49153: 8, 49154: 8, 49155: 8}, from)
}

// What comes while the ring is full is counted, and what goes has to wait for a frame.
func TestTinyRings(t *testing.T) {
	l := newLab(t)
	a, b := l.open(t, 0, xdp.Config{Local: at(true, 0), Frames: 64}), l.open(t, 1, xdp.Config{Local: at(true, 1), Frames: 64})
	out := make([]port.Packet, 100)
	for i := range out {
		out[i] = port.Packet{Peer: b.Local(), Data: []byte("x")}
	}
	for rest := out; len(rest) > 0; {
		n, err := a.Send(rest)
		require.NoError(t, err)
		require.LessOrEqual(t, n, 32)
		rest = rest[n:]
		require.NoError(t, a.Wait(-1, true))
	}
	require.Positive(t, a.Stats().NoRoom)
	for b.Stats().Overflows == 0 { // the device takes its time
		time.Sleep(time.Millisecond)
	}
	var in [64]port.Packet
	n, err := b.Receive(in[:])
	require.NoError(t, err)
	require.Equal(t, 32, n)
	_, err = b.Receive(in[:])
	require.NoError(t, err)
	_, err = a.Send(out[:1])
	require.NoError(t, err)
	porttest.Await(t, b, 1, func(*port.Packet) {})
}

// A node on rings.
func TestNode(t *testing.T) {
	l := newLab(t)
	var nodes [2]*node.Node
	for i := range nodes {
		p := l.open(t, i, xdp.Config{Local: at(false, i)})
		n, err := node.Listen(p.Local().String(), node.Options{Port: p})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, n.Close()) })
		nodes[i] = n
	}
	memory, data := make([]byte, 1<<20), bytes.Repeat([]byte("0123456789abcde"), 1<<16)
	_, err := nodes[1].Expose(memory)
	require.NoError(t, err)
	require.NoError(t, nodes[0].Write(t.Context(), nodes[1].Addr(), node.At{}, data))
	back := make([]byte, len(data))
	require.NoError(t, nodes[0].Read(t.Context(), nodes[1].Addr(), node.At{}, back))
	require.True(t, bytes.Equal(data, back))
	t.Logf("%+v", nodes[0].Stats().Port)
}
