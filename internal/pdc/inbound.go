// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/internal/enum"
	"github.com/uetcc/uetcc/pds"
)

// In is a packet that has arrived.
type In struct {
	Packet   []byte // from the PDS header on, without the trailer
	Src, Dst Addr
	Size     int64        // nominal, bytes: see [pds.NominalSize]
	CE       bool         // congestion experienced
	Trimmed  pds.NackCode // NackTrimmed or NackTrimmedLastHop by the DSCP, otherwise 0
	State    AckState     // the state carried by an acknowledgement to Src
}

// penalty is rc and rcv_cwnd_pend side by side.
//
//uetcc:hot inlines nobounds
func penalty(s *AckState) uint8 {
	if s.Restore {
		return s.Pend | 1<<7
	}
	return s.Pend & (1<<7 - 1)
}

// Verdict is the kind of a packet. The zero value: the packet is dropped, for the reason
// in Result.Err.
type Verdict uint8

const (
	VerdictDropped      Verdict = iota
	VerdictDone                 // taken care of; events may tell more
	VerdictRequest              // a new request: judge it and call Respond
	VerdictBuffered             // a request ahead of its turn: keep it in Buffer until Replay names it
	VerdictResponse             // acknowledges Handle, with the response behind the header: no event follows
	VerdictRUDIRequest          // a RUDI request: answer with RespondRUDI, or not at all
	VerdictRUDIResponse         // the response to the RUDI packet Handle
	VerdictDatagram             // an unreliable datagram
)

var verdictNames = [...]string{"dropped", "done", "request", "buffered", "response", "rudi-request", "rudi-response",
	"datagram"}

// String returns the verdict in a word.
func (v Verdict) String() string { return enum.Name(verdictNames[:], v) }

// RxID names a received request.
type RxID struct {
	PDC Handle
	PSN pds.PSN
}

// Demand is a source's demand for credit.
type Demand struct {
	Target uint32 // cumulative, 256 B units modulo 2^24
	CCCID  uint8
	Valid  bool
}

// Result is the result of [Manager.Receive].
type Result struct {
	Verdict Verdict
	Next    pds.NextHdr // the type of the header behind the PDS header
	Header  int         // length of the PDS header
	Reply   int         // bytes in out to send back, as a control packet; 0 none
	ID      RxID        // the request, or the PDC of any other packet
	Handle  uint64      // of the packet answered by a response, or refused by a NACK
	Demand  Demand
	Nack    pds.NackCode // the code with which packet Handle was refused, to be sent again later; 0 none
	Buffer  uint16       // of VerdictBuffered: 1 to [MemoryConfig].Buffers
	Err     error        // the reason for dropping the packet
}

// follow notes the content of a request besides the PDC.
//
//uetcc:hot inlines nobounds
func (r *Result) follow(q *pds.Request) {
	r.Next, r.Header = q.Next, q.Len()
	r.Demand = Demand{Target: q.CreditTarget, CCCID: q.CCCID, Valid: q.HasCC()}
}

// inbound is the common part of requests and control packets. The manager has a single
// inbound, so nothing of a packet moves to the heap.
type inbound struct {
	src, dst Addr
	size     int64
	state    AckState
	psn      pds.PSN
	start    pds.PSN     // with FlagSYN
	expected pds.PSN     // of a ROD_OOO
	id       RxID        // once the PDC is known
	name     requestName // of a request: for an answer made here
	payload  uint32      // bytes behind the semantic header
	same     uint32      // packets before of the same message, on an ordered PDC
	spdcid   pds.PDCID
	dpdcid   pds.PDCID
	flags    pds.Flags
	ce       bool
	rsv      bool
	rod      bool
	opens    bool // may open a PDC
	noop     bool // a NOOP
	clears   bool // with FlagSYN: a packet of the PDC has been answered
	awaited  bool // a request before Respond
}

// request fills b for a request, field by field: a literal would be built on the stack
// and copied.
func (b *inbound) request(in *In, q *pds.Request) {
	b.from(in)
	b.psn, b.flags, b.spdcid, b.dpdcid = q.PSN, q.Flags, q.SPDCID, q.DPDCID
	b.start, b.rsv, b.rod, b.opens = q.StartPSN(), q.Info.UseRsvPDC(), q.Type.IsROD(), q.Next <= pds.NextRequestStd
	b.clears = q.ClearOffset != 0 && q.ClearPSN().Diff(b.start) >= 0
	header := in.Packet[q.Len():]
	b.payload, b.name = payloadLen(len(header), q.Next), nameOf(q.Next, header)
	if b.rod {
		b.same = sameMessage(q.Next, header)
	}
}

// control fills b for a control packet.
func (b *inbound) control(in *In, c *pds.Control) {
	b.from(in)
	b.psn, b.flags, b.spdcid, b.dpdcid = c.PSN, c.Flags, c.SPDCID, c.DPDCID
	b.start, b.rsv, b.rod = c.StartPSN(), c.Info.UseRsvPDC(), c.Flags&pds.FlagISROD != 0
	b.noop = c.Ctl == pds.CtlNOOP
	b.opens, b.clears = b.noop || c.Ctl == pds.CtlNegotiation, false
}

// from takes over everything independent of the header.
func (b *inbound) from(in *In) {
	b.src, b.dst, b.size, b.state, b.ce = in.Src, in.Dst, in.Size, in.State, in.CE
	b.awaited, b.noop, b.name, b.same = false, false, 0, 0
}

// nack returns a NACK of the packet, from no PDC.
func (b *inbound) nack(code pds.NackCode) pds.Nack {
	return pds.Nack{Code: code, Flags: b.echo(), PSN: b.psn, DPDCID: b.spdcid}
}

// echo is the flags of an answer about the packet.
func (b *inbound) echo() pds.Flags {
	f := b.flags & pds.FlagRetx
	if b.ce {
		f |= pds.FlagM
	}
	return f
}
