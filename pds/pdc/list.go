package pdc

import "github.com/uetcc/uetcc/ccc"

// list is a queue of PDCs, linked through them by slot; slot 0 is the end. Which
// of a PDC's links it uses is the caller's to say.
type list struct{ head, tail uint16 }

func (m *Manager) pushData(l *list, p *PDC) {
	id := p.slot()
	p.nextData = 0
	if l.head == 0 {
		l.head = id
	} else {
		m.pdc[l.tail].nextData = id
	}
	l.tail = id
}

func (m *Manager) popData(l *list) *PDC {
	p := &m.pdc[l.head]
	if l.head = p.nextData; l.head == 0 {
		l.tail = 0
	}
	p.flags &^= flagOnData
	return p
}

// takeTurns puts p, which has just sent a packet, behind the others, or straight to
// those that wait for congestion control if that will not allow its next one: most
// packets fill the window that an acknowledgement has opened.
func (m *Manager) takeTurns(p *PDC) {
	if p.tx.queued == 0 {
		if !p.tx.mayStart(m.p, p.syn()) {
			m.release(p) // an acknowledgement wakes it
			return
		}
		c := m.cc.Context(p.cc)
		if c != nil && c.State() == ccc.StateActive && c.Reason() != ccc.ReasonPacing && p.tx.control == 0 {
			m.park(p)
			return
		}
	}
	m.wake(p)
	m.release(p)
}

// park has p wait until its congestion control context allows more.
func (m *Manager) park(p *PDC) {
	p.flags |= flagOnData
	m.pushData(&m.parked[p.cc.Index()], p)
}

// unpark lets the first of the PDCs that wait for a congestion control context
// try again. When it has sent, the next one may: so each is looked at once for
// each packet that the context allows, however many wait.
func (m *Manager) unpark(c ccc.Handle) {
	l := &m.parked[c.Index()]
	if l.head == 0 {
		return
	}
	p := m.popData(l)
	p.flags |= flagOnData
	m.pushData(&m.data, p)
}

// release is to follow whatever may have changed what the context of p allows.
func (m *Manager) release(p *PDC) {
	if p.cc == 0 || m.parked[p.cc.Index()].head == 0 {
		return
	}
	if c := m.cc.Context(p.cc); c != nil && c.State() != ccc.StateActive {
		m.unpark(p.cc)
	}
}

// wake puts p among those that want to send data.
func (m *Manager) wake(p *PDC) {
	if p.is(flagOnData) {
		return
	}
	p.flags |= flagOnData
	m.pushData(&m.data, p)
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
