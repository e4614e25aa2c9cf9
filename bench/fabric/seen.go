// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"sort"

	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/hw/switchq"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/rccc"
)

// Seen is a packet as seen by the destination host: data, perhaps marked
// or trimmed on the way, or an answer. PSNs of a connection start with 0.
type Seen struct {
	Now      link.Ps
	Src, Dst uint32 // hosts
	Conn     uint32 // connection
	Size     int64  // bytes on the wire
	DSCP     switchq.DSCP
	Entropy  uint16

	Marked     bool // CE; of an answer: the data that caused it was marked
	Retx       bool // sent again; of an answer: the data that caused it was
	SYN        bool // of the source, which had heard nothing of the destination
	AckRequest bool // data that wants an answer at once
	Answer     bool // acknowledgement or refusal
	Refused    bool // refusal: the data came trimmed
	LastHop    bool // of a refusal: trimmed on the last hop

	// Where receivers grant credit, separate control packets carry credit, or a target
	// asking for credit.
	Credit        bool        // control packet of the destination
	CreditRequest bool        // control packet of the source
	Probe         bool        // of the source, with Config.InferLoss; all that counts is that it is answered
	Quanta        rccc.Quanta // the credit; of a request and of data the target; of an answer the credit until then

	// Of data, and of the data behind an answer.
	PSN      uint32
	Transfer int   // of its connection, from 0
	Bytes    int64 // of the transfer
	Offset   int64 // of its payload there
	Payload  int64 // bytes, before it was trimmed

	CACK        uint32           // next PSN expected; of data: what the last answer to its source said
	SACKBase    uint32           // answer: PSN of bit 0 of SACK
	SACK        uint64           // answer: what has arrived beyond
	PSNRange    uint32           // how many PSNs the ends keep track of
	RcvdBytes   uint32           // answer: rcvd_bytes, 256 B units modulo 2^24
	ServiceTime nscc.ServiceTime // acknowledgement: how long the data waited for it
	Pend        uint8            // acknowledgement: rcv_cwnd_pend, 0..127
	Restore     bool             // acknowledgement: the window may come back
}

// show tells Config.Seen of the packet.
func (s *light) show(pkt uint32) {
	p, d := &s.pool.pkts[pkt], &s.pool.details[pkt]
	conn := p.to.conn()
	seen := Seen{
		Now: link.Ps(s.now), Src: s.hostOf[source(conn)], Dst: p.at, Conn: conn,
		Size: int64(p.size), DSCP: p.dscp, Entropy: p.ev,
		Marked: p.flags&flagCE != 0, Retx: p.flags&flagRTX != 0, SYN: p.flags&flagSYN != 0,
		AckRequest: p.flags&flagAckReq != 0, Answer: p.flags&flagAnswer != 0, Refused: p.flags&flagNack != 0,
		LastHop: p.flags&flagLast != 0, PSN: d.psn, CACK: d.cack, PSNRange: s.psnRange,
	}
	if p.to == source(conn) {
		seen.Src = s.hostOf[destination(conn)]
	}
	switch {
	case p.isProbe():
		seen.Answer, seen.Refused, seen.Probe = false, false, true
	case p.flags&flagCredit != 0:
		seen.Answer, seen.CreditRequest, seen.Credit = false, seen.AckRequest, !seen.AckRequest
		seen.Quanta = rccc.Quanta(d.units)
	case seen.Answer:
		seen.SACKBase, seen.SACK, seen.RcvdBytes, seen.AckRequest = d.sackBase(p.flags), d.sack, d.units, false
		if s.cfg.Rules == RulesHTSim { // bytes
			seen.RcvdBytes = uint32((uint64(d.units) + 255) / 256)
		}
		seen.ServiceTime, seen.Pend, seen.Restore = d.service, d.pend, d.restore
		seen.Quanta = rccc.QuantaOf(s.senders[conn].ctx.CreditTotal())
		s.showTransfer(&seen, s.requestsBefore(&s.senders[conn], d.psn))
	default:
		seen.Quanta = rccc.Quanta(d.units)
		s.showTransfer(&seen, uint32(d.sack))
	}
	s.see(&seen)
}

// showTransfer fills in which part of which transfer has the PSN, behind so many requests. A request
// sent again is a part without payload.
func (s *light) showTransfer(seen *Seen, requests uint32) {
	c := &s.senders[seen.Conn]
	n := s.receivers[seen.Conn].known // of an answer its sender knows more, but none with this PSN
	started := s.order[c.order : c.order+n]
	psn := seen.PSN - requests
	seen.Transfer = sort.Search(len(started), func(i int) bool { return s.transfers[started[i]].first > psn }) - 1
	t := &s.transfers[started[seen.Transfer]]
	seen.Bytes, seen.Offset = t.flow.Size, int64(psn-t.first)*s.cfg.payload()
	seen.Payload = min(s.cfg.payload(), seen.Bytes-seen.Offset)
	if !seen.Answer && s.asked != nil && seen.Size == HeaderBytes || seen.Payload < 0 {
		seen.Offset, seen.Payload = min(seen.Offset, seen.Bytes), 0
	}
}
