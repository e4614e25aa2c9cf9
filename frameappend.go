package uetcc

import (
	"encoding/binary"
	"slices"

	"github.com/uetcc/uetcc/pds"
)

// AppendTo appends the whole frame to b: Ethernet, IP, UDP or entropy header, the
// headers of the [Packet] (see [Packet.AppendTo]), and payload, which holds the
// trailer if there is one. TransportLen is computed, not read. IPv4 goes with
// DF, identification 0 and UDP checksum 0; IPv6 needs a UDP checksum and gets it.
// The whole must stay below 64 KiB.
func (f *Frame) AppendTo(b, payload []byte) []byte {
	at := len(b)
	ipHeader := ip6Len
	if f.isIP4() {
		ipHeader = ip4Len
	}
	transport, skip := at+etherLen+ipHeader, udpLen
	if f.Native {
		skip = pds.EntropyLen
	}
	b = slices.Grow(b, etherLen+ip6Len+udpLen)[:transport+skip]
	b = append(f.Packet.AppendTo(b), payload...)

	h, size := b[at:transport+skip], len(b)-transport
	*(*[6]byte)(h), *(*[6]byte)(h[6:]) = f.DstMAC, f.SrcMAC
	f.putTransport(h[len(h)-skip:], size)
	if ipHeader == ip4Len {
		binary.BigEndian.PutUint16(h[12:], etherIPv4)
		f.putIP4((*[ip4Len]byte)(h[etherLen:]), size)
		return b
	}
	binary.BigEndian.PutUint16(h[12:], etherIPv6)
	f.putIP6((*[ip6Len]byte)(h[etherLen:]), size)
	if !f.Native {
		f.sumUDP(b[transport:])
	}
	return b
}

// isIP4 reports whether both addresses are IPv4's.
func (f *Frame) isIP4() bool { return isMapped(&f.Src) && isMapped(&f.Dst) }

// isMapped reports whether a is ::ffff: and an IPv4 address.
func isMapped(a *[16]byte) bool {
	return binary.BigEndian.Uint64(a[:]) == 0 && binary.BigEndian.Uint32(a[8:]) == 0xffff
}

// putTransport writes the UDP header of size bytes in all, checksum at zero, or
// the entropy header.
func (f *Frame) putTransport(h []byte, size int) {
	if f.Native {
		binary.BigEndian.PutUint32(h, uint32(f.Entropy)<<16)
		return
	}
	binary.BigEndian.PutUint64(h, uint64(f.Entropy)<<48|pds.UDPPort<<32|uint64(uint16(size))<<16)
}

func (f *Frame) protocol() uint8 {
	if f.Native {
		return pds.IPProtocol
	}
	return protoUDP
}

// putIP4 writes the IPv4 header of size more bytes. The checksum is the sum of
// the words that are not zero, so it need not read them back.
func (f *Frame) putIP4(h *[ip4Len]byte, size int) {
	const dontFragment = 0x4000
	first := 0x4500_0000 | uint32(f.TOS)<<16 | uint32(uint16(ip4Len+size))
	life := uint16(hopLimit)<<8 | uint16(f.protocol())
	src, dst := binary.BigEndian.Uint32(f.Src[12:]), binary.BigEndian.Uint32(f.Dst[12:])
	sum := uint64(first) + dontFragment + uint64(life) + uint64(src) + uint64(dst)
	binary.BigEndian.PutUint64(h[:], uint64(first)<<32|dontFragment)
	binary.BigEndian.PutUint16(h[8:], life)
	binary.BigEndian.PutUint16(h[10:], ^fold(sum))
	binary.BigEndian.PutUint32(h[12:], src)
	binary.BigEndian.PutUint32(h[16:], dst)
}

// putIP6 writes the IPv6 header of size more bytes.
func (f *Frame) putIP6(h *[ip6Len]byte, size int) {
	binary.BigEndian.PutUint32(h[:], 6<<28|uint32(f.TOS)<<20)
	binary.BigEndian.PutUint16(h[4:], uint16(size))
	h[6], h[7] = f.protocol(), hopLimit
	*(*[16]byte)(h[8:]), *(*[16]byte)(h[24:]) = f.Src, f.Dst
}

// sumUDP writes the checksum of the datagram u, whose own is zero, over IPv6.
func (f *Frame) sumUDP(u []byte) {
	pseudo := uint64(len(u)) + protoUDP
	c := ^fold(sum(sum(sum(pseudo, f.Src[:]), f.Dst[:]), u))
	if c == 0 {
		c = 0xffff // zero means "none"
	}
	binary.BigEndian.PutUint16(u[6:], c)
}

// sum adds the 32-bit words of b to s, the last one filled up with zeros. Their
// sum has the same remainder as that of 16-bit words; with up to 64 KiB it does
// not overflow. (RFC 1071.)
func sum(s uint64, b []byte) uint64 {
	for ; len(b) >= 4; b = b[4:] {
		s += uint64(binary.BigEndian.Uint32(b))
	}
	var last [4]byte
	copy(last[:], b)
	return s + uint64(binary.BigEndian.Uint32(last[:]))
}

// fold adds the carries of s to its low 16 bits.
func fold(s uint64) uint16 {
	s = s>>32 + s&0xffff_ffff
	s = s>>16 + s&0xffff
	s = s>>16 + s&0xffff
	return uint16(s>>16 + s)
}
