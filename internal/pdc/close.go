// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"math/bits"

	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/pds"
)

// Close asks for h to be closed: no new message begins; when the open messages have ended,
// everything is released and no lock is left, the PDC goes. A target asks the initiator. The
// errors are [ErrUnknown] and [ErrEvents].
func (m *Manager) Close(now int64, h Handle) error {
	p, err := m.changing(h)
	if err != nil {
		return err
	}
	m.life.close(now, p)
	return nil
}

// close has p closed: an initiator begins, a target asks.
func (l *life) close(now int64, p *PDC) {
	if p.is(flagInitiator) {
		l.startClose(now, p)
	} else {
		l.askClose(now, p)
	}
}

// Abort gives h up: every packet on h fails with [CauseAborted]. The errors are
// [ErrUnknown] and [ErrEvents].
func (m *Manager) Abort(now int64, h Handle) error { return m.Fail(now, h, CauseAborted) }

// Fail is [Manager.Abort] with the caller's cause.
func (m *Manager) Fail(now int64, h Handle, c Cause) error {
	p, err := m.changing(h)
	if err != nil {
		return err
	}
	m.life.fail(now, p, c)
	return nil
}

// startClose takes an initiator out of service for new messages.
func (l *life) startClose(now int64, p *PDC) {
	if p.state != StateEstablished && p.state != StateCreating {
		return
	}
	p.state = StateQuiesce
	l.open--
	l.table.Retire(p.handle)
	l.mem.event(p, EventClosing, CauseNone)
	l.progress(now, p)
}

// progress moves a closing initiator on as far as open work allows.
func (l *life) progress(now int64, p *PDC) {
	if p.state == StateCloseAckWait && p.tx.done() {
		l.retire(now, p, CauseNone)
		return
	}
	if p.state != StateQuiesce && p.state != StateAckWait {
		return
	}
	p.state = nextCloseState(p.state, p.inUse(), !p.tx.done())
	if p.state != StateCloseAckWait {
		return
	}
	if p.peerID == 0 { // nothing was ever sent
		l.retire(now, p, CauseNone)
		return
	}
	l.sendClose(now, p)
}

// progressIfRoom is progress for callers that may be draining the events: without room for
// more events the next Tick does the work.
func (l *life) progressIfRoom(now int64, p *PDC) {
	if l.mem.events.Free() >= l.mem.reserve {
		l.progress(now, p)
		return
	}
	p.timerAt = now
	l.timer.wheel.Arm(uint32(p.slot()), now)
}

// sendClose queues CLOSE_CMD. CLOSE_CMD has a PSN and is tracked like a packet, and waits if
// all memory is in use, even the reserve for CLOSE_CMDs: not told, the target would keep the
// PDC for longer than the id rests here, and refuse a new PDC of the id.
func (l *life) sendClose(now int64, p *PDC) {
	p.state = StateCloseAckWait
	switch l.source.queueControl(p, pds.CtlCloseCmd) {
	case nil:
	case ErrNoMemory:
		p.state = StateAckWait
		l.timer.aux(p, now, deadline.After(now, l.p.c.RTOInit))
	default: // no PSN is left: the target's idle timer ends it
		l.retire(now, p, CauseClosed)
	}
}

// askClose has a target ask the initiator to close.
func (l *life) askClose(now int64, p *PDC) {
	if p.state != StateEstablished {
		return
	}
	p.state = StateCloseWait
	l.open--
	p.flags |= flagAskClose
	_ = l.source.queueControl(p, pds.CtlCloseReq) // without memory the flag asks
	p.resp.heard = false
	p.giveUpIn(now, l.p.patience())
	l.timer.schedule(p, now)
}

// closeCmd is the target's side of CLOSE_CMD. Above a hole CLOSE_CMD only counts as received,
// and acts when everything before has come, or when sent again. An initiator closes in order
// when all before is answered, so a repeating initiator has failed, and the missing packets
// never come.
func (l *life) closeCmd(now int64, p *PDC, b *inbound, out []byte, r *Result) error {
	if p.is(flagInitiator) {
		l.reply.nackPDC(p, b, out, r, pds.NackUnexpEvent)
		return ErrIllegal
	}
	if l.target.maySettle(p) {
		return nil // as if lost: a CACK over the CLOSE_CMD would acknowledge it
	}
	failed := false
	switch p.rx.Classify(l.mem.far(p), b.psn, l.p.ranges) {
	case arrivalNew:
		if p.is(flagClose) {
			return ErrStale
		}
		p.rx.Accept(l.mem.far(p), b.psn-p.rx.Missing())
		p.closePSN = b.psn
		p.flags |= flagClose
	case arrivalOutside:
		return l.reply.outside(now, p, b, out, r)
	default:
		if !p.is(flagClose) || p.closePSN != b.psn {
			return ErrStale
		}
		failed = b.flags&pds.FlagRetx != 0
	}
	if failed || l.mem.closable(p) {
		r.Reply = l.closeTarget(now, p, b, out)
	}
	return nil
}

// ends reports whether p, a target, has been told to close before psn.
func (p *PDC) ends(psn pds.PSN) bool { return p.is(flagClose) && psn.After(p.closePSN) }

// maySettle reports whether the target's packets are still unacknowledged, but may be
// acknowledged before long: the initiator, which never closes before having them, has said so
// in lost ACKs. The packets and the CLOSE_CMD are sent again, and until a packet has timed
// out as often as allowed nothing has failed.
func (t *target) maySettle(p *PDC) bool {
	rtos, ok := t.mem.owed(p)
	return ok && int(rtos) < t.p.maxRTOs
}

// closable reports whether everything before the CLOSE_CMD has come and the layer above has
// answered.
func (m *memory) closable(p *PDC) bool {
	if !p.is(flagClose) || !p.rx.Missing().After(p.closePSN) {
		return false
	}
	s := &m.responses
	for i := p.resp.Head; i != 0; i = s.links.Next(i) {
		if s.slot[i].state != respStored {
			return false
		}
	}
	return true
}

// closeFilled closes a target whose CLOSE_CMD had overtaken the packet in hand: one
// acknowledgement covers both. Responses possibly unseen by the initiator keep the PDC open:
// the CLOSE_CMD will come again.
func (l *life) closeFilled(now int64, p *PDC, b *inbound, out []byte) (int, bool) {
	if !p.is(flagClose) || !live(p.state) {
		return 0, false
	}
	if _, owed := l.mem.owed(p); !l.mem.closable(p) || p.resp.Head != 0 || owed {
		return 0, false
	}
	b.psn = p.closePSN
	return l.closeTarget(now, p, b, out), true
}

// closeTarget clears everything, acknowledges the CLOSE_CMD and forgets the PDC.
func (l *life) closeTarget(now int64, p *PDC, b *inbound, out []byte) int {
	if _, owed := l.mem.owed(p); owed {
		n := b.nack(pds.NackClosingInErr)
		n.SPDCID, n.DPDCID = p.handle.ID(), p.peerID
		k := l.reply.putNACK(out, &n)
		l.abandon(now, p, Cause(pds.NackClosingInErr))
		return k
	}
	l.mem.responses.freeAll(&p.resp)
	p.rx.Unhold()
	n := l.reply.ackClose(p, b, out)
	l.retire(now, p, CauseNone)
	return n
}

// owed reports whether a packet of the layer above is not released yet, and the number of
// timeouts of the first such packet.
func (m *memory) owed(p *PDC) (rtos uint8, ok bool) {
	for off := p.tx.base; off != p.tx.tail; off++ {
		if r, i := p.tx.at(m, off); r.released>>i&1 == 0 {
			if _, _, k := m.submitted(r, i); k.control() {
				continue
			}
			if int32(off-p.tx.next) < 0 {
				rtos = m.record(r, i).rtos
			}
			return rtos, true
		}
	}
	return 0, false
}

// ackClose acknowledges the CLOSE_CMD of p, the first time and again.
func (w *answers) ackClose(p *PDC, b *inbound, out []byte) int {
	if w.p.c.Start != StartExpected0RTT {
		return w.putACK(p, out, &ackSpec{psn: p.closePSN, flags: b.echo(), state: &b.state})
	}
	w.stats.ACKs++
	cack := p.rx.CACK()
	a := pds.AckExpected{
		Ack:      pds.Ack{Flags: b.echo(), SPDCID: p.handle.ID(), DPDCID: p.peerID, CACK: cack},
		Expected: p.rx.MaxRcvd() + 1,
	}
	a.Offset, _ = pds.AckOffset(cack, p.closePSN)
	return len(a.AppendTo(out[:0]))
}

// fail ends a PDC in error: every packet on p fails, and CLOSE_CMD tells a target
// with a possible context, unless the target's window ends before CLOSE_CMD's PSN.
func (l *life) fail(now int64, p *PDC, c Cause) {
	if p.state == StateCloseAckWait || p.is(flagFailed) || p.peerID == 0 || !p.is(flagInitiator) || p.tx.lastForNow() {
		l.abandon(now, p, c)
		return
	}
	l.leave(p)
	l.mem.failPackets(p, c)
	l.unbind(now, p)
	l.mem.event(p, EventClosing, c)
	p.flags = p.flags&^flagClearDue | flagFailed
	p.ctl = 0
	p.openMsgs, p.locks, p.unsubmitted = 0, 0, 0
	l.sendClose(now, p)
}

// abandon ends a PDC in error without a further word to the peer.
func (l *life) abandon(now int64, p *PDC, c Cause) {
	l.mem.failPackets(p, c)
	l.retire(now, p, c)
}

// leave takes p out of the PDCs that new messages may find.
func (l *life) leave(p *PDC) {
	if p.state >= StateCreating && p.state <= StateEstablished {
		l.open--
	}
	l.table.Retire(p.handle)
}

// failPackets reports the unreleased packets as failed to the layer above, and
// forgets the packets.
func (m *memory) failPackets(p *PDC, c Cause) {
	for off := p.tx.base; off != p.tx.tail; {
		r, mask, end := p.tx.span(m, off, p.tx.tail)
		first := off - off%rowLen
		for todo := mask &^ r.released; todo != 0; todo &= todo - 1 {
			i := uint32(bits.TrailingZeros64(todo))
			if h, _, k := m.submitted(r, i); !k.control() {
				m.push(Event{
					Kind: EventError, PDC: p.handle, PSN: p.tx.psn(first + i), Handle: h, Cause: c, Nack: m.said(p, c),
				})
			}
		}
		off = end
	}
	p.tx.free(m)
}

// retire frees the resources of p and puts the id into quarantine. The identity
// stays, so late packets of p are recognised. A PENDING PDC has taken no packet,
// and is forgotten.
func (l *life) retire(now int64, p *PDC, c Cause) {
	l.start.remember(p)
	l.leave(p)
	if c != CauseNone || p.is(flagFailed) {
		l.stats.Failed++
	}
	l.stats.Closed++
	p.tx.free(l.mem)
	l.mem.responses.freeAll(&p.resp)
	l.unbind(now, p)
	pending := p.state == StatePending
	p.state = StateQuarantine
	p.flags &^= flagUnproven
	p.ctl = 0
	p.rx.Unhold()
	l.timer.wheel.Cancel(uint32(p.slot()))
	p.timerAt = never
	l.mem.event(p, EventClosed, c)
	if pending {
		p.state = StateClosed
		l.table.forget(p.handle)
	} else {
		l.table.Release(now, p.handle)
	}
	l.freed = true
	l.arm(now)
}

// resting answers a request for a PDC in quarantine, within limits. First transmissions may be
// left over from the PDC's life: only one is answered. Every retransmission is answered, since
// the sender has to learn that nobody is there, and answers can be lost.
func (w *answers) resting(now int64, p *PDC, b *inbound, out []byte, r *Result) error {
	w.stats.Unknown++
	if !p.is(flagRefused) || b.flags&pds.FlagRetx != 0 {
		p.flags |= flagRefused
		w.nackStranger(now, b, out, r, pds.NackInvDPDCID)
	}
	return ErrUnknown
}

// restingSYN drops a late SYN packet of a PDC in quarantine: the packet must not open a second
// PDC. A retransmission comes from an initiator that has never heard of the PDC; after the
// quarantine the packet would open a PDC, and deliver the data a second time: the initiator is told.
func (w *answers) restingSYN(now int64, p *PDC, b *inbound, out []byte, r *Result) error {
	if b.flags&pds.FlagRetx != 0 {
		return w.resting(now, p, b, out, r)
	}
	w.stats.Resting++
	return ErrResting
}

// restingControl acknowledges a CLOSE_CMD again from the remembered state.
func (w *answers) restingControl(now int64, p *PDC, b *inbound, c *pds.Control, out []byte, r *Result) error {
	if c.Ctl != pds.CtlCloseCmd || !p.is(flagClose) || b.psn != p.closePSN {
		p.flags &^= flagRefused // what asks for credit or an acknowledgement is repeated without a mark
		return w.resting(now, p, b, out, r)
	}
	r.Reply = w.ackClose(p, b, out)
	r.Verdict = VerdictDone
	return nil
}

// lapseUnit and lapseMax, ns, are the unit and the longest time of a lapse.
const (
	lapseUnit = 1 << 16
	lapseMax  = 24 * 3600e9
)

// giveUpIn has p wait no longer than d for the peer.
func (p *PDC) giveUpIn(now, d int64) {
	p.lapse = uint32((min(deadline.After(now, d), never-lapseUnit) + lapseUnit - 1) / lapseUnit)
}

// giveUpAt is when p has waited too long.
func (p *PDC) giveUpAt(c *Params, now int64) int64 {
	if p.state != StatePending && p.state != StateCloseWait && !(p.isOpening() && c.maxRTOs != forever) {
		return never
	}
	unit := now / lapseUnit
	return (unit + int64(int32(p.lapse-uint32(unit)))) * lapseUnit
}

// giveUp ends a target PDC whose peer does not obey. A peer asked to close has all open
// messages to end first, and may be waiting to send a packet again: Close_REQ_Time has to
// pass in silence, with nothing on the way to the peer, and nothing the peer waits for. A
// talking peer that clears nothing has no such respite.
func (l *life) giveUp(now int64, p *PDC) {
	switch {
	case p.state == StatePending:
		l.stats.PendingOver++
		l.abandon(now, p, Cause(pds.NackNewStartPSN))
		return
	case p.isOpening():
		l.fail(now, p, CauseRTO)
		return
	}
	_, owed := l.mem.owed(p)
	if p.resp.asked < clearAsks && (p.resp.heard || owed || l.awaited(p) && l.timer.idleAt(p) > now) {
		p.resp.heard = false
		p.giveUpIn(now, l.p.patience())
		return
	}
	l.closeInError(now, p)
}

// isOpening reports whether p has sent SYN packets without an answer from the PDC at the peer.
func (p *PDC) isOpening() bool { return p.syn() && p.tx.next != 0 }

// opensFrom has p, with the first packet leaving now or a NACK of the peer just come, send SYN packets for as
// long as a PDC that those may have opened since is remembered at the peer: after the quarantine a SYN packet
// opens another PDC, and the data is delivered again. The time-outs of a packet end before, and a peer keeps a
// PDC without an answer for as long; but packets may wait for congestion control between their copies, behind
// packets of other PDCs. Half of the quarantine is left to the last copies, under way, and to
// clocks that differ.
//
// Source: UE Specification 1.0.3, Syn_Retx_Safety_Time, whose default is not public. With Max_RTO_Retx_Cnt
// for ever there is no bound.
func (l *life) opensFrom(now int64, p *PDC) { p.giveUpIn(now, l.opensFor()) }

func (l *life) opensFor() int64 {
	return min(deadline.After(l.p.unanswered, l.table.quarantine/2), lapseMax)
}

// closeInError ends a target PDC not closed by the peer.
func (l *life) closeInError(now int64, p *PDC) {
	tells := l.reply.mayTell(p) // while it is known whether the peer has shown that it receives
	l.abandon(now, p, Cause(pds.NackClosingInErr))
	if tells {
		l.sched.control(p, ctlClosingInErr)
	}
}

// patience is how long a peer asked to close may be silent.
func (p *Params) patience() int64 { return max(p.c.CloseReqTime, p.longestRTO()) }
