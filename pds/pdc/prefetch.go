package pdc

import "unsafe"

// Lines is [Manager.TouchSources] for who prefetches: it returns the addresses of the two
// cache lines of a PDC that this loads. The PDC is not looked at. Lines and the others
// panic where there is no such id; 0 is nobody's and may be asked for.
func (m *Manager) Lines(id uint16) (send, peer uintptr) {
	p := &m.pdc[id]
	return uintptr(unsafe.Pointer(p)), uintptr(unsafe.Pointer(&p.handle))
}

// PacketLines is likewise [Manager.TouchPackets], once the lines of Lines have been loaded:
// what is known of the rows of the packet that is acknowledged and of the one that is
// sent, and of these two.
func (m *Manager) PacketLines(id uint16) (first, current, acked, sent uintptr) {
	w := &m.pdc[id].tx
	return uintptr(unsafe.Pointer(&m.mem.row[w.first])), uintptr(unsafe.Pointer(&m.mem.row[w.current])),
		uintptr(unsafe.Pointer(w.lowest(m.mem))), uintptr(unsafe.Pointer(w.upcoming(m.mem)))
}

// SubmitLines is likewise [Manager.TouchSubmit]: what [Manager.SubmitRun] needs besides,
// once the lines of Lines have been loaded.
func (m *Manager) SubmitLines(id uint16) (pdc, ring uintptr) {
	p := &m.pdc[id]
	return uintptr(unsafe.Pointer(&p.unsubmitted)), uintptr(unsafe.Pointer(&m.mem.ring[p.tx.slot][p.tx.tail/rowLen%ringWords]))
}
