// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"cmp"
	"errors"
	"math/bits"

	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/internal/list"
	"github.com/uetcc/uetcc/internal/splitmix"
	"github.com/uetcc/uetcc/pds"
)

// ErrRUDIFull means the most RUDI packets outstanding (pds_pause for RUDI). The end of
// a RUDI packet, a [VerdictRUDIResponse] or an [EventError], ends the pause.
var ErrRUDIFull = errors.New("pdc: too many RUDI packets outstanding")

// rudiPacket is a RUDI packet waiting for a response.
type rudiPacket struct {
	handle uint64
	dueAt  int64  // queued: not before; otherwise when the response is overdue
	id     uint32 // pkt_id; the low bits are the place in the table
	size   uint16
	next   uint16 // next free place + 1
	peer   Addr
	local  Addr
	kind   pds.NextHdr
	rtos   uint8
	nacks  uint8
	used   bool
	queued bool // waits to be sent
	sent   bool // at least once
	away   bool // counts in rudiTable.away
	class  rudiClass
}

// A rudiClass says whose packets a packet shares places with.
type rudiClass uint8

const (
	rudiUnknown rudiClass = iota
	rudiKnown             // the peer had answered when the packet was submitted
	rudiVain              // has timed out, with no response of its peer meanwhile
	rudiClasses
)

// rudiTable holds the RUDI packets. A pkt_id is the place and a counter above: unique
// among the outstanding packets and not repeated for long.
type rudiTable struct {
	pkt     []rudiPacket
	count   uint32 // of packets ever, from a random start
	shift   uint
	free    uint16 // place + 1
	places  int    // for packets that are not in vain
	live    int
	of      [rudiClasses]int  // of them
	queued  list.List[uint16] // to be sent, by place + 1
	links   list.Links[uint16]
	away    int   // packets sent that wait for their response, but for those to a peer that does not answer
	most    int   // most of them
	answers int   // since most last grew
	nextDue int64 // nothing is due before
	peers   []rudiPeer
}

// A rudiPeer is what is known of a peer with RUDI packets, in the place of a hash of its address: peers share places.
type rudiPeer struct {
	peer   Addr   // the last that has answered
	silent Addr   // the last with a packet in vain, unless such a packet has ended since
	at     int64  // of the last response of peer, plus 1
	live   uint16 // packets to all peers of the place
}

// rudiPeers is how many places there are, a power of two: with few a live peer shares one with a dead one too often.
const rudiPeers = 1024

// rudiSilent is how many places packets in vain have for themselves, as far as rudiShared are left: dead peers are silent
// for 64 time-outs.
const (
	rudiShared = 256
	rudiSilent = 768
)

func (t *rudiTable) init(n int, start uint32) {
	t.pkt, t.links, t.places = make([]rudiPacket, n), list.Make[uint16](n), max(min(n, rudiShared), n-rudiSilent)
	t.shift = uint(bits.Len(uint(n - 1)))
	t.peers = make([]rudiPeer, rudiPeers)
	t.count, t.nextDue, t.most = start, never, t.places
	for i := n - 1; i >= 0; i-- {
		t.pkt[i].next = t.free
		t.free = uint16(i + 1)
	}
}

// find returns the packet of a pkt_id, nil if not outstanding.
func (t *rudiTable) find(id uint32) *rudiPacket {
	i := id & (1<<t.shift - 1)
	if int(i) >= len(t.pkt) || !t.pkt[i].used || t.pkt[i].id != id {
		return nil
	}
	return &t.pkt[i]
}

func (t *rudiTable) drop(p *rudiPacket) {
	t.back(p)
	t.of[p.class]--
	h := t.place(p.peer)
	if h.live--; h.silent == p.peer {
		h.silent = Addr{}
	}
	entry := t.entry(p)
	t.links.Remove(&t.queued, entry)
	*p = rudiPacket{next: t.free}
	t.free = entry
	t.live--
}

// entry is the name of a packet in lists.
func (t *rudiTable) entry(p *rudiPacket) uint16 { return uint16(p.id&(1<<t.shift-1)) + 1 }

// queue has a packet sent when its turn has come, not before at.
func (t *rudiTable) queue(p *rudiPacket, at int64) {
	p.queued, p.dueAt = true, at
	t.links.Push(&t.queued, t.entry(p))
}

// classify moves a packet to a class.
func (t *rudiTable) classify(p *rudiPacket, c rudiClass) {
	t.of[p.class]--
	t.of[c]++
	if p.class = c; c == rudiVain {
		t.place(p.peer).silent = p.peer
	}
}

// taken is how many of the places are taken: packets in vain have others, as far as those go.
func (t *rudiTable) taken() int { return t.live - min(t.of[rudiVain], len(t.pkt)-t.places) }

// back notes that a packet is on its way no more.
func (t *rudiTable) back(p *rudiPacket) {
	if p.away {
		p.away = false
		t.away--
	}
}

// RUDI has no window, and what a full queue has dropped, or a switch trimmed, would fill the queue again
// for ever. So one packet less is on its way after each that was lost while its peer answers, down to
// rudiLeast, and one more after rudiMore responses: only a queue loses more than a fifth of all packets.
const (
	rudiLeast = 8
	rudiMore  = 4
)

// lost notes that a packet was lost on the way to or from a peer that answers.
func (t *rudiTable) lost() { t.most = max(t.most-1, min(rudiLeast, t.places)) }

// answered notes a response.
func (t *rudiTable) answered(now int64, peer Addr) {
	if t.answers++; t.answers >= rudiMore {
		t.most, t.answers = min(t.most+1, t.places), 0
	}
	h := t.place(peer)
	h.peer, h.at = peer, now+1
}

// hasHeard reports whether a peer has answered since, as far as known: peers share places.
func (t *rudiTable) hasHeard(peer Addr, since int64) bool {
	h := t.place(peer)
	return h.peer == peer && h.at > since
}

// place is that of a peer.
func (t *rudiTable) place(peer Addr) *rudiPeer {
	return &t.peers[splitmix.Mix(peer.Hi^bits.RotateLeft64(peer.Lo, 32))%rudiPeers]
}

// SubmitRUDI queues a RUDI packet to a peer: sent until a response comes. The
// operation may be executed more than once, so must be safe to repeat. The handle
// comes back in a VerdictRUDIResponse or an EventError, once. The error is
// [ErrRUDIFull].
func (m *Manager) SubmitRUDI(now int64, local, peer Addr, pkt Packet) (pktID uint32, err error) {
	t := &m.rudi
	if t.free == 0 {
		return 0, ErrRUDIFull
	}
	i := uint32(t.free - 1)
	p := &t.pkt[i]
	t.free = p.next
	t.count++
	*p = rudiPacket{
		handle: pkt.Handle, id: t.count<<t.shift | i, size: pkt.Size, kind: pkt.Next, local: local, peer: peer,
		used: true,
	}
	t.place(peer).live++
	t.live++
	if t.hasHeard(peer, now-m.p.longestRTO()) {
		p.class = rudiKnown
	}
	t.of[p.class]++
	t.queue(p, now)
	m.wakeRUDI()
	return p.id, nil
}

// HogsRUDI reports whether a peer has enough RUDI packets outstanding: one in vain, or the last places are for others.
// Peers that have answered of late leave an eighth of the places, and all others a quarter to them: the packets of dead
// peers end by time-out alone, and live peers would wait as long. Of others each leaves a quarter more to those that have
// none.
func (m *Manager) HogsRUDI(now int64, peer Addr) bool {
	t := &m.rudi
	h, n, taken := t.place(peer), t.places, t.taken()
	switch {
	case taken >= n || h.silent == peer:
		return true
	case t.hasHeard(peer, now-m.p.longestRTO()):
		return h.live > 0 && t.of[rudiKnown] >= n-n/8
	case h.live > 0:
		return taken-t.of[rudiKnown] >= max(n/2, 1)
	}
	return taken-t.of[rudiKnown] >= max(n-n/4, 1)
}

// transmitRUDI sends a queued RUDI packet.
func (m *Manager) transmitRUDI(now int64, buf []byte, out *Out) bool {
	t := &m.rudi
	if t.queued.Head == 0 || t.away >= t.most {
		return false
	}
	first := t.queued.Head
	for t.pkt[t.queued.Head-1].dueAt > now { // refused a while ago
		i := t.queued.Head
		t.links.Remove(&t.queued, i)
		t.links.Push(&t.queued, i)
		if t.queued.Head == first {
			return false
		}
	}
	p := &t.pkt[t.queued.Head-1]
	t.links.Remove(&t.queued, t.queued.Head)
	h := pds.RUDI{Type: pds.TypeRUDIReq, Next: p.kind, PktID: p.id}
	if p.sent {
		h.Flags = pds.FlagRetx
		m.stats.Resent++
	} else {
		m.stats.Sent++
	}
	*out = Out{Handle: p.handle, Peer: p.peer, Local: p.local, Size: int64(p.size), Retx: p.sent}
	out.Header = len(h.AppendTo(buf[:0]))
	if p.away = p.class != rudiVain && t.place(p.peer).silent != p.peer; p.away {
		t.away++
	}
	p.sent, p.queued = true, false
	p.dueAt = deadline.After(now, m.timeout(p))
	t.nextDue = min(t.nextDue, p.dueAt)
	m.life.arm(now)
	return true
}

// timeout is how long a response to p is waited for.
func (m *Manager) timeout(p *rudiPacket) int64 {
	return spread(min(m.p.rto(p.rtos), m.p.longestRTO()), p.rtos, p.id)
}

// FailRUDI gives up the RUDI packets whose handles have the upper half of handle: each fails with
// c, as far as there is room for events. The result is how many of them were never sent.
func (m *Manager) FailRUDI(handle uint64, c Cause) (unsent int) {
	for i := range m.rudi.pkt {
		p := &m.rudi.pkt[i]
		if p.used && p.handle>>32 == handle>>32 && m.mem.events.Free() > 0 {
			m.mem.push(Event{Kind: EventError, Handle: p.handle, Cause: c})
			if !p.sent {
				unsent++
			}
			m.rudi.drop(p)
		}
	}
	m.wakeRUDI()
	return unsent
}

// expire queues the packets whose response is overdue, or gives the packets up.
func (t *rudiTable) expire(m *Manager, now int64) {
	if t.nextDue > now {
		return
	}
	t.nextDue = never
	taken := t.taken()
	since := now - m.p.longestRTO() // who has answered since is there, and the way is full
	for i := range t.pkt {
		p := &t.pkt[i]
		if !p.used || p.queued && p.dueAt <= now { // none, or waits to be sent
			continue
		}
		if p.dueAt > now {
			t.nextDue = min(t.nextDue, p.dueAt)
			continue
		}
		if int(p.rtos) >= m.p.maxRTOs && (p.rtos >= rtosEver || !t.hasHeard(p.peer, since)) {
			if m.mem.events.Free() == 0 {
				t.nextDue = now
				return
			}
			m.mem.push(Event{Kind: EventError, Handle: p.handle, Cause: CauseRTO})
			t.drop(p)
			continue
		}
		if !t.hasHeard(p.peer, p.dueAt-m.timeout(p)) {
			t.classify(p, rudiVain)
		} else if t.lost(); p.class == rudiVain {
			t.classify(p, rudiUnknown)
		}
		t.back(p)
		p.rtos = min(p.rtos+1, rtosEver)
		m.stats.RTOs++
		t.queue(p, now)
	}
	if t.taken() < taken && m.mem.events.Free() > 0 { // the others fail each with an event
		m.mem.push(Event{Kind: EventRoom})
	}
	m.wakeRUDI()
}

// wakeRUDI is to be called after any possible change of which RUDI packets may go.
func (m *Manager) wakeRUDI() {
	if m.rudi.queued.Head != 0 {
		m.sched.wakeOthers()
	}
}

// receiveRUDI takes in a RUDI request or response. A target keeps nothing: each
// arrival is executed.
func (m *Manager) receiveRUDI(now int64, in *In, out []byte, r *Result) error {
	var h pds.RUDI
	n, err := h.Decode(in.Packet)
	if err = cmp.Or(err, h.Validate()); err != nil {
		return m.reply.malformed(err)
	}
	r.Header, r.Next = n, h.Next
	if h.Type == pds.TypeRUDIReq {
		if in.Trimmed != 0 {
			m.stats.Trimmed++
			if m.reply.limiter.allow(now, in.Src) {
				n := nackOfRUDI(&h, in.Trimmed)
				r.Reply = m.reply.putNACK(out, &n)
			}
			return ErrTrimmed
		}
		r.Verdict = VerdictRUDIRequest
		return nil
	}
	t := &m.rudi
	p := t.find(h.PktID)
	switch {
	case p == nil || !p.sent || p.peer != in.Src:
		m.stats.Unknown++
		return ErrStale
	case in.Trimmed != 0: // the data is missing: the request goes out again on time
		m.stats.Trimmed++
		return ErrTrimmed
	}
	t.answered(now, p.peer)
	r.Verdict, r.Handle = VerdictRUDIResponse, p.handle
	t.drop(p)
	m.wakeRUDI()
	return nil
}

// nackRUDI takes in the refusal of a RUDI packet: a missing resource may come later,
// everything else fails.
func (m *Manager) nackRUDI(now int64, src Addr, n *pds.Nack, r *Result) error {
	p := m.rudi.find(n.PktID())
	if p == nil || p.queued || p.peer != src {
		m.stats.StaleNACK++
		return ErrStale
	}
	r.Verdict = VerdictDone
	class, most, pause := ClassOf(n.Code), m.p.maxNacks, m.p.c.NackRetxTime
	if class == NackRetry { // some round trips until the peer has the PDC of show, and each copy sent meanwhile is refused
		most, pause = m.p.maxShort, m.p.refused(p.nacks)
	}
	if class != NackRetx && class != NackRetry || int(p.nacks) >= most {
		m.mem.push(Event{Kind: EventError, Handle: p.handle, Cause: Cause(n.Code)})
		m.rudi.drop(p)
		m.wakeRUDI()
		return nil
	}
	if n.Code == pds.NackNoPDCAvail {
		m.show(now, p.local, p.peer)
	}
	m.rudi.back(p)
	if p.class == rudiVain {
		m.rudi.classify(p, rudiUnknown)
	}
	p.nacks++
	p.rtos = uint8(min(int(p.rtos), max(m.p.maxRTOs-1, 0))) // the peer answers, maybe later than the last time-out
	if n.Code.IsTrimmed() {
		m.rudi.lost()
		m.rudi.queue(p, now)
	} else {
		m.rudi.queue(p, deadline.After(now, pause))
		m.rudi.nextDue = min(m.rudi.nextDue, p.dueAt)
		m.life.arm(now)
	}
	m.wakeRUDI()
	return nil
}

// nackOfRUDI returns a NACK of the RUDI request q.
func nackOfRUDI(q *pds.RUDI, code pds.NackCode) pds.Nack {
	return pds.Nack{Code: code, Flags: pds.FlagNT | q.Flags&pds.FlagRetx, PSN: pds.PSN(q.PktID)}
}

// RespondRUDI writes the response to the RUDI request with the header q, or with
// RespondRefuse a NACK, to buf and returns the length. The error is [ErrShortBuffer].
func (m *Manager) RespondRUDI(q *pds.RUDI, a *Response, buf []byte) (int, error) {
	if len(buf) < ReplyMax || len(a.Bytes) > ResponseMax {
		return 0, ErrShortBuffer
	}
	if a.Kind == RespondRefuse {
		n := nackOfRUDI(q, a.Code)
		return m.reply.putNACK(buf, &n), nil
	}
	h := pds.RUDI{Type: pds.TypeRUDIResp, Next: a.Next, Flags: q.Flags & pds.FlagRetx, PktID: q.PktID}
	n := len(h.AppendTo(buf[:0]))
	return n + copy(buf[n:], a.Bytes), nil
}

// receiveUUD takes in an unreliable datagram: never tracked, never answered.
func (w *answers) receiveUUD(in *In, r *Result) error {
	var h pds.UUD
	n, err := h.Decode(in.Packet)
	if err = cmp.Or(err, h.Validate()); err != nil {
		return w.malformed(err)
	}
	if in.Trimmed != 0 {
		w.stats.Trimmed++
		return ErrTrimmed
	}
	r.Verdict, r.Header, r.Next = VerdictDatagram, n, h.Next
	return nil
}
