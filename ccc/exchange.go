package ccc

import "github.com/uetcc/uetcc/nscc"

// Exchange is what nearly all events of a busy context are in one step: [Manager.OnPlainACK]
// for acks, which cover so many packets together, of a context whose window is full; and
// then, if they make room, [Manager.SendRun] for packets of size bytes that have waited for
// it, as many as paths has room for, at least one. That the context leaves StateActive in
// between nobody hears of. It returns false, and nothing has changed, unless the PDC is the
// only one of [Waiters] and keeps something to send, and path choice is by SchemeOblivious.
func (m *Manager) Exchange(
	pdc Handle, now int64, acks []nscc.PlainAck, packets int32, size int64, paths []uint16,
) (s RunParams, ok bool) {
	b := m.member(pdc)
	if b == nil {
		return s, false
	}
	at := m.seatOf(b)
	c, p := &at.context, m.p
	if !c.plain || c.state != StateActive || !c.rec.listed || c.waiters != (Waiters{pdc.Index(), pdc.Index()}) ||
		b.fixed || p.entropy.scheme != SchemeOblivious || size <= 0 || size >= b.backlog() {
		return s, false
	}
	bytes, marks := nscc.Sum(acks)
	if !b.hear(bytes, packets) {
		return s, false
	}
	w := &c.window
	c.inflightPkts -= packets
	m.countAcks(c, len(acks), marks)
	w.OnPlainACKs(&p.nscc, now, acks)
	if !c.rec.wait(now) {
		m.carry(c, now)
	} else {
		c.rec.last = now
	}
	s.AckEach = w.AckRequest(&p.nscc)
	s.Sent = w.OnSendRun(&p.nscc, size, fitting(len(paths), size, b.backlog()-1))
	for i := range paths[:s.Sent] {
		paths[i] = at.entropy.candidate()
		at.entropy.advance(&p.entropy)
	}
	m.countRun(b, c, size, s.Sent)
	if s.AckLast = w.Full(&p.nscc); !s.AckLast {
		c.become(StateReady)
	}
	s.Held = c.why
	return s, true
}
