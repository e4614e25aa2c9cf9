// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"encoding/binary"
	"net/netip"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/uetcc/uetcc/hw/port"
)

const (
	recvCalls   = 16      // messages of one system call
	recvBytes   = 1 << 16 // of one message: the largest packet, or with grouping many packets
	recvControl = 192     // bytes; with less some messages would be missing silently
)

// An inbox is room for the messages of one recvmmsg. x/sys has no recvmmsg, and the recvmsg of x/sys
// makes garbage of each packet's address.
type inbox struct {
	headers [recvCalls]mmsghdr
	vectors [recvCalls]unix.Iovec
	names   [recvCalls][nameMax]byte
	control [recvCalls][recvControl]byte
	slots   int // messages with memory: few, as long as enough

	next, end int         // messages not handed out yet
	full      bool        // the kernel may have more messages
	rest      []byte      // of the last message, the rest not handed out
	template  port.Packet // the packets in rest, without Data
	segment   int         // bytes of each
}

// grow gives memory to n messages.
func (b *inbox) grow(n int) {
	more := n - b.slots
	data := make([]byte, more*recvBytes)
	for i := range more {
		v, at := &b.vectors[b.slots+i], b.slots+i
		v.Base = &data[i*recvBytes]
		v.SetLen(recvBytes)
		h := &b.headers[at].header
		h.Iov, h.Name, h.Control = v, &b.names[at][0], &b.control[at][0]
		h.SetIovlen(1)
	}
	b.slots = n
	b.reset(n)
}

// reset restores the sizes of name and control buffers in the first n messages.
func (b *inbox) reset(n int) {
	for i := range b.headers[:n] {
		h := &b.headers[i].header
		h.Namelen = nameMax
		h.SetControllen(recvControl)
	}
	b.next, b.end, b.full = 0, 0, false
}

// more reports whether packets are there the kernel has handed over already.
func (b *inbox) more() bool { return len(b.rest) > 0 || b.next < b.end }

// More implements port.Port.
func (p *Port) More() bool { return p.in.full || p.in.more() }

// Receive implements port.Port.
func (p *Port) Receive(packets []port.Packet) (n int, err error) {
	if err := p.over(); err != nil {
		return 0, err
	}
	b := &p.in
	if !b.more() {
		if err := p.fill(); err != nil {
			return 0, err
		}
	}
	for n < len(packets) {
		if len(b.rest) == 0 {
			if b.next == b.end {
				break
			}
			p.open(b.next)
			b.next++
		}
		k := min(b.segment, len(b.rest))
		packets[n] = b.template
		packets[n].Data = b.rest[:k:k]
		b.rest = b.rest[k:]
		n++
	}
	p.stats.Received += uint64(n)
	return n, nil
}

// fill takes messages from the kernel, as many as wait.
func (p *Port) fill() error {
	b := &p.in
	if b.full && b.slots < recvCalls {
		b.grow(2 * b.slots)
	} else {
		b.reset(b.end) // for fields overwritten by the kernel
	}
	s := p.paths[0]
	for range 8 { // errors of earlier packets come first
		n, _, errno := unix.Syscall6(unix.SYS_RECVMMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&b.headers)), uintptr(b.slots), 0, 0, 0)
		switch errno {
		case 0:
			b.end, b.full = int(n), int(n) == b.slots
			p.stats.RecvCalls++
			return nil
		case unix.EAGAIN, unix.EINTR:
			return nil
		case unix.EBADF, unix.ENOTSOCK, unix.EFAULT, unix.EINVAL:
			return os.NewSyscallError("recvmmsg", errno)
		}
		p.readFaults(s)
	}
	return nil
}

// open begins to hand out message i.
func (p *Port) open(i int) {
	b := &p.in
	h := &b.headers[i]
	b.rest = unsafe.Slice(b.vectors[i].Base, h.length)
	b.segment = max(int(h.length), 1)
	b.template = port.Packet{Peer: decodeName(&b.names[i])}
	p.decodeControl(b.control[i][:h.header.Controllen])
	p.stats.RecvBytes += uint64(h.length)
}

// decodeName reads a sockaddr_in or sockaddr_in6.
func decodeName(b *[nameMax]byte) netip.AddrPort {
	port := binary.BigEndian.Uint16(b[2:])
	if binary.NativeEndian.Uint16(b[:]) == unix.AF_INET {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:])), port)
	}
	return netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[8:])), port)
}

// decodeControl reads the control messages of the message being opened. A missing TOS byte is
// counted: the packet may be ECN-capable all the same.
func (p *Port) decodeControl(b []byte) {
	told, t := false, &p.in.template
	for len(b) > 0 {
		h, data, rest, err := unix.ParseOneSocketControlMessage(b)
		if err != nil {
			break
		}
		b = rest
		switch {
		case h.Level == unix.IPPROTO_IP && h.Type == unix.IP_TOS && len(data) > 0:
			t.TOS, told = data[0], true
		case h.Level == unix.IPPROTO_IPV6 && h.Type == unix.IPV6_TCLASS && len(data) >= 4:
			t.TOS, told = uint8(binary.NativeEndian.Uint32(data)), true
		case h.Level == unix.IPPROTO_UDP && h.Type == unix.UDP_GRO && len(data) >= 4:
			p.in.segment = max(int(binary.NativeEndian.Uint32(data)), 1)
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SO_RXQ_OVFL && len(data) >= 4:
			p.stats.Overflows = uint64(binary.NativeEndian.Uint32(data))
		}
	}
	if !told {
		p.stats.Untold++
	}
}
