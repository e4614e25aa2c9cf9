// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

const (
	etherLen  = 14
	etherIPv4 = 0x0800
	etherIPv6 = 0x86dd
	etherVLAN = 0x8100
	etherQinQ = 0x88a8

	ip4Len   = 20
	ip6Len   = 40
	udpLen   = 8
	protoUDP = 17
	hopLimit = 64

	protoFragment = 44 // IPv6
	fragmentLen   = 8

	ip4Fragment = 0x3fff // more fragments, offset
	ip4Offset   = 0x1fff
)

// A Frame is a [Packet] with the Ethernet, IP and UDP headers around it.
// Offsets count from the start of the parsed buffer. Single writer.
type Frame struct {
	DstMAC, SrcMAC [6]byte  // for [Frame.AppendTo]; left alone by a Parser: the first bytes of any frame
	Src, Dst       [16]byte // addresses; IPv4 as ::ffff:a.b.c.d
	TOS            uint8    // DSCP and ECN, see pds.SplitTOS
	Native         bool     // rides on IP without UDP

	// Settings for [Frame.AppendTo] and [Frame.Wrap], as in a [Parser] for reading; a Parser
	// leaves the settings alone: they describe a network, not a frame.
	CRC       bool   // end in a CRC-32C
	LittleCRC bool   // least significant byte first; the reference provider has the most significant first
	Protocol  uint8  // IP protocol without UDP; 0 means pds.IPProtocol
	Port      uint16 // UDP destination port; 0 means pds.UDPPort
	UDPSum    bool   // over IPv6 a UDP checksum; UET has 0 there, not let through by every network

	// Trimmed is not 0 if by the DSCP a switch has cut the packet, with the code of
	// [pds.DSCPs.TrimmedBy]: only the PDS header was read.
	Trimmed      pds.NackCode
	Secured      bool // was sealed; TSS is its security header
	TransportLen int  // bytes of UDP, or without UDP of IP payload; see pds.NominalSize

	Packet
}

// addresses sets the addresses of f from an IP header.
func (f *Frame) addresses(ip []byte) {
	if ip[0]>>4 == 6 {
		f.Src, f.Dst = [16]byte(ip[8:]), [16]byte(ip[24:])
		return
	}
	f.addresses4((*[8]byte)(ip[12:]))
}

// addresses4 sets the addresses of f to ::ffff: and the IPv4 addresses in b, source and
// destination.
//
//uetcc:hot inlines nobounds
func (f *Frame) addresses4(b *[8]byte) {
	f.Src = mapped // singly: both at once go through the stack
	*(*[4]byte)(f.Src[12:]) = [4]byte(b[:])
	f.Dst = mapped
	*(*[4]byte)(f.Dst[12:]) = [4]byte(b[4:])
}

// mapped is ::ffff:0.0.0.0. The value never changes; a literal would be built on the stack.
var mapped = [16]byte{10: 0xff, 11: 0xff}

// SrcAddr returns Src in the standard library's form.
func (f *Frame) SrcAddr() netip.Addr { return netip.AddrFrom16(f.Src).Unmap() }

// DstAddr returns Dst in the standard library's form.
func (f *Frame) DstAddr() netip.Addr { return netip.AddrFrom16(f.Dst).Unmap() }

// String returns a line for people.
func (f *Frame) String() string {
	d, e := pds.SplitTOS(f.TOS)
	s := fmt.Sprintf("%v > %v ev=%d dscp=%d %v ", f.SrcAddr(), f.DstAddr(), f.Entropy, uint8(d), e)
	if f.Trimmed != 0 {
		s += "trimmed "
	}
	return s + f.Packet.String()
}

// ipInfo holds the offsets in an IP packet.
type ipInfo struct {
	payload  int // offset of the bytes behind the headers
	end      int // length of the whole packet
	protocol uint8
	tos      uint8
}

// parseIP4 reads the header of the IPv4 packet at the start of b. The only error is [ErrIP],
// also for a different version.
func parseIP4(b []byte) (h ipInfo, err error) {
	if len(b) < ip4Len || b[0] != 0x45 || binary.BigEndian.Uint16(b[6:])&ip4Fragment != 0 {
		return h, ErrIP
	}
	end := int(binary.BigEndian.Uint16(b[2:]))
	if end < ip4Len || end > len(b) {
		return h, ErrIP
	}
	return ipInfo{ip4Len, end, b[9], b[1]}, nil
}

// parseIP6 is parseIP4 for IPv6. Extension headers in front of UET are skipped.
func parseIP6(b []byte) (ipInfo, error) {
	if len(b) < ip6Len || b[0]>>4 != 6 {
		return ipInfo{}, ErrIP
	}
	end := ip6Len + int(binary.BigEndian.Uint16(b[4:]))
	if end > len(b) {
		return ipInfo{}, ErrIP
	}
	h := ipInfo{ip6Len, end, b[6], uint8(binary.BigEndian.Uint16(b) >> 4)}
	for isSkipped(h.protocol) {
		if end-h.payload < 8 {
			return ipInfo{}, ErrIP
		}
		h.protocol, h.payload = b[h.payload], h.payload+8*(1+int(b[h.payload+1]))
		if h.payload > end {
			return ipInfo{}, ErrIP
		}
	}
	return h, nil
}

// isSkipped reports whether an IPv6 header may be followed by UET: hop-by-hop
// options, routing, destination options, mobility.
func isSkipped(protocol uint8) bool {
	return protocol == 0 || protocol == 43 || protocol == 60 || protocol == 135
}

// ErrPayloadLength means a semantic header announcing more data than in the packet.
var ErrPayloadLength = errors.New("frame: payload_length exceeds the packet")

// A Packet is the headers of one UET packet with their offsets. A [Parser] fills a
// Packet in place; keep and reuse a Packet of some 400 bytes. Single writer.
//
// Type tells the valid PDS header, Form the valid semantic header; the remaining
// headers hold values of earlier packets. Some headers have a Type, Next or Form of
// their own: a Parser sets all alike, and so must the caller of [Packet.AppendTo],
// since the headers' own fields are written.
type Packet struct {
	Type    pds.Type    // the valid PDS header below
	Form    pds.NextHdr // the valid semantic header; NextNone: neither Request nor Reply
	Entropy uint16      // entropy header; [Parser.UDP] leaves Entropy to the caller, who knows the port

	PDS     int // offset of the PDS or TSS header in the parsed buffer
	SES     int // offset of the semantic header; equals Payload without one
	Payload int // offset of the data
	End     int // offset behind the data: of a trailer, or the end

	Req     pds.Request // RUD_REQ, ROD_REQ, RUD_CC_REQ, ROD_CC_REQ
	Ack     pds.AckCC   // ACK (only Ack.Ack is valid), ACK_CC
	AckCCX  pds.AckCCX  // ACK_CCX
	Nack    pds.NackCCX // NACK (only Nack.Nack is valid), NACK_CCX
	Control pds.Control // CP
	RUDI    pds.RUDI    // RUDI_REQ, RUDI_RESP
	UUD     pds.UUD     // UUD_REQ
	TSS     pds.TSS     // TSS; the bytes behind may be encrypted and count as data

	Request ses.Request // Form.IsRequest()
	Reply   ses.Reply   // Form.IsResponse()
}

// header is the interface of a [Packet] to any header of package pds.
type header interface {
	AppendTo(b []byte) []byte
	Validate() error
	fmt.Stringer
}

// header returns the PDS header of p.Type, nil for a reserved type.
//
//uetcc:hot
func (p *Packet) header() header {
	switch p.Type {
	case pds.TypeRUDReq, pds.TypeRODReq, pds.TypeRUDCCReq, pds.TypeRODCCReq:
		return &p.Req
	case pds.TypeACK:
		return &p.Ack.Ack
	case pds.TypeACKCC:
		return &p.Ack
	case pds.TypeACKCCX:
		return &p.AckCCX
	case pds.TypeNACK:
		return &p.Nack.Nack
	case pds.TypeNACKCCX:
		return &p.Nack
	case pds.TypeCP:
		return &p.Control
	case pds.TypeRUDIReq, pds.TypeRUDIResp:
		return &p.RUDI
	case pds.TypeUUDReq:
		return &p.UUD
	case pds.TypeTSS:
		return &p.TSS
	default:
		return nil
	}
}

// AppendTo appends the headers to b, without entropy header and data: the PDS header
// of p.Type, then the semantic header of p.Form. A reserved Type or Form panics.
//
//uetcc:hot
func (p *Packet) AppendTo(b []byte) []byte {
	switch {
	case p.Type.IsRequest():
		b = p.Req.AppendTo(b)
	case p.Type == pds.TypeACKCC:
		b = p.Ack.AppendTo(b)
	default:
		b = p.header().AppendTo(b)
	}
	switch {
	case p.Form == pds.NextNone:
		return b
	case p.Form.IsRequest():
		return p.Request.AppendTo(b)
	default:
		return p.Reply.AppendTo(b)
	}
}

// Validate reports the first value or combination the specification does
// not allow: an error of the PDS header's Validate, an error of the semantic
// header's Validate, or [ErrPayloadLength]. A reserved Type is [pds.ErrType].
func (p *Packet) Validate() error {
	h := p.header()
	if h == nil {
		return pds.ErrType
	}
	if err := h.Validate(); err != nil {
		return err
	}
	announced := 0
	switch {
	case p.Form.IsRequest():
		if err := p.Request.Validate(); err != nil {
			return err
		}
		if p.Request.Opcode != ses.OpcodeRead || p.End != p.Payload { // without data the length asked for by a read
			announced = int(p.Request.PayloadLength)
		}
	case p.Form.IsResponse():
		if err := p.Reply.Validate(); err != nil {
			return err
		}
		announced = int(p.Reply.PayloadLength)
	}
	if announced > p.End-p.Payload {
		return ErrPayloadLength
	}
	return nil
}

// String returns a line for people.
func (p *Packet) String() string {
	h := p.header()
	if h == nil {
		return p.Type.String()
	}
	s := h.String()
	switch {
	case p.Form.IsRequest():
		s += " | " + p.Request.String()
	case p.Form.IsResponse():
		s += " | " + p.Reply.String()
	}
	if n := p.End - p.Payload; n > 0 {
		s += fmt.Sprintf(" | %d bytes", n)
	}
	return s
}
