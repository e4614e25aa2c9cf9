// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/internal/view"
	"github.com/uetcc/uetcc/pds"
)

// A target takes requests in: judges PSNs, keeps the order, and owes the answers.
type target struct {
	p     *Params
	mem   *memory
	pdc   []PDC
	stats *Stats
	reply *answers
	timer *timers

	in    inbound   // the packet being received
	turns queue     // PDCs with a buffered request whose turn has come
	holes []pds.PSN // by PDC, with RcvrInferLoss: the missing PSN named by the last NACK
	slow  bool      // the last answer that a request waited for took as long as a queue above TargetQDelay
}

// receiveRequest is the target's side of a data packet. Nothing changes before
// the packet has a PDC.
//
//uetcc:hot
func (m *Manager) receiveRequest(now int64, in *In, out []byte, r *Result) error {
	var q pds.Request
	if _, err := q.Decode(in.Packet); err != nil {
		return m.reply.malformed(err)
	}
	v := (*view.Request)(in.Packet)
	p := m.target.expect(v, in.Src)
	if p == nil || in.Trimmed != 0 || !q.Type.Allows(q.Next) {
		return m.receiveOther(now, in, &q, out, r)
	}
	m.target.await(now, p, v, in)
	r.ID = RxID{p.handle, q.PSN}
	r.follow(&q)
	r.Verdict = VerdictRequest
	return nil
}

// receiveOther takes in any request. Requests accepted by expect have a shorter way.
func (m *Manager) receiveOther(now int64, in *In, q *pds.Request, out []byte, r *Result) error {
	if err := q.Validate(); err != nil {
		return m.reply.malformed(err)
	}
	b := &m.target.in
	b.request(in, q)
	r.follow(q)
	if in.Trimmed != 0 {
		return m.target.receiveTrimmed(now, b, in.Trimmed, out, r)
	}
	p, err := m.context(now, b, out, r)
	if err != nil {
		return err
	}
	if p.state == StateQuarantine {
		return m.reply.resting(now, p, b, out, r)
	}
	if b.flags&pds.FlagSYN == 0 && !p.mayHave(b.psn) {
		return m.reply.outside(now, p, b, out, r)
	}
	if p.is(flagFailed) { // the data's message has failed here: an ACK would report an arrival
		m.reply.nackPDC(p, b, out, r, pds.NackClosingInErr)
		return ErrState
	}
	p.activeAt, p.resp.heard = now, true
	r.ID.PDC = p.handle
	if p.is(flagROD) != b.rod {
		m.reply.nackPDC(p, b, out, r, pds.NackPDCModeMismatch)
		return ErrMode
	}
	if p.ends(b.psn) {
		m.reply.nackPDC(p, b, out, r, pds.NackClosing)
		return ErrClosing
	}
	if c := q.ClearPSN(); c != q.PSN && !p.rx.reaches(c) {
		// The initiator has an answer to a request that never came here: the PDC is of the
		// target's former life, and earlier requests were delivered there.
		m.stats.BadClear++
		return ErrStale
	}
	m.target.clearTo(p, q.ClearPSN())
	return m.place(now, p, b, out, r)
}

// semanticLen is the length of the header each next_hdr announces.
var semanticLen = [16]int{pds.NextRequestSmall: 20, pds.NextRequestMedium: 32, pds.NextRequestStd: 44,
	pds.NextResponse: 12, pds.NextResponseData: 20, pds.NextResponseDataSmall: 12}

func payloadLen(n int, next pds.NextHdr) uint32 {
	return uint32(max(n-semanticLen[next&0xf], 0))
}

// receiveTrimmed answers a packet cut by a switch. The packet is not tracked and opens no
// PDC; the named PDC matters only as the sender of the answer, and for the credit asked for.
func (t *target) receiveTrimmed(now int64, b *inbound, code pds.NackCode, out []byte, r *Result) error {
	t.stats.Trimmed++
	if b.flags&pds.FlagSYN == 0 {
		if p := t.fromPeer(b.dpdcid, b.src, b.spdcid); p != nil {
			if p.rx.Classify(t.mem.far(p), b.psn, t.p.ranges) == arrivalNew { // else the credit asked for is of no use
				r.ID.PDC = p.handle
			}
			if t.holes != nil && b.psn == p.rx.Missing() { // the answer reports the hole
				t.holes[p.slot()] = b.psn
			}
			t.reply.nackPDC(p, b, out, r, code)
			return ErrTrimmed
		}
		t.stats.Unknown++
	}
	t.reply.nackStranger(now, b, out, r, code)
	return ErrTrimmed
}

// clearTo takes a CLEAR_PSN: responses up to CLEAR_PSN have been seen by the peer.
func (t *target) clearTo(p *PDC, c pds.PSN) {
	if !c.After(p.rx.ClearPSN()) {
		return
	}
	s := &t.mem.responses
	for i := p.resp.Head; i != 0 && !s.slot[i].psn.After(c); i = s.links.Next(i) {
		if s.slot[i].state != respStored {
			t.stats.BadClear++
			return
		}
	}
	if !p.rx.reaches(c) {
		t.stats.BadClear++
		return
	}
	if p.rx.released(c); p.resp.Head == 0 {
		return
	}
	for p.resp.Head != 0 && !s.slot[p.resp.Head].psn.After(c) {
		s.remove(&p.resp, p.resp.Head)
	}
	p.holdCACK(s)
}

// place sorts a request into the window and hands a new one up.
func (m *Manager) place(now int64, p *PDC, b *inbound, out []byte, r *Result) error {
	switch p.rx.Classify(m.mem.far(p), b.psn, m.p.ranges) {
	case arrivalNew:
	case arrivalOutside:
		return m.reply.outside(now, p, b, out, r)
	default:
		return m.duplicate(now, p, b, out, r)
	}
	ahead := b.psn.Diff(p.rx.Missing())
	lowest := ahead == 0
	if !m.mem.responses.available(&p.resp, lowest) || !lowest && m.mem.crowded(p, int(ahead)) {
		m.reply.nackPDC(p, b, out, r, pds.NackNoGtdDelAvail)
		return ErrNoStore
	}
	b.id = RxID{p.handle, b.psn}
	r.ID = b.id
	if p.is(flagROD) && (!lowest || p.is(flagTurn) && m.mem.turnDue(p) != 0) {
		return m.target.ahead(p, b, out, r)
	}
	b.awaited = true
	r.Verdict = VerdictRequest
	return nil
}

// crowded reports whether the packet of p that is so far ahead of the lowest missing one is not to have a response: with
// a third of the slots taken the missing packets have one each, and two unless those are few. What is kept above a missing
// packet no CLEAR frees, and with all slots there the missing packets got through one in a round trip.
func (m *memory) crowded(p *PDC, ahead int) bool {
	taken, spare := uint32(p.resp.shared), m.responses.spare
	if 2*taken <= spare {
		return false
	}
	few, missing := int(taken+spare)/32, ahead-p.rx.OOO(m.far(p))-1 // the lowest has a slot of its own
	return taken+uint32(max(missing, 0)+max(missing-few, 0)) >= spare
}

// outside refuses a packet whose PSN is not in the window, within limits. A packet of a different PDC with
// the PDCIDs of p is told so: refused for the PSN the packet would come again for ever.
func (w *answers) outside(now int64, p *PDC, b *inbound, out []byte, r *Result) error {
	w.stats.Outside++
	code := pds.NackPSNOORWindow
	switch {
	case b.flags&pds.FlagSYN != 0:
		code = b.beyond()
	case !p.mayHave(b.psn):
		w.nackStranger(now, b, out, r, pds.NackInvDPDCID)
		return ErrOutside
	}
	if w.limiter.allow(now, b.src) {
		w.nackPDC(p, b, out, r, code)
	} else {
		w.stats.Muted++
	}
	return ErrOutside
}

// beyond is the code for a SYN packet outside the window. One that a source may send before it knows the window, of
// DefaultMPR by default, is to be sent again: with a Range of 64 a thousand atomics at once failed with INVALID_SYN.
func (b *inbound) beyond() pds.NackCode {
	if uint32(b.psn-b.start) < defaultRange {
		return pds.NackPSNOORWindow
	}
	return pds.NackInvalidSYN
}

// mayHave reports whether the peer of p may have sent psn on p: no window reaches further. Any other PSN is
// of a PDC that this end has forgotten, where a stranger's SYN packet has opened p under the same PDCIDs.
func (p *PDC) mayHave(psn pds.PSN) bool { return uint32(psn-p.rx.Missing()+MaxRange) <= 2*MaxRange }

// ahead takes a packet of an ordered PDC ahead of the next.
func (t *target) ahead(p *PDC, b *inbound, out []byte, r *Result) error {
	if t.p.c.BufferROD {
		return t.buffer(p, b, out, r)
	}
	if p.is(flagGap) {
		return ErrOrder // once for each gap, until filled: the initiator's timeout does the rest
	}
	p.flags |= flagGap
	b.expected = p.rx.Missing()
	t.reply.nackPDC(p, b, out, r, pds.NackRODOOO)
	return ErrOrder
}

// duplicate answers a packet that has arrived before, never handed up again.
func (m *Manager) duplicate(now int64, p *PDC, b *inbound, out []byte, r *Result) error {
	m.stats.Duplicates++
	if n, closed := m.life.closeFilled(now, p, b, out); closed { // by the CLEAR_PSN
		r.Reply = n
		return ErrDuplicate
	}
	i := m.mem.responses.find(&p.resp, b.psn)
	again := b.flags&(pds.FlagRetx|pds.FlagSYN) != 0
	switch st := m.mem.responses.slot[i].state; {
	case st == respStored:
		r.Reply = m.reply.ackStored(p, i, b.echo(), &b.state, out)
	case !again:
		// The network made the copy: the first is or was answered (UE
		// Specification 1.0.x, section 3.5.12.5).
	case st == respBuffered:
		r.Reply = m.reply.ackStanding(p, b, out)
	case st == respPending:
		m.reply.nackPDC(p, b, out, r, pds.NackRcvdSESProcg)
	default:
		r.Reply = m.reply.ackAgain(p, b, out)
	}
	return ErrDuplicate
}
