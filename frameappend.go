package uetcc

import (
	"encoding/binary"

	"github.com/uetcc/uetcc/pds"
)

// AppendTo appends the whole frame to b: Ethernet, IP, UDP or entropy header, the
// headers of the [Packet] (see [Packet.AppendTo]), and payload, which holds the
// trailer if there is one. TransportLen is computed, not read. IPv4 goes with
// DF, identification 0 and UDP checksum 0; IPv6 needs a UDP checksum and gets it.
// The whole must stay below 64 KiB.
func (f *Frame) AppendTo(b, payload []byte) []byte {
	v4 := f.SrcAddr().Is4()
	typ, ipHeader := uint16(etherIPv6), ip6Len
	if v4 {
		typ, ipHeader = etherIPv4, ip4Len
	}
	b = append(append(b, f.DstMAC[:]...), f.SrcMAC[:]...)
	b = binary.BigEndian.AppendUint16(b, typ)
	ip := len(b)
	b = append(b, make([]byte, ipHeader)...)
	transport := len(b)
	b = f.appendTransport(b)
	b = append(f.Packet.AppendTo(b), payload...)
	if size := len(b) - transport; v4 {
		f.putIP4(b[ip:transport], size)
	} else {
		f.putIP6(b[ip:transport], size)
	}
	if !f.Native {
		f.finishUDP(b[transport:], v4)
	}
	return b
}

// appendTransport appends the UDP header, length and checksum at zero, or the
// entropy header.
func (f *Frame) appendTransport(b []byte) []byte {
	if f.Native {
		e := pds.Entropy{Value: f.Entropy}
		return e.AppendTo(b)
	}
	b = binary.BigEndian.AppendUint16(b, f.Entropy)
	b = binary.BigEndian.AppendUint16(b, pds.UDPPort)
	return append(b, 0, 0, 0, 0)
}

func (f *Frame) protocol() uint8 {
	if f.Native {
		return pds.IPProtocol
	}
	return protoUDP
}

// putIP4 writes the IPv4 header of size more bytes to h, which is zero.
func (f *Frame) putIP4(h []byte, size int) {
	const dontFragment = 0x4000
	h[0], h[1], h[8], h[9] = 0x45, f.TOS, hopLimit, f.protocol()
	binary.BigEndian.PutUint16(h[2:], uint16(ip4Len+size))
	binary.BigEndian.PutUint16(h[6:], dontFragment)
	copy(h[12:], f.Src[12:])
	copy(h[16:], f.Dst[12:])
	binary.BigEndian.PutUint16(h[10:], ^fold(sum(0, h)))
}

// putIP6 writes the IPv6 header of size more bytes to h, which is zero.
func (f *Frame) putIP6(h []byte, size int) {
	binary.BigEndian.PutUint32(h, 6<<28|uint32(f.TOS)<<20)
	binary.BigEndian.PutUint16(h[4:], uint16(size))
	h[6], h[7] = f.protocol(), hopLimit
	copy(h[8:], f.Src[:])
	copy(h[24:], f.Dst[:])
}

// finishUDP writes length and checksum of the datagram u.
func (f *Frame) finishUDP(u []byte, v4 bool) {
	binary.BigEndian.PutUint16(u[4:], uint16(len(u)))
	if v4 {
		return
	}
	pseudo := uint32(len(u)) + protoUDP
	c := ^fold(sum(sum(sum(pseudo, f.Src[:]), f.Dst[:]), u))
	if c == 0 {
		c = 0xffff // zero means "none"
	}
	binary.BigEndian.PutUint16(u[6:], c)
}

// sum adds the 16-bit words of b to s; an odd byte counts as the high one. b may
// have up to 64 KiB, so 32 bits do not overflow. (RFC 1071.)
func sum(s uint32, b []byte) uint32 {
	for ; len(b) >= 2; b = b[2:] {
		s += uint32(binary.BigEndian.Uint16(b))
	}
	if len(b) == 1 {
		s += uint32(b[0]) << 8
	}
	return s
}

// fold adds the carries of s to its low 16 bits.
func fold(s uint32) uint16 {
	s = s>>16 + s&0xffff
	return uint16(s>>16 + s)
}
