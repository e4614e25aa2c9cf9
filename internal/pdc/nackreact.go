// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"cmp"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/internal/karn"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
)

// A recovery draws the conclusions: from acknowledgements and refusals, and from time passed
// without either.
type recovery struct {
	p      *Params
	mem    *memory
	pdc    []PDC
	cc     *ccc.Manager
	stats  *Stats
	sched  *scheduler
	timer  *timers
	reply  *answers
	start  *starts
	target *target
	source *source
	life   *life
}

// receiveNACK takes in a refusal. A NACK is never answered.
//
//uetcc:hot
func (m *Manager) receiveNACK(now int64, t pds.Type, in *In, r *Result) error {
	var n pds.Nack
	size, err := decodeNACK(&n, t, in.Packet)
	if err = cmp.Or(err, n.Validate()); err != nil {
		return m.reply.malformed(err)
	}
	r.Header = size
	if n.Flags&pds.FlagNT != 0 {
		return m.nackRUDI(now, in.Src, &n, r)
	}
	p := m.target.fromPeer(n.DPDCID, in.Src, n.SPDCID)
	if p == nil {
		m.stats.Unknown++
		return ErrUnknown
	}
	r.ID = RxID{p.handle, n.PSN}
	if p.isDeaf(&n) {
		r.Verdict = VerdictDone
		return nil
	}
	if off := p.tx.offset(n.PSN); p.tx.live(m.mem, off) {
		row, i := p.tx.at(m.mem, off)
		r.Handle, r.Nack = m.mem.handle(row, i), n.Code
	}
	if err := m.recovery.react(now, p, &n); err != nil {
		r.Nack = 0
		m.stats.StaleNACK++ // nor is it a sign of life: a peer without the PDC sends such, too
		return err
	}
	p.activeAt = now
	if p.isOpening() && live(p.state) && !n.Code.IsTrimmed() { // a cut packet is refused by whoever has no PDC, too
		m.life.opensFrom(now, p)
	}
	r.Verdict = VerdictDone
	return nil
}

func decodeNACK(n *pds.Nack, t pds.Type, b []byte) (int, error) {
	if t == pds.TypeNACK {
		return n.Decode(b)
	}
	var x pds.NackCCX
	size, err := x.Decode(b)
	*n = x.Nack
	return size, err
}

// react does the source's part for the code. (UE Specification 1.0.x, Table 3-59; class by
// class.) A NACK of a packet that is not outstanding changes nothing, for any code: even a
// refusal of the whole PDC names a packet. But a PDC with a stuck window or without credit has
// nothing outstanding, so there the answer to the ACK_REQ about the last packet can report a
// gone target, or a reused id. A NACK that a stranger could send is confirmed first, see
// [recovery.challenge].
func (rec *recovery) react(now int64, p *PDC, n *pds.Nack) error {
	off := p.tx.offset(n.PSN)
	switch {
	case gone(n.Code) && rec.start.confirms(now, p, n):
		rec.nackFatal(now, p, n.Code)
		return nil
	case !p.tx.live(rec.mem, off):
		if !gone(n.Code) || off+1 != p.tx.next || !p.blocked() && !rec.sched.denied(now, p) {
			return ErrStale
		}
		return rec.refusal(now, p, n)
	}
	if rec.restarts(p, n) {
		return rec.renumber(now, p, pds.PSN(n.Payload))
	}
	switch ClassOf(n.Code) {
	case NackRetx:
		if n.Code == pds.NackPSNOORWindow {
			p.tx.outOfRange(off)
			if !p.tx.inPeerWindow(off) { // nor does the peer take what is behind: all goes again with the window
				rec.source.rewind(now, p, p.tx.cack+uint32(p.tx.limit), now, n)
				rec.source.wakeAt(now, p)
				return nil
			}
		}
		return rec.nackRetx(now, p, off, n)
	case NackRetry:
		if !p.syn() { // closing, it may still be creating
			return ErrStale
		}
		if rec.life.table.besides(p.handle.ID()) { // no message has begun, see Beside
			rec.life.abandon(now, p, CauseNone)
			return nil
		}
		err := rec.nackAgain(now, p, off, n, deadline.After(now, rec.pause(p, p.tx.packet(rec.mem, off).nacks)))
		if err == nil && live(p.state) {
			rec.life.yield(now, p)
		}
		return err
	case NackGoBack:
		return rec.goBack(now, p, p.tx.gap(rec.mem, off, n), n)
	case NackRenumber:
		if !p.syn() { // closing, it may still be creating
			return ErrStale
		}
		return rec.renumber(now, p, pds.PSN(n.Payload))
	case NackNewPDC, NackFatal:
		return rec.refusal(now, p, n)
	default:
		return ErrStale
	}
}

// refusal takes a NACK that refuses the whole PDC and names a packet. A PDC only waiting for the
// answer to a CLOSE_CMD has nothing left to lose.
func (rec *recovery) refusal(now int64, p *PDC, n *pds.Nack) error {
	switch {
	case !p.strange(n) || p.state == StateCloseAckWait:
		rec.nackFatal(now, p, n.Code)
		return nil
	case gone(n.Code):
		rec.challenge(now, p)
	}
	return ErrStale
}

// nackRetx has one packet sent again: at once after a proven loss on the way, otherwise when the
// target may have the missing resource. So one NACK for a packet is acted on in NACK_Retx_Time,
// except NACKs of cut copies: each copy can be lost once.
func (rec *recovery) nackRetx(now int64, p *PDC, off uint32, n *pds.Nack) error {
	pkt := p.tx.packet(rec.mem, off)
	at := deadline.After(now, rec.p.c.NackRetxTime)
	switch {
	case n.Code == pds.NackPktNotRcvd || n.Code == pds.NackACKWithData:
		return rec.nackForget(now, p, off, n)
	case n.Code.IsTrimmed() || n.Code == pds.NackRcvrInferLoss:
		at = now
	}
	if pkt.sends > karn.First && n.Flags&pds.FlagRetx == 0 {
		return ErrStale // of a copy replaced already
	}
	return rec.nackAgain(now, p, off, n, at)
}

// nackForget sends a packet again shown by a SACK to have arrived: the target does not have the
// packet, or cannot repeat the response otherwise. The NACK does not name the question it
// answers, so for NACK_Retx_Time a second NACK is taken for a copy.
func (rec *recovery) nackForget(now int64, p *PDC, off uint32, n *pds.Nack) error {
	if pkt := p.tx.packet(rec.mem, off); pkt.nacks > 0 && now < deadline.After(pkt.sentAt, rec.p.c.NackRetxTime) {
		return ErrStale
	}
	if !p.tx.hasArrived(rec.mem, off) {
		return rec.nackAgain(now, p, off, n, now)
	}
	r, i := p.tx.at(rec.mem, off)
	p.tx.unqueue(r, 1<<i) // no need to ask again
	r.acked &^= 1 << i
	if pkt := rec.mem.record(r, i); !pkt.kind.control() {
		// Back into flight for a moment, so the refusal finds the packet there.
		rec.cc.OnNewData(ccc.Handle(p.handle), now, int64(pkt.size))
		rec.cc.OnSend(ccc.Handle(p.handle), now, ccc.Sent{Size: int64(pkt.size)})
		r.flight |= 1 << i
	}
	return rec.nackAgain(now, p, off, n, now)
}

// pause is the wait after the (n+1)th refusal of a packet of p.
func (rec *recovery) pause(p *PDC, n uint8) int64 {
	d := rec.p.refused(n)
	if p.syn() && rec.p.maxRTOs != forever {
		d = min(d, rec.life.opensFor()/2) // or the wait ends p
	}
	return d
}

// roomTurn is how many packets of a PDC may be sent again in a pause for want of memory of the peer.
const roomTurn = 64

// turn is the pause of the packet at off, refused for want of memory. Of those behind the lowest that waits roomTurn
// go in each pause: with room for a few the lowest get through, each time, and end the doubling of the pause for
// all. 12,000 packets of a window of 50 MB were refused once in NACK_Retx_Time for fifty that got through.
func (rec *recovery) turn(p *PDC, off uint32, n uint8) int64 {
	d := rec.pause(p, n)
	if p.tx.waitsBelow(rec.mem, off) {
		d = min(d*int64(1+p.tx.queued/roomTurn), rtoMax)
	}
	return d
}

// nackAgain queues a refused packet, or gives up.
func (rec *recovery) nackAgain(now int64, p *PDC, off uint32, n *pds.Nack, at int64) error {
	if p.tx.waiting(rec.mem, off) || p.tx.hasArrived(rec.mem, off) {
		return ErrStale
	}
	pkt := p.tx.packet(rec.mem, off)
	switch short := n.Code.IsShortage() && !pkt.kind.control(); {
	case short:
		x, moved := &rec.mem.shortage[p.slot()], p.tx.base+p.tx.cack
		overtaken := x.tries != 0 && x.moved != moved && off == p.tx.base
		tries := rec.source.shortage(now, p, moved)
		if int(tries) > rec.p.maxShort {
			return rec.source.void(now, p, off, n)
		}
		x.code = n.Code
		switch told := x.knowsRoom(); {
		case told && !p.tx.waitsBelow(rec.mem, off):
			at = deadline.After(now, rec.pause(p, 0)) // as others may have had the room meanwhile
		case !told && overtaken: // by the news that another has got through, see hasten
			at = now
		default:
			at = deadline.After(now, rec.turn(p, off, tries-1))
		}
	case int(pkt.nacks) >= rec.p.maxNacks && n.Code.IsTrimmed(): // by a switch: the peer is there, and the way is full
		tries := rec.source.shortage(now, p, p.tx.base+p.tx.cack+p.tx.next)
		if int(tries) > rec.p.maxShort {
			return rec.refused(now, p, n)
		}
		if tries > 1 {
			at = deadline.After(now, rec.pause(p, tries-1))
		}
	case int(pkt.nacks) >= rec.p.maxNacks:
		return rec.refused(now, p, n)
	default:
		pkt.nacks = min(pkt.nacks+1, nackForever)
	}
	if n.Code.IsTrimmed() {
		pkt.sends = pkt.sends.Refused()
	}
	pkt.rtos = 0 // the peer answers: no reason to back off
	rec.source.takeBack(now, p, off, at, n)
	rec.source.wakeAt(now, p)
	return nil
}

// refused gives p up after the most refusals of a packet. After NACKs that a stranger could send
// the packet's time-outs decide instead.
func (rec *recovery) refused(now int64, p *PDC, n *pds.Nack) error {
	if p.strange(n) {
		return ErrStale
	}
	rec.mem.shortage[p.slot()].nack = n.Code
	rec.life.fail(now, p, CauseNack)
	return nil
}

// takeBack takes a refused packet out of flight and queues the packet.
func (s *source) takeBack(now int64, p *PDC, off uint32, at int64, n *pds.Nack) {
	l := p.tx.enqueue(s.mem, off, at)
	if !l.counted {
		return
	}
	k := ccc.Nack{Nack: nscc.Nack{Size: l.size}, Entropy: l.entropy, CE: n.Flags&pds.FlagM != 0, NoPDC: n.SPDCID == 0}
	switch n.Code {
	case pds.NackTrimmed:
		k.Reason = nscc.ReasonTrimmed
	case pds.NackTrimmedLastHop:
		k.Reason = nscc.ReasonTrimmedLastHop
	}
	s.recall(now, p, l.size)
	s.cc.OnNACK(ccc.Handle(p.handle), now, k)
	s.sched.release(p)
}

// A shortage is the state of a PDC's want of memory at the peer, or of room in the network.
type shortage struct {
	since int64  // the last refusal counted: the first in each pause
	moved uint32 // a number changed by progress of the PDC
	tries uint8  // refusals counted since the last progress

	code pds.NackCode // of the last refusal for want of memory
	told bool         // the layer above tells of its peer's room, see [Manager.Hasten]
	nack pds.NackCode // of any kind: the last refusal of a packet refused too often

	renumbered uint8 // how often a Start_PSN was left for another
	asked      uint8 // the activeHash when the peer last had to answer; 0: never

	hastened uint16 // the number, modulo 2^16, whose progress has had packets sent again, see hasten

	wentTo pds.PSN // the missing PSN of the last ROD_OOO, or the PSN before a later NEW_START_PSN
	wentAt int64   // when the NACK was obeyed
}

// shortage counts a refusal for want of memory, or of room on the way, and returns the count
// since the last change of moved. moved changes with a released packet, or a new packet sent:
// with room now and again, asking soon is worth while.
func (s *source) shortage(now int64, p *PDC, moved uint32) uint8 {
	was := &s.mem.shortage[p.slot()]
	if p.tx.queued == 0 || was.tries == 0 { // before, no progress was for packets that wait
		was.hastened = uint16(p.tx.base + p.tx.cack)
	}
	if moved != was.moved || was.tries == 0 {
		was.since, was.moved, was.tries, was.nack = now, moved, 1, 0
	} else if now >= deadline.After(was.since, s.p.refused(was.tries-1)) {
		was.since, was.tries = now, min(was.tries+1, nackForever)
	}
	return was.tries
}

// knowsRoom reports whether the layer above knows when there is room for what was refused last.
func (s *shortage) knowsRoom() bool { return s.told && s.code == pds.NackNoSESMsgAvail }

// hasten has the lowest packet sent at once if waiting for memory of the peer while others have
// got through: the target keeps memory for the lowest packet. Behind go about two for each that has got through
// (base and CACK have moved by one each), so that resends follow the room as it grows, and soon fill new room.
func (m *memory) hasten(now int64, p *PDC) {
	s := &m.shortage[p.slot()]
	moved := p.tx.base + p.tx.cack
	if s.tries == 0 || s.knowsRoom() || s.moved == moved || !p.tx.outstanding() {
		return
	}
	if r, i := p.tx.at(m, p.tx.base); r.queued&^r.acked>>i&1 != 0 {
		p.tx.waitUntil(m, p.tx.base, now)
	}
	m.hurry(now, p, uint32(uint16(moved)-s.hastened))
	s.hastened = uint16(moved)
}

// hurry has up to n of the lowest packets that wait for memory of the peer sent at once, and returns how many.
func (m *memory) hurry(now int64, p *PDC, n uint32) (gone uint32) {
	for off := p.tx.base; gone < n; off++ {
		var ok bool
		if off, ok = p.tx.find(m, off, standingLost); !ok || !p.tx.inPeerWindow(off) {
			break
		}
		r, i := p.tx.at(m, off)
		if m.due(0, r, i) > now && (off == p.tx.base || m.record(r, i).nacks == 0) { // not refused for another reason
			p.tx.waitUntil(m, off, now)
			gone++
		}
	}
	return gone
}

// Hasten tells of room at the peer of h for some packets more: as many as wait for memory there, from the
// lowest on, are sent at once. The results are how many those are, and how many packets of h still wait to be
// sent again. The caller knows better than acknowledgements when there is room: from now on a packet refused
// with NO_SES_MSG_AVAIL is not sent again at an acknowledgement, see hasten, and the lowest goes again after
// NACK_Retx_Time each time, without doubled pauses: with other initiators about, room may come at any time.
//
// The specification has a time for each code, and a refused packet wait so long. Room known of is no reason to wait.
func (m *Manager) Hasten(now int64, h Handle, room uint32) (gone, left uint32) {
	p := m.get(h)
	if p == nil {
		return 0, 0
	}
	s := &m.mem.shortage[p.slot()]
	if s.told = true; s.tries == 0 || p.tx.queued == 0 {
		room = 0
	}
	gone = m.mem.hurry(now, p, room)
	if gone != 0 {
		*p.tx.rtxAt(m.mem) = now
		m.source.wakeAt(now, p)
	}
	return gone, uint32(p.tx.queued) - gone
}

// Short reports whether packets of h wait for memory of the peer.
func (m *Manager) Short(h Handle) bool {
	p := m.get(h)
	return p != nil && p.tx.queued != 0 && m.mem.shortage[p.slot()].tries != 0
}

// Kept is how many answers to packets of h have come that the peer does not know of yet: those to packets behind
// one without an answer, which no CLEAR tells of.
func (m *Manager) Kept(h Handle) (n uint32) {
	p := m.get(h)
	if p != nil {
		n = p.tx.responses(m.mem)
	}
	return n
}

// void gives up the packet at off, refused too often for want of memory: a NOOP takes the PSN,
// since no PSN may be skipped. So the PDC goes on for others. Congestion control hears of an
// arrival, as is true.
//
// The specification has the PDC fail.
func (s *source) void(now int64, p *PDC, off uint32, n *pds.Nack) error {
	if p.strange(n) {
		return ErrStale
	}
	r, i := p.tx.at(s.mem, off)
	h, _, _ := s.mem.submitted(r, i)
	s.mem.push(Event{Kind: EventError, PDC: p.handle, PSN: p.tx.psn(off), Handle: h, Cause: CauseNack, Nack: n.Code})
	l := p.tx.enqueue(s.mem, off, now)
	p.tx.differ(s.mem, r, off)
	s.mem.write(r, i, 0, label{kind: kindControl | kindAR | kind(pds.CtlNOOP), sends: karn.More})
	s.mem.postpone(r, i, now)
	if l.counted {
		a := ccc.Ack{Ack: nscc.Ack{Bytes: l.size}, Packets: 1, Entropy: l.entropy}
		if !p.agrees(l.size, 0) {
			s.overtake(now, p, l.size, l.size, 0, 0)
		}
		s.cc.OnACK(ccc.Handle(p.handle), now, &a)
		s.sched.release(p)
	}
	s.wakeAt(now, p)
	return nil
}

// gap returns the missing packet according to a ROD_OOO about the live packet at off: the packet
// at off, or, for targets that name the early packet instead, the packet named by the payload.
func (w *sendWindow) gap(m *memory, off uint32, n *pds.Nack) uint32 {
	if e := w.offset(pds.PSN(n.Payload)); e-w.base < off-w.base && w.live(m, e) {
		return e
	}
	return off
}

// goBack sends everything from the gap on again, since the target keeps nothing ahead of a gap.
// At most once in NACK_Retx_Time for the same gap, and once in a round trip for any gap: no
// target can know of a new gap before receiving the present packets, and a NACK for each packet
// would have the window sent as many times. If the missing packet waits for a later time, after
// a different NACK, all packets behind wait, too.
//
// A target without the PDC says ROD_OOO of SYN packets behind the first, from no PDC: each of a window, and
// late ones when the first has long arrived. Once the PDC is known those say nothing of the present gap.
func (rec *recovery) goBack(now int64, p *PDC, off uint32, n *pds.Nack) error {
	gap, went := p.tx.psn(off), &rec.mem.shortage[p.slot()]
	pause := min(rec.p.c.BaseRTT, rec.p.c.NackRetxTime)
	if gap == went.wentTo {
		pause = rec.p.c.NackRetxTime
	}
	if !p.is(flagROD) || p.strange(n) || now < deadline.After(went.wentAt, pause) {
		return ErrStale
	}
	at := now
	if r, i := p.tx.at(rec.mem, off); r.queued>>i&1 != 0 {
		at = rec.mem.due(0, r, i)
	} else if pkt := rec.mem.record(r, i); int(pkt.nacks) < rec.p.maxNacks {
		pkt.nacks = min(pkt.nacks+1, nackForever)
	} else { // the peer is there, and the way is full
		tries := rec.source.shortage(now, p, p.tx.base+p.tx.cack)
		if int(tries) > rec.p.maxShort {
			return rec.refused(now, p, n)
		}
		at = deadline.After(now, rec.pause(p, tries-1))
	}
	went.wentTo, went.wentAt = gap, now
	if at == now && !p.tx.waiting(rec.mem, off) && !p.tx.hasArrived(rec.mem, off) {
		rec.source.timedOut(now, p, off) // lost: the window is to hear of one loss for each going back
		off++
	}
	rec.source.rewind(now, p, off, at, n)
	rec.source.wakeAt(now, p)
	return nil
}

// rewind queues every packet from off on that has not arrived, to go at the time at. Congestion
// control hears of all of them at once: a window of them may not cost as much as so many packets.
func (s *source) rewind(now int64, p *PDC, off uint32, at int64, n *pds.Nack) {
	lost := p.tx.enqueueFrom(s.mem, off, now, at)
	if lost.Packets == 0 {
		return
	}
	lost.CE, lost.NoPDC = n.Flags&pds.FlagM != 0, n.SPDCID == 0
	s.recall(now, p, lost.Size)
	s.cc.OnNACK(ccc.Handle(p.handle), now, lost)
	s.sched.release(p)
}

// renumber starts all over at a new PSN demanded by the target, at most once in NACK_Retx_Time,
// and as often as a packet is sent again because of NACKs. The packets' counts begin anew: a target
// that had no PDC for long, and now demands a Start_PSN, is about to have a PDC. The first packet goes
// without credit: credit in turn would take longer than the target's wait.
func (rec *recovery) renumber(now int64, p *PDC, start pds.PSN) error {
	went := &rec.mem.shortage[p.slot()]
	again := went.wentTo == p.tx.start-1 && now < deadline.After(went.wentAt, rec.p.c.NackRetxTime)
	if start == p.tx.start || again {
		return ErrStale
	}
	if int(went.renumbered) >= rec.p.maxNacks {
		went.nack = pds.NackNewStartPSN
		rec.life.fail(now, p, CauseNack)
		return nil
	}
	went.wentTo, went.wentAt, went.renumbered = start-1, now, min(went.renumbered+1, nackForever)
	rec.source.rewind(now, p, p.tx.base, now, &pds.Nack{Code: pds.NackNewStartPSN})
	for off := p.tx.base; off != p.tx.next; off++ {
		pkt := p.tx.packet(rec.mem, off)
		pkt.rtos, pkt.nacks = 0, 0
	}
	p.tx.start = start
	p.rx.Init(start)
	p.flags |= flagAsking
	rec.sched.unparkAll(p.cc) // p may be among the parked PDCs
	rec.source.wakeAt(now, p)
	return nil
}

// restarts reports whether p may start at the PSN in an INVALID_SYN. Nothing of p has been taken at
// the target, where the PDCID has another Start_PSN; but a PDC renumbered before has two, and late
// packets of the first may have been taken by a target that has begun again since.
func (rec *recovery) restarts(p *PDC, n *pds.Nack) bool {
	return n.Code == pds.NackInvalidSYN && n.Vendor == vendorStart && p.syn() && rec.mem.shortage[p.slot()].renumbered == 0
}

// nackFatal ends the PDC. Without the PDC at the target nobody is there to close with.
func (rec *recovery) nackFatal(now int64, p *PDC, code pds.NackCode) {
	over := code == pds.NackInvDPDCID || code == pds.NackClosing || code == pds.NackClosingInErr
	if p.state == StateCloseAckWait && over {
		rec.life.retire(now, p, CauseNone)
		return
	}
	if over {
		rec.life.abandon(now, p, Cause(code))
		return
	}
	rec.life.fail(now, p, Cause(code))
}

// wakeAt has p send the queued packets, now or when due.
func (s *source) wakeAt(now int64, p *PDC) {
	if *p.tx.rtxAt(s.mem) <= now {
		s.sched.wake(p)
	}
	s.timer.schedule(p, now)
}
