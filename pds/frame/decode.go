// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"encoding/binary"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// The first nine bits, type and next_hdr, of the packets in nearly all traffic. The
// headers of each type have a fixed length, and after a check of length and opcode
// nothing can fail. [Parser.decode] and [Parser.Ethernet] read such packets in a
// straight line, with constant offsets, and leave the rest to [Parser.decodeAny], able
// to read all packets.
const (
	rudStandard   = uint16(pds.TypeRUDReq)<<4 | uint16(pds.NextRequestStd)
	rodStandard   = uint16(pds.TypeRODReq)<<4 | uint16(pds.NextRequestStd)
	rudCCStandard = uint16(pds.TypeRUDCCReq)<<4 | uint16(pds.NextRequestStd)
	ackCCNone     = uint16(pds.TypeACKCC)<<4 | uint16(pds.NextNone)

	// The first word of a request, less the word of an unordered request of the same
	// kind without flags, has no bits but these: the ordered type is the unordered type
	// plus 1. The PDC is open.
	orderedFlags = (rodStandard-rudStandard)<<7 | 1<<7 - 1 - uint16(pds.FlagSYN)

	standardLen   = pds.RequestLen + ses.StandardLen   // of both headers
	standardCCLen = pds.RequestCCLen + ses.StandardLen // of both headers
)

// decode reads the PDS header at the start of h and the semantic header behind. h lies
// at offset at in the caller's buffer, and ends with the data, or with a CRC behind the
// data. p changes only if both headers can be read.
//
//uetcc:hot nobounds
func (ps *Parser) decode(h []byte, at int, p *Packet) error {
	if len(h) < pds.AckCCLen || ps.CRC {
		return ps.decodeAny(h, at, p)
	}
	v := binary.BigEndian.Uint16(h)
	if (v-rudCCStandard<<7)&^orderedFlags == 0 {
		if isPlain(h, pds.RequestCCLen) {
			w := (*[standardCCLen]byte)(h)
			p.standard(pds.Type(v>>11), at, pds.RequestCCLen, at+len(h))
			p.Req.DecodeRestCC((*[pds.RequestCCLen]byte)(w[:]))
			p.Request.Standard.Decode(w[pds.RequestCCLen:])
			return nil
		}
	} else if v>>7 == ackCCNone {
		p.Type, p.Form = pds.TypeACKCC, pds.NextNone
		p.place(at, pds.AckCCLen, 0, len(h))
		p.Ack.Decode(h)
		return nil
	} else if (v-rudStandard<<7)&^orderedFlags == 0 {
		if isPlain(h, pds.RequestLen) {
			w := (*[standardLen]byte)(h)
			p.standard(pds.Type(v>>11), at, pds.RequestLen, at+len(h))
			p.Req.DecodeRest((*[pds.RequestLen]byte)(w[:]))
			p.Request.Standard.Decode(w[pds.RequestLen:])
			return nil
		}
	}
	return ps.decodeAny(h, at, p)
}

// isPlain reports whether the standard semantic header at b[at] is whole, no longer than
// [ses.StandardLen] and has the standard layout.
func isPlain(b []byte, at int) bool {
	return len(b) >= at+ses.StandardLen && ses.Opcode(b[at]&0x3f).IsPlain()
}

// standard notes type and offsets of a request with a PDS header of n bytes at offset at
// and a standard semantic header, with data up to end.
//
//uetcc:hot inlines
func (p *Packet) standard(t pds.Type, at, n, end int) {
	p.Type, p.Form = t, pds.NextRequestStd
	p.Req.Type, p.Req.Next, p.Request.Form = t, pds.NextRequestStd, pds.NextRequestStd
	p.PDS, p.SES, p.Payload, p.End = at, at+n, at+n+ses.StandardLen, end
}

// decodeAny is decode for all packets. The semantic header comes first, since the PDS
// header cannot fail once type and length are known.
//
//uetcc:hot
func (ps *Parser) decodeAny(h []byte, at int, p *Packet) (err error) {
	if ps.CRC {
		if h, err = untrail(h); err != nil {
			return err
		}
	}
	if len(h) < pds.PrologueLen {
		return p.decodeOther(h, at)
	}
	v := binary.BigEndian.Uint16(h)
	l := layouts[v>>11]
	n, m := int(l.len), 0
	if len(h) < n || n == 0 {
		return p.decodeOther(h, at)
	}
	form := pds.NextHdr(v >> 7 & 0xf)
	if l.forms>>form&1 == 0 {
		form = pds.NextNone
	}
	if pds.Type(v>>11) == pds.TypeCP {
		return p.decodeControl(h, at)
	}
	if form != pds.NextNone {
		if m, err = p.decodeSES(form, h[n:]); err != nil {
			return err
		}
	}
	p.Type, p.Form = pds.Type(v>>11), form
	p.place(at, n, m, len(h))
	p.decodeRare(h)
	return nil
}

// decodeSES reads a semantic header of any form.
//
//uetcc:hot
func (p *Packet) decodeSES(form pds.NextHdr, b []byte) (int, error) {
	if form.IsRequest() {
		return p.Request.Decode(form, b)
	}
	return p.Reply.Decode(form, b)
}

// A layout is the knowledge of [Parser.decode] about a packet type.
type layout struct {
	len   uint8  // bytes of the PDS header; 0: none, or not fixed
	forms uint16 // next_hdr values followed, a bit each
}

// layouts holds the layout of each type. A next_hdr assigned but not
// allowed on a type is not followed: no source says that such a header is present, and
// Validate reports the value. A reserved next_hdr is followed, into an error.
var layouts = func() (ls [32]layout) {
	const reserved = 0xffff &^ (1<<(pds.NextResponseDataSmall+1) - 1)
	for t := range pds.Type(len(ls)) {
		ls[t].len = uint8(t.HeaderLen())
		for next := range pds.NextHdr(16) {
			if t.Allows(next) || t != pds.TypeCP && reserved>>next&1 != 0 {
				ls[t].forms |= 1 << next
			}
		}
	}
	return ls
}()

// decodeRare reads the header of p.Type. Type and length of h are right.
func (p *Packet) decodeRare(h []byte) {
	switch p.Type {
	case pds.TypeACK:
		p.Ack.Ack.Decode(h)
	case pds.TypeACKCC:
		p.Ack.Decode(h)
	case pds.TypeACKCCX:
		p.AckCCX.Decode(h)
	case pds.TypeNACK:
		p.Nack.Nack.Decode(h)
	case pds.TypeNACKCCX:
		p.Nack.Decode(h)
	case pds.TypeCP:
		p.Control.Decode(h)
	case pds.TypeUUDReq:
		p.UUD.Decode(h)
	case pds.TypeRUDIReq, pds.TypeRUDIResp:
		p.RUDI.Decode(h)
	default:
		p.Req.Decode(h)
	}
}

// decodeControl reads a control packet, maybe longer than most.
func (p *Packet) decodeControl(h []byte, at int) error {
	var c pds.Control
	n, err := c.Decode(h)
	if err != nil {
		return err
	}
	p.Type, p.Form, p.Control = pds.TypeCP, pds.NextNone, c
	p.place(at, n, 0, len(h))
	return nil
}

// decodeOther reads a security header, or says why there is nothing to read.
func (p *Packet) decodeOther(h []byte, at int) error {
	t, err := pds.PeekType(h)
	if err != nil {
		return err
	}
	if t == pds.TypeTSS {
		return p.decodeTSS(h, at)
	}
	return pds.ErrTruncated
}

// decodeTSS reads a security header. The tag at the end is no data.
func (p *Packet) decodeTSS(h []byte, at int) error {
	var s pds.TSS
	n, err := s.Decode(h)
	if err != nil {
		return err
	}
	if len(h) < n+pds.TSSTagLen {
		return pds.ErrTruncated
	}
	p.Type, p.Form, p.TSS = pds.TypeTSS, pds.NextNone, s
	p.place(at, n, 0, len(h)-pds.TSSTagLen)
	return nil
}

// decodeTrimmed reads the PDS header at the start of h alone: a switch has cut off the
// rest, and perhaps a part of the semantic header.
func (p *Packet) decodeTrimmed(h []byte, at int) error {
	t, err := pds.PeekType(h)
	if err != nil {
		return err
	}
	n := t.HeaderLen()
	if n == 0 || len(h) < n {
		return pds.ErrTruncated
	}
	p.Type, p.Form = t, pds.NextNone
	p.place(at, n, 0, len(h))
	p.decodeRare(h)
	return nil
}

// place notes a PDS header of n bytes at offset at, a semantic header of m bytes behind,
// and data up to size bytes from at.
//
//uetcc:hot inlines
func (p *Packet) place(at, n, m, size int) {
	p.PDS, p.SES, p.Payload, p.End = at, at+n, at+n+m, at+size
}
