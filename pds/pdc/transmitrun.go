package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/pds"
)

// RunMax is how many packets a [Run] has at most.
const RunMax = chunkLen

// A Run is new packets of one PDC that are sent one after another: alike but for their
// handles, which count up.
type Run struct {
	Handle uint64 // of the first
	N      uint
	Size   uint16 // nominal, bytes
	TC     uint8  // traffic class
	PDC    Handle
	Peer   Addr

	Entropy [RunMax]uint16

	kind  kind
	heads pds.RequestRun
	asks  uint32 // FlagAR<<k: packet k asks for an acknowledgement
}

// PutHeader writes the header of the next packet.
func (x *Run) PutHeader(b *[pds.RequestLen]byte) {
	x.heads.Put(b, pds.FlagAR&pds.Flags(x.asks))
	x.asks >>= 1
}

// OnlySender returns the PDC whose turn it is to send data, if no other one waits for its
// turn: else TransmitRun has nothing to offer.
func (m *Manager) OnlySender() (pds.PDCID, bool) {
	return m.data.next(), m.data.tail-m.data.head == 1
}

// TransmitRun is TransmitNext for up to most packets, at least one: several go while
// nobody else has a turn. It reports false, and nothing has changed, with other
// packets to send, or none.
func (m *Manager) TransmitRun(now int64, most int, x *Run) bool {
	p := m.plainSender()
	if p == nil {
		return false
	}
	w := &p.tx
	r, i := &m.mem.row[w.current], w.next%rowLen
	x.Handle, x.Size, x.kind = m.mem.submitted(r, i)
	x.TC, x.PDC, x.Peer = p.tc, p.handle, p.peer
	x.N, x.asks = 0, 0
	x.heads = pds.MakeRequestRun(x.kind.next(), int16(w.base-1-w.next), w.psn(w.next), p.handle.ID(), p.peerID)
	end := i + m.alone(p, r, min(uint32(most), RunMax, rowLen-i))
	held := ccc.ReasonBacklog
	for at := i; at < end && held == ccc.ReasonBacklog; {
		run := m.mem.in(r, at).packet[at%chunkLen:]
		run = run[:min(uint32(len(run)), end-at)]
		before := x.N
		if held = m.sendRun(now, p, run, x); x.N-before < uint(len(run)) {
			break
		}
		at += uint32(len(run))
	}
	if x.N == 0 {
		return false
	}
	m.takeTurns(p, m.ranRun(now, p, r, x), held)
	return true
}

// alone returns how many packets of p, at most so many, may be one run: 1 if it shares
// its turn, or packets are not alike.
func (m *Manager) alone(p *PDC, r *row, most uint32) uint32 {
	w := &p.tx
	if m.data.tail-m.data.head != 1 || m.cc.Waiters(p.cc).Head != 0 || r.size == 0 {
		return 1
	}
	return min(most, w.tail-w.next, w.cack+uint32(w.limit)-w.next)
}

// sendRun adds the packets of run that congestion control admits to x, and returns what
// keeps it from admitting another one.
func (m *Manager) sendRun(now int64, p *PDC, run []packet, x *Run) ccc.Reason {
	paths := x.Entropy[x.N%RunMax:]
	paths = paths[:min(len(paths), len(run))]
	s := m.cc.SendRun(ccc.Handle(p.handle), now, int64(x.Size), paths)
	asks := uint32(0)
	for k, path := range paths[:s.Sent] {
		pkt := &run[k]
		pkt.size, pkt.entropy, pkt.kind, pkt.sends, pkt.rtos, pkt.nacks = x.Size, path, x.kind, 1, 0, 0
		pkt.sentAt = now
		if x.kind&kindAR != 0 || s.AckEach {
			asks |= uint32(pds.FlagAR) << (k % RunMax)
		}
	}
	if s.AckLast {
		asks |= uint32(pds.FlagAR) << ((s.Sent - 1) % RunMax)
	}
	x.asks |= asks << (x.N % RunMax)
	x.N += uint(s.Sent)
	return s.Held
}

// ranRun takes note of the packets of x, of row r. It reports whether the peer's window
// lets no other one follow for now.
func (m *Manager) ranRun(now int64, p *PDC, r *row, x *Run) (last bool) {
	w, n := &p.tx, uint32(x.N)
	r.flight |= (1<<n - 1) << (w.next % rowLen)
	m.data.head++
	p.flags &^= flagOnData
	m.stats.Sent += uint64(n)
	p.activeAt = now
	if w.next += n; w.next%rowLen == 0 {
		w.current = w.rowOf(m.mem, w.next)
	}
	if last = !w.inPeerWindow(w.next); last {
		x.asks |= uint32(pds.FlagAR) << ((n - 1) % RunMax)
	}
	if due := later(now, m.p.RTOInit); due < w.rtoAt {
		if w.rtoAt = due; due < p.timerAt {
			m.schedule(p, now)
		}
	}
	return last
}
