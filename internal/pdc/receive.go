// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"errors"

	"github.com/uetcc/uetcc/internal/enum"
	"github.com/uetcc/uetcc/pds"
)

// Errors in [Result]; a malformed packet has an error of package pds.
var (
	ErrMode      = errors.New("pdc: packet of another delivery mode than its PDC")
	ErrStart     = errors.New("pdc: SYN packet with another Start_PSN than its PDC")
	ErrOutside   = errors.New("pdc: PSN outside the window")
	ErrNoStore   = errors.New("pdc: no room for a guaranteed response")
	ErrNoBuffer  = errors.New("pdc: no buffer for a packet ahead of a gap")
	ErrNeverSent = errors.New("pdc: acknowledges a packet that was never sent")
	ErrIllegal   = errors.New("pdc: packet not allowed in this state")
	ErrClosing   = errors.New("pdc: PSN after the CLOSE_CMD")
	ErrSecurity  = errors.New("pdc: secured packet; remove the TSS header first")
)

// Receive takes a packet in. The kind of the packet, and the caller's work, is in r. An
// answer, if any, is in out, of at least [Params.ReplyMax] bytes; r.Reply is the answer's
// length, and the answer goes back to in.Src from in.Dst.
//
//uetcc:hot
func (m *Manager) Receive(now int64, in *In, out []byte, r *Result) {
	*r = Result{}
	m.target.in.awaited = false
	if m.mem.events.free() < m.mem.reserve {
		r.Err = ErrEvents
		return
	}
	if len(out) < m.p.replyMax {
		r.Err = ErrShortBuffer
		return
	}
	m.stats.Received++
	switch t, err := pds.PeekType(in.Packet); {
	case err != nil:
		r.Err = m.reply.malformed(err)
	case t.IsRequest():
		r.Err = m.receiveRequest(now, in, out, r)
	case t == pds.TypeACKCC:
		r.Err = m.receiveACK(now, t, in, r)
	default:
		r.Err = m.receiveRare(now, t, in, out, r)
	}
}

// ReceiveACK is [Manager.Receive] for an ACK_CC, never answered. Only Packet, Src and Trimmed
// of in are read, and Buffer of r is not touched.
//
//uetcc:hot
func (f *FastPath) ReceiveACK(now int64, in *In, r *Result) {
	m := (*Manager)(f)
	r.Verdict, r.Err, r.Reply, r.ID, r.Demand = VerdictDropped, nil, 0, RxID{}, Demand{}
	m.target.in.awaited = false
	if m.mem.events.free() < m.mem.reserve {
		r.Err = ErrEvents
		return
	}
	m.stats.Received++
	r.Err = m.receiveACK(now, pds.TypeACKCC, in, r)
}

func (m *Manager) receiveRare(now int64, t pds.Type, in *In, out []byte, r *Result) error {
	switch t {
	case pds.TypeACK, pds.TypeACKCCX:
		return m.receiveACK(now, t, in, r)
	case pds.TypeNACK, pds.TypeNACKCCX:
		return m.receiveNACK(now, t, in, r)
	case pds.TypeCP:
		return m.receiveControl(now, in, out, r)
	case pds.TypeRUDIReq, pds.TypeRUDIResp:
		return m.receiveRUDI(now, in, out, r)
	case pds.TypeUUDReq:
		return m.reply.receiveUUD(in, r)
	default:
		return ErrSecurity
	}
}

// malformed counts err.
func (w *answers) malformed(err error) error {
	w.stats.Malformed++
	return err
}

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
