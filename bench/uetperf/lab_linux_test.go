// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/netspace"
)

// A lab is a switch with a port to a target and one to each of some senders, all network
// namespaces. Who is behind port n has the addresses 10.77.n.2 and fd77:n::2; the target is
// behind port 0, whose queue is the bottleneck.
type lab struct {
	network *netspace.Space
	hosts   []*netspace.Space
}

// newLab skips the test where the machine cannot have it.
func newLab(t *testing.T, senders int) *lab {
	for _, program := range []string{"ip", "tc"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	l := &lab{network: netspace.New(t)}
	require.NoError(t, l.network.Do(func() error {
		return errors.Join(os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0),
			os.WriteFile("/proc/sys/net/ipv6/conf/all/forwarding", []byte("1"), 0))
	}))
	for n := range senders + 1 {
		l.hosts = append(l.hosts, netspace.New(t))
		if err := l.connect(n); err != nil && n == 0 && strings.Contains(err.Error(), "type") {
			t.Skip("no pairs of virtual interfaces: ", err)
		} else {
			require.NoError(t, err)
		}
	}
	return l
}

// connect lays the cable to host n.
func (l *lab) connect(n int) error {
	h := l.hosts[n]
	for _, c := range []struct {
		in      *netspace.Space
		command string
	}{
		{l.network, fmt.Sprintf("ip link add port%d mtu 9000 type veth peer name host mtu 9000 netns %d", n, h.Thread)},
		{l.network, fmt.Sprintf("ip addr add 10.77.%d.1/24 dev port%d", n, n)},
		{l.network, fmt.Sprintf("ip -6 addr add fd77:%d::1/64 dev port%d nodad", n, n)},
		{l.network, fmt.Sprintf("ip link set port%d up", n)},
		{h, fmt.Sprintf("ip addr add 10.77.%d.2/24 dev host", n)},
		{h, fmt.Sprintf("ip -6 addr add fd77:%d::2/64 dev host nodad", n)},
		{h, "ip link set lo up"},
		{h, "ip link set host up"},
		{h, fmt.Sprintf("ip route add default via 10.77.%d.1", n)},
		{h, fmt.Sprintf("ip -6 route add default via fd77:%d::1", n)},
	} {
		if _, err := c.in.Run(c.command); err != nil {
			return err
		}
	}
	return nil
}

// hostAddress is that of host n.
func hostAddress(six bool, n int) netip.Addr {
	if six {
		return netip.MustParseAddr(fmt.Sprintf("fd77:%d::2", n))
	}
	return netip.MustParseAddr(fmt.Sprintf("10.77.%d.2", n))
}

// tc runs a command of tc for the port of the target, and skips the test where the kernel
// lacks what it names.
func (l *lab) tc(t *testing.T, command string) {
	t.Helper()
	_, err := l.network.Run("tc " + strings.Replace(command, " add ", " add dev port0 ", 1))
	if err != nil && strings.Contains(err.Error(), "unknown") {
		t.Skip("not in this kernel: ", err)
	}
	require.NoError(t, err)
}

// queueCounts is what tc knows of a queueing discipline.
type queueCounts struct {
	Kind   string
	Drops  int64
	Marked int64 // red
	CEMark int64 `json:"ce_mark"` // codel
}

func (l *lab) queue(t *testing.T, kind string) queueCounts {
	out, err := l.network.Run("tc -s -j qdisc show dev port0")
	require.NoError(t, err)
	var all []queueCounts
	require.NoError(t, json.Unmarshal(out, &all))
	i := slices.IndexFunc(all, func(q queueCounts) bool { return q.Kind == kind })
	require.GreaterOrEqual(t, i, 0, "%s", out)
	return all[i]
}

// mark puts a marker in front of the target's port, and skips the test where the kernel does
// not let it.
func (l *lab) mark(t *testing.T, kmin, kmax int32) *marker {
	m, err := newMarker(kmin, kmax)
	if err != nil {
		t.Skip("the kernel cannot mark by its backlog: ", err)
	}
	t.Cleanup(m.close)
	err = l.network.Do(func() error {
		port, err := net.InterfaceByName("port0")
		if err != nil {
			return err
		}
		return m.attach(port.Index)
	})
	if err != nil {
		t.Skip("no program in front of a queue: ", err)
	}
	return m
}

// sites puts the parties on the hosts of the lab. The relay, which shares the target's host,
// has no part in what happens at the port but that it delays, since not every kernel can.
func (l *lab) sites(six bool) *sites {
	s := loopback(six)
	s.front = hostAddress(six, 0)
	s.sender = func(i int) netip.Addr { return hostAddress(six, i+1) }
	s.at = func(site int, do func() error) error { return l.hosts[site].Do(do) }
	return s
}
