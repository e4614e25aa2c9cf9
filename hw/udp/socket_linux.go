// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// A socket is one source port.
type socket struct {
	fd    int
	local netip.AddrPort
}

// A socketOption is set before anything is sent.
type socketOption struct{ level, name, value int }

// The don't-fragment bit is set, and errors of the network come to an error queue.
var socketOptions = map[int][]socketOption{
	unix.AF_INET: {
		{unix.IPPROTO_IP, unix.IP_RECVTOS, 1},
		{unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_DO},
		{unix.IPPROTO_IP, unix.IP_RECVERR, 1},
		{unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1},
	},
	unix.AF_INET6: {
		{unix.IPPROTO_IPV6, unix.IPV6_RECVTCLASS, 1},
		{unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_DO},
		{unix.IPPROTO_IPV6, unix.IPV6_RECVERR, 1},
		{unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1},
		{unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1},
	},
}

// openSocket binds local, if shared together with more sockets of the same port.
func (p *Port) openSocket(local netip.AddrPort, shared bool) (*socket, error) {
	fd, err := unix.Socket(p.family, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	s := &socket{fd: fd}
	if err = p.prepare(s, shared); err == nil {
		err = p.bind(s, local)
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return s, nil
}

func (p *Port) prepare(s *socket, shared bool) error {
	options := socketOptions[p.family]
	if shared {
		options = append(options[:len(options):len(options)], socketOption{unix.SOL_SOCKET, unix.SO_REUSEPORT, 1})
	}
	for _, o := range options {
		if err := unix.SetsockoptInt(s.fd, o.level, o.name, o.value); err != nil {
			return os.NewSyscallError("setsockopt", err)
		}
	}
	p.probe(s)
	for plain, force := range map[int]int{unix.SO_RCVBUF: unix.SO_RCVBUFFORCE, unix.SO_SNDBUF: unix.SO_SNDBUFFORCE} {
		if unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, force, p.config.Buffer) != nil { // a privilege
			_ = unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, plain, p.config.Buffer)
		}
	}
	return nil
}

// probe turns on the offload of the kernel. Segmentation needs checksums from the kernel;
// without segmentation IPv4 has no checksum.
func (p *Port) probe(s *socket) {
	p.segment = !p.config.NoOffload && unix.SetsockoptInt(s.fd, unix.IPPROTO_UDP, unix.UDP_SEGMENT, 0) == nil
	p.group = !p.config.NoOffload && unix.SetsockoptInt(s.fd, unix.IPPROTO_UDP, unix.UDP_GRO, 1) == nil
	if !p.segment && p.family == unix.AF_INET {
		_ = unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_NO_CHECK, 1)
	}
}

func (p *Port) bind(s *socket, local netip.AddrPort) error {
	if err := unix.Bind(s.fd, p.sockaddr(local)); err != nil {
		return os.NewSyscallError("bind", err)
	}
	name, err := unix.Getsockname(s.fd)
	switch a := name.(type) {
	case *unix.SockaddrInet4:
		s.local = netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *unix.SockaddrInet6:
		s.local = netip.AddrPortFrom(netip.AddrFrom16(a.Addr), uint16(a.Port))
	}
	return os.NewSyscallError("getsockname", err)
}

// sockaddr is an address as the system has addresses of the port's family.
func (p *Port) sockaddr(a netip.AddrPort) unix.Sockaddr {
	if p.family == unix.AF_INET6 {
		return &unix.SockaddrInet6{Addr: a.Addr().As16(), Port: int(a.Port()), ZoneId: p.zone}
	}
	return &unix.SockaddrInet4{Addr: as4(a), Port: int(a.Port())}
}

// as4 is an IPv4 address, or zeros.
func as4(a netip.AddrPort) (b [4]byte) {
	if a.Addr().Is4() || a.Addr().Is4In6() {
		b = a.Addr().As4()
	}
	return b
}

// Offsets from the start of the IP header, read by a filter as negative addresses.
const (
	fromIP     = 0xfff00000 // SKF_NET_OFF
	source4    = 12
	source6    = 8
	ipv4Header = 20
	ipv6Header = 40
)

// steer has the kernel choose among the n sockets of p's group as Config.Shard does, by a program of the
// old packet filter, without privileges.
func (p *Port) steer(n int) error {
	load := func(size uint16, at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | size | unix.BPF_ABS, K: fromIP + at}
	}
	toX, xorX := unix.SockFilter{Code: unix.BPF_MISC | unix.BPF_TAX}, unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_XOR | unix.BPF_X}
	number := func(op uint16, k uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_ALU | op | unix.BPF_K, K: k}
	}
	code, header := []unix.SockFilter{load(unix.BPF_W, source4)}, uint32(ipv4Header)
	if p.family == unix.AF_INET6 {
		code, header = []unix.SockFilter{load(unix.BPF_W, source6)}, ipv6Header
		for word := uint32(1); word < 4; word++ {
			code = append(code, toX, load(unix.BPF_W, source6+4*word), xorX)
		}
	}
	if p.config.ByPort {
		code = append(code, toX, load(unix.BPF_H, header), xorX)
	}
	code = append(code, number(unix.BPF_MUL, steerFactor), number(unix.BPF_RSH, steerShift), number(unix.BPF_MOD, uint32(n)),
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_A})
	f := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	return os.NewSyscallError("setsockopt", unix.SetsockoptSockFprog(p.paths[0].fd, unix.SOL_SOCKET, unix.SO_ATTACH_REUSEPORT_CBPF, &f))
}
