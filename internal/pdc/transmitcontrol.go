// SPDX-License-Identifier: Apache-2.0

package pdc

import "github.com/uetcc/uetcc/pds"

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
	case pds.CtlNOOP, pds.CtlNegotiation:
		if ctl == pds.CtlNegotiation {
			c.Payload, c.Features = pds.PayloadOnOff, pds.Features(payload)
		}
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
	if !p.sendsControl() {
		m.sched.controlled(p)
		return false
	}
	bit := p.ctl & -p.ctl
	p.ctl &^= bit
	p.asked |= bit & ctlOptional
	if !m.reply.mayTell(p) {
		return false
	}
	out.to(p, true)
	switch bit {
	case ctlQuestion:
		return m.ask(now, p, buf, out)
	case ctlClosingInErr:
		out.Header = m.reply.nackUnasked(p, buf)
	case ctlClearCmd:
		p.cleared = p.tx.ClearPSN()
		m.reply.putControl(p, buf, out, pds.CtlClearCmd, pds.PSNPayload(p.tx.ClearPSN()))
	case ctlClearReq:
		m.reply.putControl(p, buf, out, pds.CtlClearReq, pds.PSNPayload(p.rx.Missing()-1))
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
