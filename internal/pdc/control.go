// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"cmp"

	"github.com/uetcc/uetcc/pds"
)

// receiveControl takes in a control packet.
func (m *Manager) receiveControl(now int64, in *In, out []byte, r *Result) error {
	var c pds.Control
	n, err := c.Decode(in.Packet)
	if err = cmp.Or(err, c.Validate()); err != nil {
		return m.reply.malformed(err)
	}
	b := &m.target.in
	b.control(in, &c)
	r.Header = n
	p, err := m.context(now, b, out, r)
	if err != nil {
		return err
	}
	r.ID.PDC = p.handle
	if p.state == StateQuarantine {
		return m.reply.restingControl(now, p, b, &c, out, r)
	}
	p.resp.heard = true
	if c.Ctl != pds.CtlCredit || p.inUse() || !p.tx.done() { // credit that nothing waits for comes as long as p lives
		p.activeAt = now
	}
	switch {
	case b.flags&pds.FlagSYN != 0 && p.is(flagROD) != b.rod:
		m.reply.nackPDC(p, b, out, r, pds.NackPDCModeMismatch)
		return ErrMode
	case c.Ctl.ConsumesPSN() && p.ends(c.PSN):
		m.reply.nackPDC(p, b, out, r, pds.NackClosing)
		return ErrClosing
	}
	if err = m.obey(now, p, b, &c, out, r); err != nil {
		return err
	}
	r.Verdict = VerdictDone
	if n, closed := m.life.closeFilled(now, p, b, out); closed { // by the PSN, or by the CLEAR_PSN
		r.Reply = n
	}
	return nil
}

// obey acts on a control packet for a live PDC.
func (m *Manager) obey(now int64, p *PDC, b *inbound, c *pds.Control, out []byte, r *Result) error {
	switch c.Ctl {
	case pds.CtlNOOP, pds.CtlNegotiation: // whose features have no effect: no public source defines the time and the answer
		return m.target.consume(now, p, b, out, r)
	case pds.CtlACKReq:
		return m.reply.question(now, p, b, uint16(c.Payload), out, r)
	case pds.CtlClearCmd:
		if !p.rx.reaches(pds.PSN(c.Payload)) { // the sender speaks of another PDC; a reminder would be answered in the same way
			m.stats.BadClear++
			return ErrStale
		}
		was := p.rx.CACK()
		m.target.clearTo(p, pds.PSN(c.Payload))
		if r.Reply = m.reply.remind(p, b, out); r.Reply == 0 && p.rx.CACK() != was {
			r.Reply = m.reply.ackCleared(p, b, out)
		}
		return nil
	case pds.CtlClearReq:
		if !p.is(flagInitiator) { // the peer has gone; a stranger's PDC has its PDCID, and two targets talk
			return ErrIllegal
		}
		m.sched.control(p, ctlClearCmd)
		return nil
	case pds.CtlCloseCmd:
		return m.life.closeCmd(now, p, b, out, r)
	case pds.CtlCloseReq:
		if !p.is(flagInitiator) {
			m.reply.nackPDC(p, b, out, r, pds.NackUnexpEvent)
			return ErrIllegal
		}
		if err := m.target.consume(now, p, b, out, r); err != nil {
			return err
		}
		m.life.startClose(now, p)
		return nil
	case pds.CtlProbe:
		r.Reply = m.reply.putACK(p, out, &ackSpec{
			psn: pds.PSN(c.Payload), flags: b.echo() | pds.FlagP, opaque: c.ProbeOpaque, state: &b.state,
		})
		return nil
	case pds.CtlCredit:
		m.sched.credit(now, p, c.Payload.Credit())
		return nil
	default: // CtlCreditReq; Validate allows nothing else
		r.Demand = Demand{Target: c.Payload.CreditTarget(), CCCID: c.Payload.CCCID(), Valid: true}
		return nil
	}
}

// question answers an ACK_REQ about the fate of a PSN. For a PSN below the window a plain
// acknowledgement carries the present CACK, the need of a sender with a stuck window. A
// stored response is repeated, even with data: the specification's ACK_WITH_DATA is for a
// target that has to read the data anew, asks for the request again and costs one more
// round trip. message is the message_id in the question, or 0. A question of a different PDC with the PDCIDs
// of p is the challenge of a peer that doubts an INV_DPDCID from here, see [answers.outside].
func (w *answers) question(now int64, p *PDC, b *inbound, message uint16, out []byte, r *Result) error {
	i := w.mem.responses.find(&p.resp, b.psn)
	was := p.rx.Classify(w.mem.far(p), b.psn, w.p.ranges)
	switch st := w.mem.responses.slot[i].state; {
	case !p.mayHave(b.psn) && !p.mayAsk(b.psn):
		w.nackStranger(now, b, out, r, pds.NackInvDPDCID)
		return ErrOutside
	case st == respStored:
		r.Reply = w.ackStored(p, i, b.echo(), &b.state, out)
	case st != respNone:
		w.nackPDC(p, b, out, r, pds.NackRcvdSESProcg)
	case was == arrivalOld, was == arrivalDuplicate:
		b.name = requestName(message) << 32
		r.Reply = w.ackAgain(p, b, out)
	case !b.psn.After(p.rx.CACK()): // too far below to be named
		r.Reply = w.ackStanding(p, b, out)
	default:
		w.nackPDC(p, b, out, r, pds.NackPktNotRcvd)
	}
	return nil
}

// Noop queues a NOOP on h. A NOOP opens the PDC if nothing else has, ahead of data, and checks
// the life of a silent peer: a NOOP is sent again and gives the PDC up like any packet.
// Congestion control is not asked.
//
// The errors are [ErrUnknown], [ErrState], [ErrWindowFull] and [ErrNoMemory].
func (m *Manager) Noop(h Handle) error {
	p, err := m.taking(h)
	if err != nil {
		return err
	}
	return m.source.queueControl(p, pds.CtlNOOP)
}

// queueControl queues a control packet with a separate PSN, tracked like a packet.
func (s *source) queueControl(p *PDC, ctl pds.CtlType) error {
	if err := p.tx.push(s.p, s.mem, 0, 0, kindControl|kindAR|kind(ctl)); err != nil {
		return err
	}
	p.tx.control++
	s.sched.wake(p)
	return nil
}

// consume takes a control packet with a separate PSN: tracked like a request, and
// acknowledged at once.
func (t *target) consume(now int64, p *PDC, b *inbound, out []byte, r *Result) error {
	switch p.rx.Classify(t.mem.far(p), b.psn, t.p.ranges) {
	case arrivalNew:
		if b.psn == p.rx.Missing() {
			p.flags &^= flagGap
		}
		p.rx.Accept(t.mem.far(p), b.psn-p.rx.Missing())
		t.turn(p)
	case arrivalOutside:
		return t.reply.outside(now, p, b, out, r)
	default:
		t.stats.Duplicates++
	}
	r.Reply = t.reply.putACK(p, out, &ackSpec{psn: b.psn, flags: b.echo(), state: &b.state})
	return nil
}

// putControl writes a control packet with the PSN out.PSN.
func (w *answers) putControl(p *PDC, buf []byte, out *Out, ctl pds.CtlType, payload pds.Payload) {
	c := pds.Control{Ctl: ctl, SPDCID: p.handle.ID(), DPDCID: p.peerID, PSN: out.PSN, Payload: payload}
	if ctl.ConsumesPSN() || ctl == pds.CtlACKReq {
		c.Flags = pds.FlagAR
	}
	if out.Retx {
		c.Flags |= pds.FlagRetx
	}
	switch ctl {
	case pds.CtlProbe:
		c.ProbeOpaque, c.Flags = p.opaque, pds.FlagAR
	case pds.CtlNOOP:
		if p.is(flagROD) {
			c.Flags |= pds.FlagISROD
		}
		if p.syn() {
			c.Flags |= pds.FlagSYN
			c.Info = pds.MakePDCInfo(p.is(flagReserved), uint16(p.tx.offset(out.PSN)))
		}
	}
	out.Header = len(c.AppendTo(buf[:0]))
	w.stats.Controls++
}

// transmitControl sends one of the due control packets.
func (m *Manager) transmitControl(now int64, buf []byte, out *Out) bool {
	p := &m.pdc[m.sched.ctl.head]
	if !p.sendsControl() || !m.reply.mayTell(p) { // what may not go waits for a proof, see shown
		p.flags &^= flagOnControl
		m.sched.ctl.head = p.nextCtl
		return false
	}
	bit := p.ctl & -p.ctl
	p.ctl &^= bit
	p.asked |= bit & ctlOptional
	out.to(p, true)
	switch bit {
	case ctlQuestion:
		return m.ask(now, p, buf, out)
	case ctlClosingInErr:
		out.Header = m.reply.nackUnasked(p, buf)
	case ctlClearCmd:
		p.cleared = p.tx.ClearPSN()
		m.reply.putControl(p, buf, out, pds.CtlClearCmd, pds.Payload(p.tx.ClearPSN()))
	case ctlClearReq:
		m.reply.putControl(p, buf, out, pds.CtlClearReq, pds.Payload(p.rx.Missing()-1))
	case ctlAckReq:
		out.PSN = m.start.challengePSN(now, p)
		m.reply.putControl(p, buf, out, pds.CtlACKReq, 0)
	case ctlProbe:
		out.AsData = true
		m.start.putProbe(now, p, buf, out)
		p.before = p.tx.Next() - 1
	case ctlMeasure:
		m.start.putProbe(now, p, buf, out)
		p.before = p.tx.MaxCACK()
	case ctlCreditReq:
		m.reply.putControl(p, buf, out, pds.CtlCreditReq, m.life.creditWanted(p))
	}
	return true
}

// sendsControl reports whether p has control packets to send and knows where to.
func (p *PDC) sendsControl() bool {
	return p.ctl != 0 && p.peerID != 0 && (live(p.state) || p.ctl == ctlClosingInErr)
}

// ask sends an ACK_REQ about the lowest packet that has arrived and whose response
// is overdue, if any is left.
func (m *Manager) ask(now int64, p *PDC, buf []byte, out *Out) bool {
	off, ok := p.tx.find(m.mem, p.tx.base, standingAsked)
	if !ok {
		return false
	}
	p.ctl |= ctlQuestion // until there is none left
	out.PSN, out.Handle, out.Retx = p.tx.psn(off), p.tx.resent(m.p, m.mem, off, now), true
	m.reply.putControl(p, buf, out, pds.CtlACKReq, 0)
	m.source.sentOne(now, p, p.tx.next != p.tx.tail)
	return true
}
