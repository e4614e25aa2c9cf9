// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"fmt"

	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/hw/switchq"
	"github.com/uetcc/uetcc/internal/agenda"
)

// A foresight lets a run in parts carry out an Application. The end of a message may start messages
// of any rank at the same instant, too soon for news from part to part. But an end comes with a
// packet, and when a switch puts a packet on the link to a host, the time of arrival is certain, and
// no earlier than the next window. So the parts note the ends that packets on the last link will
// bring about, and between two windows the program of the ranks goes on to the end of the next
// window: all messages begun in the window are known before, to the picosecond, as in an undivided run.
//
// An endpoint, random loss before a host and a slow memory decide only on arrival, as does a source
// whose requests for credit take PSNs: such runs are not divided.
type foresight struct {
	at     int64 // ps, of the last news
	due    agenda.Agenda[news]
	acked  []int64    // by transfer: when its source will know of the arrival, ps; 0: not foreseen
	landed []int64    // when all of it will be there
	coming []receiver // by transfer: what is there or on the last link; nil without Application.Arrival
}

// news are what an application is told.
type news struct {
	at   int64  // ps
	what uint32 // transfer; of newsComputed the operation
	kind newsKind
}

type newsKind uint8

const (
	newsComputed newsKind = iota
	newsArrived
	newsFinished
)

// foresees reports whether the ends of messages are certain before they come.
func (c *Config) foresees() bool {
	return c.Node == NodeLight && c.Loss+c.Reorder == 0 && c.Memory == nil && !c.numbersRequests()
}

func (f *foresight) init(transfers int, arrival bool) {
	f.acked, f.landed = make([]int64, transfers), make([]int64, transfers)
	if arrival {
		f.coming = make([]receiver, transfers)
	}
}

// next is when the application has something to do, ps; never: not before the end of the run.
func (a *app) next() int64 {
	if at, ok := a.due.Next(); ok && at <= int64(a.s.cfg.End) {
		return at
	}
	return never
}

// hear takes in the news of a part.
func (f *foresight) hear(list []news) {
	for _, n := range list {
		f.due.Push(n.at, n)
	}
}

// advance carries out the application to a time, which is not reached.
func (a *app) advance(until int64) {
	for at := a.next(); at < until; at = a.next() {
		_, n := a.due.Pop()
		a.at = at
		switch n.kind {
		case newsComputed:
			a.s.count.Events++
			a.computed(n.what)
		case newsArrived:
			a.arrived(n.what)
		default:
			a.finished(n.what)
		}
	}
}

// foresee is for the network. The connection of an application's transfer has no other transfer,
// so both have one number.
func (s *light) foresee(pkt uint32, at int64) {
	p := &s.pool.pkts[pkt]
	conn := p.to.conn()
	switch {
	case p.flags&(flagCredit|flagNack) != 0:
	case p.flags&flagAnswer != 0:
		c := &s.senders[conn]
		if c.acked < c.started && s.app.acked[conn] == 0 && int32(s.pool.details[pkt].cack-c.until) >= 0 {
			s.app.acked[conn] = at
			s.news = append(s.news, news{at, conn, newsFinished})
		}
	case s.app.coming != nil && p.dscp.Class() != switchq.ClassMed:
		s.foreseeData(conn, s.pool.details[pkt].psn, at)
	}
}

// foreseeData takes in that a packet of data is on its last link.
func (s *light) foreseeData(conn, psn uint32, at int64) {
	r := &s.app.coming[conn]
	if r.mask == 0 {
		r.mask = s.receivers[conn].mask
		r.base = s.bitmaps.take((r.mask + 1) / 64)
	}
	if s.app.landed[conn] != 0 || s.holds(r, psn) {
		return
	}
	if s.note(r, psn); r.cack == s.transfers[conn].packets {
		s.app.landed[conn] = at
		s.bitmaps.give(r.base, (r.mask+1)/64)
		s.news = append(s.news, news{at, conn, newsArrived})
	}
}

// foresee is for the network, which never asks here.
func (s endpoints) foresee(uint32, int64) {}

// violations checks that what was foreseen has come.
func (f *foresight) violations(transfers []transfer) (v []string) {
	for i := range transfers {
		t := &transfers[i]
		if t.finished >= 0 && t.finished != f.acked[i] {
			v = append(v, fmt.Sprintf("transfer %d: acknowledged at %v, foreseen for %v", i, link.Ps(t.finished), link.Ps(f.acked[i])))
		}
		if f.coming != nil && t.arrived >= 0 && t.arrived != f.landed[i] {
			v = append(v, fmt.Sprintf("transfer %d: arrived at %v, foreseen for %v", i, link.Ps(t.arrived), link.Ps(f.landed[i])))
		}
	}
	return v
}
