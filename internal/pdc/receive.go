// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"errors"
	"math"

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
	if m.mem.events.Free() < m.mem.reserve {
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
	if m.mem.events.Free() < m.mem.reserve {
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

// context finds the PDC of a request or control packet, or opens a PDC. Without a PDC the
// answer, if any, is written.
func (m *Manager) context(now int64, b *inbound, out []byte, r *Result) (*PDC, error) {
	if b.flags&pds.FlagSYN != 0 {
		return m.contextSYN(now, b, out, r)
	}
	p := m.target.byID(b.dpdcid)
	switch {
	case p == nil || p.state == StateClosed || p.peer != b.src:
		m.stats.Unknown++
		m.reply.nackStranger(now, b, out, r, pds.NackInvDPDCID)
		return nil, ErrUnknown
	case p.peerID != b.spdcid && p.peerID != 0:
		m.stats.Unknown++
		m.reply.nackStranger(now, b, out, r, pds.NackPDCHdrMismatch)
		return nil, ErrPeer
	case p.state == StateQuarantine:
		return p, nil
	case p.state == StatePending:
		// The sender has the PDCID from the NEW_START_PSN, and starts as demanded there.
		if p.rx.Classify(m.mem.far(p), b.psn, m.p.ranges) != arrivalNew {
			return nil, ErrStale
		}
		p.begun(b)
	}
	if p.is(flagUnproven) {
		m.life.shown(now, p)
	}
	if p.peerID == 0 {
		// A packet of an earlier PDC with the same id must not name the peer.
		if p.rx.Classify(m.mem.far(p), b.psn, m.p.ranges) == arrivalOutside {
			m.stats.Unknown++
			return nil, ErrStale
		}
		m.life.learn(p, b.spdcid)
	}
	return p, nil
}

func (m *Manager) contextSYN(now int64, b *inbound, out []byte, r *Result) (*PDC, error) {
	if !b.opens {
		code := pds.NackPDCModeMismatch // a control packet unable to open a PDC
		if r.Next != pds.NextNone {
			code = pds.NackPDCHdrMismatch // read data, before anything was asked for
		}
		m.reply.nackStranger(now, b, out, r, code)
		return nil, ErrIllegal
	}
	p, code, err := m.openTarget(now, b)
	switch {
	case code == pds.NackNewStartPSN: // not limited: the NACK is shorter than the SYN packet
		r.Reply = m.start.askStart(now, b, out)
		return nil, err
	case code != 0:
		m.reply.nackStranger(now, b, out, r, code)
		return nil, err
	case err != nil:
		return nil, err
	case p.tx.start == b.start && p.state == StateQuarantine:
		return nil, m.reply.restingSYN(now, p, b, out, r)
	case p.tx.start != b.start && p.state != StatePending:
		if p.state != StateQuarantine {
			m.recovery.challenge(now, p) // maybe a restarted peer, locked out until IdleTime otherwise
		}
		r.Reply = m.start.refuseStart(now, p, b, out)
		return nil, ErrStart
	case p.tx.start != b.start:
		n := b.nack(pds.NackNewStartPSN)
		n.SPDCID, n.Payload = p.handle.ID(), uint32(p.tx.start)
		r.Reply = m.reply.putNACK(out, &n)
		return nil, ErrStart
	}
	if p.begun(b); p.is(flagUnproven) && m.p.c.Start == StartRandom1RTT {
		m.life.shown(now, p) // nobody else knows the Start_PSN
	}
	if p.is(flagUnproven) {
		n := uint8(tellsPerRequest)
		if r.Next == pds.NextNone {
			n = tellsPerControl
		}
		p.resp.tells = min(p.resp.tells, math.MaxUint8-n) + n
	}
	return p, nil
}

// begun notes the Start_PSN has come a PENDING target asked for. The packet says the delivery mode:
// somebody else may have sent the first packet.
func (p *PDC) begun(b *inbound) {
	if p.state == StatePending {
		p.state = StateEstablished
		p.set(flagROD, b.rod)
	}
}

// shown notes the proof that the peer of p receives.
func (l *life) shown(now int64, p *PDC) {
	p.flags &^= flagUnproven
	l.table.proves(p.handle)
	ctl := p.ctl
	if p.tx.Unsent() != 0 {
		l.sched.wake(p)
		if credit, _ := l.sched.lacks(now, p); credit { // requests before were not for p, which did not wait for credit alone
			ctl |= ctlCreditReq
		}
	}
	if ctl != 0 {
		l.sched.control(p, ctl)
	}
}

// byID returns the PDC with an id, live or resting.
//
//uetcc:hot inlines
func (t *target) byID(id pds.PDCID) *PDC {
	if int(id) < len(t.pdc) {
		return &t.pdc[id]
	}
	return nil
}

// fromPeer returns the live PDC named by a packet from src, nil if none or of a different
// peer. The spdcid of a NACK may be 0, without meaning.
func (t *target) fromPeer(dpdcid pds.PDCID, src Addr, spdcid pds.PDCID) *PDC {
	p := t.byID(dpdcid)
	if p == nil || !live(p.state) || p.peer != src || p.peerID != spdcid && p.peerID != 0 && spdcid != 0 {
		return nil
	}
	return p
}

// learn takes the peer's PDCID from the first packet naming the PDCID.
func (l *life) learn(p *PDC, id pds.PDCID) {
	p.peerID = id
	l.table.Learn(p.handle, id)
	if p.sendsControl() { // what has waited for the PDCID
		l.sched.control(p, 0)
	}
	if p.state == StateCreating {
		p.state = StateEstablished
		l.sched.measure(p)
	}
}
