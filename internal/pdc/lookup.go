// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"math"

	"github.com/uetcc/uetcc/pds"
)

// context finds the PDC of a request or control packet, or opens a PDC. Without a PDC the
// answer, if any, is written.
func (m *Manager) context(now int64, b *inbound, out []byte, r *Result) (*PDC, error) {
	if b.flags&pds.FlagSYN != 0 {
		return m.contextSYN(now, b, out, r)
	}
	p := m.target.byID(b.dpdcid)
	switch {
	case p == nil || p.state == StateClosed || p.peer != b.src:
		m.stats.Unknown++
		m.reply.nackStranger(now, b, out, r, pds.NackInvDPDCID)
		return nil, ErrUnknown
	case p.peerID != b.spdcid && p.peerID != 0:
		m.stats.Unknown++
		m.reply.nackStranger(now, b, out, r, pds.NackPDCHdrMismatch)
		return nil, ErrPeer
	case p.state == StateQuarantine:
		return p, nil
	case p.state == StatePending:
		// The sender has the PDCID from the NEW_START_PSN, and starts as demanded there.
		if p.rx.Classify(m.mem.far(p), b.psn, m.p.ranges) != arrivalNew {
			return nil, ErrStale
		}
		p.begun(b)
	}
	if p.is(flagUnproven) {
		m.life.shown(p)
	}
	if p.peerID == 0 {
		// A packet of an earlier PDC with the same id must not name the peer.
		if p.rx.Classify(m.mem.far(p), b.psn, m.p.ranges) == arrivalOutside {
			m.stats.Unknown++
			return nil, ErrStale
		}
		m.life.learn(p, b.spdcid)
	}
	return p, nil
}

func (m *Manager) contextSYN(now int64, b *inbound, out []byte, r *Result) (*PDC, error) {
	if !b.opens {
		code := pds.NackPDCModeMismatch // a control packet unable to open a PDC
		if r.Next != pds.NextNone {
			code = pds.NackPDCHdrMismatch // read data, before anything was asked for
		}
		m.reply.nackStranger(now, b, out, r, code)
		return nil, ErrIllegal
	}
	p, code, err := m.openTarget(now, b)
	switch {
	case code == pds.NackNewStartPSN: // not limited: the NACK is shorter than the SYN packet
		r.Reply = m.start.askStart(now, b, out)
		return nil, err
	case code != 0:
		m.reply.nackStranger(now, b, out, r, code)
		return nil, err
	case err != nil:
		return nil, err
	case p.tx.start == b.start && p.state == StateQuarantine:
		return nil, m.reply.restingSYN(now, p, b, out, r)
	case p.tx.start != b.start && p.state != StatePending:
		if p.state != StateQuarantine {
			m.recovery.challenge(now, p) // maybe a restarted peer, locked out until IdleTime otherwise
		}
		r.Reply = m.start.refuseStart(now, p, b, out)
		return nil, ErrStart
	case p.tx.start != b.start:
		n := b.nack(pds.NackNewStartPSN)
		n.SPDCID, n.Payload = p.handle.ID(), uint32(p.tx.start)
		r.Reply = m.reply.putNACK(out, &n)
		return nil, ErrStart
	}
	if p.begun(b); p.is(flagUnproven) && m.p.c.Start == StartRandom1RTT {
		m.life.shown(p) // nobody else knows the Start_PSN
	}
	if p.is(flagUnproven) {
		n := uint8(tellsPerRequest)
		if r.Next == pds.NextNone {
			n = tellsPerControl
		}
		p.resp.tells = min(p.resp.tells, math.MaxUint8-n) + n
	}
	return p, nil
}

// begun notes the Start_PSN has come a PENDING target asked for. The packet says the delivery mode:
// somebody else may have sent the first packet.
func (p *PDC) begun(b *inbound) {
	if p.state == StatePending {
		p.state = StateEstablished
		p.set(flagROD, b.rod)
	}
}

// shown notes the proof that the peer of p receives.
func (l *life) shown(p *PDC) {
	p.flags &^= flagUnproven
	l.table.proves(p.handle)
	if p.tx.Unsent() != 0 {
		l.sched.wake(p)
	}
}

// byID returns the PDC with an id, live or resting.
//
//uetcc:hot inlines
func (t *target) byID(id pds.PDCID) *PDC {
	if int(id) < len(t.pdc) {
		return &t.pdc[id]
	}
	return nil
}

// fromPeer returns the live PDC named by a packet from src, nil if none or of a different
// peer. The spdcid of a NACK may be 0, without meaning.
func (t *target) fromPeer(dpdcid pds.PDCID, src Addr, spdcid pds.PDCID) *PDC {
	p := t.byID(dpdcid)
	if p == nil || !live(p.state) || p.peer != src || p.peerID != spdcid && p.peerID != 0 && spdcid != 0 {
		return nil
	}
	return p
}

// learn takes the peer's PDCID from the first packet naming the PDCID.
func (l *life) learn(p *PDC, id pds.PDCID) {
	p.peerID = id
	l.table.Learn(p.handle, id)
	if p.sendsControl() { // what has waited for the PDCID
		l.sched.control(p, 0)
	}
	if p.state == StateCreating {
		p.state = StateEstablished
		l.mem.event(p, EventUp, CauseNone)
		l.sched.measure(p)
	}
}
