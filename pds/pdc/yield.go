package pdc

// yield has an initiator whose PDC p its target has just refused for want of something
// close another one that it has there and does not use: what that holds may be what p
// lacks. One at a time, and not before what the last one held has rested.
//
// Without it two ends with few PDCIDs, each of which keeps PDCs for later that the other
// has no ids to answer for, would refuse each other until those are idle for too long.
//
// Source: UE Specification 1.0.x section 3.5: an initiator may close a PDC for want of
// resources at any time; which, and when, is left to it.
func (m *Manager) yield(now int64, p *PDC) {
	var idle *PDC
	for range min(idleLook, len(m.pdc)-1) {
		switch q := m.look(); {
		case !q.is(flagInitiator) || q.peer != p.peer:
		case q.peerID == 0: // that holds nothing there
		case q.state >= StateQuiesce && (q.state != StateQuarantine || m.table.rests(q.handle.ID(), now)):
			return
		case q.idle():
			idle = older(idle, q)
		}
	}
	if idle != nil {
		m.startClose(now, idle)
	}
}

// look returns the next PDC to be looked at, of those that may be closed.
func (m *Manager) look() *PDC {
	m.cursor++
	if int(m.cursor) >= len(m.pdc) {
		m.cursor = 1
	}
	return &m.pdc[m.cursor]
}

// idle reports whether p is in use, and nothing happens on it.
func (p *PDC) idle() bool {
	return p.state == StateEstablished && p.locks == 0 && p.openMsgs == 0 && p.tx.base == p.tx.tail && p.resp.head == 0
}
