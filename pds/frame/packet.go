// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"errors"
	"fmt"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// ErrPayloadLength means a semantic header announcing more data than in the packet.
var ErrPayloadLength = errors.New("frame: payload_length exceeds the packet")

// A Packet is the headers of one UET packet with their offsets. A [Parser] fills a
// Packet in place; keep and reuse a Packet of some 500 bytes. Single writer.
//
// Type tells the valid PDS header, Form the valid semantic header; the remaining
// headers hold values of earlier packets. Some headers have a Type, Next or Form of
// their own: a Parser sets all alike, and so must the caller of [Packet.AppendTo],
// since the headers' own fields are written.
type Packet struct {
	Type    pds.Type // the valid PDS header below
	Form    ses.Form // the valid semantic header; FormNone: neither Request nor Reply
	Entropy uint16   // entropy header; [Parser.UDP] leaves Entropy to the caller, who knows the port

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
	case p.Form == ses.FormNone:
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
