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
	Bytes     int     `json:"bytes"`              // of data
	Headers   string  `json:"headers,omitempty"`  // all of them, for people
	Illegal   string  `json:"illegal,omitempty"`
	Malformed string  `json:"malformed,omitempty"`

	text string // what Print writes
}

// PrintJSON is [Print] with a line of JSON for each packet, with the fields of [Packet].
func PrintJSON(w io.Writer, r io.Reader, parser *frame.Parser) (Counts, error) {
	return each(w, r, parser, func(out *bufio.Writer, p *Packet) error { return json.NewEncoder(out).Encode(p) })
}

// describe fills p from f.
func (p *Packet) describe(f *frame.Frame) {
	d, e := pds.SplitTOS(f.TOS)
	p.Src, p.Dst, p.Entropy, p.DSCP, p.ECN = f.SrcAddr().String(), f.DstAddr().String(), f.Entropy, uint8(d), e.String()
	p.Trimmed, p.Type, p.Bytes, p.Headers, p.text = f.Trimmed != 0, f.Type.String(), f.End-f.Payload, f.Packet.String(), f.String()
	switch f.Type {
	case pds.TypeRUDReq, pds.TypeRODReq, pds.TypeRUDCCReq, pds.TypeRODCCReq:
		p.PSN = number(f.Req.PSN)
	case pds.TypeNACK, pds.TypeNACKCCX:
		p.PSN = number(f.Nack.PSN)
	case pds.TypeACK, pds.TypeACKCC:
		p.CACK = number(f.Ack.CACK)
	case pds.TypeACKCCX:
		p.CACK = number(f.AckCCX.CACK)
	}
}

func number(n pds.PSN) *uint32 {
	v := uint32(n)
	return &v
}
