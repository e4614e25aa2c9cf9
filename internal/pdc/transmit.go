// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/pds"
)

// Out is a packet to send. The PDS header is in the caller's buffer.
type Out struct {
	Header  int    // bytes written
	Handle  uint64 // data: the packet, whose semantic header and payload follow
	PDC     Handle
	PSN     pds.PSN
	Size    int64 // data: nominal, bytes, as submitted
	Peer    Addr  // destination
	Local   Addr  // source
	Entropy uint16
	TC      uint8 // traffic class of the PDC: of data, and of packets AsData
	Control bool  // a control packet, in the class of control packets; nothing follows
	AsData  bool  // a control packet in the class of data, to meet the same queues
	Retx    bool
	Aside   bool // no packet: the turn of a packet that [Manager.Aside] was called for
}

// to addresses o to the peer of p and empties the rest, field by field: a literal
// would be built on the stack and copied.
func (o *Out) to(p *PDC, control bool) {
	o.PDC, o.Peer, o.Local, o.TC, o.Control = p.handle, p.peer, p.local, p.tc, control
	o.Header, o.Handle, o.PSN, o.Size, o.Entropy, o.AsData, o.Retx, o.Aside = 0, 0, 0, 0, 0, false, false, false
}

// Transmit writes the header of the next packet to send to buf, at least [ReplyMax] bytes
// long, and describes the packet in out. False when nothing may be sent now: every call
// with input may change the answer.
//
// Control packets come first, then of each PDC in turn the retransmissions, lowest PSN
// first, then new packets. RUDI packets and datagrams have a turn together.
//
//uetcc:hot
func (m *Manager) Transmit(now int64, buf []byte, out *Out) bool {
	if len(buf) < ReplyMax {
		return false
	}
	for m.sched.ctl.head != 0 {
		if m.transmitControl(now, buf, out) {
			return true
		}
	}
	for m.sched.data.len() != 0 || m.sched.revision != m.cc.Revision() && m.sched.revised() {
		p := &m.pdc[m.sched.data.pop()]
		p.flags &^= flagOnData
		if !live(p.state) {
			if p == &m.pdc[others] && m.transmitOthers(now, buf, out) {
				return true
			}
			continue
		}
		if m.transmitData(now, p, buf, out) {
			return true
		}
		if !p.is(flagOnData) {
			m.sched.release(p)
		}
	}
	return false
}

// transmitOthers sends a RUDI packet or has the caller send a datagram, by turns.
func (m *Manager) transmitOthers(now int64, buf []byte, out *Out) bool {
	m.sched.othersWait, m.asideFirst = false, !m.asideFirst
	if m.asides == 0 || !m.asideFirst && m.rudi.queued.Head != 0 {
		if m.transmitRUDI(now, buf, out) {
			if m.asides != 0 || m.rudi.queued.Head != 0 {
				m.sched.wakeOthers()
			}
			return true
		}
		if m.asides == 0 {
			return false
		}
	}
	if m.asides--; m.asides != 0 || m.rudi.queued.Head != 0 {
		m.sched.wakeOthers()
	}
	*out = Out{Aside: true}
	return true
}

// Aside has [Manager.Transmit] tell, once for each call, when it is the turn of a datagram.
func (m *Manager) Aside() {
	m.asides++
	m.sched.wakeOthers()
}

// Idle reports whether [Manager.Transmit] has nothing to give.
//
//uetcc:hot inlines nobounds
func (m *Manager) Idle() bool {
	return m.sched.ctl.head == 0 && m.sched.data.len() == 0 && m.sched.revision == m.cc.Revision()
}

// transmitData sends a packet of p, if any, and allowed.
//
//uetcc:hot
func (m *Manager) transmitData(now int64, p *PDC, buf []byte, out *Out) bool {
	w := &p.tx
	off, again := w.next, false
	switch {
	case !p.syn():
	case off == 0:
		m.life.opensFrom(now, p)
	case p.giveUpAt(m.p, now) <= now:
		m.timer.schedule(p, now) // the timer ends p
		return false
	}
	if w.queued != 0 {
		if lost, ok := w.nextQueued(m.mem, now); ok {
			off, again = lost, true
		} else {
			m.timer.schedule(p, now) // for packets queued later than the wake-up
		}
	}
	if !again && !w.mayStart() {
		m.source.stalled(now, p)
		return false
	}
	r, i := w.at(m.mem, off)
	pkt := m.mem.record(r, i)
	h, size, k := m.mem.submitted(r, i)
	data := !k.control()
	if data && (m.reply.doubts(p) || !m.sched.allowed(now, p, int64(size), again)) {
		return false
	}
	out.to(p, !data)
	out.PSN, out.Handle, out.Retx = w.psn(off), h, again
	if again {
		w.resent(m.p, m.mem, off, now)
	} else {
		w.sent(m.p, m.mem, r, pkt, now)
	}
	last, held := w.lastForNow(), ccc.ReasonBacklog
	goes := data || m.reply.mayTell(p)
	switch {
	case data:
		held = m.putRequest(now, p, pkt, buf, out, last)
	case goes: // else the packet counts as lost on the way
		m.reply.putControl(p, buf, out, k.ctl(), 0)
		out.Handle = 0
	}
	if goes {
		p.activeAt = now
	}
	m.source.sentOne(now, p, w.next != w.tail)
	m.sched.takeTurns(p, last, held)
	return goes
}

// allowed asks congestion control for a packet, and parks p with the context for lack of
// room. In a recovery retransmissions ignore the window.
func (s *scheduler) allowed(now int64, p *PDC, size int64, again bool) bool {
	c := s.cc.Context(p.cc)
	if c == nil || again && p.is(flagRecovering) {
		return true
	}
	asking := p.is(flagAsking)
	p.flags &^= flagAsking
	if c.Admits() {
		return true
	}
	d := c.Decide(s.cc.Params(), now)
	switch {
	case d.Bytes >= min(size, s.cc.Params().NSCC().MTU()):
		return true // a window may be one MTU: a larger packet, against the rules, must not wait for ever
	case d.Bytes > 0 && d.Reason == ccc.ReasonBacklog, asking && d.Reason == ccc.ReasonCredit:
		return true
	case d.Reason == ccc.ReasonPacing && c.State() == ccc.StateReady:
		return true // the clock has gone back: the packet was allowed before, and no timer would wake p
	}
	s.park(p)
	return false
}

// putRequest writes the header of a data packet and returns the reason of congestion
// control against a next packet.
//
//uetcc:hot
func (m *Manager) putRequest(now int64, p *PDC, pkt *packet, buf []byte, out *Out, last bool) ccc.Reason {
	h := ccc.Handle(p.handle)
	sp := m.cc.Send(h, now, ccc.Sent{Size: int64(pkt.size), Rtx: out.Retx, Seq: uint64(p.tx.offset(out.PSN))})
	pkt.entropy = sp.Entropy
	out.Size, out.Entropy = int64(pkt.size), sp.Entropy
	q := pds.Request{Type: p.requestType(), Next: pkt.kind.next(), PSN: out.PSN, SPDCID: p.handle.ID(), DPDCID: p.peerID}
	if sp.CreditTarget != 0 {
		m.life.putTarget(p, &q, sp.CreditTarget)
	}
	q.ClearOffset, _ = pds.ClearOffset(out.PSN, p.tx.ClearPSN())
	if p.syn() {
		q.Flags = pds.FlagSYN
		q.DPDCID, q.Info = 0, pds.MakePDCInfo(p.is(flagReserved), uint16(p.tx.offset(out.PSN)))
	}
	if out.Retx {
		q.Flags |= pds.FlagRetx
		m.stats.Resent++
	} else {
		m.stats.Sent++
	}
	if out.Retx || pkt.kind&kindAR != 0 || sp.AckRequest || last {
		q.Flags |= pds.FlagAR
	}
	if p.is(flagClearDue) { // the request carries the CLEAR_PSN
		p.flags &^= flagClearDue
		p.auxAt = never
	}
	out.Header = len(q.AppendTo(buf[:0]))
	return sp.Held
}

// sentOne keeps the timers of a PDC after a tracked packet was sent; more reports further
// packets to send behind.
func (s *source) sentOne(now int64, p *PDC, more bool) {
	if s.p.c.InferLoss && p.probeAt == never {
		p.probeAt = deadline.After(now, s.timer.probeDelay(s.baseRTT(p), more))
		s.timer.schedule(p, now)
	} else if p.tx.rtoAt < p.timerAt {
		s.timer.schedule(p, now)
	}
}
