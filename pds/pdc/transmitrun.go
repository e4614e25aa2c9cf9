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
	N      int
	Size   uint16 // nominal, bytes
	TC     uint8  // traffic class
	PDC    Handle
	Peer   Addr

	Entropy [RunMax]uint16
	Head    [RunMax][pds.RequestLen]byte // the headers
}

// NextSender returns the PDC whose turn it is to send data, 0 without one.
func (m *Manager) NextSender() pds.PDCID {
	if m.data.head == m.data.tail {
		return 0
	}
	return m.data.next()
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
	run := m.mem.chunk[r.chunk[i/chunkLen%(rowLen/chunkLen)]][i%chunkLen:]
	run = run[:min(uint32(len(run)), m.alone(p, r, uint32(most)))]
	n, held := m.sendRun(now, p, run, x)
	if n == 0 {
		return false
	}
	x.Handle, x.N, x.Size, x.TC, x.PDC, x.Peer = run[0].handle, n, run[0].size, p.tc, p.handle, p.peer
	r.flight |= (1<<n - 1) << i
	m.data.head++
	m.stats.Sent += uint64(n)
	p.activeAt = now
	if w.next += uint32(n); w.next%rowLen == 0 {
		w.current = w.rowOf(m.mem, w.next)
	}
	if due := run[0].dueAt; due < w.rtoAt {
		if w.rtoAt = due; due < p.timerAt {
			m.schedule(p, now)
		}
	}
	m.nextTurn(p, held)
	return true
}

// alone returns how many packets of p, at most so many, may be one run: 1 if it shares
// its turn, or packets are not alike.
func (m *Manager) alone(p *PDC, r *row, most uint32) uint32 {
	w := &p.tx
	if m.data.tail-m.data.head != 1 || m.parked[p.cc.Index()].head != 0 || r.size == 0 {
		return 1
	}
	return min(most, w.tail-w.next, w.cack+uint32(w.limit)-w.next)
}

// sendRun writes the headers of the packets of run that congestion control admits, and
// returns how many it does and what keeps it from admitting another one.
func (m *Manager) sendRun(now int64, p *PDC, run []packet, x *Run) (n int, held ccc.Reason) {
	w := &p.tx
	due := later(now, m.p.RTOInit)
	for k := range run {
		pkt, off := &run[k], w.next+uint32(k)
		sp, ok := m.cc.SendNew(ccc.Handle(p.handle), now, int64(pkt.size))
		if !ok {
			break
		}
		n, held = k+1, sp.Held
		x.Entropy[k%RunMax] = sp.Entropy
		pkt.entropy, pkt.sends, pkt.sentAt, pkt.dueAt = sp.Entropy, 1, now, due
		head := pds.Prologue{Type: pds.TypeRUDReq, Next: pkt.kind.next()}
		if pkt.kind&kindAR != 0 || sp.AckRequest || !w.inPeerWindow(off+1) {
			head.Flags = pds.FlagAR
		}
		pds.PutRequest(&x.Head[k%RunMax], head, int16(w.base-1-off), w.psn(off), p.handle.ID(), p.peerID)
		if held != ccc.ReasonBacklog {
			break
		}
	}
	return n, held
}
