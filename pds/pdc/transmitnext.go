package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/pds"
)

// TransmitNext is [Manager.Transmit] for the packet that it nearly always is: a new one
// of an unordered PDC in use, which congestion control admits at once. It writes its
// header, of [pds.RequestLen] bytes, to buf and returns its PDC and what was submitted.
// With another packet to send, or none, there is no PDC and nothing changes.
func (f *FastPath) TransmitNext(now int64, buf *[ReplyMax]byte) (p *PDC, handle uint64, size, entropy uint16) {
	m := (*Manager)(f)
	if p = m.plainSender(); p == nil {
		return nil, 0, 0, 0
	}
	w := &p.tx
	r, i := &m.mem.row[w.current], w.next%rowLen
	pkt := w.upcoming(m.mem)
	handle, size, k := m.mem.submitted(r, i)
	sp, ok := m.cc.SendNew(ccc.Handle(p.handle), now, int64(size))
	if !ok {
		return nil, 0, 0, 0
	}
	m.data.head++
	p.flags &^= flagOnData
	m.stats.Sent++
	off := w.next
	r.flight |= 1 << i
	w.step(m.mem, 1)
	pkt.size, pkt.entropy, pkt.kind, pkt.sends, pkt.rtos, pkt.nacks = size, sp.Entropy, k, 1, 0, 0
	pkt.sentAt, p.activeAt = now, now
	last := !w.inPeerWindow(w.next)
	head := pds.Prologue{Type: pds.TypeRUDReq, Next: k.next()}
	if k&kindAR != 0 || sp.AckRequest || last {
		head.Flags = pds.FlagAR
	}
	pds.PutRequest((*[pds.RequestLen]byte)(buf[:]), head, int16(w.base-1-off), w.psn(off), p.handle.ID(), p.peerID)
	if due := deadline.After(now, m.p.c.RTOInit); due < w.rtoAt || m.p.c.InferLoss && p.probeAt == never {
		w.rtoAt = min(w.rtoAt, due)
		m.sentOne(now, p, w.next != w.tail)
	}
	m.takeTurns(p, last, sp.Held)
	return p, handle, size, sp.Entropy
}

// plainSender returns the PDC whose turn it is, if it is an unordered one in use that
// has a new packet to send within its peer's window, and nothing else.
func (m *Manager) plainSender() *PDC {
	if m.ctl.head != 0 || m.data.len() == 0 {
		return nil
	}
	p := &m.pdc[m.data.next()]
	w := &p.tx
	if p.state != StateEstablished || p.flags&(flagROD|flagClearDue|flagInitiator) != flagInitiator ||
		w.queued|w.control != 0 || w.next == w.tail || !w.inPeerWindow(w.next) {
		return nil
	}
	return p
}
