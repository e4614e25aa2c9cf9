package pdc

import "math/bits"

// fail ends a PDC in error: every packet on it fails, and if the target may have
// a context, CLOSE_CMD tells it, unless the target's window ends before it.
func (m *Manager) fail(now int64, p *PDC, c Cause) {
	if p.state == StateCloseAckWait || p.is(flagFailed) || p.peerID == 0 || !p.is(flagInitiator) || p.tx.lastForNow() {
		m.abandon(now, p, c)
		return
	}
	m.leave(p)
	m.failPackets(p, c)
	m.unbind(now, p)
	m.event(p, EventClosing, c)
	p.flags = p.flags&^flagClearDue | flagFailed
	p.ctl = 0
	p.openMsgs, p.locks, p.unsubmitted = 0, 0, 0
	m.sendClose(now, p)
}

// abandon ends a PDC in error without another word to the peer.
func (m *Manager) abandon(now int64, p *PDC, c Cause) {
	m.failPackets(p, c)
	m.retire(now, p, c)
}

// leave takes p out of the PDCs that new messages may find.
func (m *Manager) leave(p *PDC) {
	if p.state >= StateCreating && p.state <= StateEstablished {
		m.open--
	}
	m.table.Retire(p.handle)
}

// failPackets tells the layer above that the packets not released have failed,
// and forgets them.
func (m *Manager) failPackets(p *PDC, c Cause) {
	for off := p.tx.base; off != p.tx.tail; {
		r, mask, end := p.tx.span(m.mem, off, p.tx.tail)
		first := off - off%rowLen
		for todo := mask &^ r.released; todo != 0; todo &= todo - 1 {
			i := uint32(bits.TrailingZeros64(todo))
			if h, _, k := m.mem.submitted(r, i); !k.control() {
				m.mem.events.push(Event{
					Kind: EventError, PDC: p.handle, PSN: p.tx.psn(first + i), Handle: h, Cause: c, Nack: m.said(p, c),
				})
			}
		}
		off = end
	}
	p.tx.free(m.mem)
}

// retire frees what p holds and puts its id into quarantine. What identifies it
// stays, so that late packets of it are known for what they are. A PENDING one has taken
// no packet, and is forgotten.
func (m *Manager) retire(now int64, p *PDC, c Cause) {
	m.remember(p)
	m.leave(p)
	if c != CauseNone || p.is(flagFailed) {
		m.stats.Failed++
	}
	m.stats.Closed++
	p.tx.free(m.mem)
	m.mem.responses.freeAll(&p.resp)
	m.unbind(now, p)
	pending := p.state == StatePending
	p.state = StateQuarantine
	p.flags &^= flagUnproven
	p.ctl = 0
	p.rx.Unhold()
	m.wheel.Cancel(uint32(p.slot()))
	p.timerAt = never
	m.event(p, EventClosed, c)
	if pending {
		p.state = StateClosed
		m.table.forget(p.handle)
	} else {
		m.table.Release(now, p.handle)
	}
	m.arm(now)
}
