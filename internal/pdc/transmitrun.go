// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/internal/karn"
	"github.com/uetcc/uetcc/internal/view"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/rccc"
)

// A Run is new packets of one PDC that are sent one after another, alike but for their
// handles, and the acknowledgements that let them go.
type Run struct {
	ccc.Run

	kind   kind
	unlike bool   // handles are in handles; otherwise counting up from the first
	first  uint64 // handle
	asks   uint32 // bit k: packet k asks for an acknowledgement
	heads  view.Run

	from, span uint64 // see Let
	Within     bool   // all acknowledged packets are within from and span
	told       [ccc.RunMax]uint64

	handles [ccc.RunMax]uint64

	targets [ccc.RunMax]int64 // bytes, with Targets; 0: none
	cccID   uint8             // with Targets
}

// Run returns the packets of the last [FastPath.Exchange] or [FastPath.TransmitRun].
func (f *FastPath) Run() *Run { return &f.run }

// Let names the handles, from first on, of packets that the next [FastPath.Exchange] may send, and
// whose acknowledgements let packets go.
func (x *Run) Let(first, end uint64) { x.from, x.span = first, end-first }

// Told returns how many packets acknowledgement i of the last [FastPath.Exchange] told of, and the
// handle of the last; the handles before count up.
func (x *Run) Told(i int) (n uint32, last uint64) {
	return uint32(x.News[uint(i)%ccc.RunMax].Packets), x.told[uint(i)%ccc.RunMax]
}

// Handle returns the handle of packet k, from 0, and how many packets from k on have handles
// that are known to count up.
func (x *Run) Handle(k int) (h uint64, n int) {
	if x.unlike {
		n = 1
	} else {
		n = x.Sent - k
	}
	return x.HandleOf(k), n
}

// HandleOf is Handle without the number.
//
//uetcc:hot inlines nobounds
func (x *Run) HandleOf(k int) uint64 {
	if x.unlike {
		return x.handles[uint(k)%ccc.RunMax]
	}
	return x.first + uint64(k)
}

// Path returns the entropy value of packet k, from 0.
//
//uetcc:hot inlines nobounds
func (x *Run) Path(k int) uint16 { return x.Paths[uint(k)%ccc.RunMax] }

// PutHeader writes the header of packet k, from 0, unless the packet has a target.
//
//uetcc:hot inlines nobounds
func (x *Run) PutHeader(b *[pds.RequestLen]byte, k int) {
	x.heads.Put(b, uint32(k), x.asks)
}

// HasTarget reports whether packet k, from 0, names the credit that the source would like to reach.
//
//uetcc:hot inlines nobounds
func (x *Run) HasTarget(k int) bool { return x.Targets && x.targets[uint(k)%ccc.RunMax] != 0 }

// PutTarget makes the header of packet k, which has a target, that of such a packet.
//
//uetcc:hot inlines nobounds
func (x *Run) PutTarget(b *[pds.RequestCCLen]byte, k int) {
	x.heads.PutTarget(b, x.cccID, uint32(rccc.QuantaOf(x.targets[uint(k)%ccc.RunMax])))
}

// NextSender returns the next PDC to send data, and how many packets may be a run: 0, nobody waits
// for a turn; 1, others have turns, too; or [ccc.RunMax].
//
//uetcc:hot inlines
func (f *FastPath) NextSender() (id pds.PDCID, most int) {
	switch f.sched.data.len() {
	case 0:
	case 1:
		most = ccc.RunMax
	default:
		most = 1
	}
	return f.sched.data.next(), most
}

// TransmitRun is [Manager.Transmit] for nearly all packets, up to most, at least 1: new
// packets of a PDC in use, admitted at once by congestion control. Several go while no other
// PDC has a turn. The result is the PDC; with other packets to send, or none, nil, and
// nothing has changed.
//
//uetcc:hot
func (f *FastPath) TransmitRun(now int64, most int) *PDC {
	m := (*Manager)(f)
	p, x := m.sched.plainSender(), &m.run
	if p == nil {
		return nil
	}
	w := &p.tx
	r := &m.mem.row[w.current]
	if m.sched.data.len() != 1 || m.cc.Waiters(p.cc).Head != 0 {
		most = 1
	}
	n := w.alike(most, w.cack+uint32(w.limit))
	x.Acks = 0
	if x.unlike = !x.begin(r, w.next%rowLen); x.unlike {
		x.alone(m.mem, r, w.next%rowLen)
		n = m.mem.collect(r, w.next%rowLen, n, x)
	}
	x.Most = int(n)
	if !m.cc.Exchange(ccc.Handle(p.handle), now, &x.Run) {
		return nil
	}
	m.sched.data.head++
	p.flags &^= flagOnData
	if x.Targets {
		m.aim(p)
	}
	m.sched.takeTurns(p, m.source.sentRun(now, p, x), x.Held)
	return p
}

// begin notes the first packet of x, packet i of row r, as submitted, and reports whether the row's
// packets are alike; otherwise alone is to follow.
//
//uetcc:hot inlines nobounds
func (x *Run) begin(r *row, i uint32) bool {
	x.first, x.Size, x.kind = r.handle+uint64(i), int64(r.size), r.kind
	return r.size != 0
}

// alone is begin where the row's packets are not alike.
//
//go:noinline
//uetcc:hot
func (x *Run) alone(m *memory, r *row, i uint32) {
	h, size, k := m.unlike(r, i)
	x.first, x.Size, x.kind = h, int64(size), k
}

// aim has the packets of m.run, which congestion control has just let go, name their credit targets.
//
//uetcc:hot
func (m *Manager) aim(p *PDC) {
	m.cc.CreditTargets(ccc.Handle(p.handle), m.run.Size, m.run.targets[:m.run.Sent])
	m.run.cccID = m.life.cccID[p.cc.Index()]
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
//
//uetcc:hot inlines nobounds
func (w *sendWindow) alike(most int, end uint32) uint32 {
	return min(uint32(most), ccc.RunMax, rowLen-w.next%rowLen, w.tail-w.next, end-w.next)
}

// collect notes in x the handles of up to n packets of a row from the one at i on, as long as
// they are as the first, and returns how many those are.
func (m *memory) collect(r *row, i, n uint32, x *Run) uint32 {
	for k := range n {
		at := (i + k) % rowLen
		c := m.in(r, at)
		if pkt := &c.packet[at%chunkLen]; int64(pkt.size) != x.Size || pkt.kind&^kindDue != x.kind {
			return k
		}
		x.handles[k%ccc.RunMax] = c.handle[at%chunkLen]
	}
	return n
}

// sentRun takes note of the packets of x, of one row, released by congestion control, and describes the
// packets. last reports that the peer's window lets no next packet follow for now.
//
//uetcc:hot
func (s *source) sentRun(now int64, p *PDC, x *Run) (last bool) {
	w, n := &p.tx, uint32(x.Sent)
	i := w.next % rowLen
	r := &s.mem.row[w.current]
	// As a slice: the nil check of a pointer to the chunk would load the chunk's first line,
	// needed by nobody.
	in := s.mem.chunk[w.sends].packet[:]
	in[i%chunkLen].begin(now, x, 0)
	for k := uint32(1); k < n; k++ {
		if (i+k)%chunkLen == 0 {
			in = s.mem.in(r, i+k).packet[:]
		}
		in[(i+k)%chunkLen].begin(now, x, k)
	}
	r.flight |= span(i, n)
	x.heads = view.MakeRun(p.requestType(), x.kind.next(), int16(w.base-1-w.next), w.psn(w.next), p.handle.ID(), p.peerID)
	s.stats.Sent += uint64(n)
	p.activeAt = now
	w.step(s.mem, n)
	last = w.lastForNow()
	asks := uint32(0)
	if x.AckLast || last {
		asks = 1 << ((n - 1) % ccc.RunMax)
	}
	if x.AckEach || x.kind&kindAR != 0 {
		asks = 2<<((n-1)%ccc.RunMax) - 1
	}
	x.asks = asks
	if w.rtoAt-s.p.c.RTOInit > now || s.p.c.InferLoss { // perhaps earlier; rarely
		if due := deadline.After(now, s.p.c.RTOInit); due < w.rtoAt || s.p.c.InferLoss && p.probeAt == never {
			w.rtoAt = min(w.rtoAt, due)
			s.sentOne(now, p, w.tail-w.next+n > 1)
		}
	}
	return last
}

// begin makes pkt the record of packet k of x, which leaves now.
//
//uetcc:hot inlines nobounds
func (pkt *packet) begin(now int64, x *Run, k uint32) {
	pkt.label = label{size: uint16(x.Size), entropy: x.Paths[k%ccc.RunMax], kind: x.kind, sends: karn.First}
	pkt.sentAt = now
}
