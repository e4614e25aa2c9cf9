// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/uetcc/uetcc/hw/port"
	"github.com/uetcc/uetcc/internal/fifo"
)

// faults are the faults not asked for yet. Beyond the limit the oldest go.
type faults struct{ fifo.Queue[port.Fault] }

func (f *faults) push(x port.Fault) {
	if f.Free() == 0 {
		f.Drop()
	}
	*f.Push() = x
}

// Faults implements port.Port.
func (p *Port) Faults(out []port.Fault) (n int) {
	if p.erred.Swap(false) {
		for _, s := range p.paths {
			p.readFaults(s)
		}
	}
	for f := p.faults.First(); f != nil && n < len(out); f = p.faults.First() {
		out[n] = *f
		p.faults.Drop()
		n++
	}
	return n
}

// readFaults empties the error queue of a socket, and reports whether the queue had any.
func (p *Port) readFaults(s *socket) (any bool) {
	for range 64 {
		var name [nameMax]byte
		var control [512]byte
		h := unix.Msghdr{Name: &name[0], Namelen: nameMax, Control: &control[0]}
		h.SetControllen(len(control))
		_, _, errno := unix.Syscall(unix.SYS_RECVMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&h)), unix.MSG_ERRQUEUE)
		if errno != 0 {
			return any
		}
		any = true
		f, local, ok := decodeFault(decodeName(&name), control[:h.Controllen])
		switch {
		case local: // Send hears of it, and knows the peer's port
			p.mtu = f.MTU
		case ok:
			p.faults.push(f)
			p.stats.Faults++
		}
	}
	return any
}

// decodeFault reads the control messages of an error queue: struct sock_extended_err. The error may
// come from the machine itself.
func decodeFault(peer netip.AddrPort, b []byte) (f port.Fault, local, ok bool) {
	for len(b) > 0 {
		h, data, rest, err := unix.ParseOneSocketControlMessage(b)
		if err != nil {
			break
		}
		b = rest
		four := h.Level == unix.IPPROTO_IP && h.Type == unix.IP_RECVERR
		six := h.Level == unix.IPPROTO_IPV6 && h.Type == unix.IPV6_RECVERR
		if !four && !six || len(data) < int(unsafe.Sizeof(unix.SockExtendedErr{})) {
			continue
		}
		e := (*unix.SockExtendedErr)(unsafe.Pointer(&data[0]))
		f = port.Fault{Peer: peer, Err: faultError(unix.Errno(e.Errno))}
		if f.Err == port.ErrTooLong {
			f.MTU = int(e.Info)
		}
		return f, e.Origin == unix.SO_EE_ORIGIN_LOCAL, true
	}
	return f, false, false
}

// faultError is the port's name for an error of the system.
func faultError(errno unix.Errno) error {
	switch errno {
	case unix.ECONNREFUSED:
		return port.ErrRefused
	case unix.EHOSTUNREACH, unix.ENETUNREACH, unix.EHOSTDOWN, unix.ENETDOWN, unix.ENODEV, unix.ENONET, unix.EADDRNOTAVAIL,
		unix.EAFNOSUPPORT, unix.EINVAL: // the last: from a loopback address to another machine, by a blackhole route, to port 0
		return port.ErrUnreachable
	case unix.EMSGSIZE:
		return port.ErrTooLong
	case unix.EPERM, unix.EACCES:
		return port.ErrForbidden
	}
	return errno
}

// pathMTU is the kernel's path MTU to a peer, 0 if unknown. Nothing is sent.
func (p *Port) pathMTU(peer netip.AddrPort) int {
	fd, err := unix.Socket(p.family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	level, name := unix.IPPROTO_IP, unix.IP_MTU
	if p.family == unix.AF_INET6 {
		level, name = unix.IPPROTO_IPV6, unix.IPV6_MTU
	}
	mtu, err := 0, unix.Connect(fd, p.sockaddr(peer))
	if err == nil {
		mtu, err = unix.GetsockoptInt(fd, level, name)
	}
	if err != nil {
		return 0
	}
	return mtu
}
