// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/uetcc/uetcc/internal/checksum"
	"github.com/uetcc/uetcc/pds"
)

// AppendTo appends the whole frame to b: Ethernet, IP, UDP or entropy header, the
// headers of the [Packet] (see [Packet.AppendTo]), payload, and a CRC if f.CRC is set. Any
// other trailer is the end of payload. TransportLen is computed, not read. IPv4 goes with DF,
// identification 0; the UDP checksum is 0 (UE Specification 1.0.3, section 3.5.10.1) except
// with f.UDPSum over IPv6; still 0 in a packet with a CRC, as CRC and checksum would cover
// each other. The frame must stay below 64 KiB.
//
//uetcc:hot
func (f *Frame) AppendTo(b, payload []byte) []byte {
	if f.Native || f.CRC || f.Port != 0 || !f.isIP4() {
		return f.appendAny(b, payload)
	}
	at := len(b)
	if cap(b)-at < len(plainHead{}) {
		b = grow(b, plainLen+standardCCLen)
	}
	if f.Type == pds.TypeACKCC && f.Form == pds.NextNone { // the most frequent packet, of known length
		b = b[:at+len(plainHead{})]
		h := (*plainHead)(b[at:])
		f.putPlain((*[plainLen]byte)(h[:]), udpLen+pds.AckCCLen+len(payload))
		f.Ack.AppendTo(h[:plainLen])
	} else {
		b = f.Packet.AppendTo(b[:at+plainLen])
		f.putPlain((*[plainLen]byte)(b[at:]), len(b)-at-etherLen-ip4Len+len(payload))
	}
	if len(payload) == 0 {
		return b
	}
	return append(b, payload...)
}

// grow is out of line to keep callers with enough room small.
//
//go:noinline
func grow(b []byte, n int) []byte { return slices.Grow(b, n) }

// putPlain writes Ethernet, IPv4 and UDP header; size is the datagram's.
//
//uetcc:hot nobounds
func (f *Frame) putPlain(h *[plainLen]byte, size int) {
	*(*[6]byte)(h[:]) = f.DstMAC
	*(*[6]byte)(h[6:]) = f.SrcMAC
	binary.BigEndian.PutUint16(h[12:], etherIPv4)
	f.putIP4((*[ip4Len]byte)(h[etherLen:]), size, protoUDP, f.sumIP4(size, protoUDP))
	f.putUDP((*[udpLen]byte)(h[etherLen+ip4Len:]), size, pds.UDPPort)
}

// Wrap is [Frame.AppendTo] around headers written already: packet begins with the
// PDS header in place of f.Packet's headers; of f.Packet only Entropy is read. For an
// endpoint's datagram d pass d.Packet, d.Entropy and d's addresses; payload holds the bytes
// of d.Payload.
func (f *Frame) Wrap(b, packet, payload []byte) []byte {
	return f.enclose(append(f.room(b), packet...), len(b), payload)
}

// appendAny is AppendTo for IPv6, for packets without UDP and for packets with a CRC too.
func (f *Frame) appendAny(b, payload []byte) []byte {
	return f.enclose(f.Packet.AppendTo(f.room(b)), len(b), payload)
}

// front returns the lengths of IP and of UDP or entropy header.
func (f *Frame) front() (ip, skip int) {
	ip, skip = ip6Len, udpLen
	if f.isIP4() {
		ip = ip4Len
	}
	if f.Native {
		skip = pds.EntropyLen
	}
	return ip, skip
}

// room returns b with room behind b for the headers in front of the PDS header.
func (f *Frame) room(b []byte) []byte {
	ip, skip := f.front()
	return slices.Grow(b, etherLen+ip6Len+udpLen)[:len(b)+etherLen+ip+skip]
}

// enclose writes the headers in front of the PDS header into the room at b[at], and payload
// and trailer behind b.
func (f *Frame) enclose(b []byte, at int, payload []byte) []byte {
	ip, skip := f.front()
	transport := at + etherLen + ip
	b = append(b, payload...)
	crc := f.CRC && !isSecured(b[transport+skip:])

	h, size := b[at:transport+skip], len(b)-transport
	if crc {
		size += pds.CRCLen
	}
	*(*[6]byte)(h) = f.DstMAC
	*(*[6]byte)(h[6:]) = f.SrcMAC
	f.putTransport(h[len(h)-skip:], size)
	if ip == ip4Len {
		binary.BigEndian.PutUint16(h[12:], etherIPv4)
		f.putIP4((*[ip4Len]byte)(h[etherLen:]), size, f.protocol(), f.sumIP4(size, f.protocol()))
	} else {
		binary.BigEndian.PutUint16(h[12:], etherIPv6)
		f.putIP6((*[ip6Len]byte)(h[etherLen:]), size)
		if f.UDPSum && !f.Native && !crc {
			f.sumUDP(b[transport:])
		}
	}
	if crc {
		return f.appendCRC(b, at+etherLen)
	}
	return b
}

// appendCRC appends the CRC of the IP packet at b[ip].
func (f *Frame) appendCRC(b []byte, ip int) []byte {
	sum := pds.CRC(b[ip+sourceAt(b[ip]):])
	if f.LittleCRC {
		return binary.LittleEndian.AppendUint32(b, sum)
	}
	return binary.BigEndian.AppendUint32(b, sum)
}

// isIP4 reports whether both addresses are IPv4's.
func (f *Frame) isIP4() bool { return isMapped(&f.Src) && isMapped(&f.Dst) }

// isMapped reports whether a is ::ffff: and an IPv4 address.
func isMapped(a *[16]byte) bool {
	return binary.LittleEndian.Uint64(a[:]) == 0 && binary.LittleEndian.Uint32(a[8:]) == 0xffff<<16
}

// putTransport writes the UDP header of size bytes in all, checksum at zero, or
// the entropy header.
//
//uetcc:hot inlines
func (f *Frame) putTransport(h []byte, size int) {
	if f.Native {
		binary.BigEndian.PutUint32(h, uint32(f.Entropy)<<16)
		return
	}
	f.putUDP((*[udpLen]byte)(h), size, cmp.Or(f.Port, pds.UDPPort))
}

// putUDP writes the UDP header of size bytes in all, checksum at zero.
func (f *Frame) putUDP(h *[udpLen]byte, size int, port uint16) {
	binary.BigEndian.PutUint64(h[:], uint64(f.Entropy)<<48|uint64(port)<<32|uint64(uint16(size))<<16)
}

func (f *Frame) protocol() uint8 {
	if f.Native {
		return cmp.Or(f.Protocol, pds.IPProtocol)
	}
	return protoUDP
}

// putIP4 writes the IPv4 header of size more bytes.
//
//uetcc:hot inlines
func (f *Frame) putIP4(h *[ip4Len]byte, size int, protocol uint8, sum uint16) {
	binary.BigEndian.PutUint64(h[:], (ip4First+uint64(f.TOS)<<16+uint64(size))<<32|dontFragment)
	binary.BigEndian.PutUint32(h[8:], hopLimit<<24|uint32(protocol)<<16|uint32(sum))
	*(*[4]byte)(h[12:]) = [4]byte(f.Src[12:])
	*(*[4]byte)(h[16:]) = [4]byte(f.Dst[12:])
}

const (
	ip4First     = 0x4500<<16 | ip4Len // version, header length, total length
	dontFragment = 0x4000
)

// sumIP4 returns the checksum of the IPv4 header. Only words known not to be zero are added,
// without reading the header back.
//
//uetcc:hot inlines
func (f *Frame) sumIP4(size int, protocol uint8) uint16 {
	sum := ip4First + dontFragment + hopLimit<<8 + uint64(protocol) + uint64(f.TOS)<<16 + uint64(size)
	return ^checksum.Fold(sum + uint64(binary.BigEndian.Uint32(f.Src[12:])) + uint64(binary.BigEndian.Uint32(f.Dst[12:])))
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
	c := ^checksum.Fold(checksum.Add(checksum.Add(checksum.Add(pseudo, f.Src[:]), f.Dst[:]), u))
	if c == 0 {
		c = 0xffff // zero means "none"
	}
	binary.BigEndian.PutUint16(u[6:], c)
}

// Trim cuts an Ethernet frame as a switch does: keep bytes of its IP payload stay, and the code
// point becomes d. Length and checksum of the IP header follow, the UDP length does not, since it
// tells how long the packet was. A frame with no more than that is only marked, and a negative keep is 0.
// Up to two 802.1Q tags stay as they are. It works in place and returns what is left of b; the error is
// [ErrIP] for what is no IP packet, and b is as it was.
//
// Source: UE Specification 1.0.x section 4.1; keep is at least [pds.MinTrimmedUDP] or
// [pds.MinTrimmedNative].
func Trim(b []byte, keep int, d pds.DSCP) ([]byte, error) {
	kind, at := etherType(b)
	ip := b[at:]
	if len(ip) < ip4Len {
		return b, ErrIP
	}
	keep = min(max(keep, 0), len(b))
	switch {
	case kind == etherIPv4 && ip[0]>>4 == 4:
		head := int(ip[0]&0xf) * 4
		if head < ip4Len || len(ip) < head {
			return b, ErrIP
		}
		ip = ip[:min(len(ip), head+keep)]
		ip[1] = pds.TOS(d, pds.ECN(ip[1]&3))
		binary.BigEndian.PutUint16(ip[2:], uint16(min(int(binary.BigEndian.Uint16(ip[2:])), len(ip))))
		ip[10], ip[11] = 0, 0
		binary.BigEndian.PutUint16(ip[10:], ^checksum.Fold(checksum.Add(0, ip[:head])))
	case kind == etherIPv6 && ip[0]>>4 == 6 && len(ip) >= ip6Len:
		ip = ip[:min(len(ip), ip6Len+keep)]
		word := binary.BigEndian.Uint32(ip)
		tos := pds.TOS(d, pds.ECN(word>>20&3))
		binary.BigEndian.PutUint32(ip, word&^(0xff<<20)|uint32(tos)<<20)
		binary.BigEndian.PutUint16(ip[4:], uint16(min(int(binary.BigEndian.Uint16(ip[4:])), len(ip)-ip6Len)))
	default:
		return b, ErrIP
	}
	return b[:at+len(ip)], nil
}
