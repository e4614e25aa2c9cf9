// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/karn"
)

// By htsim's rules and without trimming a request for credit takes a PSN: a request is acknowledged,
// which tells a window of the path, is timed, and is sent again as a packet of data without payload.
// A transfer begins at the same PSN as without requests, so PSNs of packets are compared with those of
// transfers less the requests before.

// moreRequests is how many requests the ring of a short connection has room for.
const moreRequests = 32

// asked is a destination's knowledge of requests.
type asked struct {
	plain  uint32 // that came as requests, and are not in rcvd_bytes
	passed uint32 // before cack
}

// addRequests has requests take PSNs where the rules say so. packets are those of each connection.
func (s builder) addRequests(packets []uint32) {
	if !s.cfg.numbersRequests() {
		return
	}
	s.lastRequest, s.asked = make([]int64, len(packets)), make([]asked, len(packets))
	for i := range packets {
		packets[i] += moreRequests
	}
}

// numbersRequests reports whether requests take PSNs.
func (c *Config) numbersRequests() bool { return c.Rules == RulesHTSim && c.NoTrim }

func (s *light) numbersRequests() bool { return s.lastRequest != nil }

// isRequest reports whether a packet of data is a request sent again.
func (s *light) isRequest(p *packet) bool { return s.asked != nil && p.size == HeaderBytes }

// bitmapWords is the length of a destination's bitmap, with that of the requests behind.
func (s *light) bitmapWords(r *receiver) uint32 {
	n := (r.mask + 1) / 64
	if s.asked != nil {
		n *= 2
	}
	return n
}

// requestBit is where the bitmap says whether a PSN beyond cack is a request's.
func (s *light) requestBit(r *receiver, psn uint32) (word *uint64, bit uint64) {
	i := psn & r.mask
	return &s.bitmaps.slots[r.base+(r.mask+1)/64+i/64], 1 << (i % 64)
}

// noteNumbered is note, and counts the requests that cack moves over.
func (s *light) noteNumbered(conn, psn uint32, request bool) {
	r := &s.receivers[conn]
	if request {
		word, bit := s.requestBit(r, psn)
		*word |= bit
	}
	before := r.cack
	s.note(r, psn)
	for ; before != r.cack; before++ {
		if word, bit := s.requestBit(r, before); *word&bit != 0 {
			*word &^= bit
			s.asked[conn].passed++
		}
	}
}

// dataArrived is how many packets of data are at a destination without a gap.
func (s *light) dataArrived(conn uint32, r *receiver) uint32 {
	if s.asked == nil {
		return r.cack
	}
	return r.cack - s.asked[conn].passed
}

// requested takes in a request with a PSN and answers at once.
func (s *light) requested(conn, pkt uint32) {
	r, psn := &s.receivers[conn], s.pool.details[pkt].psn
	if !s.has(conn, psn) {
		s.asked[conn].plain++
		s.noteNumbered(conn, psn, true)
		r.asked = r.asked && r.gaps > 0
	} else {
		r.unacked = 0
	}
	s.reply(conn, pkt, flagLast|flagAckReq)
	s.arrivedTransfers(conn, r)
}

// numberRequest gives a request the next PSN. The packet is in no window: only the number of packets
// in flight grows.
func (s *light) numberRequest(conn uint32, c *sender, p *packet, d *detail) {
	psn := c.next
	*s.record(c, psn) = record{size: HeaderBytes, sends: karn.First, state: recordSent, sent: s.now}
	c.next++
	c.end++
	c.short++
	c.requests++
	s.lastRequest[conn] = s.now
	c.ctx.Bind(&s.params, s.nowNs())
	c.ctx.Unbind(&s.params, s.nowNs(), ccc.Left{InflightPackets: -1})
	p.ev = c.ent.Next(s.params.Entropy(), s.sideOf(conn), s.progress(c))
	d.psn, d.cack = psn, c.cack
	if !c.timing {
		c.timing = true
		s.events.push(s.now+s.rto, evTimer, conn)
	}
}

// dataAcked is how many packets of data are acknowledged without a gap. The last transfer waits for
// all requests, too.
func (c *sender) dataAcked() uint32 {
	if c.acked+1 == c.transfers {
		return c.cack - c.requests
	}
	return c.cack - c.passed
}

// passRequests counts the requests that cack is about to pass.
func (s *light) passRequests(c *sender, cack uint32) {
	if c.passed == c.requests {
		return
	}
	for psn := c.cack; psn != cack; psn++ {
		if s.record(c, psn).size == HeaderBytes {
			c.passed++
		}
	}
}

// expire is timer where requests take PSNs: overdue packets count one after another, and each may be
// sent again, or have the source ask, before the next.
func (s *light) expire(conn uint32, c *sender) {
	c.timing = true // what is sent here needs no other event
	oldest, again := s.now, false
	for psn := c.cack; psn != c.next; psn++ {
		r := s.record(c, psn)
		if r.state == recordSent && r.sent+s.rto <= s.now {
			again = true
			if !s.excused(conn, psn) {
				s.overdue(conn, c, psn, r)
			}
		}
		if r.state == recordSent && r.sent+s.rto > s.now {
			oldest, again = min(oldest, r.sent), true
		}
	}
	if c.timing = again; again {
		s.events.push(oldest+s.rto, evTimer, conn)
	}
	s.ready(conn)
}

// overdue has a packet sent again, and its source ask for credit if other packets wait already, or
// if no window, or no credit, has room for the packet. A link that is free before is asked first, so
// the packet may just have left; a link that becomes free now is asked afterwards, as in htsim.
func (s *light) overdue(conn uint32, c *sender, psn uint32, r *record) {
	n, link := &s.nics[s.hostOf[source(conn)]], &s.ports[s.hostOf[source(conn)]]
	waiting := c.ctx.WaitingRtx() > 0
	s.timedOut(conn, c, psn, r)
	if link.busy < s.now {
		n.ghosts = 0
		s.ready(conn)
	}
	switch {
	case s.cfg.Mode != ccc.ModeEnforce:
	case waiting && s.credits == nil:
	case waiting, s.windowed() && c.ctx.Cwnd() < int64(r.size)+c.ctx.Inflight(), s.credits != nil && c.ctx.Credit() <= 0:
		if last := s.lastRequest[conn]; !s.windowed() || last == 0 || s.now-last >= int64(s.cfg.BaseRTT) {
			s.askForCredit(conn, c)
		}
	default:
		n.ghosts++
	}
	s.ready(conn)
}

// windowed reports whether sources have windows.
func (s *light) windowed() bool {
	return s.cfg.Control == ccc.ControlNSCC || s.cfg.Control == ccc.ControlBoth
}

// turns is how many turns wait at a host whose connection is having one: a source shares a target for
// credit among them.
func (s *light) turns(host uint32) int64 {
	n := &s.nics[host]
	if n.ghosts > 0 && s.ports[host].busy < s.now {
		n.ghosts = 0
	}
	return int64(n.ready.n) + 1 + int64(n.ghosts)
}

// requestsBefore is how many requests of a source have PSNs before psn, which must not be a ring's
// length behind cack.
func (s *light) requestsBefore(c *sender, psn uint32) uint32 {
	if c.requests == 0 {
		return 0
	}
	n := c.passed
	for i := c.cack; int32(psn-i) > 0; i++ {
		if s.record(c, i).size == HeaderBytes {
			n++
		}
	}
	for i := psn; int32(c.cack-i) > 0; i++ {
		if s.record(c, i).size == HeaderBytes {
			n--
		}
	}
	return n
}
