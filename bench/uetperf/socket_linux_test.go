package main

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/pds"
)

// pair opens two sockets at the loopback address of a family.
func pair(t *testing.T, address string) (a, b *socket) {
	t.Helper()
	open := func() *socket {
		s, err := openSocket(netip.AddrPortFrom(netip.MustParseAddr(address), 0))
		require.NoError(t, err)
		t.Cleanup(s.close)
		return s
	}
	return open(), open()
}

// await returns what has come, at least one packet.
func await(t *testing.T, s *socket, b *inbox) []packet {
	t.Helper()
	for {
		n, err := s.receive(b)
		require.NoError(t, err)
		if n > 0 {
			return b.packets[:n]
		}
		_, err = unix.Poll([]unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}}, -1)
		require.NoError(t, err)
	}
}

// Each packet brings its own TOS byte, whatever that of the one before was.
func TestSocketTOS(t *testing.T) {
	for _, address := range []string{"127.0.0.1", "::1"} {
		a, b := pair(t, address)
		in := newInbox()
		for _, ecn := range []pds.ECN{pds.ECNECT0, pds.ECNCE, pds.ECNNotECT, pds.ECNECT1} {
			for _, dscp := range []pds.DSCP{0, 46} {
				sent, err := a.send(b.local, pds.TOS(dscp, ecn), []byte("packet"))
				require.NoError(t, err)
				require.True(t, sent)
				got := await(t, b, in)
				require.Len(t, got, 1)
				require.Equal(t, packet{data: []byte("packet"), from: a.local, tos: pds.TOS(dscp, ecn)}, got[0])
			}
		}
		require.Zero(t, b.untold)
		require.Zero(t, b.overflows)
	}
}

// A TOS byte that the kernel does not tell is counted, and not taken for one of 0.
func TestSocketCountsUntold(t *testing.T) {
	a, b := pair(t, "127.0.0.1")
	require.NoError(t, unix.SetsockoptInt(b.fd, unix.IPPROTO_IP, unix.IP_RECVTOS, 0))
	_, err := a.send(b.local, pds.TOS(0, pds.ECNCE), []byte("packet"))
	require.NoError(t, err)
	await(t, b, newInbox())
	require.Equal(t, 1, b.untold)
}

// What came while the receive buffer was full is counted with the next packet.
func TestSocketCountsOverflows(t *testing.T) {
	a, b := pair(t, "127.0.0.1")
	require.NoError(t, unix.SetsockoptInt(b.fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 4096))
	in := newInbox()
	for range 100 {
		_, err := a.send(b.local, 0, make([]byte, 1000))
		require.NoError(t, err)
	}
	came := len(await(t, b, in))
	_, err := a.send(b.local, 0, []byte("packet"))
	require.NoError(t, err)
	await(t, b, in)
	require.EqualValues(t, 100, came+int(b.overflows))
}

// A packet that is larger than the path allows is an error and not a fragment.
func TestSocketDoesNotFragment(t *testing.T) {
	a, b := pair(t, "127.0.0.1")
	_, err := a.send(b.local, 0, make([]byte, 65_500))
	if err == nil {
		_, err = a.send(b.local, 0, make([]byte, 65_508)) // beyond what UDP has
	}
	require.ErrorIs(t, err, unix.EMSGSIZE)
}

func TestSocketAllocs(t *testing.T) {
	for _, address := range []string{"127.0.0.1", "::1"} {
		a, b := pair(t, address)
		in, data, tos := newInbox(), make([]byte, 4096), uint8(0)
		alloctest.Zero(t, address, func() {
			tos ^= uint8(pds.ECNCE)
			if ok, err := a.send(b.local, tos, data); !ok || err != nil {
				panic(err)
			}
			for n := 0; n == 0; {
				var err error
				if n, err = b.receive(in); err != nil || n > 0 && in.packets[0].tos != tos {
					panic("not received as sent")
				}
			}
		})
	}
}

// The entropy value is the UDP source port: a host of four paths sends from four ports, of
// which the first is where it receives. All packets are ECN-capable.
func TestHostEntropyIsTheSourcePort(t *testing.T) {
	_, peer := pair(t, "127.0.0.1")
	c := hostConfig{mtu: 4096, rate: 25e6, rtt: 2e6, paths: 4, port: peer.local.Port()}
	in := newInbox()
	h, err := newHost(&c, netip.MustParseAddrPort("127.0.0.1:0"), make([]byte, 64<<10), in)
	require.NoError(t, err)
	defer h.close()
	require.NoError(t, newSender(h, peer.local.Addr(), 1, 0, 64<<10).step(1))
	seen := map[netip.AddrPort]int{}
	for packets := 0; packets < 16; {
		for _, p := range await(t, peer, in) {
			require.Equal(t, pds.TOS(0, pds.ECNECT0), p.tos)
			seen[p.from]++
			packets++
		}
	}
	want := map[netip.AddrPort]int{}
	for _, s := range h.paths {
		want[s.local] = 4
	}
	require.Equal(t, want, seen, "each path once in a round")
}
