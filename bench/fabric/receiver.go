// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"github.com/uetcc/uetcc/hw/switchq"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/rccc"
)

// A receiver is the destination of one connection.
type receiver struct {
	rcvd    nscc.RcvdBytes
	payload int64  // bytes
	marked  int64  // packets that came with CE
	unacked uint32 // bytes since the last acknowledgement
	cack    uint32
	gaps    uint32 // packets beyond cack that have arrived
	asked   bool   // an answer is owed when the last gap closes
	known   uint32 // of the sender's transfers, those whose start it has been told of
	arrived uint32 // the first that is not here
	until   uint32 // PSN behind its last packet
	base    uint32 // of its bitmap, words
	mask    uint32 // of a PSN in there
	sender  rccc.Handle
}

func (s *light) markedOf(conn uint32) int64 { return s.receivers[conn].marked }

// bitmap of what has arrived beyond cack, a ring by PSN.
func (s *light) bitmap(r *receiver) []uint64 {
	return s.bitmaps.slots[r.base : r.base+(r.mask+1)/64]
}

// receive is for the network.
func (s *light) receive(_, pkt uint32) {
	p := &s.pool.pkts[pkt]
	switch {
	case p.isProbe():
		s.probeArrives(pkt)
	case p.flags&flagCredit != 0:
		s.creditArrives(p.to.conn(), pkt)
	case p.flags&flagNack != 0:
		s.refused(pkt)
		s.pool.put(pkt)
	case p.flags&flagAnswer != 0:
		s.acknowledged(pkt)
		s.pool.put(pkt)
	case p.dscp.Class() == switchq.ClassMed:
		s.trimmed(pkt)
	default:
		s.data(pkt)
	}
}

// has reports whether a PSN has arrived.
func (s *light) has(conn, psn uint32) bool { return s.holds(&s.receivers[conn], psn) }

func (s *light) holds(r *receiver, psn uint32) bool {
	i := psn & r.mask
	return int32(psn-r.cack) < 0 || s.bitmap(r)[i/64]>>(i%64)&1 != 0
}

// data takes in a packet with its payload. The packet itself becomes the
// acknowledgement if one is due.
func (s *light) data(pkt uint32) {
	p, psn := &s.pool.pkts[pkt], s.pool.details[pkt].psn
	conn := p.to.conn()
	r := &s.receivers[conn]
	s.observe(pkt)
	if p.flags&flagCE != 0 {
		r.marked++
	}
	s.wanted(conn, pkt, rccc.ArrivalData)
	if s.has(conn, psn) {
		s.count.Duplicates++
		p.flags &^= flagAckReq
		s.acknowledge(conn, pkt)
		return
	}
	now := r.payload == 0 || p.flags&(flagCE|flagAckReq) != 0
	r.asked = r.asked || p.flags&flagAckReq != 0
	r.payload += int64(p.size) - HeaderBytes
	r.rcvd.Add(int64(p.size))
	r.unacked += uint32(p.size)
	if s.asked == nil {
		s.note(r, psn)
	} else {
		s.noteNumbered(conn, psn, s.isRequest(p))
	}
	if r.gaps == 0 && r.asked {
		now, r.asked = true, false
	}
	if now || int64(r.unacked) >= s.cfg.AckBytes {
		s.acknowledge(conn, pkt)
	} else {
		s.pool.put(pkt)
	}
	s.arrivedTransfers(conn, r)
}

// note takes down a new PSN and moves cack over all that are there.
func (s *light) note(r *receiver, psn uint32) {
	set := s.bitmap(r)
	if psn != r.cack {
		i := psn & r.mask
		set[i/64] |= 1 << (i % 64)
		r.gaps++
		return
	}
	for {
		r.cack++
		i := r.cack & r.mask
		if set[i/64]>>(i%64)&1 == 0 {
			return
		}
		set[i/64] &^= 1 << (i % 64)
		r.gaps--
	}
}

// trimmed takes in a packet that lost its payload.
func (s *light) trimmed(pkt uint32) {
	p := &s.pool.pkts[pkt]
	conn := p.to.conn()
	s.observe(pkt)
	if s.has(conn, s.pool.details[pkt].psn) {
		s.acknowledge(conn, pkt)
		return
	}
	s.wanted(conn, pkt, rccc.ArrivalTrimmed)
	flags := p.flags&(flagCE|flagRTX) | flagNack
	if p.dscp == switchq.DSCPTrimmedLastHop {
		flags |= flagLast
	}
	s.reply(conn, pkt, flags)
}

// acknowledge turns a packet into the acknowledgement that it causes.
func (s *light) acknowledge(conn, pkt uint32) {
	s.receivers[conn].unacked = 0
	flags := s.pool.pkts[pkt].flags & (flagCE | flagRTX | flagAckReq)
	if s.asked == nil {
		flags &^= flagAckReq
	} else if flags&flagCE != 0 {
		flags |= flagAckReq
	}
	s.reply(conn, pkt, flags)
}

// reply turns pkt into an answer with the receiver's state and queues it.
func (s *light) reply(conn, pkt uint32, flags uint8) {
	r, p, d := &s.receivers[conn], &s.pool.pkts[pkt], &s.pool.details[pkt]
	host := p.at
	p.to = source(conn)
	p.size, p.dscp, p.flags = HeaderBytes, switchq.DSCPControl, flags|flagAnswer
	d.service, d.pend, d.restore = 0, 0, false
	if flags&flagNack == 0 && s.behindMemory(host) {
		s.tellOfMemory(d)
	} else {
		d.at = s.now
	}
	d.cack, d.units = r.cack, s.received(conn, r)
	d.sack = s.sack(r, d.sackBase(p.flags)) & d.sackMask(p.flags, r.mask)
	s.answer(host, pkt)
}

// received is rcvd_bytes in units of 256 bytes; by htsim's rules in bytes, since what rounding
// up adds would take the bytes in flight of its window below zero.
func (s *light) received(conn uint32, r *receiver) uint32 {
	if s.cfg.Rules == RulesHTSim {
		n := r.cack + r.gaps
		if s.asked != nil {
			n -= s.asked[conn].plain
		}
		return uint32(r.payload) + HeaderBytes*n
	}
	return r.rcvd.Units()
}

// advance is how many bytes are new in rcvd_bytes.
func (s *light) advance(c *sender, units uint32) int64 {
	n := c.rcvd.Advance(units)
	if s.cfg.Rules == RulesHTSim {
		n /= 256
	}
	return n
}

// sack is the 64 bits of the bitmap that start at base.
func (s *light) sack(r *receiver, base uint32) uint64 {
	if r.gaps == 0 {
		return 0
	}
	set := s.bitmap(r)
	i := base & r.mask
	w := set[i/64] >> (i % 64)
	if i%64 != 0 {
		w |= set[(i/64+1)%uint32(len(set))] << (64 - i%64)
	}
	return w
}
