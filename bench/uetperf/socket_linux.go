package main

import (
	"errors"
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// bufferBytes is what a socket may queue: more than any window, so that what is lost is
// lost in the network.
const bufferBytes = 8 << 20

// A socket sends and receives UDP packets together with their TOS byte. It never blocks.
type socket struct {
	fd     int
	family int // AF_INET or AF_INET6
	local  netip.AddrPort
	tos    uint8 // of what is sent

	to4 unix.SockaddrInet4 // reused, since one for each packet is garbage
	to6 unix.SockaddrInet6

	untold    int    // packets received of which the kernel did not tell the TOS byte
	overflows uint32 // packets that came while the receive buffer was full
}

// openSocket binds local; port 0 stands for one of the kernel's choice.
func openSocket(local netip.AddrPort) (*socket, error) {
	s := &socket{family: unix.AF_INET6}
	if local.Addr().Is4() {
		s.family = unix.AF_INET
	}
	fd, err := unix.Socket(s.family, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	s.fd = fd
	if err := s.prepare(local); err != nil {
		s.close()
		return nil, fmt.Errorf("%v: %w", local, err)
	}
	return s, nil
}

func (s *socket) close() { _ = unix.Close(s.fd) }

// A socketOption is set before anything is sent.
type socketOption struct{ level, name, value int }

// The don't-fragment bit is set, and with IPv4 the UDP checksum is 0, as UET wants it.
var socketOptions = map[int][]socketOption{
	unix.AF_INET: {
		{unix.IPPROTO_IP, unix.IP_RECVTOS, 1},
		{unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_DO},
		{unix.SOL_SOCKET, unix.SO_NO_CHECK, 1},
		{unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1},
	},
	unix.AF_INET6: {
		{unix.IPPROTO_IPV6, unix.IPV6_RECVTCLASS, 1},
		{unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_DO},
		{unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1},
		{unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1},
	},
}

func (s *socket) prepare(local netip.AddrPort) error {
	for _, o := range socketOptions[s.family] {
		if err := unix.SetsockoptInt(s.fd, o.level, o.name, o.value); err != nil {
			return os.NewSyscallError("setsockopt", err)
		}
	}
	for plain, force := range map[int]int{unix.SO_RCVBUF: unix.SO_RCVBUFFORCE, unix.SO_SNDBUF: unix.SO_SNDBUFFORCE} {
		if unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, force, bufferBytes) != nil { // a privilege
			_ = unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, plain, bufferBytes)
		}
	}
	if err := unix.Bind(s.fd, s.sockaddr(local)); err != nil {
		return os.NewSyscallError("bind", err)
	}
	name, err := unix.Getsockname(s.fd)
	s.local = addrPort(name)
	return os.NewSyscallError("getsockname", err)
}

// sockaddr is a in the form of the kernel, until the next call.
func (s *socket) sockaddr(a netip.AddrPort) unix.Sockaddr {
	if s.family == unix.AF_INET {
		s.to4.Addr, s.to4.Port = a.Addr().As4(), int(a.Port())
		return &s.to4
	}
	s.to6.Addr, s.to6.Port = a.Addr().As16(), int(a.Port())
	return &s.to6
}

func addrPort(a unix.Sockaddr) netip.AddrPort {
	switch a := a.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr), uint16(a.Port))
	}
	return netip.AddrPort{}
}

// send sends b with tos. It reports false when the kernel had no room, which is a loss
// like any other.
func (s *socket) send(to netip.AddrPort, tos uint8, b []byte) (bool, error) {
	if err := s.setTOS(tos); err != nil {
		return false, err
	}
	err := unix.Sendto(s.fd, b, 0, s.sockaddr(to))
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.ENOBUFS):
		return false, nil
	case errors.Is(err, unix.EMSGSIZE):
		return false, fmt.Errorf("%w: %d bytes and their headers in a packet to %v, set a smaller -mtu", err, len(b), to)
	}
	return false, fmt.Errorf("%d bytes to %v: %w", len(b), to, os.NewSyscallError("sendto", err))
}

// setTOS is cheap as long as neighbours in a row agree.
func (s *socket) setTOS(tos uint8) error {
	if tos == s.tos {
		return nil
	}
	level, name := unix.IPPROTO_IP, unix.IP_TOS
	if s.family == unix.AF_INET6 {
		level, name = unix.IPPROTO_IPV6, unix.IPV6_TCLASS
	}
	if err := unix.SetsockoptInt(s.fd, level, name, int(tos)); err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	s.tos = tos
	return nil
}
