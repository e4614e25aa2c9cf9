// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"encoding/binary"

	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/internal/enum"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
)

// ResponseKind is the kind of the layer above's answer to a request.
type ResponseKind uint8

const (
	// RespondDefault: done, and the initiator may be told by CACK alone.
	RespondDefault ResponseKind = iota

	// RespondGuaranteed: the initiator has to see the response, an error or data. The
	// response is kept until the initiator confirms.
	RespondGuaranteed

	// RespondLater: accepted; the response comes in a later call.
	RespondLater

	// RespondRefuse: not accepted, Code says why (NACK). Only as the first answer. Of a
	// buffered request: not now.
	RespondRefuse
)

var respondNames = [...]string{"default", "guaranteed", "later", "refuse"}

// String returns the kind in a word.
func (k ResponseKind) String() string { return enum.Name(respondNames[:], k) }

// Response is an answer to a request.
type Response struct {
	Kind ResponseKind
	Code pds.NackCode // RespondRefuse: NO_SES_MSG_AVAIL, NO_PKT_BUFFER and the like
	Next pds.NextHdr  // the type of Bytes; NextNone without Bytes

	// Bytes is the semantic response and its data, up to [ResponseMax], or 20 and
	// Config.MaxAckData if more. Bytes are copied, unless already in place in out.
	Bytes []byte

	Room  uint16   // RespondLater: so many bytes may come, if more than [ResponseMax]
	State AckState // for an answer in a later call; the first answer has In's State
}

// Respond answers a request handed up by Receive or [Manager.Replay]. The acknowledgement
// or NACK, if due, is written to out (see [ReplyMax]; longer with longer Bytes); the
// result is the length. Send the reply to the peer of the PDC as a control packet.
//
// The errors are [ErrUnknown] if the PDC has gone, [ErrStale] if nothing waits for the
// response, [ErrEvents] if the events must be drained first, and [ErrNoStore], after which
// a different answer may still be given: no room for an answer longer than [ResponseMax],
// a peer known only by SYN packets, or room taken by [Manager.Amend] for a second PDC.
// Under ROD answers are given in the order of requests.
func (m *Manager) Respond(now int64, id RxID, a *Response, out []byte) (int, error) {
	p := m.get(id.PDC)
	switch {
	case p == nil:
		return 0, ErrUnknown
	case len(out) < max(ReplyMax, pds.AckCCLen+len(a.Bytes)) || len(a.Bytes) > m.p.responseMax:
		return 0, ErrShortBuffer
	case m.target.in.awaited && m.target.in.id == id:
		if a.Kind == RespondDefault {
			m.target.in.awaited = false
			return m.respondDefault(now, p, &m.target.in, a, out), nil
		}
		if s := &m.mem.responses; a.Kind != RespondRefuse &&
			(!s.fits(p, a) || !s.available(&p.resp, id.PSN == p.rx.Missing())) {
			return 0, ErrNoStore
		}
		m.target.in.awaited = false
		return m.respondNow(now, p, &m.target.in, a, out), nil
	}
	return m.respondLate(now, p, id, a, out)
}

// respondNow settles the request just received.
func (m *Manager) respondNow(now int64, p *PDC, b *inbound, a *Response, out []byte) int {
	switch a.Kind {
	case RespondRefuse:
		if a.Code == pds.NackNewStartPSN {
			return m.doubt(now, p, b, out)
		}
		return m.reply.refuse(p, b, out, a.Code)
	case RespondGuaranteed:
		i := m.mem.hold(p, b, respStored)
		m.target.store(now, p, i, a)
		m.target.accept(p, b.psn, b.size, b.payload)
		p.rx.answers(b.flags&pds.FlagAR != 0)
		return m.reply.ackStored(p, i, b.echo(), &b.state, out)
	case RespondLater:
		m.target.postpone(now, m.mem.hold(p, b, respPending), a)
		first := m.target.accept(p, b.psn, b.size, b.payload)
		asked := m.reply.ackWanted(p, b.flags, b.ce) || first || m.reply.ackDue(p)
		if !asked || !first && !m.target.slow { // else the answer acknowledges; a source without the PDCID asks late about a lost one
			return 0
		}
		return m.reply.ackUnanswered(p, b, out)
	default:
		return m.respondDefault(now, p, b, a, out)
	}
}

// respondDefault settles a request with success, news that the initiator may learn from
// CACK alone, as nearly all are.
//
//uetcc:hot
func (m *Manager) respondDefault(now int64, p *PDC, b *inbound, a *Response, out []byte) int {
	first := m.target.accept(p, b.psn, b.size, b.payload)
	if n, closed := m.life.closeFilled(now, p, b, out); closed {
		return n
	}
	asked := m.reply.ackWanted(p, b.flags, b.ce) || first
	if m.target.infersLoss(p) {
		return m.target.nackLost(p, out)
	}
	if !asked && !m.reply.ackDue(p) {
		return 0
	}
	return m.reply.putACK(p, out, &ackSpec{
		psn: b.psn, flags: b.echo(), next: a.Next, bytes: a.Bytes, state: &b.state, rove: !asked,
	})
}

// infersLoss reports whether the lowest missing packet of p is lost by now, as RcvrInferLoss has
// it, and its source has not heard of that from here.
func (t *target) infersLoss(p *PDC) bool {
	hole := p.rx.Missing()
	return t.holes != nil && !p.is(flagROD) && t.holes[p.slot()] != hole && p.rx.MaxRcvd().Diff(hole) >= int32(t.p.c.RcvrInferLoss)
}

// nackLost tells the source of p that the lowest missing packet is lost, in place of an ACK: the
// next one says all that this one would have said.
func (t *target) nackLost(p *PDC, out []byte) int {
	hole := p.rx.Missing()
	t.holes[p.slot()] = hole
	return t.reply.putNACK(out, &pds.Nack{Code: pds.NackRcvrInferLoss, PSN: hole, SPDCID: p.handle.ID(), DPDCID: p.peerID})
}

// ackAsked reports whether an accepted request with a default response is to be
// acknowledged by itself. (UE Specification 1.0.x section 3.5, ACK generation.) An ACK
// request is obeyed at once also above a hole, as in the reference provider: the SACK
// tells the sender.
func (w *answers) ackAsked(f pds.Flags, ce bool) bool {
	return f&(pds.FlagAR|pds.FlagRetx|pds.FlagSYN) != 0 || ce && !w.p.c.NoAckOnECN
}

// ackWanted is ackAsked for a request the window of p has just accepted: also true for a
// request that closes the hole below an earlier request with AR.
func (w *answers) ackWanted(p *PDC, f pds.Flags, ce bool) bool {
	return p.rx.answers(f&pds.FlagAR != 0) || w.ackAsked(f, ce)
}

// ackDue reports whether so much has arrived on p an acknowledgement is due.
func (w *answers) ackDue(p *PDC) bool { return int64(p.ackBytes) >= w.p.ackAll }

// accept marks a request as received. first reports the first acceptance.
//
//uetcc:hot
func (t *target) accept(p *PDC, psn pds.PSN, size int64, payload uint32) (first bool) {
	first = p.rx.seen == seenNothing
	p.rx.Accept(t.mem.far(p), psn-p.rx.Missing())
	p.count(t.p, size, payload)
	p.flags &^= flagGap
	t.stats.Requests++
	if t.p.c.BufferROD {
		t.turn(p)
	}
	return first
}

// count notes the bytes of a received request.
//
//uetcc:hot inlines nobounds
func (p *PDC) count(params *Params, size int64, payload uint32) {
	p.rcvd += uint32(size)
	p.ackBytes += params.counts(payload)
}

// counts is what a request with so many bytes of payload adds to ack_gen_count.
//
//uetcc:hot inlines nobounds
func (p *Params) counts(payload uint32) uint32 { return max(payload, uint32(p.c.AckMinPktAdd)) }

// hold takes an available slot to note that CACK must not pass the request.
func (m *memory) hold(p *PDC, b *inbound, st respState) uint32 {
	s := &m.responses
	i := s.take(uint32(p.slot()), &p.resp)
	e := &s.slot[i]
	e.psn, e.state, e.len, e.hdr, e.flags = b.psn, st, 0, 0, b.echo()
	s.insert(&p.resp, i)
	p.holdCACK(s)
	return i
}

// store keeps the answer to the request in slot i until cleared by the peer.
func (t *target) store(now int64, p *PDC, i uint32, a *Response) {
	e := &t.mem.responses.slot[i]
	e.state, e.hdr = respStored, a.Next
	t.mem.responses.put(i, a.Bytes)
	at := &t.mem.askAt[p.slot()]
	*at = min(*at, deadline.After(now, clearReqWait*t.p.c.ClearTime))
	t.timer.aux(p, now, *at)
}

// respondLate answers a request accepted in an earlier call.
func (m *Manager) respondLate(now int64, p *PDC, id RxID, a *Response, out []byte) (int, error) {
	s := &m.mem.responses
	if m.mem.events.Free() == 0 {
		return 0, ErrEvents
	}
	i := s.find(&p.resp, id.PSN)
	buffered := s.slot[i].state == respBuffered
	if buffered {
		if n, done, err := m.target.respondBuffered(now, p, i, a, out); done {
			return n, err
		}
	} else if s.slot[i].state == respPending {
		m.target.postponed(now, i, a)
	}
	switch {
	case s.slot[i].state != respPending || a.Kind > RespondGuaranteed:
		return 0, ErrStale
	case a.Kind == RespondGuaranteed:
		return m.target.guaranteeLate(now, p, i, a, out)
	}
	p.activeAt = now
	echo := s.slot[i].flags
	s.remove(&p.resp, i)
	p.holdCACK(s)
	if n, closed := m.life.closeFilled(now, p, &inbound{state: a.State}, out); closed {
		return n, nil
	}
	if buffered && m.reply.moreDue(p) && !m.reply.ackAsked(echo, echo&pds.FlagM != 0) {
		return 0, nil
	}
	// The requester has waited: answer at once.
	return m.reply.putACK(p, out, &ackSpec{psn: id.PSN, flags: echo, next: a.Next, bytes: a.Bytes, state: &a.State}), nil
}

// postpone has the request in slot i wait for the answer that a promises.
func (t *target) postpone(now int64, i uint32, a *Response) {
	t.mem.responses.reserve(i, int(a.Room))
	binary.NativeEndian.PutUint64(t.mem.responses.slot[i].data[:], uint64(now)) // no data yet
}

// postponed takes the time that the answer a to the request in slot i took: the source is told, and where that
// was long the next requests are acknowledged before their answers.
func (t *target) postponed(now int64, i uint32, a *Response) {
	waited := now - int64(binary.NativeEndian.Uint64(t.mem.responses.slot[i].data[:]))
	t.slow = waited >= t.p.c.TargetQDelay
	if a.State.Type == pds.CCNSCC && a.State.Service == 0 {
		a.State.Service = uint16(nscc.ServiceTimeOf(waited))
	}
}

// guaranteeLate is respondLate for a response the initiator has to see.
func (t *target) guaranteeLate(now int64, p *PDC, i uint32, a *Response, out []byte) (int, error) {
	if !t.mem.responses.reserve(i, len(a.Bytes)) {
		return 0, ErrNoStore
	}
	p.activeAt = now
	t.store(now, p, i, a)
	return t.reply.ackStored(p, i, t.mem.responses.slot[i].flags, &a.State, out), nil
}

// Amend replaces the answer that [Manager.Respond] or [FastPath.Take] gave to a request a
// moment ago ([RespondDefault] or [RespondGuaranteed]), found wrong by the layer above. in is
// the packet as received on the PDC h, and the kind of a is RespondGuaranteed. The output of
// Amend in out replaces the acknowledgement written before, if any.
//
// Call Amend before the acknowledgement leaves, and before a later packet of h is received or
// answered: another acknowledgement would report success. The errors are [ErrUnknown] if the
// PDC has gone, [ErrStale] without such a request or after the answer has been seen,
// [ErrNoStore], [ErrShortBuffer], and errors of decoding.
func (m *Manager) Amend(now int64, h Handle, in *In, a *Response, out []byte) (int, error) {
	var q pds.Request
	if _, err := q.Decode(in.Packet); err != nil {
		return 0, err
	}
	p, s := m.get(h), &m.mem.responses
	switch {
	case p == nil:
		return 0, ErrUnknown
	case len(out) < max(ReplyMax, pds.AckCCLen+len(a.Bytes)) || len(a.Bytes) > m.p.responseMax:
		return 0, ErrShortBuffer
	case !p.rx.unseen(m.mem.far(p), q.PSN, m.p.ranges):
		return 0, ErrStale
	}
	i := s.find(&p.resp, q.PSN)
	switch {
	case i != 0 && s.slot[i].state != respStored:
		return 0, ErrStale
	case !s.fits(p, a) || i == 0 && !s.available(&p.resp, true): // lowest or not, Receive has seen to it
		return 0, ErrNoStore
	}
	b := &inbound{psn: q.PSN, flags: q.Flags, ce: in.CE, state: in.State} // m.in may wait for Respond
	if i == 0 {
		i = m.mem.hold(p, b, respStored)
	}
	m.target.store(now, p, i, a)
	return m.reply.ackStored(p, i, b.echo(), &b.state, out), nil
}
