package pdc

import "math/bits"

// fail ends a PDC in error: every packet on it fails, and if the target may have
// a context, CLOSE_CMD tells it, unless the target's window ends before it.
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

// abandon ends a PDC in error without another word to the peer.
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

// failPackets tells the layer above that the packets not released have failed,
// and forgets them.
func (m *memory) failPackets(p *PDC, c Cause) {
	for off := p.tx.base; off != p.tx.tail; {
		r, mask, end := p.tx.span(m, off, p.tx.tail)
		first := off - off%rowLen
		for todo := mask &^ r.released; todo != 0; todo &= todo - 1 {
			i := uint32(bits.TrailingZeros64(todo))
			if h, _, k := m.submitted(r, i); !k.control() {
				m.events.push(Event{
					Kind: EventError, PDC: p.handle, PSN: p.tx.psn(first + i), Handle: h, Cause: c, Nack: m.said(p, c),
				})
			}
		}
		off = end
	}
	p.tx.free(m)
}

// retire frees what p holds and puts its id into quarantine. What identifies it
// stays, so that late packets of it are known for what they are. A PENDING one has taken
// no packet, and is forgotten.
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
	l.arm(now)
}
