package pdc

// clearReqWait is after how many PDS_Clear_Times a target asks for a CLEAR that it
// has not heard. The initiator sends one on its own after one of them, in a
// CLEAR_CMD that nobody acknowledges: if that is lost on a PDC that goes quiet, the
// response would keep its place in a store that all PDCs share.
const clearReqWait = 4

// clearWanted has the timer of p look after the stored responses.
func (m *Manager) clearWanted(now int64, p *PDC) {
	if !p.is(flagInitiator) {
		m.aux(p, now, later(now, clearReqWait*m.p.c.ClearTime))
	}
}

// clearMissing asks the initiator to clear what it has not cleared, less and less
// often while nothing is heard from it.
func (m *Manager) clearMissing(now int64, p *PDC) {
	if i := p.resp.head; p.is(flagInitiator) || i == 0 || m.mem.responses.slot[i].state != respStored {
		return
	}
	m.control(p, ctlClearReq)
	m.aux(p, now, later(now, min(max(clearReqWait*m.p.c.ClearTime, now-p.activeAt), rtoMax)))
}
