// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"encoding/binary"
	"math"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/msg"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/internal/view"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// ackedLen is how long an acknowledgement with a response is, at least.
const ackedLen = pds.AckCCLen + ses.ResponseLen

// An acked is an acknowledgement with a response, in place in the packet.
type acked [ackedLen]byte

func (a *acked) header() *view.AckCC { return (*view.AckCC)(a[:]) }

// response is the response less the modified length: message and outcome.
//
//uetcc:hot inlines nobounds
func (a *acked) response() uint64 { return binary.BigEndian.Uint64(a[pds.AckCCLen:]) }

// messageIDBits is the message_id in what responseOf returns.
const messageIDBits = 0xffff << 32

// few is the most packets sent by Exchange on the short way for an acknowledgement; after so
// many, others may be waiting, and TransmitBatch goes on.
const few = 4

// Exchange takes a packet in and gives the packets released: [Endpoint.Receive] followed by
// [Endpoint.TransmitBatch], with the count as the result. Exchange costs less than the two for
// nearly all packets of a busy sender: acknowledgements in the middle of a message, on a PDC
// waiting for room in the window.
//
//uetcc:hot
func (e *Endpoint) Exchange(now int64, in, reply *Datagram, r *Received, out []Datagram) (n int) {
	if !e.clock.even(now) {
		return e.exchangeOdd(now, in, reply, r, out)
	}
	if a := longEnough(in, reply); a != nil && a.header().Plain() {
		if e.loader.prefetched--; e.loader.prefetched < 0 {
			e.loader.prefetchACK(a[:])
		}
		acks := [...]*view.AckCC{a.header()}
		y, most := e.offer(now, a, out, few)
		if p, acked := e.pds.Fast().Exchange(now, acks[:], &in.Src, most); p == nil {
			prepare(reply, r)
			e.recv.receiveGeneralACK(now, in, r)
		} else if settled(p, reply, r); y == nil && e.pds.Fast().Run().Within {
			e.answered(now, 1)
			n = e.exchanged(now, p, nil, out)
		} else if !y.Confirmed(e.pds.Fast().Run().Within, acked) {
			e.settle(now, p, 0, in, r)
			e.source.acked(now, p.Handle())
		} else {
			n = e.exchanged(now, p, y, out)
		}
		if n == len(out) || n < few && e.idle() && !e.grantsDue(now) {
			return n
		}
	} else {
		e.Receive(now, in, reply, r)
	}
	return n + e.TransmitBatch(now, out[n:])
}

// ExchangeBatch is [Endpoint.Exchange] for each packet of in, with reply and result in the same
// place of reply and r, and with the rest of out. Acknowledgements of a PDC in a row differing
// only in CACK, service time and mark are all taken in before packets are sent, at less cost.
// With thousands of PDCs ExchangeBatch looks ahead in in, as with [Endpoint.Prefetch].
// [Endpoint.Fail] is only for a PDC's last request in the batch.
//
//uetcc:hot
func (e *Endpoint) ExchangeBatch(now int64, in, reply []Datagram, r []Received, out []Datagram) (n int) {
	if !e.clock.even(now) {
		return e.exchangeBatchOdd(now, in, reply, r, out)
	}
	reply, r = reply[:len(in)], r[:len(in)]
	for i, ahead := 0, 0; i < len(in); {
		if i >= ahead {
			ahead = i + e.loader.lookAhead(in[i:], len(out)-n)
		}
		k, sent := 1, 0
		switch {
		case n == len(out):
			e.Receive(now, &in[i], &reply[i], &r[i])
		case i+1 < len(in) && samePDC(&in[i], &in[i+1]) && (responseOf(&in[i]) == responseOf(&in[i+1]) || e.nothingWaits(now, &in[i])):
			k, sent = e.exchangeRun(now, in[i:], reply[i:], r[i:], out[n:])
		default:
			sent = e.Exchange(now, &in[i], &reply[i], &r[i], out[n:])
		}
		i, n = i+k, n+sent
		if e.loader.ahead.next != e.loader.ahead.end {
			e.loader.loadAhead(k)
		}
	}
	return n
}

// exchangeRun takes in together suitable acknowledgements at the front of in, or else a single
// packet. Results are the number taken in, and the number of packets to be sent.
//
//uetcc:hot
func (e *Endpoint) exchangeRun(now int64, in, reply []Datagram, r []Received, out []Datagram) (k, n int) {
	var acks [ccc.RunMax]*view.AckCC
	in = in[:min(len(in), len(acks))]
	ends := false // for messages that end, with nothing to send in between
	first := longEnough(&in[0], &reply[0])
	if first != nil && first.header().Plain() && first.header().Cumulative() {
		ends = responseOf(&in[0])>>48&^(3<<14|uint64(ses.RCNull|ses.RCOK)) == 0 && e.nothingWaits(now, &in[0])
		k = alike(in, reply, ends, &acks)
	}
	if k < 2 {
		return 1, e.Exchange(now, &in[0], &reply[0], &r[0], out)
	}
	var p *pdc.PDC
	if ends {
		e.pds.Fast().Run().Let(0, math.MaxUint64)
		if p, _ = e.pds.Fast().Exchange(now, acks[:k], &in[0].Src, 0); p != nil {
			in, reply, r := in[:k], reply[:k], r[:k]
			for i := range r {
				settled(p, &reply[i], &r[i])
				e.settle(now, p, i, &in[i], &r[i])
			}
			e.source.acked(now, p.Handle())
		}
	} else if y, most := e.offer(now, first, out, ccc.RunMax); most != 0 { // otherwise each may have others to be handed over
		var acked uint32
		if p, acked = e.pds.Fast().Exchange(now, acks[:k], &in[0].Src, most); p != nil {
			if y == nil {
				e.answered(now, k)
			} else {
				y.Confirmed(true, acked) // more is in flight
			}
			n = e.exchanged(now, p, y, out)
			reply, r := reply[:k], r[:k]
			for i := range r {
				settled(p, &reply[i], &r[i])
			}
		}
	}
	if p != nil {
		e.loader.prefetched -= k
		if n < len(out) && (!e.idle() || e.grantsDue(now)) {
			n += e.TransmitBatch(now, out[n:])
		}
		return k, n
	}
	for i := range k {
		e.Receive(now, &in[i], &reply[i], &r[i])
		if ends {
			n += e.TransmitBatch(now, out[n:])
		}
	}
	return k, n + e.TransmitBatch(now, out[n:])
}

// alike returns the number of acknowledgements at the front of in, put into acks, that differ from the
// first, plain and cumulative, only in CACK, service time and mark; or in the message, too.
//
//uetcc:hot
func alike(in, reply []Datagram, messages bool, acks *[ccc.RunMax]*view.AckCC) (k int) {
	reply = reply[:len(in)]
	first, response, same := (*acked)(in[0].Packet).header(), responseOf(&in[0]), ^uint64(0)
	if messages {
		same = ^uint64(messageIDBits)
	}
	for acks[0], k = first, 1; k < len(in); k++ {
		d := &in[k]
		a := longEnough(d, &reply[k])
		if a == nil || d.Src != in[0].Src || !a.header().Like(first) || (a.response()^response)&same != 0 {
			break
		}
		acks[uint(k)%ccc.RunMax] = a.header()
	}
	return k
}

// nothingWaits reports whether acknowledgements on the PDC that in names let nothing go, unless
// one tells of a failure, nor end errands.
func (e *Endpoint) nothingWaits(now int64, in *Datagram) bool {
	id := int(binary.BigEndian.Uint16(in.Packet[10:]))
	if id >= len(e.flows) || e.grantsDue(now) || e.source.errands != 0 || e.pds.HasEvents() || e.source.starves != 0 {
		return false
	}
	return e.source.leads[id].ahead == 0 && !e.flows[id].waiting() && e.idle()
}

// longEnough returns a packet as long as an acknowledgement with a response, or nil, also
// without room for a reply.
//
//uetcc:hot inlines nobounds
func longEnough(d, reply *Datagram) *acked {
	if len(d.Packet) < ackedLen || d.Trimmed != 0 || cap(reply.Packet) < HeaderMax {
		return nil
	}
	return (*acked)(d.Packet)
}

// responseOf is the response of a packet that is an acked.
//
//uetcc:hot inlines
func responseOf(d *Datagram) uint64 { return (*acked)(d.Packet).response() }

// samePDC reports whether two packets, if acknowledgements, are of the same PDC.
//
//uetcc:hot inlines nobounds
func samePDC(a, b *Datagram) bool {
	return len(a.Packet) >= ackedLen && len(b.Packet) >= ackedLen &&
		binary.LittleEndian.Uint32(a.Packet[8:]) == binary.LittleEndian.Uint32(b.Packet[8:])
}

// settled fills in r for an acknowledgement for p, done with.
//
//uetcc:hot inlines nobounds
func settled(p *pdc.PDC, reply *Datagram, r *Received) {
	*r = Received{}
	r.PDC, r.Payload = p.Handle(), ackedLen
	reply.Packet = reply.Packet[:0]
	reply.Payload = Payload{}
}

// offer prepares the Exchange of acknowledgements, the first a, of the message that packets of the PDC
// are sent of, and returns that message and how many of its packets, of most, may go. Without a message
// those are of data that the peer has asked for, or none.
//
//uetcc:hot
func (e *Endpoint) offer(now int64, a *acked, out []Datagram, most int) (y *msg.Middle, n int) {
	x, id := e.pds.Fast().Run(), int(a.header().DPDCID())
	x.Let(0, 0)
	if id >= len(e.source.leads) || e.grantsDue(now) || e.pds.HasEvents() || e.source.starves != 0 {
		return nil, 0
	}
	l := &e.source.leads[id]
	if most = min(most, len(out)); l.short(most) {
		waiting := e.flows[id].waiting()
		if l.ahead == 0 || l.ahead <= submitLow && waiting {
			return nil, 0
		}
		most = l.run(most, waiting)
	}
	if y = e.source.sender.Passing(ses.Handle(l.sends), a.response()); y != nil {
		first, end := y.Range()
		x.Let(uint64(first), uint64(end))
	} else if e.source.answers.held[id] != 0 {
		x.Let(0, answersEnd)
	} else {
		return nil, 0
	}
	return y, roomy(out[:most])
}

// exchanged describes the packets sent of y by an Exchange, or without y of answers, whose acknowledgements
// are settled, and returns how many those are.
//
//uetcc:hot
func (e *Endpoint) exchanged(now int64, p *pdc.PDC, y *msg.Middle, out []Datagram) int {
	n, id := e.pds.Fast().Run().Sent, p.Handle().ID()
	if n == 0 {
		e.source.acked(now, p.Handle())
		return 0
	}
	if e.source.leads[id].sent(n) {
		return e.exchangedLast(now, p, y, out[:n])
	}
	if y == nil {
		return e.describeEdges(out[:n], p, 0)
	}
	return e.describeMiddles(out[:n], p, 0, y)
}

// exchangedLast describes out, all sent, as exchanged does, and then has others handed over, which may fail
// a message. Out of line so as not to cost exchanged registers.
//
//go:noinline
//uetcc:hot
func (e *Endpoint) exchangedLast(now int64, p *pdc.PDC, y *msg.Middle, out []Datagram) int {
	if y == nil {
		e.describeEdges(out, p, 0)
	} else {
		e.describeMiddles(out, p, 0, y)
	}
	e.source.goOn(now, &e.flows[p.Handle().ID()])
	return len(out)
}

// answered ends the answers that so many acknowledgements of an Exchange tell of.
//
//uetcc:hot
func (e *Endpoint) answered(now int64, acks int) {
	x := e.pds.Fast().Run()
	for i := 0; i < acks; {
		n, last := x.Told(i)
		for i++; i < acks; i++ {
			more, end := x.Told(i)
			if end != last+uint64(more) {
				break
			}
			n, last = n+more, end
		}
		e.source.delivered(now, AnswerID(last)+1-AnswerID(n), n)
	}
}
