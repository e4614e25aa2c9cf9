// SPDX-License-Identifier: Apache-2.0

package udp_test

import (
	"net/netip"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/uetcc/uetcc/hw/port"
	"github.com/uetcc/uetcc/hw/udp"
	"github.com/uetcc/uetcc/internal/netspace"
	"github.com/uetcc/uetcc/internal/porttest"
)

// A run of packets to one peer is one message to the kernel, and where both ends have offload one from it.
func TestOffload(t *testing.T) {
	a, b := open(t, udp.Config{Local: at("127.0.0.1")}), open(t, udp.Config{Local: at("127.0.0.1")})
	if s := a.Stats(); !s.Segmentation || !s.Grouping {
		t.Skip("the kernel has no UDP_SEGMENT or no UDP_GRO")
	}
	out := make([]port.Packet, 40)
	for i := range out {
		out[i] = port.Packet{Peer: b.Local(), Data: []byte("head"), Tail: make([]byte, 1000), TOS: 2}
	}
	n, err := a.Send(out)
	require.NoError(t, err)
	require.Equal(t, len(out), n)
	require.EqualValues(t, 1, a.Stats().SendCalls)
	porttest.Await(t, b, len(out), func(q *port.Packet) { require.Len(t, q.Data, 1004) })
	require.EqualValues(t, 1, b.Stats().RecvCalls)
	require.EqualValues(t, 40*1004, b.Stats().RecvBytes)
}

// Where nobody listens the peer's machine says so, and the next packet to another peer goes all the same.
func TestRefused(t *testing.T) {
	for _, address := range []string{"127.0.0.1", "::1"} {
		gone := open(t, udp.Config{Local: at(address)})
		require.NoError(t, gone.Close())
		require.Error(t, gone.Wait(0, false))
		a, b := open(t, udp.Config{Local: at(address)}), open(t, udp.Config{Local: at(address)})
		for range 3 {
			n, err := a.Send([]port.Packet{{Peer: gone.Local(), Data: []byte("x")}, {Peer: b.Local(), Data: []byte("y")}})
			require.NoError(t, err)
			require.Equal(t, 2, n)
		}
		porttest.Await(t, b, 3, func(q *port.Packet) { require.Equal(t, "y", string(q.Data)) })
		var f [8]port.Fault
		require.NoError(t, a.Wait(int64(time.Second), false))
		require.Positive(t, a.Faults(f[:]))
		require.Equal(t, port.Fault{Peer: gone.Local(), Err: port.ErrRefused}, f[0])
	}
}

// A packet that is longer than the way to the peer takes is a fault and no fragment; those after it go.
func TestTooLong(t *testing.T) {
	a, b := open(t, udp.Config{Local: at("127.0.0.1")}), open(t, udp.Config{Local: at("127.0.0.1")})
	n, err := a.Send([]port.Packet{{Peer: b.Local(), Data: make([]byte, 65_508)}, {Peer: b.Local(), Data: []byte("y")}})
	require.NoError(t, err)
	require.Equal(t, 2, n)
	porttest.Await(t, b, 1, func(q *port.Packet) { require.Equal(t, "y", string(q.Data)) })
	var f [8]port.Fault
	require.Equal(t, 1, a.Faults(f[:]))
	require.ErrorIs(t, f[0].Err, port.ErrTooLong)
	require.Positive(t, f[0].MTU)
	require.Contains(t, f[0].String(), "the path takes IP packets of up to 65")
	require.EqualValues(t, 1, a.Stats().Refused)

	long := port.Packet{Peer: b.Local(), Data: make([]byte, 65_508)}
	n, err = a.Send([]port.Packet{long, long, {Peer: b.Local(), Data: []byte("y")}})
	require.NoError(t, err)
	require.Equal(t, 3, n)
	porttest.Await(t, b, 1, func(q *port.Packet) { require.Equal(t, "y", string(q.Data)) })
	require.Equal(t, 2, a.Faults(f[:]))
}

// A way that the kernel does not have is a fault by its name: from a loopback address none leads to another machine.
func TestNoWay(t *testing.T) {
	a := open(t, udp.Config{Local: at("127.0.0.1")})
	away := port.Packet{Peer: netip.MustParseAddrPort("192.0.2.1:9"), Data: []byte("x")}
	n, err := a.Send([]port.Packet{away, away})
	require.NoError(t, err)
	require.Equal(t, 2, n)
	var f [8]port.Fault
	require.Positive(t, a.Faults(f[:]))
	require.Equal(t, port.Fault{Peer: away.Peer, Err: port.ErrUnreachable}, f[0])
}

// The same where the interface takes less than IP does, and packets go in runs; segmentation stays on.
func TestTooLongForTheLink(t *testing.T) {
	runtime.LockOSThread() // and never unlocked: this thread is in a network of its own from here on
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skip("no network namespaces without privilege: ", err)
	}
	for _, command := range []string{"ip link set lo mtu 1500", "ip link set lo up"} {
		if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
			t.Skipf("%s: %v: %s", command, err, out)
		}
	}
	for _, address := range []string{"127.0.0.1", "::1"} {
		a, b := open(t, udp.Config{Local: at(address)}), open(t, udp.Config{Local: at(address)})
		segmentation := a.Stats().Segmentation
		require.Equal(t, 1500, a.LinkMTU())
		long := port.Packet{Peer: b.Local(), Data: make([]byte, 4000)}
		n, err := a.Send([]port.Packet{long, long, long, {Peer: b.Local(), Data: []byte("y")}})
		require.NoError(t, err)
		require.Equal(t, 4, n)
		porttest.Await(t, b, 1, func(q *port.Packet) { require.Equal(t, "y", string(q.Data)) })
		var f [8]port.Fault
		require.Positive(t, a.Faults(f[:]))
		require.Equal(t, port.Fault{Peer: b.Local(), Err: port.ErrTooLong, MTU: 1500}, f[0])
		require.Equal(t, segmentation, a.Stats().Segmentation)
	}
}

// A full queue is no error: Send takes fewer. What came while the peer's queue was full is counted.
func TestTinyQueues(t *testing.T) {
	a, b := open(t, udp.Config{Local: at("127.0.0.1"), Buffer: 1}), open(t, udp.Config{Local: at("127.0.0.1"), Buffer: 1})
	out := make([]port.Packet, 32)
	for i := range out {
		out[i] = port.Packet{Peer: b.Local(), Data: make([]byte, 1000)}
	}
	for range 100 {
		_, err := a.Send(out)
		require.NoError(t, err)
	}
	var in [64]port.Packet
	_, err := b.Receive(in[:])
	require.NoError(t, err)
	_, err = a.Send(out[:1])
	require.NoError(t, err)
	porttest.Await(t, b, 1, func(*port.Packet) {})
	require.Positive(t, b.Stats().Overflows)
}

// A TOS byte that the kernel does not tell is counted, and not taken for one of 0.
func TestUntold(t *testing.T) {
	a, b := open(t, udp.Config{Local: at("127.0.0.1")}), open(t, udp.Config{Local: at("127.0.0.1")})
	packets, _ := b.Descriptors()
	require.NoError(t, unix.SetsockoptInt(packets, unix.IPPROTO_IP, unix.IP_RECVTOS, 0))
	_, err := a.Send([]port.Packet{{Peer: b.Local(), Data: []byte("x"), TOS: 3}})
	require.NoError(t, err)
	porttest.Await(t, b, 1, func(*port.Packet) {})
	require.EqualValues(t, 1, b.Stats().Untold)
}

// Whoever waits at several ports learns from their descriptors of packets and of bells.
func TestDescriptors(t *testing.T) {
	a, b := open(t, udp.Config{Local: at("127.0.0.1")}), open(t, udp.Config{Local: at("127.0.0.1")})
	packets, bell := b.Descriptors()
	polls := []unix.PollFd{{Fd: int32(packets), Events: unix.POLLIN}, {Fd: int32(bell), Events: unix.POLLIN}}
	ready := func() (packets, bell bool) {
		_, err := unix.Poll(polls, 0)
		require.NoError(t, err)
		return polls[0].Revents != 0, polls[1].Revents != 0
	}
	b.Wake()
	some, rung := ready()
	require.False(t, some)
	require.True(t, rung)
	require.NoError(t, b.Wait(0, false))
	_, rung = ready()
	require.False(t, rung)
	_, err := a.Send([]port.Packet{{Peer: b.Local(), Data: []byte("x")}})
	require.NoError(t, err)
	require.NoError(t, b.Wait(-1, false))
	some, _ = ready()
	require.True(t, some)
}

// A queue behind the socket that drops says ENOBUFS: such packets count as refused, and those after them go.
func TestNoBuffers(t *testing.T) {
	a, b := openNarrow(t, "rate 1mbit burst 20kb limit 20kb")
	out := make([]port.Packet, 200)
	for i := range out {
		out[i] = port.Packet{Peer: b.Local(), Data: make([]byte, 1000)}
	}
	n, err := a.Send(out)
	require.NoError(t, err)
	require.Equal(t, len(out), n)
	s := a.Stats()
	require.Positive(t, s.Refused)
	require.EqualValues(t, len(out), s.Sent+s.Refused)
	porttest.Await(t, b, int(s.Sent), func(*port.Packet) {})
	require.Zero(t, a.Faults(make([]port.Fault, 1)), "nobody has to do anything about it")
	_, err = a.Send(out[:1])
	require.NoError(t, err)
	porttest.Await(t, b, 1, func(*port.Packet) {})
}

// openNarrow opens two ports in a network of their own with a token bucket in front of its loopback.
func openNarrow(t *testing.T, bucket string) (a, b *udp.Port) {
	s := netspace.New(t)
	for _, command := range []string{"ip link set lo up", "tc qdisc add dev lo root tbf " + bucket} {
		if _, err := s.Run(command); err != nil {
			t.Skip(err)
		}
	}
	require.NoError(t, s.Do(func() error {
		a, b = open(t, udp.Config{Local: at("127.0.0.1"), NoOffload: true}), open(t, udp.Config{Local: at("127.0.0.1")})
		return nil
	}))
	return a, b
}

// A group shares a UDP port, and each peer is one member's.
func TestGroup(t *testing.T) {
	for address, from := range map[string][]string{
		"127.0.0.1": {"127.0.0.1", "127.1.2.3", "127.200.7.8", "127.0.9.9", "127.77.0.1"},
		"::1":       {"::1", "::1", "::1", "::1", "::1", "::1"},
	} {
		c := udp.Config{Local: at(address), ByPort: address == "::1"}
		const n = 3
		group, err := udp.OpenGroup(c, n)
		require.NoError(t, err)
		seen := map[int]bool{}
		for _, s := range from {
			a := open(t, udp.Config{Local: at(s)})
			_, err := a.Send([]port.Packet{{Peer: group[0].Local(), Data: []byte("x")}})
			require.NoError(t, err)
			k := c.Shard(a.Local(), n)
			seen[k] = true
			porttest.Await(t, group[k], 1, func(q *port.Packet) { require.Equal(t, a.Local(), q.Peer) })
		}
		t.Logf("%s: peers at %d of %d", address, len(seen), n)
		_, err = udp.Open(udp.Config{Local: group[0].Local()})
		require.Error(t, err, "nobody else gets in")
		_, err = udp.OpenGroup(udp.Config{Local: group[0].Local()}, 2)
		require.Error(t, err, "not even a group")
		for _, p := range group {
			require.NoError(t, p.Close())
			require.Error(t, p.Wait(0, false))
		}
	}
}
