// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/hw/node"
	"github.com/uetcc/uetcc/hw/port"
	"github.com/uetcc/uetcc/internal/netspace"
	"github.com/uetcc/uetcc/ses"
)

// A queue behind the sockets takes a part of what a window lets go, and says ENOBUFS of the rest: everything arrives.
func TestNoBuffers(t *testing.T) {
	s := netspace.New(t)
	for _, command := range []string{"ip link set lo mtu 1500", "ip link set lo up", "tc qdisc add dev lo root tbf rate 100mbit burst 20kb limit 50kb"} {
		if _, err := s.Run(command); err != nil {
			t.Skip(err)
		}
	}
	var a, b *node.Node
	require.NoError(t, s.Do(func() error {
		a, b = listen(t, "127.0.0.1:0", node.Options{}), listen(t, "127.0.0.1:0", node.Options{})
		return nil
	}))
	memory, data := make([]byte, 1<<20), random(1<<20, 11)
	_, err := b.Expose(memory)
	require.NoError(t, err)
	require.NoError(t, a.Write(soon(t), b.Addr(), node.At{}, data))
	meet(b)
	require.True(t, bytes.Equal(data, memory))
	require.Positive(t, a.Stats().Port.Refused, "a first window of 256 KiB meets a queue of 50 kB")
	t.Logf("%d packets refused, %d sent again", a.Stats().Port.Refused, a.Stats().Endpoints[0].PDS.Resent)
}

// Read data longer than the path takes is an error that the reader hears of, with what to set.
func TestReadOverNarrowPath(t *testing.T) {
	s := netspace.New(t)
	var a, b *node.Node
	for _, step := range []string{"ip link set lo up", "", "ip link set lo mtu 1500"} {
		if step != "" {
			if _, err := s.Run(step); err != nil {
				t.Skip(err)
			}
			continue
		}
		require.NoError(t, s.Do(func() error {
			a, b = listen(t, "127.0.0.1:0", node.Options{}), listen(t, "127.0.0.1:0", node.Options{})
			return nil
		}))
	}
	_, err := b.Expose(make([]byte, 1<<20))
	require.NoError(t, err)
	for _, n := range []int{8192, 1 << 20} {
		err = a.Read(soon(t), b.Addr(), node.At{}, make([]byte, n))
		require.ErrorIs(t, err, uetcc.ErrRejected)
		require.ErrorContains(t, err, "the MTU of both ends")
	}
	require.NoError(t, a.Read(soon(t), b.Addr(), node.At{}, make([]byte, 1024)))
}

// The network's answers are about link-local peers, too, with a zone and without; a zone of another interface is no peer's.
func TestLinkLocal(t *testing.T) {
	s := netspace.New(t)
	for _, command := range []string{
		"ip link set lo up", "ip link add near type veth peer name far", "ip link set near up", "ip link set far up",
		"ip addr add fe80::1/64 dev near nodad", "ip addr add fe80::2/64 dev near nodad",
	} {
		if _, err := s.Run(command); err != nil {
			t.Skip(err)
		}
	}
	var a, b *node.Node
	require.NoError(t, s.Do(func() error {
		a, b = listen(t, "fe80::1%near", node.Options{}), listen(t, "fe80::2%near", node.Options{})
		return nil
	}))
	_, err := b.Expose(make([]byte, 1))
	require.NoError(t, err)
	for _, peer := range []string{"[fe80::2%near]:4793", "[fe80::2]:4793"} {
		require.NoError(t, a.Write(soon(t), netip.MustParseAddrPort(peer), node.At{}, []byte{1}))
	}
	require.ErrorIs(t, a.Write(soon(t), netip.MustParseAddrPort("[fe80::2%far]:4793"), node.At{}, []byte{1}), node.ErrPeer)
	require.NoError(t, b.Close())
	for _, peer := range []string{"[fe80::2%near]:4793", "[fe80::2]:4793"} {
		require.ErrorIs(t, a.Write(soon(t), netip.MustParseAddrPort(peer), node.At{}, []byte{1}), port.ErrRefused)
	}
}

// A buffer longer than any message is refused also where the sender may be anybody: its length was taken modulo 2^32.
func TestTooLong(t *testing.T) {
	length := uint64(ses.MaxMessage) + 1
	if uint64(int(length)) != length {
		t.Skip("no slice is as long")
	}
	memory, err := unix.Mmap(-1, 0, int(length), unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Munmap(memory)) }()
	a, b := listen(t, "127.0.0.1:0", node.Options{}), listen(t, "127.0.0.1:0", node.Options{})
	for _, peer := range []netip.AddrPort{{}, b.Addr()} {
		_, _, err = a.Recv(soon(t), peer, 1, memory)
		require.ErrorIs(t, err, node.ErrRange)
	}
}
