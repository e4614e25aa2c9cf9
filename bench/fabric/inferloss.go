// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/switchq"
	"github.com/uetcc/uetcc/nscc"
)

// Losses are concluded from the packets that overtook missing packets, with htsim's numbers
// (SLEEK): 1.5 windows, and five packets at least. A probe asks when nothing was heard for a
// while.
const (
	overtakenWindows = 1.5
	overtakenPackets = 5
	probeWaiting     = 3 // base round trips without news while data waits
	probeAgain       = 5 // the same after a probe
)

// An inference is a sender's knowledge of losses.
type inference struct {
	recovering bool
	end        uint32 // of a recovery: the packets before it are looked at
	mark       uint32 // no packet before it is taken for lost once more
	probes     uint8  // modulo 256
	probed     int64  // when the last left, ps
	due        int64  // ps; never: no probe is
	at         int64  // of the evProbe that counts, ps; never: none is pending
}

// recovers reports whether a connection resends lost packets regardless of the window. Credit
// counts also then.
func (s *light) recovers(conn uint32, c *sender) bool {
	return s.infer != nil && s.infer[conn].recovering && c.ctx.WaitingRtx() > 0 && (s.credits == nil || c.ctx.Credit() > 0)
}

// inferLosses is called at the end of each acknowledgement, which says how many packets have
// arrived behind a gap. delay is that of the probe that it answers, ns; -1 if of none.
func (s *light) inferLosses(conn uint32, c *sender, gaps, delay int64) {
	f := &s.infer[conn]
	s.moveProbe(conn, c, f)
	if delay >= 0 && delay < s.params.NSCC().Constants().TargetQdelay {
		f.recovering, f.end, f.mark = true, c.next, c.cack // the path is free: what is missing is lost
	}
	if f.recovering && int32(c.cack-f.end) >= 0 {
		f.recovering = false
	}
	payload := s.cfg.payload()
	limit := min(int64(overtakenWindows*float64(c.ctx.Cwnd())), s.params.NSCC().MaxWnd())
	if !f.recovering && (gaps < max(limit/payload, overtakenPackets) || c.ctx.WaitingRtx() > 0) {
		return
	}
	if !f.recovering {
		f.recovering, f.end = true, c.next
	}
	last := f.end
	if room := c.cack + uint32(c.ctx.Cwnd()/payload); int32(last-room) > 0 {
		last = room
	}
	for psn := c.cack; int32(last-psn) > 0; psn++ {
		if r := s.record(c, psn); r.state == recordSent && int32(psn-f.mark) >= 0 {
			f.mark = psn + 1
			s.inferred(c, psn, r)
		}
	}
}

// excused reports whether a packet that is overdue is left to the recovery that is under way, which
// looks at it once more if it did so before.
func (s *light) excused(conn, psn uint32) bool {
	if s.infer == nil || !s.infer[conn].recovering {
		return false
	}
	f := &s.infer[conn]
	f.mark = min(f.mark, psn)
	return true
}

// inferred has a packet sent again. The window stays as it is.
func (s *light) inferred(c *sender, psn uint32, r *record) {
	s.count.Inferred++
	r.state = recordWaiting
	c.lowest = min(c.lowest, psn)
	n := ccc.Nack{Entropy: r.ev}
	n.Size, n.Reason = int64(r.size), nscc.ReasonOther
	c.ctx.OnNACK(&s.params, s.nowNs(), n)
}

// moveProbe puts the probe off: something has been heard.
func (s *light) moveProbe(conn uint32, c *sender, f *inference) {
	base, all := c.ctx.BaseRTT()*1000, c.next == c.end
	switch {
	case all && c.cack == c.next:
		f.due = never
		return
	case all:
		f.due = s.now + base + s.params.NSCC().Constants().TargetQdelay*1000
	default:
		f.due = s.now + probeWaiting*base
	}
	s.watchProbe(conn, f)
}

// watchProbe makes sure that the probe is looked at in time: an event that comes too early finds
// when to come back, an event that would come too late counts no longer.
func (s *light) watchProbe(conn uint32, f *inference) {
	if f.due < f.at {
		f.at = f.due
		s.events.push(f.due, evProbe, conn)
	}
}

// probe sends a probe that is due.
func (s *light) probe(conn uint32) {
	f, c := &s.infer[conn], &s.senders[conn]
	if s.now != f.at {
		return
	}
	if f.at = never; f.due > s.now {
		s.watchProbe(conn, f)
		return
	}
	f.probes++
	f.probed, f.due = s.now, s.now+probeAgain*c.ctx.BaseRTT()*1000
	pkt := s.pool.get()
	s.pool.pkts[pkt] = packet{
		to: destination(conn), size: HeaderBytes, dscp: switchq.DSCPNoTrim, flags: flagProbe,
		ev: c.ent.Next(s.params.Entropy(), s.sideOf(conn), s.progress(c)),
	}
	s.pool.details[pkt] = detail{pend: f.probes}
	s.count.Probes++
	s.answer(s.hostOf[source(conn)], pkt)
	s.watchProbe(conn, f)
}

// probeArrives turns a probe into an acknowledgement with its number.
func (s *light) probeArrives(pkt uint32) {
	p, d := &s.pool.pkts[pkt], &s.pool.details[pkt]
	conn, number := p.to.conn(), d.pend
	d.psn = max(s.receivers[conn].cack, 1) - 1
	s.reply(conn, pkt, p.flags&flagCE|flagLast)
	s.pool.details[pkt].pend = number
}

// probeDelay is the queueing delay of the probe that an acknowledgement answers, ns; -1 if it
// answers none, or not the last one.
func (s *light) probeDelay(conn uint32, p *packet, d *detail) int64 {
	if s.infer == nil || !p.answersProbe() {
		return -1
	}
	f := &s.infer[conn]
	number := d.pend
	if d.pend = 0; number != f.probes {
		return -1
	}
	return max((s.now-f.probed)/1000-s.senders[conn].ctx.BaseRTT(), 0)
}
