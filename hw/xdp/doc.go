// SPDX-License-Identifier: Apache-2.0

// Package xdp is a port.Port on the rings of a network device (AF_XDP), for Linux.
//
// A small program in front of the kernel's network stack hands UDP packets to the port's address to the ring of one
// receive queue; all other packets pass to the kernel. Sent packets go to the device without the
// stack. The kernel uses zero-copy if the driver can, and else copies once; where the driver cannot
// run programs a generic form of the hook does. CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF are needed.
//
// Special cases go by the kernel, through package udp: packets to peers without neighbour entry or
// gateway on the interface, or with a hardware address still unknown; packets of other receive
// queues, fragments and headers with options; ICMP errors. So configure a single queue (ethtool -L
// DEV combined 1), or steer the port's packets to the queue. An interface has one port at a time.
//
// A packet never leaves as fragments. The UDP checksum is 0 on IPv4, as UET wants it (UE Specification 1.0.3, section
// 3.5.10.1); on IPv6, where sockets of the kernel refuse such packets, the checksum is written.
package xdp

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/uetcc/uetcc/internal/check"
)

// ErrConfig is wrapped by the errors of a Config.
var ErrConfig = errors.New("xdp: invalid configuration")

// A Config is how to open a port.
type Config struct {
	// Local is the address and UDP port to receive at; with port 0 the system chooses one. The port
	// is taken from the kernel, too, and closed to other sockets.
	Local netip.AddrPort

	Interface string // of the device; default: the interface with the address
	Queue     int    // of the device, to receive from and to send to
	Frames    int    // room for packets, half in each direction: a power of two, 64 to 65,536 (default 4,096)

	// Paths is the number of UDP source ports of leaving packets, 1 to 256 (default 1): the port of
	// Local, and from 49,152 on.
	Paths int

	// Neighbors are hardware addresses of peers or gateways on the link. The kernel finds the
	// remaining addresses.
	Neighbors map[netip.Addr]net.HardwareAddr

	Generic bool // use the generic form of the hook though the driver may have its own
}

func (c *Config) check() error {
	c.Frames, c.Paths = cmp.Or(c.Frames, 4096), cmp.Or(c.Paths, 1)
	if c.Frames < 64 || c.Frames > 1<<16 || c.Frames&(c.Frames-1) != 0 {
		return fmt.Errorf("%w: Frames is %d, want a power of two, 64 to 65536", ErrConfig, c.Frames)
	}
	for a, m := range c.Neighbors {
		if len(m) != 6 {
			return fmt.Errorf("%w: Neighbors: %v has the hardware address %v, want 6 bytes", ErrConfig, a, m)
		}
	}
	return cmp.Or(check.Range(ErrConfig, "Paths", c.Paths, 1, 256), check.AtLeast(ErrConfig, "Queue", c.Queue, 0))
}
