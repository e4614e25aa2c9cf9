// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"encoding/binary"
	"net"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// A router asks the kernel for ways, by rtnetlink. Single writer.
type router struct {
	fd      int
	index   int32 // of the interface
	out, in []byte
	number  uint32
}

func newRouter(index int) (*router, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	return &router{fd: fd, index: int32(index), out: make([]byte, 0, 128), in: make([]byte, 4096)}, nil
}

// A neighbour is the kernel's entry for the next hop to a peer.
type neighbour struct {
	mac   [6]byte
	known bool
	stale bool // not heard of for some time
}

// find looks for the neighbour on the way to a peer. None if packets to the peer leave by another
// interface.
func (r *router) find(peer netip.Addr) (n neighbour) {
	next, ok := r.hop(peer)
	if !ok {
		return n
	}
	state := uint16(0)
	r.ask(unix.RTM_GETNEIGH, unix.SizeofNdMsg, next, unix.NDA_DST, func(b []byte) {
		b[0] = family(next)
		binary.NativeEndian.PutUint32(b[4:], uint32(r.index))
	}, func(head []byte) { state = binary.NativeEndian.Uint16(head[8:]) }, func(name uint16, value []byte) {
		if name == unix.NDA_LLADDR && len(value) == len(n.mac) {
			n.mac = [6]byte(value)
			n.known = state&(unix.NUD_REACHABLE|unix.NUD_STALE|unix.NUD_DELAY|unix.NUD_PROBE|unix.NUD_PERMANENT|unix.NUD_NOARP) != 0
		}
	})
	n.stale = state&unix.NUD_STALE != 0
	return n
}

// hop is the peer or a gateway, if the way leads through the interface.
func (r *router) hop(peer netip.Addr) (next netip.Addr, ok bool) {
	next = peer
	r.ask(unix.RTM_GETROUTE, unix.SizeofRtMsg, peer, unix.RTA_DST, func(b []byte) {
		b[0], b[1] = family(peer), uint8(peer.BitLen())
	}, func(head []byte) { ok = head[7] == unix.RTN_UNICAST }, func(name uint16, value []byte) {
		switch name {
		case unix.RTA_OIF:
			ok = ok && len(value) == 4 && int32(binary.NativeEndian.Uint32(value)) == r.index
		case unix.RTA_GATEWAY:
			next, _ = netip.AddrFromSlice(value)
		case unix.RTA_VIA:
			ok = false // a gateway of a different family
		}
	})
	return next, ok && next.BitLen() == peer.BitLen()
}

func family(a netip.Addr) uint8 {
	if a.Is4() {
		return unix.AF_INET
	}
	return unix.AF_INET6
}

const attributeHead = 4 // bytes

// ask sends a request with a head of length bytes filled in by fill, and an address. ask calls head
// with the head of the answer and then attribute with each attribute, or nothing if there is no
// answer.
func (r *router) ask(kind uint16, length int, a netip.Addr, name uint16, fill, head func(b []byte), attribute func(name uint16, value []byte)) {
	r.number++
	b := r.out[:unix.NLMSG_HDRLEN+length+attributeHead]
	clear(b)
	fill(b[unix.NLMSG_HDRLEN:])
	at := b[unix.NLMSG_HDRLEN+length:]
	binary.NativeEndian.PutUint16(at, uint16(attributeHead+a.BitLen()/8))
	binary.NativeEndian.PutUint16(at[2:], name)
	b = append(b, a.AsSlice()...)
	binary.NativeEndian.PutUint32(b, uint32(len(b)))
	binary.NativeEndian.PutUint16(b[4:], kind)
	binary.NativeEndian.PutUint16(b[6:], unix.NLM_F_REQUEST)
	binary.NativeEndian.PutUint32(b[8:], r.number)
	if _, err := unix.Write(r.fd, b); err != nil {
		return
	}
	answer := r.receive(length)
	if answer == nil {
		return
	}
	head(answer)
	for answer = answer[length:]; len(answer) >= attributeHead; {
		n := int(binary.NativeEndian.Uint16(answer))
		if n < attributeHead || n > len(answer) {
			return
		}
		attribute(binary.NativeEndian.Uint16(answer[2:]), answer[attributeHead:n])
		answer = answer[min((n+3)&^3, len(answer)):]
	}
}

// receive returns the answer without the netlink header, nil for an error or no answer. The kernel
// has answered before the request returns.
func (r *router) receive(length int) []byte {
	for {
		n, err := unix.Read(r.fd, r.in)
		if err != nil {
			return nil
		}
		b := r.in[:n]
		if n < unix.NLMSG_HDRLEN || binary.NativeEndian.Uint32(b[8:]) != r.number {
			continue // to an earlier request
		}
		size := int(binary.NativeEndian.Uint32(b))
		if binary.NativeEndian.Uint16(b[4:]) == unix.NLMSG_ERROR || size > n || size < unix.NLMSG_HDRLEN+length {
			return nil
		}
		return b[unix.NLMSG_HDRLEN:size]
	}
}

// device is the interface called name or, if name is empty, the interface with the address a.
func device(name string, a netip.Addr) (*net.Interface, error) {
	if name != "" {
		return net.InterfaceByName(name)
	}
	all, err := net.Interfaces()
	for i := range all {
		addresses, _ := all[i].Addrs()
		for _, x := range addresses {
			if n, ok := x.(*net.IPNet); ok {
				if own, _ := netip.AddrFromSlice(n.IP); own.Unmap() == a.WithZone("") {
					return &all[i], nil
				}
			}
		}
	}
	if err == nil {
		err = unix.EADDRNOTAVAIL
	}
	return nil, err
}
