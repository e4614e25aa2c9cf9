package uetcc

import (
	"github.com/uetcc/uetcc/pds"
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
	p, last, n := e.pds.ExpectACK(a, in.Src)
	if p == nil || !e.sender.Confirm(ses.PacketHandle(last), n, (*[ses.ResponseLen]byte)(b[pds.AckCCLen:])) {
		return false
	}
	e.pds.TakeACK(now, a, p, n)
	r.PDC, r.Payload = p.Handle(), length
	e.refill(now, r.PDC)
	return true
}
