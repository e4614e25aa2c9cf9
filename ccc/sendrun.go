package ccc

// RunParams is what became of packets offered to [Manager.SendRun].
type RunParams struct {
	Sent    int    // the first so many may go
	Held    Reason // as in [SendParams], of the last of these
	AckEach bool   // each of them is to ask for an acknowledgement
	AckLast bool   // the last of them is to ask for one
}

// SendRun is [Manager.SendNew] for new packets of size bytes each that go one after
// another, as many as paths has room for, until congestion control holds the next: paths
// gets their entropy values. If the first may not go, nothing has changed.
func (m *Manager) SendRun(pdc Handle, now, size int64, paths []uint16) (s RunParams) {
	b := m.member(pdc)
	if b == nil {
		return s
	}
	at := m.seatOf(b)
	c := &at.context
	if !c.plain || c.state != StateReady {
		return s
	}
	left := b.backlog()
	if uint64(size-1) >= uint64(left) || len(paths) == 0 {
		return s
	}
	p := &m.p.nscc
	s.AckEach = c.window.AckRequest(p) // before sending: what fills the window is the last packet, see AckLast
	n := c.window.OnSendRun(p, size, fitting(len(paths), size, left))
	full := c.window.Full(p)
	s.Sent, s.AckLast = n, full
	m.countRun(b, c, size, n)
	c.rec.last = now
	switch {
	case b.waiting() == 0:
		m.settlePlain(b, c, now)
	case full:
		c.become(StateActive)
	}
	s.Held = c.why
	m.pathRun(b, at, paths[:s.Sent])
	return s
}

// fitting is how many packets of size bytes, at most n, are in so many bytes.
func fitting(n int, size, bytes int64) int {
	if size*int64(n) > bytes {
		return int(bytes / size)
	}
	return n
}

// pathRun chooses the entropy values of packets.
func (m *Manager) pathRun(b *member, at *seat, paths []uint16) {
	if p := &m.p.entropy; p.scheme == SchemeOblivious && !b.fixed {
		at.entropy.run(p, paths)
		return
	}
	for i := range paths {
		paths[i] = m.path(b, at, 0)
	}
}

// countRun counts n packets of size bytes in flight, but for the window.
func (m *Manager) countRun(b *member, c *Context, size int64, n int) {
	bytes := size * int64(n)
	b.sent += bytes
	b.inflightPackets += int32(n)
	c.waits -= bytes
	c.inflightPkts += int32(n)
	if c.rec.sent += uint32(n); c.rec.sent < uint32(n) {
		m.ledgerOf(c).counts.sent += 1 << 32
	}
}
