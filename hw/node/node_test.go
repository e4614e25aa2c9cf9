// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/hw/node"
	"github.com/uetcc/uetcc/ses"
)

// deadline is how long a test waits for what does not depend on time.
const deadline = 30 * time.Second

func listen(t *testing.T, address string, o node.Options) *node.Node {
	t.Helper()
	n, err := node.Listen(address, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	return n
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	t.Cleanup(cancel)
	return ctx
}

// random are bytes of which no two packets are alike.
func random(n int, seed uint64) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// meet orders what this goroutine does to a node's exposed memory before and after what its peers do: for the race
// detector, since in one process all of it is the same memory. A Recv that ends does as much.
func meet(n *node.Node) { n.Stats() }

// sites are pairs of addresses: by port on both IP versions, and by address alone.
var sites = map[string][2]string{
	"IPv4 by port":    {"127.0.0.1:0", "127.0.0.1:0"},
	"IPv6 by port":    {"[::1]:0", "[::1]:0"},
	"IPv4 by address": {"127.9.0.1", "127.9.0.2"},
}

func TestOperations(t *testing.T) {
	for name, at := range sites {
		t.Run(name, func(t *testing.T) {
			ctx := soon(t)
			a, b := listen(t, at[0], node.Options{}), listen(t, at[1], node.Options{})
			memory := make([]byte, 1<<20)
			_, err := b.Expose(make([]byte, 16))
			require.NoError(t, err)
			r, err := b.Expose(memory)
			require.NoError(t, err)

			data := random(1<<20, 1)
			for _, n := range []int{0, 1, 100, 5000, 1 << 20} {
				clear(memory)
				meet(b)
				require.NoError(t, a.Write(ctx, b.Addr(), node.At{Region: r}, data[:n]))
				meet(b)
				require.True(t, bytes.Equal(data[:n], memory[:n]), "written %d", n)
				back := make([]byte, n)
				require.NoError(t, a.Read(ctx, b.Addr(), node.At{Region: r}, back))
				require.True(t, bytes.Equal(data[:n], back), "read %d", n)
			}
			meet(b)
			require.NoError(t, a.Write(ctx, b.Addr(), node.At{Region: r, Offset: 1 << 19}, data[:7]))
			meet(b)
			require.Equal(t, data[:7], memory[1<<19:][:7])

			for _, late := range []bool{false, true} {
				for _, n := range []int{0, 9, 300_000} {
					sent := make(chan error, 1)
					send := func() { sent <- a.Send(ctx, b.Addr(), 7, data[:n]) }
					if late {
						send := send
						go send()
					} else {
						time.AfterFunc(time.Millisecond, send)
					}
					buffer := make([]byte, 1<<19)
					got, from, err := b.Recv(ctx, netip.AddrPort{}, 7, buffer)
					require.NoError(t, err)
					require.Equal(t, a.Addr(), from)
					require.True(t, bytes.Equal(data[:n], buffer[:got]), "%d of %d", got, n)
					require.NoError(t, <-sent)
				}
			}

			at := node.At{Region: r, Offset: 64}
			_, err = a.Atomic(ctx, b.Addr(), at, ses.AtomicWrite, 40, 0)
			require.NoError(t, err)
			old, err := a.Atomic(ctx, b.Addr(), at, ses.AtomicSum, 2, 0)
			require.NoError(t, err)
			require.EqualValues(t, 40, old)
			old, err = a.Atomic(ctx, b.Addr(), at, ses.AtomicSwapEqual, 5, 42)
			require.NoError(t, err)
			require.EqualValues(t, 42, old)
			old, err = a.Atomic(ctx, b.Addr(), at, ses.AtomicRead, 0, 0)
			require.NoError(t, err)
			require.EqualValues(t, 5, old)
		})
	}
}

// What a peer refuses names the peer and the reason.
func TestRefusals(t *testing.T) {
	ctx := soon(t)
	a, b := listen(t, "127.0.0.1:0", node.Options{}), listen(t, "127.0.0.1:0", node.Options{})
	r, err := b.Expose(make([]byte, 100))
	require.NoError(t, err)
	data := make([]byte, 200)
	for name, err := range map[string]error{
		"no such region":  a.Write(ctx, b.Addr(), node.At{Region: r + 1}, data[:1]),
		"beyond its end":  a.Write(ctx, b.Addr(), node.At{Region: r, Offset: 50}, data),
		"reads beyond it": a.Read(ctx, b.Addr(), node.At{Region: r}, data),
	} {
		require.ErrorIs(t, err, uetcc.ErrRejected, name)
		var e *node.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, b.Addr(), e.Peer)
		require.NotContains(t, err.Error(), "cookie", "a number of the node's own, another each time")
		t.Log(err)
	}
	b.Withdraw(r)
	require.ErrorIs(t, a.Write(ctx, b.Addr(), node.At{Region: r}, data[:1]), uetcc.ErrRejected)
	for _, peer := range []netip.AddrPort{
		{}, a.Addr(), netip.MustParseAddrPort("[::1]:77"), netip.MustParseAddrPort("0.0.0.0:77"), netip.MustParseAddrPort("224.0.0.1:77"),
	} {
		require.ErrorIs(t, a.Write(ctx, peer, node.At{}, data), node.ErrPeer)
	}
	op := &node.Op{Kind: node.OpAtomic + 1, Peer: b.Addr()}
	require.ErrorIs(t, a.Start(ctx, op), node.ErrConfig, "had no end")
	op.Cancel(node.ErrClosed)
	for _, address := range []string{"", ":5000", "127.0.0.1:70000"} {
		_, err := node.Listen(address, node.Options{})
		require.ErrorContains(t, err, "want host or host:port")
	}
}

// Only open regions count, as the error says.
func TestRegions(t *testing.T) {
	n := listen(t, "127.0.0.1:0", node.Options{Regions: 2})
	for range 5 {
		r, err := n.Expose(nil)
		require.NoError(t, err)
		n.Withdraw(r)
	}
	for range 2 {
		_, err := n.Expose(nil)
		require.NoError(t, err)
	}
	_, err := n.Expose(nil)
	require.ErrorContains(t, err, "as many regions are open as Options.Regions allows, 2")
}

// A peer's name may have addresses of both IP versions.
func TestPeerOfBothVersions(t *testing.T) {
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer server.Close()
	go func() {
		answers := map[byte]string{1: "\x00\x04\x7f\x00\x00\x01", 28: "\x00\x10" + string(net.IPv6loopback)}
		for b := make([]byte, 512); ; {
			n, from, err := server.ReadFrom(b)
			if err != nil {
				return
			}
			question := b[12 : 12+bytes.IndexByte(b[12:n], 0)+5]
			kind := question[len(question)-3]
			a := append([]byte{b[0], b[1], 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0}, question...)
			a = append(append(a, 0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 60), answers[kind]...)
			_, _ = server.WriteTo(a, from)
		}
	}()
	was := net.DefaultResolver
	defer func() { net.DefaultResolver = was }()
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
	peer, err := listen(t, "127.0.0.1:0", node.Options{}).Peer("both.example:77")
	require.NoError(t, err)
	require.Equal(t, netip.MustParseAddrPort("127.0.0.1:77"), peer)
}

// An IPv4 address in its IPv6 form, as package net has it, is a peer's address.
func TestMappedAddress(t *testing.T) {
	a, b := listen(t, "127.0.0.1:0", node.Options{}), listen(t, "127.0.0.1:0", node.Options{})
	_, err := b.Expose(make([]byte, 1))
	require.NoError(t, err)
	peer, err := net.ResolveUDPAddr("udp", b.Addr().String())
	require.NoError(t, err)
	require.NoError(t, a.Write(soon(t), peer.AddrPort(), node.At{}, []byte{1}))
}
