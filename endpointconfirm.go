package uetcc

import (
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// confirmNext takes an acknowledgement in that is as most are when it matters: of
// packets in a row, in the middle of a message, all of which went well. It does what
// the general way would, with everything left out that such a packet does not need.
// It reports false, and has changed nothing, if this is another packet.
func (e *Endpoint) confirmNext(now int64, in *Datagram, r *Received) bool {
	const length = pds.AckCCLen + ses.ResponseLen
	b := in.Packet
	if len(b) < length || in.Trimmed != 0 {
		return false
	}
	a := (*pds.AckCCView)(b)
	if !a.Plain() || !a.HasResponse() {
		return false
	}
	var x pdc.Confirmed
	if !e.pds.ExpectACK(a, in.Src, &x) || !e.sender.Confirm(ses.PacketHandle(x.Last), x.N, (*[ses.ResponseLen]byte)(b[pds.AckCCLen:])) {
		return false
	}
	e.pds.TakeACK(now, a, &x)
	r.PDC, r.Payload = x.PDC(), length
	if f := &e.flows[r.PDC.ID()]; f.ahead <= submitLow || f.refused || f.answers.head != 0 {
		e.refill(now, r.PDC)
	}
	return true
}
