// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"math"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/internal/fifo"
	"github.com/uetcc/uetcc/pds"
)

// Open returns the PDC for a new message of the given key: an open PDC, or a new one.
// ticket names a message that has to wait for a PDC; then the error is [ErrWaiting], and an
// event tells the rest. Other errors are [ErrPaused] and [ErrTableFull].
//
// The PDC takes the message with [Manager.Begin].
func (m *Manager) Open(now int64, k *InitiatorKey, ticket uint64) (Handle, error) {
	if h := m.life.usable(now, k); h != 0 {
		return h, nil
	}
	h, err := m.life.openInitiator(now, k)
	if err == nil || err == ErrTableFull {
		m.life.relieve(now, h)
		return h, err
	}
	q := &m.life.waiting[0]
	if k.Reserved {
		q = &m.life.waiting[1]
	}
	if q.Len() == m.life.most {
		return 0, ErrPaused
	}
	*q.Push() = waiter{key: *k, ticket: ticket, until: deadline.After(now, m.p.c.PendTimeout)}
	m.life.arm(now)
	m.life.relieve(now, 0)
	return 0, ErrWaiting
}

// Beside returns the second PDC, beside h, to a peer, and whether messages may begin there: not before the peer has
// answered a NOOP, so a refusal harms no message. was is the last result for h. After a refusal, or the end of the
// second PDC, the PDCID has to rest before a third is asked for.
func (m *Manager) Beside(now int64, h, was Handle) (beside Handle, up bool) {
	p, q := m.get(h), m.takes(was)
	switch {
	case q != nil:
		return was, q.peerID != 0 && !m.life.worn(now, q)
	case p == nil || p.peerID == 0 || p.is(flagReserved) || m.get(was) != nil || was != 0 && m.table.rests(was.ID(), now):
		return was, false
	}
	k := InitiatorKey{Source: p.local.Netip(), Destination: p.peer.Netip(), TC: p.tc}
	beside, err := m.table.openBeside(now, &k)
	if err == nil {
		beside, err = m.life.initiate(now, beside, &k)
	}
	if err == nil {
		_ = m.Noop(beside) // without memory the PDC ends idle
	}
	return beside, false
}

// Joins reports whether a message to a peer, in a traffic class, ordered or not, may begin on h, a
// PDC opened from here.
//
//uetcc:hot
func (f *FastPath) Joins(now int64, h Handle, peer Addr, tc uint8, ordered, reserved bool) bool {
	m := (*Manager)(f)
	p := m.takes(h)
	return p != nil && p.IsFor(peer, tc, ordered, reserved) && p.is(flagInitiator) && (p.tx.tail < psnClose || !m.life.worn(now, p))
}

// IsFor reports whether p, opened from here, is for messages to a peer, in a traffic class, ordered or
// not.
func (p *PDC) IsFor(peer Addr, tc uint8, ordered, reserved bool) bool {
	return p.peer == peer && p.tc == tc && p.is(flagROD) == ordered && p.is(flagReserved) == reserved
}

// Usable returns the PDC of a key that takes messages, 0 if there is none.
func (f *FastPath) Usable(now int64, k *InitiatorKey) Handle { return f.life.usable(now, k) }

// usable returns the PDC of the key that takes messages. At most one does, since a PDC no
// longer taking messages has left the table.
func (l *life) usable(now int64, k *InitiatorKey) Handle {
	h := l.table.Initiator(k)
	if h == 0 || l.worn(now, &l.pdc[h.ID()]) {
		return 0
	}
	return h
}

func (l *life) openInitiator(now int64, k *InitiatorKey) (Handle, error) {
	// First, since an id given back has to rest.
	if !l.mayBind(now, &ccc.Key{Source: k.Source, Destination: k.Destination, TC: k.TC}) {
		return 0, ErrNoPDC
	}
	h, _, err := l.table.OpenInitiator(now, k) // the table has none, see usable
	if err != nil {
		return 0, err
	}
	return l.initiate(now, h, k)
}

// initiate begins a PDC opened from here.
func (l *life) initiate(now int64, h Handle, k *InitiatorKey) (Handle, error) {
	p := l.begin(now, h, l.start.startPSN(h))
	p.state = StateCreating
	p.flags |= flagInitiator
	p.set(flagROD, k.Ordered)
	p.set(flagReserved, k.Reserved)
	p.tc = k.TC
	p.peer, p.local = AddrFrom(k.Destination), AddrFrom(k.Source)
	if err := l.bind(now, p); err != nil {
		l.table.Release(now, h)
		p.state = StateClosed
		l.open--
		l.stats.Closed++
		return 0, ErrNoPDC
	}
	return h, nil
}

// begin makes the slot of h a PDC. Membership in the manager's lists outlives the slot's
// last PDC.
func (l *life) begin(now int64, h Handle, start pds.PSN) *PDC {
	p := &l.pdc[h.ID()]
	*p = PDC{
		handle: h, flags: p.flags & (flagOnData | flagOnControl | flagTurn), nextData: p.nextData, nextCtl: p.nextCtl,
		timerAt: p.timerAt, auxAt: never, probeAt: never, activeAt: now,
	}
	p.rx.Init(start)
	p.tx.Init(l.p, l.mem, p.slot(), start)
	l.mem.shortage[p.slot()], l.mem.askAt[p.slot()] = shortage{wentAt: math.MinInt64}, never
	if l.target.holes != nil {
		l.target.holes[p.slot()] = start - 1
	}
	l.open++
	l.stats.Opened++
	l.timer.schedule(p, now)
	return p
}

// SetStartPSN makes an initiator PDC with nothing to send yet start at a given PSN, and
// reports success: for tests and recorded walks.
func (m *Manager) SetStartPSN(h Handle, start pds.PSN) bool {
	p := m.get(h)
	if p == nil || p.state != StateCreating || p.tx.tail != 0 {
		return false
	}
	p.rx.Init(start)
	p.tx.Init(m.p, m.mem, p.slot(), start)
	return true
}

// bind gives p the congestion control context for the PDC's peer and traffic class.
func (l *life) bind(now int64, p *PDC) error {
	k := ccc.Key{Source: p.local.Netip(), Destination: p.peer.Netip(), TC: p.tc}
	c, opened, err := l.ctxs.Open(&k)
	if err != nil {
		return err
	}
	if opened {
		if err := l.cc.Open(c, now, l.paths.rtt(p)); err != nil {
			l.ctxs.Close(c)
			return err
		}
		// Contexts come and go while the peer may still count the credit of the last
		// context, so the number of a slot is no name.
		if q := l.cc.Params(); q.RCCC().MaxCredit() != 0 || q.TFC() != nil {
			l.cccID[c.Index()], _ = l.ctxs.NameAny(c, p.peer.Netip())
		}
		p.flags |= flagMeasure
	}
	if err := l.cc.Bind(ccc.Handle(p.handle), c, now, p.is(flagROD) && !l.p.c.SprayROD); err != nil {
		return err
	}
	p.cc = c
	if l.bound != nil {
		l.binds.Push(&l.bound[c.Index()], p.slot())
	}
	if opened && l.algof != nil {
		_ = l.cc.SetAlgorithm(c, now, l.algof(k)) // the configuration has no algorithm with TFC
	}
	return nil
}

// unbind takes p out of congestion control, with all packets in flight.
func (l *life) unbind(now int64, p *PDC) {
	l.sched.unparkAll(p.cc) // p may wait with its context, which its slot is to leave
	if l.bound != nil {
		l.binds.Remove(&l.bound[p.cc.Index()], p.slot())
	}
	freed, rtt := l.cc.Unbind(ccc.Handle(p.handle), now)
	if freed != 0 {
		l.paths.keep(p, rtt)
	}
	l.ctxs.Close(freed) // 0, and so nothing, while other PDCs use it
	p.cc = 0
}

// openTarget opens a PDC for a SYN packet, or finds the packet's PDC, maybe resting.
func (m *Manager) openTarget(now int64, b *inbound) (p *PDC, code pds.NackCode, err error) {
	k := TargetKey{Source: b.src.Netip(), Destination: b.dst.Netip(), SPDCID: b.spdcid}
	h, err := m.table.Target(&k)
	if err == ErrResting && m.table.reapDue(now) {
		h, err = m.table.Target(&k)
	}
	held := h
	if err != ErrUnknown {
		if p = &m.pdc[h.ID()]; !m.start.succeeds(now, b, p) {
			return p, 0, nil
		}
	}
	if code, err := m.start.refusesSYN(b); err != nil {
		return nil, code, err
	}
	if held != 0 && p.state != StateQuarantine {
		m.life.abandon(now, p, Cause(pds.NackInvDPDCID))
	}
	if m.life.open > m.p.c.CloseThresh { // messages that wait have a timer
		m.life.relieve(now, 0)
	}
	shown := held != 0 || m.start.shows(now, b, 0)
	if !shown && !m.p.c.KnownSources {
		if m.table.crowded(now, m.table.held.Source(b.src.Hi, b.src.Lo), b.rsv) {
			m.life.makeRoom(now, true)
			return nil, pds.NackNewStartPSN, ErrStart
		}
		if m.start.wasAsked(now, b) {
			return nil, pds.NackNewStartPSN, ErrStart
		}
	}
	beside := b.noop && !b.rsv && !b.rod && m.table.held.Held(m.table.held.Source(b.src.Hi, b.src.Lo)) != 0
	h, _, err = m.table.openTarget(now, &k, opening{reserved: b.rsv, beside: beside, shown: shown, resting: held})
	if err == ErrResting {
		m.stats.Resting++
		return nil, 0, err
	}
	if err != nil {
		m.stats.Refused++
		if err == ErrNoPDC && !beside {
			m.life.makeRoom(now, false)
		}
		return nil, pds.NackNoPDCAvail, err
	}
	p = m.life.begin(now, h, b.start)
	p.state = StateEstablished
	p.peerID = b.spdcid
	p.peer, p.local, p.tc = b.src, b.dst, m.targetTC
	p.set(flagROD, b.rod)
	if p.set(flagUnproven, !shown); shown {
		m.table.proves(h)
	}
	if m.p.c.Start != StartAny && !(shown && m.p.c.Start == StartRandom1RTT) {
		m.start.admitStart(now, p, b, shown)
	}
	return p, 0, nil
}

// refusesSYN judges a SYN packet without a PDC before opening one: a later refusal would
// leave the PDC behind. An ordered PDC is opened by the first packet, and packets behind
// are told to go back to the first.
func (s *starts) refusesSYN(b *inbound) (code pds.NackCode, err error) {
	switch {
	case b.clears: // it has an answer to one, so it knows a PDC of this target's former life
		s.stats.BadClear++
		err = ErrStale
	case uint32(b.psn-b.start) >= s.p.ranges:
		s.stats.Outside++
		code, err = b.beyond(), ErrOutside
	case b.rod && b.psn != b.start:
		b.expected = b.start
		code, err = pds.NackRODOOO, ErrOrder
	}
	return code, err
}

// waiter is a message waiting for an id of a pool. Every message waits equally long, so the first is always
// the first to give up.
type waiter struct {
	key    InitiatorKey
	ticket uint64
	until  int64
}

// Waiting returns how many messages wait for a PDC.
func (m *Manager) Waiting() int { return m.life.waits() }

func (l *life) waits() int { return l.waiting[0].Len() + l.waiting[1].Len() }

// arm keeps the deadline of waiting work in the manager: messages for a PDC (the time-out of
// the first, an id leaving quarantine, or a new look for idle PDCs, without any other signal)
// and RUDI packets.
//
//uetcc:hot
func (l *life) arm(now int64) {
	at, until := l.rudi.nextDue, int64(never)
	for i := range l.waiting {
		if w := l.waiting[i].First(); w != nil {
			until = min(until, w.until)
		}
	}
	if l.waits() > 0 {
		waited := l.p.c.PendTimeout - max(until-now, 0) // the longer, the less is to be expected
		at = min(at, until, deadline.After(now, max(l.p.c.RTOInit, waited/8)))
		// An id free by now is no help: the messages have just looked.
		if reap, ok := l.table.NextReap(); ok && reap > now {
			at = min(at, reap)
		}
		switch {
		case l.freed:
			at = min(at, now)
		case l.vain < len(l.pdc):
			at = min(at, deadline.After(now, roomPause))
		}
	}
	if l.deferred {
		at = min(at, l.spareAt)
	}
	if at != never {
		l.timer.wheel.Arm(l.ownTimer(), at)
	}
}

// own is the manager's own timer.
func (m *Manager) own(now int64) {
	m.life.deferred, m.life.freed = false, false
	for i := range m.life.waiting {
		m.life.serve(now, &m.life.waiting[i])
	}
	m.life.relieve(now, 0)
	m.rudi.expire(m, now)
	m.life.arm(now)
}

// serve opens PDCs for the messages waiting for a pool, in order, and gives up messages that
// have waited too long.
func (l *life) serve(now int64, q *fifo.Queue[waiter]) {
	for w := q.First(); w != nil && l.mem.events.Free() > l.mem.reserve; w = q.First() {
		e := Event{Kind: EventMessage, Handle: w.ticket, PDC: l.usable(now, &w.key)}
		if e.PDC == 0 {
			h, err := l.openInitiator(now, &w.key)
			switch {
			case err == nil:
				e.PDC = h
			case w.until <= now:
				e.Kind, e.Cause = EventError, CausePending
			default:
				return
			}
		}
		q.Drop()
		l.mem.push(e)
	}
}
