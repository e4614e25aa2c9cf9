package pdc

import "github.com/uetcc/uetcc/pds"

// Touch loads what a request or an acknowledgement will need of its PDC, TouchSent
// the records of what that PDC has sent, where they are known once it is loaded. A
// pass of Touch over 16 to 32 packets ahead, then one of TouchSent over the
// acknowledgements among them, lets the misses of the cache overlap: worth it when
// thousands of PDCs are in use. The results mean nothing.
func (m *Manager) Touch(packet []byte, request bool) uint64 {
	p := m.named(packet)
	switch {
	case p == nil:
		return 0
	case request:
		return uint64(p.rx.edge)
	default:
		return uint64(p.state) + uint64(p.tx.base) + uint64(p.timerAt)
	}
}

// TouchSent is the second pass, see [Manager.Touch].
func (m *Manager) TouchSent(packet []byte) uint64 {
	if p := m.named(packet); p != nil && p.tx.base != p.tx.tail {
		return p.tx.touch(m.mem) + uint64(m.parked[p.cc.Index()].head)
	}
	return 0
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
	return uint64(p.state) + uint64(p.tx.next) + p.local.Lo
}

// TouchUnsent is the second pass, see [Manager.Upcoming]: the record of the packet.
func (m *Manager) TouchUnsent(id pds.PDCID) uint64 {
	w := &m.pdc[id].tx
	c, i := w.at(m.mem, w.next)
	return c.flight + c.pkt[i].handle
}

// touch loads the record that the next acknowledgement is about, and the one
// that is sent next.
func (w *SendWindow) touch(m *Memory) uint64 {
	c, i := w.at(m, w.base)
	d, j := w.at(m, w.next)
	return c.released + d.released + c.pkt[i].handle + d.pkt[j].handle
}
