// SPDX-License-Identifier: Apache-2.0

package uetpcap

import (
	"bufio"
	"encoding/json"
	"io"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
)

// A Packet is a packet of a capture in the output of [PrintJSON]. An unreadable packet has only
// Number, Time and Malformed.
type Packet struct {
	Number    int     `json:"packet"` // in the capture, from 1
	Time      float64 `json:"time_s"` // since the first packet of the capture
	Src       string  `json:"src,omitempty"`
	Dst       string  `json:"dst,omitempty"`
	Entropy   uint16  `json:"entropy"`
	DSCP      uint8   `json:"dscp"`
	ECN       string  `json:"ecn,omitempty"`
	Trimmed   bool    `json:"trimmed,omitempty"`
	Type      string  `json:"type,omitempty"`
	PSN       *uint32 `json:"psn,omitempty"`      // of requests and refusals
	CACK      *uint32 `json:"cack_psn,omitempty"` // of acknowledgements
	SPDCID    uint16  `json:"spdcid,omitempty"`   // the sender's PDC
	DPDCID    uint16  `json:"dpdcid,omitempty"`   // the receiver's, unless it is being opened
	Resent    bool    `json:"resent,omitempty"`   // or the answer to what was
	Bytes     int     `json:"bytes"`              // of data
	Headers   string  `json:"headers,omitempty"`  // all of them, for people
	Illegal   string  `json:"illegal,omitempty"`
	Malformed string  `json:"malformed,omitempty"`

	text                   string // what Print writes
	request, nack, control bool
}

// PrintJSON is [Print] with a line of JSON for each packet, with the fields of [Packet].
func PrintJSON(w io.Writer, r io.Reader, parser *frame.Parser, keep ...Filter) (Counts, error) {
	return each(w, r, parser, keep, func(out *bufio.Writer, p *Packet) error { return json.NewEncoder(out).Encode(p) })
}

// describe fills p from f.
func (p *Packet) describe(f *frame.Frame) {
	d, e := pds.SplitTOS(f.TOS)
	p.Src, p.Dst, p.Entropy, p.DSCP, p.ECN = f.SrcAddr().String(), f.DstAddr().String(), f.Entropy, uint8(d), e.String()
	p.Trimmed, p.Type, p.Bytes, p.Headers, p.text = f.Trimmed != 0, f.Type.String(), f.End-f.Payload, f.Packet.String(), f.String()
	ids := func(src, dst pds.PDCID, flags pds.Flags) {
		p.SPDCID, p.DPDCID, p.Resent = uint16(src), uint16(dst), flags&pds.FlagRetx != 0
	}
	switch f.Type {
	case pds.TypeRUDReq, pds.TypeRODReq, pds.TypeRUDCCReq, pds.TypeRODCCReq:
		p.PSN, p.request = number(f.Req.PSN), true
		ids(f.Req.SPDCID, f.Req.DPDCID, f.Req.Flags)
	case pds.TypeNACK, pds.TypeNACKCCX:
		p.PSN, p.nack = number(f.Nack.PSN), true
		ids(f.Nack.SPDCID, f.Nack.DPDCID, f.Nack.Flags)
	case pds.TypeACK, pds.TypeACKCC:
		p.CACK = number(f.Ack.CACK)
		ids(f.Ack.SPDCID, f.Ack.DPDCID, f.Ack.Flags)
	case pds.TypeACKCCX:
		p.CACK = number(f.AckCCX.CACK)
		ids(f.AckCCX.SPDCID, f.AckCCX.DPDCID, f.AckCCX.Flags)
	case pds.TypeCP:
		p.control = true
		ids(f.Control.SPDCID, f.Control.DPDCID, f.Control.Flags)
	case pds.TypeRUDIReq, pds.TypeUUDReq:
		p.request = true
	}
}

func number(n pds.PSN) *uint32 {
	v := uint32(n)
	return &v
}
