// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/uetcc/uetcc/hw/port"
	"github.com/uetcc/uetcc/hw/udp"
	"github.com/uetcc/uetcc/hw/xdp"
	"github.com/uetcc/uetcc/internal/netspace"
)

// A lab is two hosts and a cable between them. Host n has the addresses 10.78.0.n+1, fd78::n+1 and 02:00:00:00:00:0n+1 at its
// interface xn. Those of IPv6 know their neighbour.
type lab [2]*netspace.Space

// newLab skips the test where the machine cannot have it.
func newLab(t *testing.T) (l lab) {
	t.Helper()
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip(err)
	}
	fd, err := unix.Socket(unix.AF_XDP, unix.SOCK_RAW, 0)
	if err != nil {
		t.Skip("no AF_XDP here: ", err)
	}
	require.NoError(t, unix.Close(fd))
	for n := range l {
		l[n] = netspace.New(t)
	}
	l.run(t, 0, fmt.Sprintf("ip link add x0 address 02:00:00:00:00:01 mtu 1500 type veth peer name x1 address 02:00:00:00:00:02 mtu 1500 netns %d", l[1].Thread))
	for n := range l {
		l.run(t, n, fmt.Sprintf("ip addr add 10.78.0.%d/24 dev x%d", n+1, n))
		l.run(t, n, fmt.Sprintf("ip -6 addr add fd78::%d/64 dev x%d nodad", n+1, n))
		l.run(t, n, "ip link set lo up")
		l.run(t, n, fmt.Sprintf("ip -6 neigh add fd78::%d lladdr 02:00:00:00:00:0%d dev x%d", 2-n, 2-n, n)) // to ask for takes a second
		l.run(t, n, fmt.Sprintf("ip link set x%d up", n))
	}
	return l
}

func (l lab) run(t *testing.T, n int, command string) {
	t.Helper()
	_, err := l[n].Run(command)
	require.NoError(t, err)
}

// at is an address of host n.
func at(six bool, n int) netip.AddrPort {
	if six {
		return netip.MustParseAddrPort(fmt.Sprintf("[fd78::%d]:0", n+1))
	}
	return netip.MustParseAddrPort(fmt.Sprintf("10.78.0.%d:0", n+1))
}

// closing closes a port when a test ends.
func closing[P port.Port](t *testing.T, p P) P {
	t.Cleanup(func() {
		_ = p.Close()
		_ = p.Wait(0, false)
	})
	return p
}

// open opens a port at host n.
func (l lab) open(t *testing.T, n int, c xdp.Config) *xdp.Port {
	t.Helper()
	var p *xdp.Port
	err := l[n].Do(func() (err error) {
		p, err = xdp.Open(c)
		return err
	})
	if errors.Is(err, unix.EPERM) {
		t.Skip("no programs in front of a device without privilege: ", err)
	}
	require.NoError(t, err)
	return closing(t, p)
}

// openUDP opens a port of sockets at host n.
func (l lab) openUDP(t *testing.T, n int, c udp.Config) *udp.Port {
	t.Helper()
	var p *udp.Port
	require.NoError(t, l[n].Do(func() (err error) {
		p, err = udp.Open(c)
		return err
	}))
	return closing(t, p)
}
