// SPDX-License-Identifier: Apache-2.0

package pdc

import "math/bits"

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
				m.events.push(Event{
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
	l.arm(now)
}
