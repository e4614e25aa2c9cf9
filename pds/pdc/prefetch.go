package pdc

import "unsafe"

// Lines is [Manager.TouchSources] for who prefetches: it returns the addresses of the two
// cache lines of a PDC that this loads. The PDC is not looked at. Lines and the others
// panic where there is no such id; 0 is nobody's and may be asked for.
func (m *Manager) Lines(id uint16) (send, peer uintptr) {
	p := &m.pdc[id]
	return uintptr(unsafe.Pointer(p)), uintptr(unsafe.Pointer(&p.handle))
}

// RowLines is likewise [Manager.TouchRows], once the lines of Lines have been loaded: what
// is known of the lowest packet in flight and of the next to be sent.
func (m *Manager) RowLines(id uint16) (first, current uintptr) {
	w := &m.pdc[id].tx
	return uintptr(unsafe.Pointer(&m.mem.row[w.first])), uintptr(unsafe.Pointer(&m.mem.row[w.current]))
}

// RecordLines is likewise [Manager.TouchRecords]: the records of these two.
func (m *Manager) RecordLines(id uint16) (acked, sent uintptr) {
	w := &m.pdc[id].tx
	return m.mem.recordLine(w.first, w.base), m.mem.recordLine(w.current, w.next)
}

// recordLine is the address of the record of the packet at an offset that row i tells of.
func (m *Memory) recordLine(i, offset uint32) uintptr {
	c := m.row[i].chunk[offset%rowLen/chunkLen]
	return uintptr(unsafe.Pointer(&m.chunk[c].packet[offset%chunkLen]))
}

// SubmitLines is likewise [Manager.TouchSubmit]: what [Manager.SubmitRun] needs besides,
// once the lines of RowLines have been loaded.
func (m *Manager) SubmitLines(id uint16) (pdc, ring uintptr) {
	p := &m.pdc[id]
	return uintptr(unsafe.Pointer(&p.unsubmitted)), uintptr(unsafe.Pointer(&m.mem.ring[p.tx.slot][p.tx.tail/rowLen%ringWords]))
}
