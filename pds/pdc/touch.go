package pdc

import "github.com/uetcc/uetcc/pds"

// Touch loads what an acknowledgement will need of its PDC, TouchSent the records of
// what that PDC has sent, where they are known once it is loaded. A pass of Touch
// over 16 to 32 packets ahead, then one of TouchSent, lets the misses of the cache
// overlap: worth it when thousands of PDCs are in use. The results mean nothing.
func (m *Manager) Touch(packet []byte) uint64 {
	if p := m.named(packet); p != nil {
		return uint64(p.state) + uint64(p.tx.base) + uint64(p.timerAt)
	}
	return 0
}

// TouchSent is the second pass, see [Manager.Touch].
func (m *Manager) TouchSent(packet []byte) uint64 {
	p := m.named(packet)
	if p == nil || p.tx.base == p.tx.tail {
		return 0
	}
	t := m.touchPacket(p, p.tx.base) + uint64(m.parked[p.cc.Index()].head)
	if m.data.len() < touchNear {
		t += m.touchPacket(p, p.tx.next) // it is soon its own turn
	}
	return t
}

// named is the PDC whose id a request or an acknowledgement carries, nil for what
// is too short for one.
func (m *Manager) named(b []byte) *PDC {
	if len(b) < pds.AckLen {
		return nil
	}
	return m.byID(pds.PDCID(b[10])<<8 | pds.PDCID(b[11]))
}

// Upcoming returns the PDCs whose turn it is to send, at most n: for a look ahead
// at what [Manager.Transmit] will need, with [Manager.TouchNext] and then
// [Manager.TouchUnsent]. Where thousands wait for their turn, what an
// acknowledgement lets go belongs to another PDC than the acknowledgement. Valid
// until the next call.
func (m *Manager) Upcoming(n int) []pds.PDCID { return m.data.first(n) }

// TouchNext loads what the next packet of a PDC needs of it.
func (m *Manager) TouchNext(id pds.PDCID) uint64 {
	p := &m.pdc[id]
	return uint64(p.state) + uint64(p.tx.first) + p.local.Lo
}

// TouchUnsent is the second pass, see [Manager.Upcoming]: the record of the packet.
func (m *Manager) TouchUnsent(id pds.PDCID) uint64 {
	p := &m.pdc[id]
	return m.touchPacket(p, p.tx.next) + uint64(m.parked[p.cc.Index()].head)
}

// touchNear is how many PDCs have to wait for their turn until one that joins them
// is not worth a look ahead.
const touchNear = 32

// touchPacket loads the record of a packet and what is known of its row.
func (m *Manager) touchPacket(p *PDC, off uint32) uint64 {
	r, i := p.tx.at(m.mem, off)
	return r.released + m.mem.record(r, i).handle
}
