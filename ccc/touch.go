package ccc

// TouchPDC loads what says which context a PDC is bound to, by the PDC's index. With
// more contexts than the caches hold, a pass of it some tens of events ahead lets the
// misses of all overlap, and a pass of [Manager.TouchContext] after it does so for
// what it leads to; with few they cost a little. The result means nothing: it keeps
// the load.
func (m *Manager) TouchPDC(index int) uint32 {
	if index < len(m.pdcs) {
		return uint32(m.pdcs[index].handle)
	}
	return 0
}

// TouchContext loads a word of each cache line that an event of a PDC needs, by the
// PDC's index: see [Manager.TouchPDC].
func (m *Manager) TouchContext(index int) int64 {
	if index >= len(m.pdcs) {
		return 0
	}
	at := m.seatOf(&m.pdcs[index])
	sum := at.context.touch()
	if m.listens {
		sum += at.entropy.freezeEnd
	}
	return sum
}
