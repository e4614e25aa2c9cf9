package pdc

import "unsafe"

// Lines is [Manager.TouchSources] for callers that prefetch: it returns the addresses of the
// two cache lines of a PDC that TouchSources loads, and reads nothing itself. Lines,
// PacketLines and SubmitLines panic where there is no such id; they take id 0, which is no
// PDC's.
func (m *Manager) Lines(id uint16) (send, peer uintptr) {
	p := &m.pdc[id]
	return uintptr(unsafe.Pointer(p)), uintptr(unsafe.Pointer(&p.handle))
}

// PacketLines is likewise [Manager.TouchPackets], once the lines of Lines have been loaded:
// the rows and the records of the packet that is acknowledged and of the one that is sent.
func (m *Manager) PacketLines(id uint16) (first, current, acked, sent uintptr) {
	w := &m.pdc[id].tx
	return uintptr(unsafe.Pointer(&m.mem.row[w.first])), uintptr(unsafe.Pointer(&m.mem.row[w.current])),
		uintptr(unsafe.Pointer(w.lowest(m.mem))), uintptr(unsafe.Pointer(w.upcoming(m.mem)))
}

// SubmitLines is likewise [Manager.TouchSubmit]: what else [Manager.SubmitRun] needs, once
// the lines of Lines have been loaded.
func (m *Manager) SubmitLines(id uint16) (pdc, ring uintptr) {
	p := &m.pdc[id]
	return uintptr(unsafe.Pointer(&p.unsubmitted)), uintptr(unsafe.Pointer(&m.mem.ring[p.tx.slot][p.tx.tail/rowLen%ringWords]))
}
