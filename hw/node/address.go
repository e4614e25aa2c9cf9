// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
)

// parse reads an address with or without a port; names are looked up, network is "ip", "ip4" or "ip6".
func parse(s string, defaultPort uint16, network string) (netip.AddrPort, error) {
	if a, err := netip.ParseAddr(s); err == nil {
		return netip.AddrPortFrom(a.Unmap(), defaultPort), nil
	}
	host, service, err := net.SplitHostPort(s)
	if err != nil {
		host, service = s, strconv.Itoa(int(defaultPort))
	}
	number, err := strconv.ParseUint(service, 10, 16)
	if err != nil || host == "" {
		return netip.AddrPort{}, fmt.Errorf("%w: address %q: want host or host:port", ErrConfig, s)
	}
	a, err := netip.ParseAddr(host)
	if err != nil {
		all, err := net.DefaultResolver.LookupNetIP(context.Background(), network, host)
		if err != nil || len(all) == 0 {
			return netip.AddrPort{}, fmt.Errorf("%w: address %q: %w", ErrConfig, s, err)
		}
		a = all[0]
	}
	return netip.AddrPortFrom(a.Unmap(), uint16(number)), nil
}

// A scheme is how peers are told apart.
type scheme struct {
	port   uint16 // of all peers, unless by port
	byPort bool
	zone   string // the interface of a link-local address
}

func newScheme(local netip.AddrPort, paths int) scheme {
	a := local.Addr()
	return scheme{local.Port(), local.Port() != pds.UDPPort && paths == 1 && (a.Is4() || a.IsLoopback()), a.Zone()}
}

// The endpoint knows peers by addresses alone. A peer with address and port gets an address of the
// discard prefix 100::/64 (RFC 6666), never seen outside the process: a bit for ::1, the port, and the
// IPv4 address.
const (
	discard  = 0x0100 << 48
	loopback = 1 << 48
)

// fep is the endpoint's address of a peer.
func (s scheme) fep(a netip.AddrPort) pdc.Addr {
	if !s.byPort {
		return pdc.AddrFrom(a.Addr().WithZone(""))
	}
	lo := uint64(a.Port()) << 32
	if a.Addr().Is4() {
		b := a.Addr().As4()
		lo |= uint64(binary.BigEndian.Uint32(b[:]))
	} else {
		lo |= loopback
	}
	return pdc.Addr{Hi: discard, Lo: lo}
}

// peer is the inverse of fep.
func (s scheme) peer(a pdc.Addr) netip.AddrPort {
	if !s.byPort || a.Hi != discard {
		return netip.AddrPortFrom(a.Netip(), s.port)
	}
	if a.Lo&loopback != 0 {
		return netip.AddrPortFrom(netip.IPv6Loopback(), uint16(a.Lo>>32))
	}
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(a.Lo))
	return netip.AddrPortFrom(netip.AddrFrom4(b), uint16(a.Lo>>32))
}

// check returns the reason against a peer's address.
func (s scheme) check(local, peer netip.AddrPort) error {
	switch {
	case !peer.IsValid() || peer.Port() == 0:
		return fmt.Errorf("%w: no peer: want the address and port of a node", ErrPeer)
	case peer.Addr().IsUnspecified() || peer.Addr().IsMulticast():
		return fmt.Errorf("%w: %v: want an address of one interface of the peer", ErrPeer, peer)
	case peer.Addr().Is4() != local.Addr().Is4():
		return fmt.Errorf("%w: %v has another IP version than this node, %v", ErrPeer, peer, local)
	case peer.Addr().Zone() != "" && peer.Addr().Zone() != s.zone:
		return fmt.Errorf("%w: %v is on another interface than this node, %v%%%s", ErrPeer, peer, local.Addr(), s.zone)
	case !s.byPort && peer.Port() != s.port:
		return fmt.Errorf("%w: %v: this node, %v, tells peers apart by address alone, which all have to listen at its port; "+
			"see the package comment on addresses", ErrPeer, peer, local)
	case s.byPort && !peer.Addr().Is4() && !peer.Addr().IsLoopback():
		return fmt.Errorf("%w: %v is not on this machine, and this node, %v, is on its loopback address", ErrPeer, peer, local)
	case s.fep(peer) == s.fep(local):
		return fmt.Errorf("%w: %v is this node itself", ErrPeer, peer)
	}
	return nil
}
