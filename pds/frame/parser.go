// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"

	"github.com/uetcc/uetcc/pds"
)

// Errors of a [Parser], besides the errors of packages pds and ses.
var (
	// ErrNotUET: an Ethernet type, IP protocol or UDP port of something else.
	ErrNotUET = errors.New("frame: not a UET packet")

	// ErrIP: the IP or UDP header of a possible UET packet is cut short or contradictory, or
	// has IPv4 options, unused by UET.
	ErrIP = errors.New("frame: bad IP or UDP header")

	// ErrFragment: a fragment of a possible UET packet: the protocol is UET's, and in the
	// first fragment the port, too. UET sends with fragmentation forbidden; reassemble such
	// a packet before a [Parser] reads the result. Of IPv6 also a whole packet with a
	// fragment header (RFC 6946).
	ErrFragment = errors.New("frame: IP fragment")
)

// A Parser takes received packets apart. A Parser is configuration only: the zero value
// reads UET as registered, without trailer. Safe for concurrent use while nobody changes it.
//
// No method allocates. A method that returns an error leaves the [Packet] or [Frame]
// unchanged. For the legality of the values see [Packet.Validate].
//
// Lengths are checked against the whole packet. A packet cut by a capture can be read with
// zeros in place of the rest, as long as all headers are there; CRC then fails.
type Parser struct {
	Port     uint16    // UDP destination port; 0 means pds.UDPPort
	Protocol uint8     // IP protocol of UET without UDP; 0 means pds.IPProtocol
	DSCPs    pds.DSCPs // code points of trimmed packets; other fields do not matter here

	// CRC: whole packets without security header end in a CRC-32C. Ethernet and IP check the
	// CRC, see [pds.CRC]. UDP and Native cut the CRC off, lacking the addresses under
	// the CRC.
	CRC       bool
	LittleCRC bool // the CRC has the least significant byte first

	// Opener, if not nil, opens secured packets: Ethernet and IP read the contents, and
	// refuse every whole packet not secured, or not authentic, with the opener's error. The
	// buffer is decrypted in place. The parser is then for a single goroutine, as the opener
	// is.
	Opener Opener
}

// UDP reads b, the payload of a UDP datagram, into p. The errors are from packages pds and
// ses.
//
//uetcc:hot inlines
func (ps *Parser) UDP(b []byte, p *Packet) error { return ps.decode(b, 0, p) }

// Native reads b, the payload of an IP packet without UDP, into p. b begins with the entropy
// header. The errors are from packages pds and ses.
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

// Trimmed is UDP for a datagram cut by a switch: only the PDS header is read, and the
// remainder counts as data.
func (ps *Parser) Trimmed(b []byte, p *Packet) error { return p.decodeTrimmed(b, 0) }

// untrail returns h, the packet from the PDS header on, without the CRC at the end.
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

// checkCRC checks the CRC at the end of the IP packet ip, whose last n bytes begin with the
// PDS header.
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

// sourceAt is the offset of the source address in an IP packet with the given first byte.
func sourceAt(first uint8) int {
	if first>>4 == 6 {
		return 8
	}
	return 12
}

// anyFrame is Ethernet without the short cut.
//
//uetcc:hot
func (ps *Parser) anyFrame(b []byte, f *Frame) error {
	typ, at := etherType(b)
	if typ != etherIPv4 && typ != etherIPv6 {
		return ErrNotUET
	}
	if at < len(b) && (typ == etherIPv4) != (b[at]>>4 == 4) {
		return ErrIP
	}
	return ps.ip(b, at, f)
}

// etherType returns the type of an Ethernet frame behind up to two 802.1Q tags, and where the
// payload begins. The type of a frame cut short is 0.
func etherType(b []byte) (typ uint16, at int) {
	for at = etherLen; at <= len(b); at += 4 {
		typ = binary.BigEndian.Uint16(b[at-2:])
		if typ != etherVLAN && typ != etherQinQ || at == etherLen+2*4 {
			return typ, at
		}
	}
	return 0, len(b)
}

// IP reads the IPv4 or IPv6 packet b into f. Errors as from
// [Parser.Ethernet].
//
//uetcc:hot inlines
func (ps *Parser) IP(b []byte, f *Frame) error { return ps.ip(b, 0, f) }

// ip reads the IP packet at b[at].
//
//uetcc:hot
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

// refusal returns the error for the IP packet b, cut short or with a header unused by UET:
// [ErrNotUET] if protocol or port, where present in b, are not UET's.
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

// foreign returns the error for b, the payload of an IP packet of a protocol other than
// UET's; behind the fragment header of IPv6 may be UET.
func (ps *Parser) foreign(protocol uint8, b []byte) error {
	if protocol != protoFragment {
		return ErrNotUET
	}
	if len(b) < fragmentLen {
		return ErrIP
	}
	var transport []byte
	if binary.BigEndian.Uint16(b[2:])>>3 == 0 { // the first fragment
		transport = b[fragmentLen:]
	}
	if !isSkipped(b[0]) && !ps.mayBe(b[0], transport) {
		return ErrNotUET
	}
	return ErrFragment
}

// mayBe reports whether protocol, and the port in the transport header if present, are
// UET's.
func (ps *Parser) mayBe(protocol uint8, transport []byte) bool {
	if protocol == protoUDP {
		return len(transport) < 4 || ps.isPort(binary.BigEndian.Uint16(transport[2:]))
	}
	return protocol == ps.protocol()
}

// isPort reports whether port is the parser's.
func (ps *Parser) isPort(port uint16) bool { return port == cmp.Or(ps.Port, pds.UDPPort) }

func (ps *Parser) protocol() uint8 { return cmp.Or(ps.Protocol, pds.IPProtocol) }

// trimmedBy says the trimming of a packet with the TOS byte tos, 0 for a whole packet.
func (ps *Parser) trimmedBy(tos uint8) pds.NackCode { return ps.DSCPs.TrimmedBy(pds.DSCP(tos >> 2)) }

// A Sealer secures whole IP packets in native form, in place: a Domain of package pds/tss.
type Sealer interface {
	// Overhead returns the lengths of security header and tag.
	Overhead() (header, tag int)

	// Seal secures ip, with room inside for header and tag, under the source identifier ssi.
	Seal(ip []byte, ssi uint32) error
}

// An Opener opens whole IP packets in native form, in place: a Domain of package pds/tss.
type Opener interface {
	// Open sets h to the security header of ip. With an error h is unchanged.
	Open(ip []byte, h *pds.TSS) error
}

// Seal is [Frame.Wrap] for a secured frame, necessarily Native: the security header stands
// before packet, the tag behind payload, without CRC. The error is the sealer's; b is then
// returned unchanged.
func (f *Frame) Seal(b, packet, payload []byte, s Sealer, ssi uint32) ([]byte, error) {
	at := len(b)
	header, tag := s.Overhead()
	all := f.room(b)
	from := len(all)
	all = append(slices.Grow(all, header+len(packet)+len(payload)+tag)[:from+header], packet...)
	(&pds.TSS{SP: header == pds.TSSSSILen}).AppendTo(all[:from]) // so that no CRC is expected
	all = append(all, payload...)
	n := len(all)
	all = all[:n+tag]
	clear(all[n:])
	all = f.enclose(all, at, nil)
	if err := s.Seal(all[at+etherLen:], ssi); err != nil {
		return b[:at], err
	}
	return all, nil
}

// open opens the IP packet ip, whose PDS header would begin at offset at in the caller's
// buffer, and reads the contents.
func (ps *Parser) open(ip []byte, at, skip int, f *Frame) error {
	was := f.TSS
	if err := ps.Opener.Open(ip, &f.TSS); err != nil {
		return err
	}
	plain := Parser{Port: ps.Port, Protocol: ps.Protocol, DSCPs: ps.DSCPs}
	n := f.TSS.Len()
	if err := plain.decode(ip[skip+n:len(ip)-pds.TSSTagLen], at+n, &f.Packet); err != nil {
		f.TSS = was
		return err
	}
	return nil
}
