// SPDX-License-Identifier: Apache-2.0

// Package udp is a [port.Port] on UDP sockets, present on every machine.
//
// On Linux one system call carries many packets, in both directions, and where the kernel has segmentation
// offload (UDP_SEGMENT, UDP_GRO) a run of packets to one peer passes as one. Each packet brings the
// TOS byte with the ECN mark; ICMP errors become a [port.Fault]. Wait spins for some 60 us before the
// thread sleeps, and seldom where no packet comes as soon as that. Elsewhere one call carries one
// packet, and on Windows marks are not seen.
//
// A packet never leaves as fragments. The UDP checksum is the kernel's, as segmentation offload
// demands; without offload the checksum is 0 on IPv4, as UET wants it (UE Specification 1.0.3,
// section 3.5.10.1).
package udp

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/uetcc/uetcc/hw/port"
	"github.com/uetcc/uetcc/internal/check"
)

// ErrConfig is wrapped by the errors of a Config.
var ErrConfig = errors.New("udp: invalid configuration")

// A Config is how to open a port.
type Config struct {
	// Local is the address and UDP port to receive at, of this machine; with port 0 the system chooses one.
	Local netip.AddrPort

	// Paths is the number of sending sockets, 1 to 256 (default 1). The first also receives; the rest
	// have UDP ports of the system's choice, so switches hashing ports spread them over equal paths.
	Paths int

	// Buffer is the queue of a socket in each direction, bytes (default 8 MiB). The system may grant
	// less.
	Buffer int

	// ByPort tells peers apart by address and port, not by address alone, when packets are spread
	// over the ports of a group.
	ByPort bool

	NoOffload bool // no segmentation offload in either direction
}

func (c *Config) check() error {
	c.Paths, c.Buffer = cmp.Or(c.Paths, 1), cmp.Or(c.Buffer, 8<<20)
	a := c.Local.Addr()
	if !a.IsValid() || a.IsUnspecified() || a.IsMulticast() {
		return fmt.Errorf("%w: Local is %v, want an address of one interface of this machine", ErrConfig, c.Local)
	}
	c.Local = netip.AddrPortFrom(a.Unmap(), c.Local.Port())
	return cmp.Or(check.Range(ErrConfig, "Paths", c.Paths, 1, 256), check.AtLeast(ErrConfig, "Buffer", c.Buffer, 1))
}

// Open opens a port. Errors wrap ErrConfig or are the system's.
func Open(c Config) (*Port, error) {
	ports, err := OpenGroup(c, 1)
	if err != nil {
		return nil, err
	}
	return ports[0], nil
}

var _ port.Port = (*Port)(nil)

// Shard is the index (0 to n-1) of the group's port for the packets of a peer.
func (c *Config) Shard(peer netip.AddrPort, n int) int {
	b := peer.Addr().As16()
	h := binary.BigEndian.Uint32(b[12:])
	if !peer.Addr().Is4() {
		h ^= binary.BigEndian.Uint32(b[0:]) ^ binary.BigEndian.Uint32(b[4:]) ^ binary.BigEndian.Uint32(b[8:])
	}
	if c.ByPort {
		h ^= uint32(peer.Port())
	}
	return int(h * steerFactor >> steerShift % uint32(n))
}

// The constants of Shard's hash, used by the kernel's filter, too.
const (
	steerFactor = 0x9e3779b1
	steerShift  = 16
)

// linkMTU is the MTU of the interface with an address, 0 if not found.
func linkMTU(a netip.Addr) int {
	all, _ := net.Interfaces()
	for _, i := range all {
		addresses, _ := i.Addrs()
		for _, x := range addresses {
			if n, ok := x.(*net.IPNet); ok {
				own, _ := netip.AddrFromSlice(n.IP)
				if own.Unmap() == a.WithZone("") || i.Flags&net.FlagLoopback != 0 && a.IsLoopback() {
					return i.MTU
				}
			}
		}
	}
	return 0
}
