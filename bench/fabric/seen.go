package fabric

import (
	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/hw/switchq"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/rccc"
)

// Seen is a packet as the host sees it that it has reached: data, perhaps marked
// or trimmed on the way, or an answer.
type Seen struct {
	Now      link.Ps
	Src, Dst uint32 // hosts
	Conn     uint32 // connection
	Size     int64  // bytes on the wire
	DSCP     switchq.DSCP
	Entropy  uint16

	Marked     bool // CE; of an answer: the data that caused it was marked
	Retx       bool // sent again; of an answer: the data that caused it was
	AckRequest bool // data that wants an answer at once
	Answer     bool // acknowledgement or refusal
	Refused    bool // refusal: the data came trimmed
	LastHop    bool // of a refusal: trimmed on the last hop

	// Where receivers grant credit, data carries a target, and control packets of
	// their own carry credit, or a target that asks for some.
	Credits       bool
	Credit        bool        // control packet of the destination
	CreditRequest bool        // control packet of the source
	Quanta        rccc.Quanta // the credit or target

	PSN         uint32           // of the data, or of the data that caused the answer
	CACK        uint32           // answer: next PSN expected
	SACKBase    uint32           // answer: PSN of bit 0 of SACK
	SACK        uint64           // answer: what has arrived beyond
	RcvdBytes   uint32           // answer: rcvd_bytes, 256 B units modulo 2^24
	ServiceTime nscc.ServiceTime // answer: how long the data waited for it
}

// show tells Config.Seen of the packet.
func (s *sim) show(pkt uint32) {
	p, d := &s.pool.pkts[pkt], &s.pool.details[pkt]
	seen := Seen{
		Now: link.Ps(s.now), Src: s.hostOf[source(p.to.conn())], Dst: p.at, Conn: p.to.conn(),
		Size: int64(p.size), DSCP: p.dscp, Entropy: p.ev,
		Marked: p.flags&flagCE != 0, Retx: p.flags&flagRTX != 0, AckRequest: p.flags&flagAckReq != 0,
		Answer: p.flags&flagAnswer != 0, Refused: p.flags&flagNack != 0, LastHop: p.flags&flagLast != 0, PSN: d.psn,
	}
	seen.Credits = s.credits != nil
	if p.flags&flagCredit != 0 {
		seen.Answer = false
		seen.CreditRequest = seen.AckRequest
		seen.Credit = !seen.CreditRequest
	}
	if seen.Credit || seen.Answer {
		seen.Src = s.hostOf[destination(p.to.conn())]
	}
	if seen.Answer {
		seen.CACK, seen.SACKBase, seen.SACK, seen.RcvdBytes, seen.ServiceTime = d.cack, d.base(), d.sack, d.units, d.service
	} else {
		seen.Quanta = rccc.Quanta(d.units)
	}
	s.cfg.Seen(&seen)
}
