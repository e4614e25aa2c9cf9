// SPDX-License-Identifier: Apache-2.0

package pdc

import (
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
	if l.mem.events.free() >= l.mem.reserve {
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
	switch l.source.queueControl(p, pds.CtlCloseCmd, 0) {
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
	_ = l.source.queueControl(p, pds.CtlCloseReq, 0) // without memory the flag asks
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
