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
	sendCalls    = 32     // messages of one system call
	sendSegments = 64     // packets of one message: UDP_MAX_SEGMENTS of old kernels
	sendBytes    = 65_000 // of one message, less than IP's limit
	sendVectors  = 512
	nameMax      = unix.SizeofSockaddrInet6
	controlLen   = 64 // bytes of a message's control messages: the TOS byte, and the size of a segment
)

// mmsghdr is struct mmsghdr of Linux, with the same padding in Go and C.
type mmsghdr struct {
	header unix.Msghdr
	length uint32
}

// An outbox is room for the messages of one sendmmsg, each a run of packets of one size to one peer;
// the last packet may be shorter.
type outbox struct {
	headers [sendCalls]mmsghdr
	vectors [sendVectors]unix.Iovec
	names   [sendCalls][nameMax]byte
	control [sendCalls][controlLen]byte
	packets [sendCalls]int // of each message
	bytes   [sendCalls]int
}

func (o *outbox) init() {
	for i := range o.headers {
		h := &o.headers[i].header
		h.Name, h.Control = &o.names[i][0], &o.control[i][0]
	}
}

// Send implements port.Port.
func (p *Port) Send(packets []port.Packet) (taken int, err error) {
	if err := p.over(); err != nil {
		return 0, err
	}
	single := 0 // so many of the next packets go singly
	for taken < len(packets) {
		rest := packets[taken:]
		s := p.paths[int(rest[0].Path)%len(p.paths)]
		n := p.build(rest, s, single > 0)
		sent, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&p.out.headers)), uintptr(n), 0, 0, 0)
		if errno == 0 {
			if p.suspect { // packets that failed together go well singly
				p.segment, p.suspect = false, false
			}
			k := p.count(int(sent))
			taken += k
			single = max(single-k, 0)
			continue
		}
		first := p.out.packets[0]
		switch errno {
		case unix.EINTR:
		case unix.EAGAIN:
			p.stats.NoRoom++
			return taken, nil
		case unix.EBADF, unix.ENOTSOCK, unix.EFAULT:
			return taken, os.NewSyscallError("sendmmsg", errno)
		default:
			if p.refused(s, errno, &rest[0], first, &single) {
				taken += first
				single = max(single-first, 0)
			}
		}
	}
	return taken, nil
}

// count notes the messages the kernel has taken, and returns the number of packets inside.
func (p *Port) count(messages int) (n int) {
	for i := range messages {
		n += p.out.packets[i]
		p.stats.SentBytes += uint64(p.out.bytes[i])
	}
	p.stats.Sent += uint64(n)
	p.stats.SendCalls++
	return n
}

// build makes messages of as many packets as go out of one socket, and returns the number of
// messages.
func (p *Port) build(packets []port.Packet, s *socket, single bool) (n int) {
	o, v := &p.out, 0
	for n < sendCalls && len(packets) > 0 && p.paths[int(packets[0].Path)%len(p.paths)] == s {
		first := v
		k := 1
		if v+2 > sendVectors {
			break
		}
		size := len(packets[0].Data) + len(packets[0].Tail)
		v = o.add(v, &packets[0])
		total := size
		if p.segment && !single {
			for k < len(packets) && k < sendSegments && v+2 <= sendVectors {
				q, b := &packets[k], &packets[0]
				length := len(q.Data) + len(q.Tail)
				if length > size || length == 0 || total+length > sendBytes || q.TOS != b.TOS || q.Path != b.Path || q.Peer != b.Peer {
					break
				}
				v = o.add(v, q)
				total += length
				k++
				if length < size {
					break
				}
			}
		}
		h := &o.headers[n].header
		h.Iov = &o.vectors[first]
		h.SetIovlen(v - first)
		h.Namelen = p.putName(&o.names[n], packets[0].Peer)
		segment := 0
		if k > 1 {
			segment = size
		}
		h.SetControllen(p.putControl(&o.control[n], packets[0].TOS, segment))
		o.packets[n], o.bytes[n] = k, total
		packets = packets[k:]
		n++
	}
	return n
}

// add puts the bytes of a packet behind the first v vectors.
func (o *outbox) add(v int, p *port.Packet) int {
	for _, b := range [2][]byte{p.Data, p.Tail} {
		if len(b) > 0 {
			o.vectors[v].Base = &b[0]
			o.vectors[v].SetLen(len(b))
			v++
		}
	}
	return v
}

// putName writes a sockaddr_in or sockaddr_in6, and returns the length. The kernel refuses an address of the
// other IP version than the socket's.
func (p *Port) putName(b *[nameMax]byte, to netip.AddrPort) uint32 {
	binary.BigEndian.PutUint16(b[2:], to.Port())
	if p.family == unix.AF_INET && (to.Addr().Is4() || to.Addr().Is4In6()) {
		binary.NativeEndian.PutUint16(b[:], unix.AF_INET)
		a := as4(to)
		copy(b[4:], a[:])
		return unix.SizeofSockaddrInet4
	}
	binary.NativeEndian.PutUint16(b[:], unix.AF_INET6)
	a := to.Addr().As16()
	copy(b[8:], a[:])
	binary.NativeEndian.PutUint32(b[24:], 0)
	if to.Addr().IsLinkLocalUnicast() {
		binary.NativeEndian.PutUint32(b[24:], p.zone)
	}
	return unix.SizeofSockaddrInet6
}

// putControl writes the TOS byte and, unless it is 0, the size of a segment. The result is the length
// of both.
func (p *Port) putControl(b *[controlLen]byte, tos uint8, segment int) int {
	h := (*unix.Cmsghdr)(unsafe.Pointer(b))
	h.Level, h.Type = unix.IPPROTO_IP, unix.IP_TOS
	if p.family == unix.AF_INET6 {
		h.Level, h.Type = unix.IPPROTO_IPV6, unix.IPV6_TCLASS
	}
	h.SetLen(unix.CmsgLen(4))
	binary.NativeEndian.PutUint32(b[unix.CmsgLen(0):], uint32(tos))
	n := unix.CmsgSpace(4)
	if segment == 0 {
		return n
	}
	h = (*unix.Cmsghdr)(unsafe.Pointer(&b[n]))
	h.Level, h.Type = unix.IPPROTO_UDP, unix.UDP_SEGMENT
	h.SetLen(unix.CmsgLen(2))
	binary.NativeEndian.PutUint16(b[n+unix.CmsgLen(0):], uint16(segment))
	return n + unix.CmsgSpace(2)
}

// refused deals with an error of sending the first message, of n packets. True if the packets are
// done with; otherwise they are sent again, individually with single.
func (p *Port) refused(s *socket, errno unix.Errno, first *port.Packet, n int, single *int) bool {
	p.mtu = 0
	told := p.readFaults(s) // including errors of earlier packets, reported once by the kernel
	if p.retries++; told && errno != unix.EMSGSIZE && p.retries < 4 {
		return false
	}
	p.retries = 0
	if n > 1 && *single == 0 {
		switch errno {
		case unix.EINVAL, unix.EIO, unix.EOPNOTSUPP, unix.EMSGSIZE: // the device cannot, or a packet is too long
			*single, p.suspect = n, errno != unix.EMSGSIZE
			return false
		}
	}
	p.suspect = false
	p.stats.Refused += uint64(n)
	if errno == unix.ENOBUFS || errno == unix.ENOMEM { // dropped by a queue behind the socket
		return true
	}
	f := port.Fault{Peer: first.Peer, Err: faultError(errno)}
	if f.Err == port.ErrTooLong {
		if f.MTU = p.mtu; f.MTU == 0 {
			f.MTU = p.pathMTU(first.Peer)
		}
	}
	p.faults.push(f)
	p.stats.Faults++
	return true
}
