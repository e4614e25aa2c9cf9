package pdc

import "github.com/uetcc/uetcc/pds"

// TouchRequests changes nothing: ahead of [Manager.Take] it loads what the next request for
// each of some PDCs will need. The cache misses overlap as far as the processor looks
// ahead, so there is nothing else in the loop. The sum means nothing; it keeps the loads.
func (m *Manager) TouchRequests(ids []uint16) (sum uint64) {
	for _, id := range ids {
		if int(id) < len(m.pdc) {
			sum += uint64(m.pdc[id].rx.edge)
		}
	}
	return sum
}

// TouchSources changes nothing: ahead of [Manager.ReceiveACK] and [Manager.Transmit] it
// loads what acknowledgements for these PDCs, and packets of them that are sent, will
// need. It is the first of two passes; [Manager.TouchPackets] loads what lies where the
// first pass says. With 16 to 32 packets at a time the cache misses overlap, which pays
// when thousands of PDCs are in use. The sum means nothing.
func (m *Manager) TouchSources(ids []uint16) (sum uint64) {
	for _, id := range ids {
		if int(id) < len(m.pdc) {
			p := &m.pdc[id]
			sum += uint64(p.state) + uint64(p.tx.base)
		}
	}
	return sum
}

// TouchPackets is the second pass of [Manager.TouchSources]: what is known of the packet
// that is acknowledged and of the one that is sent.
func (m *Manager) TouchPackets(ids []uint16) (sum uint64) {
	for _, id := range ids {
		if int(id) < len(m.pdc) {
			w := &m.pdc[id].tx
			sum += m.mem.row[w.first].released + m.mem.row[w.current].released +
				uint64(w.lowest(m.mem).sentAt) + uint64(w.upcoming(m.mem).sentAt)
		}
	}
	return sum
}

// TouchSubmit changes nothing: ahead of [Manager.SubmitRun] it loads what that needs of a
// PDC beyond what [Manager.TouchSources] has loaded.
func (m *Manager) TouchSubmit(id uint16) uint64 {
	if int(id) >= len(m.pdc) {
		return 0
	}
	p := &m.pdc[id]
	return uint64(p.unsubmitted) + uint64(p.tx.rowOf(m.mem, p.tx.tail))
}

// Upcoming is a look ahead at [Manager.Transmit]: it returns the PDCs whose turn it is to
// send, at most n. Where thousands wait for their turn, what an acknowledgement lets go
// belongs to another PDC than the acknowledgement. Valid until the next call.
func (m *Manager) Upcoming(n int) []pds.PDCID { return m.data.first(n) }
