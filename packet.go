package uetcc

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// ErrPayloadLength: a semantic header announces more data than the packet
// holds.
var ErrPayloadLength = errors.New("uetcc: payload_length exceeds the packet")

// A Packet is the headers of one UET packet and where they lie. A [Parser]
// fills it in place; keep one and use it again, it is some 500 bytes. Single
// writer.
//
// Type tells which of the PDS headers is meant, Form which of the semantic
// ones; the others hold what earlier packets left there.
type Packet struct {
	Type    pds.Type // the header below that was read
	Form    ses.Form // what follows it; FormNone: nothing, and Request and Reply are not meant
	Entropy uint16   // entropy header; [Parser.UDP] leaves it to the caller, who knows the port

	PDS     int // offset of the PDS or TSS header in the buffer that was parsed
	SES     int // offset of the semantic header; equals Payload if there is none
	Payload int // offset of the data
	End     int // offset of what comes after the data: a trailer, or nothing

	Req     pds.Request // RUD_REQ, ROD_REQ, RUD_CC_REQ, ROD_CC_REQ
	Ack     pds.AckCC   // ACK (of which only Ack.Ack is meant), ACK_CC
	AckCCX  pds.AckCCX  // ACK_CCX
	Nack    pds.NackCCX // NACK (of which only Nack.Nack is meant), NACK_CCX
	Control pds.Control // CP
	RUDI    pds.RUDI    // RUDI_REQ, RUDI_RESP
	UUD     pds.UUD     // UUD_REQ
	TSS     pds.TSS     // TSS; what follows may be encrypted and counts as data

	Request ses.Request // Form.IsRequest()
	Reply   ses.Reply   // Form.IsResponse()
}

// header is what the headers of package pds have in common.
type header interface {
	Decode(b []byte) (int, error)
	AppendTo(b []byte) []byte
	Validate() error
	fmt.Stringer
}

// header returns the PDS header that p.Type means, nil for a reserved type.
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

// decode reads the PDS header that h begins with and the semantic header behind
// it. h lies at offset at of what the caller parses, and ends where the data
// ends, or with a CRC behind that. p changes only if both headers can be read:
// the semantic header comes first, since the other one cannot fail once type
// and length are known.
func (p *Packet) decode(h []byte, at int, crc bool) (err error) {
	if crc {
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
	form := ses.Form(v >> 7 & 0xf)
	if l.forms>>form&1 == 0 {
		form = ses.FormNone
	}
	plain := form == ses.FormStandard && len(h) >= n+ses.StandardLen && ses.Opcode(h[n]&0x3f).IsPlain()
	if plain { // as most requests are; it cannot fail, so it may come last
		m = ses.StandardLen
	} else if form != ses.FormNone {
		if m, err = p.decodeSES(form, h[n:]); err != nil {
			return err
		}
	}
	p.Type, p.Form = pds.Type(v>>11), form
	p.place(at, n, m, len(h))
	if plain {
		p.Request.Form = form
		p.Request.Standard.Decode(h[n:])
	}
	switch {
	case p.Type.IsRequest():
		p.Req.Decode(h)
	case p.Type == pds.TypeACKCC:
		p.Ack.Decode(h)
	default:
		p.decodeRare(h)
	}
	return nil
}

// decodeSES reads a semantic header of any form.
func (p *Packet) decodeSES(form ses.Form, b []byte) (int, error) {
	if form.IsRequest() {
		return p.Request.Decode(form, b)
	}
	return p.Reply.Decode(form, b)
}

// A layout is what [Packet.decode] must know of a packet type.
type layout struct {
	len   uint8  // bytes of the PDS header; 0: none, or not fixed
	forms uint16 // next_hdr values that are followed, one bit each
}

// layouts holds the layout of each type. A next_hdr that is assigned but not
// allowed on a type is not followed: nothing says that such a header is there,
// and Validate reports it. A reserved one is, into the error that it is.
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

// decodeRare reads the header that p.Type means. Type and length of h are right.
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
	p.Type, p.Form, p.TSS = pds.TypeTSS, ses.FormNone, s
	p.place(at, n, 0, len(h)-pds.TSSTagLen)
	return nil
}

// decodeTrimmed reads the PDS header that h begins with alone: a switch has cut off the
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
	p.Type, p.Form = t, ses.FormNone
	p.place(at, n, 0, len(h))
	p.decodeRare(h)
	return nil
}

// place notes that a PDS header of n bytes lies at at, one of m bytes behind it,
// and data up to size bytes from at.
func (p *Packet) place(at, n, m, size int) {
	p.PDS, p.SES, p.Payload, p.End = at, at+n, at+n+m, at+size
}

// AppendTo appends the headers to b, without entropy header and data: the PDS
// header that p.Type means, then the semantic header that p.Form means. The
// next_hdr is that of the PDS header. A reserved Type or Form panics.
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
	case p.Form == ses.FormNone:
		return b
	case p.Form.IsRequest():
		return p.Request.AppendTo(b)
	default:
		return p.Reply.AppendTo(b)
	}
}

// Validate reports the first value or combination that the specification does
// not allow: an error of the PDS header's Validate, one of the semantic
// header's, or [ErrPayloadLength]. A reserved Type is [pds.ErrType].
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
		announced = int(p.Request.PayloadLength)
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

// String returns one line for people.
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
