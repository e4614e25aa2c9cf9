package frame

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/uetcc/uetcc/pds"
)

// Errors of a [Parser], beside those of packages pds and ses.
var (
	// ErrNotUET: an Ethernet type, IP protocol or UDP port of something else.
	ErrNotUET = errors.New("frame: not a UET packet")

	// ErrIP: the IP or UDP header of what may be UET is cut short or contradicts
	// itself, or has what UET does not use: IPv4 options.
	ErrIP = errors.New("frame: bad IP or UDP header")

	// ErrFragment: a fragment of an IP packet that may be UET, since the protocol is its
	// own, and so is the port if this is the first one. UET sends with fragmentation
	// forbidden; such a packet has to be put together before a [Parser] reads it. Of IPv6
	// also a whole packet with a fragment header (RFC 6946).
	ErrFragment = errors.New("frame: IP fragment")
)

// A Parser takes received packets apart. It is configuration only: the zero
// value reads UET as it is registered, without trailer. Safe for concurrent use
// while nobody changes it.
//
// No method allocates. A method that returns an error leaves the [Packet] or
// [Frame] as it was. Whether the values are legal is another question: see
// [Packet.Validate].
//
// Lengths are checked against the whole packet. One that a capture has only a part of can
// be read with zeros in place of the rest, as long as all headers are there; CRC then fails.
type Parser struct {
	Port     uint16    // UDP destination port; 0 means pds.UDPPort
	Protocol uint8     // IP protocol of UET without UDP; 0 means pds.IPProtocol
	DSCPs    pds.DSCPs // code points of trimmed packets; the others do not matter here

	// CRC: whole packets without security header end in a CRC-32C. Ethernet and IP check it,
	// see [pds.CheckCRC]. UDP and Native cut it off: they do not see the addresses that it
	// covers too.
	CRC       bool
	LittleCRC bool // it has its least significant byte first

	// Opener, if not nil, opens secured packets: Ethernet and IP read what is inside, and refuse
	// every whole packet that is not secured, or not authentic, with the opener's error. What they
	// parse is decrypted in place. The parser is then for one goroutine, as the opener is.
	Opener Opener
}

// UDP reads b, the payload of a UDP datagram, into p. The errors are those of
// packages pds and ses.
func (ps *Parser) UDP(b []byte, p *Packet) error { return ps.decode(b, 0, p) }

// Native reads b, the payload of an IP packet without UDP, into p. It begins
// with the entropy header. The errors are those of packages pds and ses.
func (ps *Parser) Native(b []byte, p *Packet) error {
	var e pds.Entropy
	n, err := e.Decode(b)
	if err != nil {
		return err
	}
	if err = ps.decode(b[n:], n, p); err != nil {
		return err
	}
	p.Entropy = e.Value
	return nil
}

// Trimmed is UDP for a datagram that a switch has cut: it reads the PDS header
// alone, and counts what is left of the rest as data.
func (ps *Parser) Trimmed(b []byte, p *Packet) error { return p.decodeTrimmed(b, 0) }

// untrail returns h, which begins with the PDS header, without the CRC that ends it.
func untrail(h []byte) ([]byte, error) {
	switch {
	case isSecured(h):
		return h, nil
	case len(h) < pds.CRCLen:
		return nil, pds.ErrTruncated
	}
	return h[:len(h)-pds.CRCLen], nil
}

// isSecured reports whether h begins with a security header. Such a packet has no CRC.
func isSecured(h []byte) bool { return len(h) > 0 && pds.Type(h[0]>>3) == pds.TypeTSS }

// checkCRC checks the CRC that ends the IP packet ip, whose last n bytes begin with the PDS
// header.
func (ps *Parser) checkCRC(ip []byte, n int) error {
	if n < pds.CRCLen || isSecured(ip[len(ip)-n:]) {
		return nil
	}
	end := len(ip) - pds.CRCLen
	got := binary.BigEndian.Uint32(ip[end:])
	if ps.LittleCRC {
		got = bits.ReverseBytes32(got)
	}
	if got != pds.CRC(ip[sourceAt(ip[0]):end]) {
		return pds.ErrCRC
	}
	return nil
}

// sourceAt is where an IP packet that begins with this byte has its source address.
func sourceAt(first uint8) int {
	if first>>4 == 6 {
		return 8
	}
	return 12
}

// anyFrame is Ethernet without the short cut.
func (ps *Parser) anyFrame(b []byte, f *Frame) error {
	at := etherLen
	if len(b) < etherLen {
		return ErrNotUET
	}
	typ := binary.BigEndian.Uint16(b[12:])
	for range 2 {
		if typ != etherVLAN && typ != etherQinQ {
			break
		}
		if at += 4; len(b) < at {
			return ErrNotUET
		}
		typ = binary.BigEndian.Uint16(b[at-2:])
	}
	if typ != etherIPv4 && typ != etherIPv6 {
		return ErrNotUET
	}
	if at < len(b) && (typ == etherIPv4) != (b[at]>>4 == 4) {
		return ErrIP
	}
	return ps.ip(b, at, f)
}

// IP reads the IPv4 or IPv6 packet b into f. The errors are those of
// [Parser.Ethernet].
func (ps *Parser) IP(b []byte, f *Frame) error { return ps.ip(b, 0, f) }

// ip reads the IP packet at b[at].
func (ps *Parser) ip(b []byte, at int, f *Frame) error {
	h, err := parseIP4(b[at:])
	if err != nil {
		if h, err = parseIP6(b[at:]); err != nil {
			return ps.refusal(b[at:])
		}
	}
	from, end, skip := at+h.payload, at+h.end, udpLen
	size := end - from
	trimmed := ps.trimmedBy(h.tos)
	switch h.protocol {
	case protoUDP, ps.protocol():
	default:
		return ps.foreign(h.protocol, b[from:end])
	}
	if size < udpLen {
		return ErrIP
	}
	if h.protocol == protoUDP {
		u := b[from : from+udpLen]
		if !ps.isPort(binary.BigEndian.Uint16(u[2:])) {
			return ErrNotUET
		}
		size = int(binary.BigEndian.Uint16(u[4:]))
		if size < udpLen || from+size > end && trimmed == 0 {
			return ErrIP
		}
		end = min(end, from+size)
	} else {
		skip = pds.EntropyLen
	}
	pdsAt := from + skip
	if trimmed == 0 && ps.CRC {
		err = ps.checkCRC(b[at:end], end-pdsAt)
	}
	switch {
	case err != nil:
	case ps.Opener != nil && trimmed == 0:
		err = ps.open(b[at:end], pdsAt, pdsAt-at, f)
	case trimmed != 0:
		err = f.decodeTrimmed(b[pdsAt:end], pdsAt)
	default:
		err = ps.decode(b[pdsAt:end], pdsAt, &f.Packet)
	}
	if err != nil {
		return err
	}
	f.Entropy = binary.BigEndian.Uint16(b[from:]) // UDP source port, or entropy header
	f.TOS, f.Trimmed, f.Native, f.TransportLen = h.tos, trimmed, skip != udpLen, size
	f.Secured = ps.Opener != nil && trimmed == 0
	f.addresses(b[at:])
	return nil
}

// refusal returns the error for the IP packet b, whose header UET does not use or which
// is cut short: [ErrNotUET] if protocol or port, where b has them, are others'.
func (ps *Parser) refusal(b []byte) error {
	if len(b) < ip4Len {
		return ErrIP
	}
	switch b[0] >> 4 {
	case 4:
		return ps.refusal4(b)
	case 6:
		next := b[6]
		if !isSkipped(next) && next != protoFragment && !ps.mayBe(next, b[min(ip6Len, len(b)):]) {
			return ErrNotUET
		}
	}
	return ErrIP
}

// refusal4 is refusal for IPv4.
func (ps *Parser) refusal4(b []byte) error {
	at, part := int(b[0]&15)*4, binary.BigEndian.Uint16(b[6:])
	var transport []byte
	if part&ip4Offset == 0 && at >= ip4Len && at < len(b) {
		transport = b[at:]
	}
	if !ps.mayBe(b[9], transport) {
		return ErrNotUET
	}
	if end := int(binary.BigEndian.Uint16(b[2:])); part&ip4Fragment != 0 && at == ip4Len && end >= at && end <= len(b) {
		return ErrFragment
	}
	return ErrIP
}

// foreign returns the error for b, the payload of an IP packet of a protocol that is not
// UET's; behind the fragment header of IPv6 it may be.
func (ps *Parser) foreign(protocol uint8, b []byte) error {
	if protocol != protoFragment {
		return ErrNotUET
	}
	if len(b) < fragmentLen {
		return ErrIP
	}
	var transport []byte
	if binary.BigEndian.Uint16(b[2:])>>3 == 0 { // the first one
		transport = b[fragmentLen:]
	}
	if !isSkipped(b[0]) && !ps.mayBe(b[0], transport) {
		return ErrNotUET
	}
	return ErrFragment
}

// mayBe reports whether protocol, and the port in the transport header if it is there, are
// those of UET.
func (ps *Parser) mayBe(protocol uint8, transport []byte) bool {
	if protocol == protoUDP {
		return len(transport) < 4 || ps.isPort(binary.BigEndian.Uint16(transport[2:]))
	}
	return protocol == ps.protocol()
}

// isPort reports whether port is the one that the parser looks for.
func (ps *Parser) isPort(port uint16) bool { return port == cmp.Or(ps.Port, pds.UDPPort) }

func (ps *Parser) protocol() uint8 { return cmp.Or(ps.Protocol, pds.IPProtocol) }

// trimmedBy says what a packet with this TOS byte has been trimmed by, 0 if it is whole.
func (ps *Parser) trimmedBy(tos uint8) pds.NackCode { return ps.DSCPs.TrimmedBy(pds.DSCP(tos >> 2)) }
