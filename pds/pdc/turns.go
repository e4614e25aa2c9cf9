package pdc

import "github.com/uetcc/uetcc/ccc"

// takeTurns puts p, which has just sent a packet, behind the others, or straight to
// those that wait for congestion control if that will not allow its next one: most
// packets fill the window that an acknowledgement has opened. last says that the
// peer's window lets no new packet of p follow for now, held why congestion control
// lets none.
func (m *Manager) takeTurns(p *PDC, last bool, held ccc.Reason) {
	switch w := &p.tx; {
	case w.queued == 0 && (last || w.next == w.tail):
		// an acknowledgement wakes it
	case w.queued == 0 && w.control == 0 && !goesOn(held):
		m.park(p)
		return
	default:
		m.wake(p)
	}
	if m.cc.Waiters(p.cc).Head != 0 {
		m.release(p)
	}
}

// goesOn reports whether a PDC keeps its turn with what holds its next packet: nothing, or the
// time alone.
func goesOn(held ccc.Reason) bool { return held == ccc.ReasonBacklog || held == ccc.ReasonPacing }

// park has p wait until its congestion control context allows more.
func (m *Manager) park(p *PDC) {
	p.flags |= flagOnData
	l, id := m.cc.Waiters(p.cc), p.slot()
	if l.Head == 0 {
		l.Head = id
	} else {
		m.pdc[l.Tail].nextData = id
	}
	l.Tail = id
}

// unpark lets the first of the PDCs that wait for a congestion control context
// try again. When it has sent, the next one may: so each is looked at once for
// each packet that the context allows, however many wait.
func (m *Manager) unpark(c ccc.Handle) {
	l := m.cc.Waiters(c)
	if l.Head == 0 {
		return
	}
	p := &m.pdc[l.Head]
	if l.Head == l.Tail { // nearly always: then the link has no say
		*l = ccc.Waiters{}
	} else {
		l.Head = p.nextData
	}
	m.data.push(p)
}

// unparkAll lets all of them try again.
func (m *Manager) unparkAll(c ccc.Handle) {
	for m.cc.Waiters(c).Head != 0 {
		m.unpark(c)
	}
}

// release is to follow whatever may have changed what the context of p allows.
func (m *Manager) release(p *PDC) {
	if m.cc.Waiters(p.cc).Head != 0 && m.cc.Context(p.cc).State() != ccc.StateActive {
		m.unpark(p.cc)
	}
}

// revised lets PDCs try again whose context may allow more since its owner has changed
// its mode or algorithm, and reports whether there are any.
func (m *Manager) revised() bool {
	m.revision = m.cc.Revision()
	for h := range m.ctxs.All() {
		if m.cc.Context(h).State() != ccc.StateActive {
			m.unpark(h)
		}
	}
	return m.data.len() != 0
}

// wake puts p among those that want to send data.
func (m *Manager) wake(p *PDC) {
	if p.is(flagOnData) {
		return
	}
	p.flags |= flagOnData
	m.data.push(p)
}

// control has p send control packets.
func (m *Manager) control(p *PDC, c ctlFlags) {
	p.ctl |= c
	if p.is(flagOnControl) {
		return
	}
	p.flags |= flagOnControl
	p.nextCtl = 0
	if id := p.slot(); m.ctl.head == 0 {
		m.ctl = list{id, id}
	} else {
		m.pdc[m.ctl.tail].nextCtl = id
		m.ctl.tail = id
	}
}

// controlled takes p, the first of those with control packets, out of their list.
func (m *Manager) controlled(p *PDC) {
	p.flags &^= flagOnControl
	m.ctl.head = p.nextCtl
}
