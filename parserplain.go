package uetcc

import (
	"encoding/binary"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// plainLen is what precedes the PDS header in a frame without tags and options.
const plainLen = etherLen + ip4Len + udpLen

// A plainHead is the front of such a frame, up to the end of the shortest packet
// that [Parser.Ethernet] reads in a straight line.
type plainHead [plainLen + pds.AckCCLen]byte

// Ethernet reads the frame b, without preamble and check sequence, into f. Up to
// two 802.1Q tags are skipped. Versions, lengths, protocol and port are checked
// and fragments refused; IPv4's and UDP's checksums are not looked at. The errors
// are [ErrNotUET], [ErrIP] and those of packages pds and ses.
func (ps *Parser) Ethernet(b []byte, f *Frame) error {
	if len(b) < len(plainHead{}) {
		return ps.anyFrame(b, f)
	}
	h := (*plainHead)(b)
	end := h.end(len(b))
	if end < len(plainHead{}) || !ps.isPlain(h) {
		return ps.anyFrame(b, f)
	}
	d := b[:end]
	switch v := binary.BigEndian.Uint16(h[plainLen:]); v >> 7 {
	case rudCCStandard, rodCCStandard:
		if len(d) >= plainLen+standardCCLen && isPlain(d[plainLen+pds.RequestCCLen]) {
			f.standard(v, plainLen, pds.RequestCCLen, end-plainLen)
			f.plain(h, end)
			f.Request.Standard.Decode(d[plainLen+pds.RequestCCLen:])
			f.Req.Decode(h[plainLen:])
			return nil
		}
	case rudStandard, rodStandard:
		if len(d) >= plainLen+standardLen && isPlain(d[plainLen+pds.RequestLen]) {
			f.standard(v, plainLen, pds.RequestLen, end-plainLen)
			f.plain(h, end)
			f.Request.Standard.Decode(d[plainLen+pds.RequestLen:])
			f.Req.Decode(h[plainLen:])
			return nil
		}
	case ackCCNone:
		f.Type, f.Form = pds.TypeACKCC, ses.FormNone
		f.place(plainLen, pds.AckCCLen, 0, end-plainLen)
		f.plain(h, end)
		f.Ack.Decode(h[plainLen:])
		return nil
	}
	return ps.anyFrame(b, f)
}

// end returns where the datagram ends in a frame of size bytes that holds UDP
// over IPv4, without tags, options and fragments, and with consistent lengths.
// Most frames are such, and their fields are in fixed places; for others it
// returns 0.
func (h *plainHead) end(size int) int {
	const typeVersion = etherIPv4<<8 | 0x45
	head, frag := binary.BigEndian.Uint64(h[12:]), binary.BigEndian.Uint32(h[20:])
	ip, udp := int(head>>16&0xffff), int(binary.BigEndian.Uint16(h[38:]))
	if head>>40 != typeVersion || frag&(fragment<<16|0xff) != protoUDP || etherLen+ip > size || ip4Len+udp > ip {
		return 0
	}
	return etherLen + ip4Len + udp
}

// isPlain reports whether the packet is for this parser, whole, and without
// trailer.
func (ps *Parser) isPlain(h *plainHead) bool {
	return !ps.CRC && ps.isPort(binary.BigEndian.Uint16(h[36:])) && !ps.isTrimmed(h[15])
}

// plain sets what is around the PDS header of a datagram that ends at end.
func (f *Frame) plain(h *plainHead, end int) {
	putMapped(&f.Src, [4]byte(h[26:]))
	putMapped(&f.Dst, [4]byte(h[30:]))
	f.TOS, f.Native, f.Trimmed = h[15], false, false
	f.TransportLen, f.Entropy = end-etherLen-ip4Len, binary.BigEndian.Uint16(h[34:])
}
