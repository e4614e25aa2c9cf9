// SPDX-License-Identifier: Apache-2.0

package codec

import "encoding/binary"

const (
	ipAt    = 14
	udpAt   = ipAt + 20
	ackAt   = udpAt + 8
	frame   = ackAt + Size
	uetPort = 4793
)

// Frame is an Ack in UDP, IPv4 and Ethernet.
type Frame struct {
	Src, Dst         uint32
	SrcPort, DstPort uint16
	TOS              uint8
	Ack              Ack
}

// checked reports whether b is an IPv4 packet without options, complete, and
// for UET.
func checked(b []byte) bool {
	return len(b) >= frame && binary.BigEndian.Uint16(b[12:]) == 0x0800 && b[ipAt] == 0x45 && b[ipAt+9] == 17 &&
		int(binary.BigEndian.Uint16(b[ipAt+2:])) <= len(b)-ipAt && binary.BigEndian.Uint16(b[udpAt+2:]) == uetPort
}

// Get is the floor for reading a frame.
func (f *Frame) Get(b []byte) bool {
	if !checked(b) {
		return false
	}
	f.TOS = b[ipAt+1]
	f.Src, f.Dst = binary.BigEndian.Uint32(b[ipAt+12:]), binary.BigEndian.Uint32(b[ipAt+16:])
	f.SrcPort, f.DstPort = binary.BigEndian.Uint16(b[udpAt:]), binary.BigEndian.Uint16(b[udpAt+2:])
	f.Ack.get((*[Size]byte)(b[ackAt:]))
	return true
}

// Put is the floor for writing a frame: everything but the Ethernet addresses,
// with the checksum of the IPv4 header and without UDP's.
func (f *Frame) Put(b []byte) bool {
	if len(b) < frame {
		return false
	}
	b = b[:frame:frame]
	binary.BigEndian.PutUint16(b[12:], 0x0800)
	ip, udp := b[ipAt:udpAt], b[udpAt:ackAt]
	binary.BigEndian.PutUint64(ip, 0x4500<<48|uint64(f.TOS)<<48|(frame-ipAt)<<32)
	binary.BigEndian.PutUint32(ip[8:], 64<<24|17<<16)
	binary.BigEndian.PutUint32(ip[12:], f.Src)
	binary.BigEndian.PutUint32(ip[16:], f.Dst)
	sum := uint32(0x4500) + uint32(f.TOS) + frame - ipAt + 64<<8 + 17 + f.Src>>16 + f.Src&0xffff + f.Dst>>16 + f.Dst&0xffff
	sum = sum>>16 + sum&0xffff
	binary.BigEndian.PutUint16(ip[10:], ^uint16(sum+sum>>16))
	binary.BigEndian.PutUint64(udp, uint64(f.SrcPort)<<48|uint64(f.DstPort)<<32|(8+Size)<<16)
	return f.Ack.Put(b[ackAt:])
}
