package pdc

import (
	"errors"

	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/pds"
)

// Errors in [Result]; a malformed packet has one of package pds.
var (
	ErrTrimmed   = errors.New("pdc: packet was trimmed")
	ErrMode      = errors.New("pdc: packet of another delivery mode than its PDC")
	ErrStart     = errors.New("pdc: SYN packet with another Start_PSN than its PDC")
	ErrDuplicate = errors.New("pdc: packet has arrived before")
	ErrOutside   = errors.New("pdc: PSN outside the window")
	ErrOrder     = errors.New("pdc: packet of an ordered PDC ahead of a gap")
	ErrNoStore   = errors.New("pdc: no room for a guaranteed response")
	ErrNoBuffer  = errors.New("pdc: no buffer for a packet ahead of a gap")
	ErrNeverSent = errors.New("pdc: acknowledges a packet that was never sent")
	ErrStale     = errors.New("pdc: speaks of something that is over")
	ErrIllegal   = errors.New("pdc: packet not allowed in this state")
	ErrClosing   = errors.New("pdc: PSN after the CLOSE_CMD")
	ErrSecurity  = errors.New("pdc: secured packet; remove the TSS header first")
)

// Receive takes a packet in. What it is, and what the caller has to do with it,
// is in r. An answer, if there is one, is in out, which must be as long as
// [Params.ReplyMax] says; r.Reply is its length, and it goes back to in.Src from in.Dst.
func (m *Manager) Receive(now int64, in *In, out []byte, r *Result) {
	*r = Result{}
	m.in.awaited = false
	if m.mem.events.free() < eventReserve {
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
		r.Err = m.malformed(err)
	case t.IsRequest():
		r.Err = m.receiveRequest(now, in, out, r)
	case t == pds.TypeACKCC:
		r.Err = m.receiveACK(now, t, in, r)
	default:
		r.Err = m.receiveRare(now, t, in, out, r)
	}
}

// ReceiveACK is [Manager.Receive] for an ACK_CC, which is never answered. Of in it looks only
// at Packet, Src and Trimmed, and of r it does not touch PktID and Buffer.
func (m *Manager) ReceiveACK(now int64, in *In, r *Result) {
	r.Verdict, r.Err, r.Reply, r.ID, r.Demand = VerdictDropped, nil, 0, RxID{}, Demand{}
	m.in.awaited = false
	if m.mem.events.free() < eventReserve {
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
		return m.receiveUUD(in, r)
	default:
		return ErrSecurity
	}
}

// malformed counts err.
func (m *Manager) malformed(err error) error {
	m.stats.Malformed++
	return err
}

// context finds the PDC of a request or control packet, or opens it. Without one
// the answer, if any, is written.
func (m *Manager) context(now int64, b *inbound, out []byte, r *Result) (*PDC, error) {
	if b.flags&pds.FlagSYN != 0 {
		return m.contextSYN(now, b, out, r)
	}
	p := m.byID(b.dpdcid)
	switch {
	case p == nil || p.state == StateClosed || p.peer != b.src:
		m.stats.Unknown++
		m.nackStranger(now, b, out, r, pds.NackInvDPDCID)
		return nil, ErrUnknown
	case p.peerID != b.spdcid && p.peerID != 0:
		m.stats.Unknown++
		m.nackStranger(now, b, out, r, pds.NackPDCHdrMismatch)
		return nil, ErrPeer
	case p.state == StateQuarantine:
		return p, nil
	case p.state == StatePending:
		// Its sender has the PDCID from the NEW_START_PSN, and starts as that says.
		if p.rx.Classify(b.psn, m.p.ranges) != arrivalNew {
			return nil, ErrStale
		}
		p.begun()
	}
	if p.is(flagUnproven) {
		p.flags &^= flagUnproven
		m.table.proves(p.handle)
	}
	if p.peerID == 0 {
		// One of an earlier PDC with this id must not say who the peer is.
		if p.rx.Classify(b.psn, m.p.ranges) == arrivalOutside {
			m.stats.Unknown++
			return nil, ErrStale
		}
		m.learn(p, b.spdcid)
	}
	return p, nil
}

func (m *Manager) contextSYN(now int64, b *inbound, out []byte, r *Result) (*PDC, error) {
	if !b.opens {
		code := pds.NackPDCModeMismatch // a control packet that opens nothing
		if r.Next != pds.NextNone {
			code = pds.NackPDCHdrMismatch // read data, before anything was asked for
		}
		m.nackStranger(now, b, out, r, code)
		return nil, ErrIllegal
	}
	p, code, err := m.openTarget(now, b)
	switch {
	case code != 0:
		m.nackStranger(now, b, out, r, code)
		return nil, err
	case err != nil:
		return nil, err
	case p.state == StateQuarantine:
		return nil, m.restingSYN(now, p, b, out, r)
	case p.tx.start != b.start && p.state != StatePending:
		m.nackPDC(p, b, out, r, pds.NackInvalidSYN)
		return nil, ErrStart
	case p.tx.start != b.start:
		n := b.nack(pds.NackNewStartPSN)
		n.SPDCID, n.Payload = p.handle.ID(), uint32(p.tx.start)
		r.Reply = m.putNACK(out, &n)
		return nil, ErrStart
	}
	p.begun()
	return p, nil
}

// begun notes that the Start_PSN has come that a PENDING target asked for.
func (p *PDC) begun() {
	if p.state == StatePending {
		p.state = StateEstablished
	}
}

// byID returns the PDC with an id, live or resting.
func (m *Manager) byID(id pds.PDCID) *PDC {
	if int(id) < len(m.pdc) {
		return &m.pdc[id]
	}
	return nil
}

// fromPeer returns the live PDC that a packet from src names, nil if there is none or its peer
// is another. The spdcid of a NACK may be 0, which says nothing.
func (m *Manager) fromPeer(dpdcid pds.PDCID, src Addr, spdcid pds.PDCID) *PDC {
	p := m.byID(dpdcid)
	if p == nil || !p.state.live() || p.peer != src || p.peerID != spdcid && p.peerID != 0 && spdcid != 0 {
		return nil
	}
	return p
}

// learn takes the peer's PDCID from the first packet that names it.
func (m *Manager) learn(p *PDC, id pds.PDCID) {
	p.peerID = id
	m.table.Learn(p.handle, id)
	if p.state == StateCreating {
		p.state = StateEstablished
		m.event(p, EventUp, CauseNone)
		m.measure(p)
	}
}

// event tells the layer above about the PDC itself.
func (m *Manager) event(p *PDC, k EventKind, c Cause) {
	m.mem.events.push(Event{Kind: k, PDC: p.handle, Cause: c})
}

// receiveRequest is the target's side of a data packet. Nothing changes before
// the packet has a PDC.
func (m *Manager) receiveRequest(now int64, in *In, out []byte, r *Result) error {
	var q pds.Request
	if _, err := q.Decode(in.Packet); err != nil {
		return m.malformed(err)
	}
	v := (*pds.RequestView)(in.Packet)
	p := m.Expect(v, in.Src)
	if p == nil || in.Trimmed != 0 || !q.Type.Allows(q.Next) {
		return m.receiveOther(now, in, &q, out, r)
	}
	m.await(now, p, v, in)
	r.ID = RxID{p.handle, q.PSN}
	r.follow(&q)
	r.Verdict = VerdictRequest
	return nil
}

// receiveOther takes in any request. The ones that Expect accepts have a shorter way.
func (m *Manager) receiveOther(now int64, in *In, q *pds.Request, out []byte, r *Result) error {
	if err := q.Validate(); err != nil {
		return m.malformed(err)
	}
	b := &m.in
	b.request(in, q)
	r.follow(q)
	if in.Trimmed != 0 {
		return m.receiveTrimmed(now, b, in.Trimmed, out, r)
	}
	p, err := m.context(now, b, out, r)
	if err != nil {
		return err
	}
	if p.state == StateQuarantine {
		return m.resting(now, p, b, out, r)
	}
	if p.is(flagFailed) { // what the data is for has failed here: an ACK would say that it has come
		m.nackPDC(p, b, out, r, pds.NackClosingInErr)
		return ErrState
	}
	p.activeAt, p.resp.heard = now, true
	r.ID.PDC = p.handle
	if p.is(flagROD) != b.rod {
		m.nackPDC(p, b, out, r, pds.NackPDCModeMismatch)
		return ErrMode
	}
	if p.ends(b.psn) {
		m.nackPDC(p, b, out, r, pds.NackClosing)
		return ErrClosing
	}
	if c := q.ClearPSN(); c != q.PSN && !p.rx.reaches(c) {
		// The initiator has an answer to what has never come here: it goes on with a
		// PDC of this target's former life, and the rest of it was delivered there.
		m.stats.BadClear++
		return ErrStale
	}
	m.clearTo(p, q.ClearPSN())
	return m.place(now, p, b, out, r)
}

// semanticLen is the length of the header that each next_hdr announces.
var semanticLen = [16]int{pds.NextRequestSmall: 20, pds.NextRequestMedium: 32, pds.NextRequestStd: 44,
	pds.NextResponse: 12, pds.NextResponseData: 20, pds.NextResponseDataSmall: 12}

func payloadLen(n int, next pds.NextHdr) uint32 {
	return uint32(max(n-semanticLen[next&0xf], 0))
}

// receiveTrimmed answers a packet that a switch has cut. It is not tracked and opens no
// PDC; the one that it names matters only as the sender of the answer, and for what the
// packet asks for.
func (m *Manager) receiveTrimmed(now int64, b *inbound, code pds.NackCode, out []byte, r *Result) error {
	m.stats.Trimmed++
	if b.flags&pds.FlagSYN == 0 {
		if p := m.fromPeer(b.dpdcid, b.src, b.spdcid); p != nil {
			if p.rx.Classify(b.psn, m.p.ranges) == arrivalNew { // else the credit that it asks for is of no use
				r.ID.PDC = p.handle
			}
			m.nackPDC(p, b, out, r, code)
			return ErrTrimmed
		}
		m.stats.Unknown++
	}
	m.nackStranger(now, b, out, r, code)
	return ErrTrimmed
}

// clearTo takes a CLEAR_PSN: responses up to it have been seen by the peer.
func (m *Manager) clearTo(p *PDC, c pds.PSN) {
	if !c.After(p.rx.ClearPSN()) {
		return
	}
	s := &m.mem.responses
	for i := p.resp.head; i != 0 && !s.slot[i].psn.After(c); i = s.slot[i].next {
		if s.slot[i].state != respStored {
			m.stats.BadClear++
			return
		}
	}
	if _, ok := p.rx.Clear(c); !ok {
		m.stats.BadClear++
		return
	}
	if p.resp.head == 0 {
		return
	}
	for p.resp.head != 0 && !s.slot[p.resp.head].psn.After(c) {
		s.remove(&p.resp, p.resp.head)
	}
	p.holdCACK(s)
}

// place sorts a request into the window and hands a new one up.
func (m *Manager) place(now int64, p *PDC, b *inbound, out []byte, r *Result) error {
	switch p.rx.Classify(b.psn, m.p.ranges) {
	case arrivalNew:
	case arrivalOutside:
		return m.outside(now, p, b, out, r)
	default:
		return m.duplicate(now, p, b, out, r)
	}
	lowest := b.psn == p.rx.Missing()
	if !m.mem.responses.available(&p.resp, lowest) {
		m.nackPDC(p, b, out, r, pds.NackNoGtdDelAvail)
		return ErrNoStore
	}
	b.id = RxID{p.handle, b.psn}
	r.ID = b.id
	if p.is(flagROD) && (!lowest || p.is(flagTurn) && m.due(p) != 0) {
		return m.ahead(now, p, b, out, r)
	}
	b.awaited = true
	r.Verdict = VerdictRequest
	return nil
}

// outside refuses a packet whose PSN is not in the window, within limits.
func (m *Manager) outside(now int64, p *PDC, b *inbound, out []byte, r *Result) error {
	m.stats.Outside++
	code := pds.NackPSNOORWindow
	if b.flags&pds.FlagSYN != 0 {
		code = pds.NackInvalidSYN
	}
	if m.limiter.allow(now, b.src) {
		m.nackPDC(p, b, out, r, code)
	} else {
		m.stats.Muted++
	}
	return ErrOutside
}

// ahead takes a packet of an ordered PDC that is not the next one.
func (m *Manager) ahead(now int64, p *PDC, b *inbound, out []byte, r *Result) error {
	if m.p.c.BufferROD {
		return m.buffer(p, b, out, r)
	}
	if p.is(flagGap) && now < deadline.After(p.gapAt, m.p.c.NackRetxTime) {
		return ErrOrder
	}
	p.flags |= flagGap
	p.gapAt = now
	b.psn = p.rx.Missing()
	m.nackPDC(p, b, out, r, pds.NackRODOOO)
	return ErrOrder
}

// duplicate answers a packet that has arrived before; it never goes up again.
func (m *Manager) duplicate(now int64, p *PDC, b *inbound, out []byte, r *Result) error {
	m.stats.Duplicates++
	if n, closed := m.closeFilled(now, p, b, out); closed { // by its CLEAR_PSN
		r.Reply = n
		return ErrDuplicate
	}
	i := m.mem.responses.find(&p.resp, b.psn)
	again := b.flags&(pds.FlagRetx|pds.FlagSYN) != 0
	switch st := m.mem.responses.slot[i].state; {
	case st == respStored:
		r.Reply = m.ackStored(p, i, b.echo(), &b.state, out)
	case !again:
		// The network made the copy: the first one is or was answered.
	case st == respBuffered:
		r.Reply = m.ackStanding(p, b, out)
	case st == respPending:
		m.nackPDC(p, b, out, r, pds.NackRcvdSESProcg)
	default:
		r.Reply = m.ackAgain(p, b, out)
	}
	return ErrDuplicate
}
