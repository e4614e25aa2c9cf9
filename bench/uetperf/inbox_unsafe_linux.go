package main

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	batch      = 32   // packets of one system call
	packetMax  = 9216 // bytes of the largest
	controlMax = 128  // bytes: TOS and overflow; in a smaller one they would be missing without a word
)

// A packet is one as it was received. All of it belongs to the inbox.
type packet struct {
	data []byte
	from netip.AddrPort
	tos  uint8
}

// An inbox is room for what one recvmmsg brings. x/sys has no such call, and its recvmsg
// makes garbage of each packet's address.
type inbox struct {
	packets [batch]packet

	headers [batch]mmsghdr
	vectors [batch]unix.Iovec
	names   [batch][unix.SizeofSockaddrInet6]byte
	control [batch][controlMax]byte
	data    [batch][packetMax]byte
}

// mmsghdr is struct mmsghdr of Linux, in which Go and C agree about the padding.
type mmsghdr struct {
	header unix.Msghdr
	length uint32
}

func newInbox() *inbox {
	b := new(inbox)
	for i := range b.headers {
		b.vectors[i].Base = &b.data[i][0]
		b.vectors[i].SetLen(packetMax)
		h := &b.headers[i].header
		h.Iov, h.Name, h.Control = &b.vectors[i], &b.names[i][0], &b.control[i][0]
		h.SetIovlen(1)
	}
	return b
}

// receive fills b.packets with what has come, and returns their number.
func (s *socket) receive(b *inbox) (int, error) {
	for i := range b.headers { // what the kernel overwrites
		h := &b.headers[i].header
		h.Namelen = unix.SizeofSockaddrInet6
		h.SetControllen(controlMax)
	}
	n, _, errno := unix.Syscall6(unix.SYS_RECVMMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&b.headers)), batch, 0, 0, 0)
	switch {
	case errno == 0:
	case errors.Is(errno, unix.EAGAIN), errors.Is(errno, unix.EINTR):
		return 0, nil
	default:
		return 0, os.NewSyscallError("recvmmsg", errno)
	}
	for i := range b.packets[:n] {
		h := &b.headers[i]
		p := &b.packets[i]
		p.data = b.data[i][:h.length]
		p.from = decodeName(&b.names[i])
		p.tos = s.decodeControl(b.control[i][:h.header.Controllen])
	}
	return int(n), nil
}

// decodeName reads a sockaddr_in or sockaddr_in6.
func decodeName(b *[unix.SizeofSockaddrInet6]byte) netip.AddrPort {
	port := binary.BigEndian.Uint16(b[2:])
	if binary.NativeEndian.Uint16(b[:]) == unix.AF_INET {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:])), port)
	}
	return netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[8:])), port)
}

// decodeControl returns the TOS byte or traffic class. One that is missing is counted: it
// is not the same as a packet that is not ECN-capable.
func (s *socket) decodeControl(b []byte) (tos uint8) {
	told := false
	for len(b) > 0 {
		h, data, rest, err := unix.ParseOneSocketControlMessage(b)
		if err != nil {
			break
		}
		b = rest
		switch {
		case h.Level == unix.IPPROTO_IP && h.Type == unix.IP_TOS && len(data) > 0:
			tos, told = data[0], true
		case h.Level == unix.IPPROTO_IPV6 && h.Type == unix.IPV6_TCLASS && len(data) >= 4:
			tos, told = uint8(binary.NativeEndian.Uint32(data)), true
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SO_RXQ_OVFL && len(data) >= 4:
			s.overflows = binary.NativeEndian.Uint32(data)
		}
	}
	if !told {
		s.untold++
	}
	return tos
}
