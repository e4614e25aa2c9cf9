// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/internal/view"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/rccc"
)

// RunMax is how many packets a [Run] has at most, and how many acknowledgements
// [FastPath.Exchange] takes.
const RunMax = 32

// A Run is new packets of one PDC that are sent one after another: alike but for their
// handles.
type Run struct {
	N    uint32
	Size uint16 // nominal, bytes

	Entropy [RunMax]uint16

	kind   kind
	unlike bool   // handles are in handles; otherwise counting up from the first
	aims   bool   // packets have credit targets
	first  uint64 // handle
	asks   uint32 // bit k: packet k asks for an acknowledgement
	heads  view.Run

	handles [RunMax]uint64

	targets [RunMax]int64 // bytes, with aims; 0: none
	cccID   uint8         // with aims
}

// Handle returns the handle of packet k, from 0, and how many packets from k on have handles
// that are known to count up.
func (x *Run) Handle(k uint32) (h uint64, n uint32) {
	if x.unlike {
		return x.handles[k%RunMax], 1
	}
	return x.first + uint64(k), x.N - k
}

// PutHeader writes the header of packet k, from 0, unless the packet has a target.
func (x *Run) PutHeader(b *[pds.RequestLen]byte, k uint32) {
	x.heads.Put(b, k, x.asks)
}

// HasTarget reports whether packet k, from 0, names the credit that the source would like to reach.
func (x *Run) HasTarget(k uint32) bool { return x.aims && x.targets[k%RunMax] != 0 }

// PutTarget makes the header of packet k, which has a target, that of such a packet.
func (x *Run) PutTarget(b *[pds.RequestCCLen]byte, k uint32) {
	x.heads.PutTarget(b, x.cccID, uint32(rccc.QuantaOf(x.targets[k%RunMax])))
}

// NextSender returns the next PDC to send data; false: nobody waits for a turn.
func (f *FastPath) NextSender() (pds.PDCID, bool) {
	return f.sched.data.next(), f.sched.data.len() != 0
}

// TransmitRun is [Manager.Transmit] for nearly all packets, up to most, at least 1: new
// packets of a PDC in use, admitted at once by congestion control. Several go while no other
// PDC has a turn. The result is the PDC; with other packets to send, or none, nil, and
// nothing has changed.
func (f *FastPath) TransmitRun(now int64, most int, x *Run) *PDC {
	m := (*Manager)(f)
	p := m.sched.plainSender()
	if p == nil {
		return nil
	}
	w := &p.tx
	r := &m.mem.row[w.current]
	if m.sched.data.len() != 1 || m.cc.Waiters(p.cc).Head != 0 {
		most = 1
	}
	x.first, x.Size, x.kind = m.mem.submitted(r, w.next%rowLen)
	n := w.alike(most, w.cack+uint32(w.limit))
	if x.unlike = r.size == 0; x.unlike {
		n = m.mem.collect(r, w.next%rowLen, n, x)
	}
	paths := x.Entropy[:n]
	s, ok := m.cc.Exchange(ccc.Handle(p.handle), now, nil, int64(x.Size), paths)
	if !ok {
		return nil
	}
	m.sched.data.head++
	p.flags &^= flagOnData
	if x.aims = s.Targets; x.aims {
		x.N = uint32(s.Sent)
		m.aim(p, x)
	}
	m.sched.takeTurns(p, m.source.sentRun(now, p, r, x, s), s.Held)
	return p
}

// aim has the packets of x, which congestion control has just let go, name their credit targets.
func (m *Manager) aim(p *PDC, x *Run) {
	m.cc.CreditTargets(ccc.Handle(p.handle), int64(x.Size), x.targets[:x.N])
	x.cccID = m.life.cccID[p.cc.Index()]
}

// requestType is the type of the requests of p without credit.
func (p *PDC) requestType() pds.Type {
	if p.is(flagROD) {
		return pds.TypeRODReq
	}
	return pds.TypeRUDReq
}

// plainSender returns the next PDC in turn, if in use with a proven peer, and with a new
// packet to send within the peer's window, and nothing else.
func (s *scheduler) plainSender() *PDC {
	if s.ctl.head != 0 || s.data.len() == 0 {
		return nil
	}
	p := &s.pdc[s.data.next()]
	w := &p.tx
	if p.state != StateEstablished || p.flags&(flagClearDue|flagUnproven|flagAsking) != 0 ||
		w.queued|w.control != 0 || w.next == w.tail || !w.inPeerWindow(w.next) {
		return nil
	}
	return p
}

// alike returns how many packets from next on may be one run if their row says that they are
// alike, at most so many, at least 1: they are below end.
func (w *sendWindow) alike(most int, end uint32) uint32 {
	return min(uint32(most), RunMax, rowLen-w.next%rowLen, w.tail-w.next, end-w.next)
}

// collect notes in x the handles of up to n packets of a row from the one at i on, as long as
// they are as the first, and returns how many those are.
func (m *memory) collect(r *row, i, n uint32, x *Run) uint32 {
	for k := range n {
		at := (i + k) % rowLen
		c := m.in(r, at)
		if pkt := &c.packet[at%chunkLen]; pkt.size != x.Size || pkt.kind&^kindDue != x.kind {
			return k
		}
		x.handles[k%RunMax] = c.handle[at%chunkLen]
	}
	return n
}

// sentRun takes note of the packets of x, of row r, released by congestion control, and
// describes the packets. last reports that the peer's window lets no next packet follow for
// now.
func (s *source) sentRun(now int64, p *PDC, r *row, x *Run, sp ccc.RunParams) (last bool) {
	w, n := &p.tx, uint32(sp.Sent)
	i := w.next % rowLen
	x.N, x.asks = n, 0
	x.heads = view.MakeRun(p.requestType(), x.kind.next(), int16(w.base-1-w.next), w.psn(w.next), p.handle.ID(), p.peerID)
	// As a slice: the nil check of a pointer to the chunk would load the chunk's first line,
	// needed by nobody.
	in := s.mem.chunk[w.sends].packet[:]
	for k := range n {
		if k > 0 && (i+k)%chunkLen == 0 {
			in = s.mem.in(r, i+k).packet[:]
		}
		pkt := &in[(i+k)%chunkLen]
		pkt.size, pkt.entropy, pkt.kind, pkt.sends, pkt.rtos, pkt.nacks = x.Size, x.Entropy[k%RunMax], x.kind, 1, 0, 0
		pkt.sentAt = now
	}
	if sp.AckEach || x.kind&kindAR != 0 {
		x.asks = 2<<((n-1)%RunMax) - 1
	}
	r.flight |= span(i, n)
	s.stats.Sent += uint64(n)
	p.activeAt = now
	w.step(s.mem, n)
	if last = !w.inPeerWindow(w.next); last || sp.AckLast {
		x.asks |= 1 << ((n - 1) % RunMax)
	}
	if due := deadline.After(now, s.p.c.RTOInit); due < w.rtoAt || s.p.c.InferLoss && p.probeAt == never {
		w.rtoAt = min(w.rtoAt, due)
		s.sentOne(now, p, w.tail-w.next+n > 1)
	}
	return last
}
