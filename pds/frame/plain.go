// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"encoding/binary"

	"github.com/uetcc/uetcc/pds"
)

// plainLen is the length in front of the PDS header in a frame without tags and options.
const plainLen = etherLen + ip4Len + udpLen

// A plainHead is the front of a plain frame, up to the end of the shortest packet read
// by [Parser.Ethernet] in a straight line.
type plainHead [plainLen + pds.AckCCLen]byte

// Ethernet reads the frame b, without preamble and check sequence, into f. Up to
// two 802.1Q tags are skipped. Versions, lengths, protocol and port are checked
// and fragments refused; IPv4's and UDP's checksums are ignored. The errors are
// [ErrNotUET], [ErrIP], [ErrFragment] and errors of packages pds and ses.
//
//uetcc:hot
func (ps *Parser) Ethernet(b []byte, f *Frame) error {
	if len(b) < len(plainHead{}) || ps.CRC || ps.Opener != nil {
		return ps.anyFrame(b, f)
	}
	h := (*plainHead)(b)
	end := etherLen + int(binary.BigEndian.Uint16(h[16:]))
	if end > len(b) || !h.isPlain(end) {
		return ps.anyFrame(b, f)
	}
	if ps.Port != 0 || uint16(ps.DSCPs.Trimmed)|uint16(ps.DSCPs.TrimmedLastHop)<<8 != 0 { // as in memory
		return ps.configured(b, h[15], f)
	}
	d := b[:end]
	if v := binary.BigEndian.Uint16(h[plainLen:]); (v-rudCCStandard<<7)&^orderedFlags == 0 {
		if isPlain(d, plainLen+pds.RequestCCLen) {
			f.plain(h, end)
			f.standard(pds.Type(v>>11), plainLen, pds.RequestCCLen, end)
			f.Req.DecodeRestCC((*[pds.RequestCCLen]byte)(h[plainLen:]))
			f.Request.Standard.Decode(d[plainLen+pds.RequestCCLen:])
			return nil
		}
	} else if v>>7 == ackCCNone && len(d) >= len(plainHead{}) {
		f.plain(h, end)
		f.Type, f.Form = pds.TypeACKCC, pds.NextNone
		f.PDS, f.SES, f.Payload, f.End = plainLen, plainLen+pds.AckCCLen, plainLen+pds.AckCCLen, end
		f.Ack.Decode(h[plainLen:])
		return nil
	} else if (v-rudStandard<<7)&^orderedFlags == 0 {
		if isPlain(d, plainLen+pds.RequestLen) {
			f.plain(h, end)
			f.standard(pds.Type(v>>11), plainLen, pds.RequestLen, end)
			f.Req.DecodeRest((*[pds.RequestLen]byte)(h[plainLen:]))
			f.Request.Standard.Decode(d[plainLen+pds.RequestLen:])
			return nil
		}
	}
	return ps.anyFrame(b, f)
}

// configured is Ethernet for a parser with a port or DSCPs of trimming, and a packet to
// [pds.UDPPort]. If neither matters for the packet the zero parser reads the same.
//
//uetcc:hot
func (ps *Parser) configured(b []byte, tos uint8, f *Frame) error {
	if ps.Port != 0 && ps.Port != pds.UDPPort || ps.trimmedBy(tos) != 0 {
		return ps.anyFrame(b, f)
	}
	var plain Parser
	return plain.Ethernet(b, f)
}

// isPlain reports whether the frame holds UDP to [pds.UDPPort] over IPv4 up to end,
// without tags, options and fragments, with consistent lengths, as in most frames:
// fields at fixed offsets. Words only compared are read in little-endian order, without
// byte swaps, and all at once, without branches.
//
//uetcc:hot inlines nobounds
func (h *plainHead) isPlain(end int) bool {
	const (
		typeVersion  = etherIPv4>>8 | 0x45<<16             // not the TOS behind them
		fragProtocol = ip4Fragment>>8 | 0xff<<8 | 0xff<<24 // not the TTL between them
		unfragmented = protoUDP << 24
	)
	return (binary.LittleEndian.Uint32(h[12:])&0xff_ffff^typeVersion)|
		(binary.LittleEndian.Uint32(h[20:])&fragProtocol^unfragmented)|
		(binary.BigEndian.Uint32(h[36:])^(pds.UDPPort<<16+uint32(end-etherLen-ip4Len))) == 0
}

// plain sets the fields around the PDS header of a datagram ending at end.
//
//uetcc:hot inlines nobounds
func (f *Frame) plain(h *plainHead, end int) {
	f.TOS, f.Native, f.Trimmed, f.Secured = h[15], false, 0, false
	f.TransportLen, f.Entropy = end-etherLen-ip4Len, binary.BigEndian.Uint16(h[34:])
	f.addresses4((*[8]byte)(h[26:]))
}
