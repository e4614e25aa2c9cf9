// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"github.com/uetcc/uetcc/internal/msg"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/internal/view"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// receiveACK takes an ACK_CC in, which has no answer. The short way is for most of them:
// for packets in a row of one message, all of which went well.
//
//uetcc:hot
func (e *Endpoint) receiveACK(now int64, in, reply *Datagram, r *Received) {
	if e.loader.prefetched--; e.loader.prefetched < 0 {
		e.loader.prefetchACK(in.Packet)
	}
	if a := longEnough(in, reply); a != nil && a.header().Plain() {
		acks := [...]*view.AckCC{a.header()}
		if p, _ := e.pds.Fast().Exchange(now, acks[:], &in.Src, 0); p != nil {
			settled(p, reply, r)
			e.settle(now, p, 0, in, r)
			e.source.acked(now, p.Handle())
			return
		}
	}
	if prepare(reply, r) {
		e.recv.receiveGeneralACK(now, in, r)
	}
}

// settle settles the packets of p that acknowledgement i of the last Exchange has confirmed: in, with
// a response. After the last of the acknowledgements [source.acked] is to follow.
//
//uetcc:hot
func (e *Endpoint) settle(now int64, p *pdc.PDC, i int, in *Datagram, r *Received) {
	n, h := e.pds.Fast().Run().Told(i)
	var ev msg.Event
	last := msg.PacketHandle(h)
	if !e.source.sender.Confirm(last, n, responseOf(in), &ev) {
		e.recv.confirmAny(now, in, p.Handle(), n, h, r)
	} else if ev.Kind == msg.EventDone {
		e.source.finish(now, last.Message(), &ev)
	}
}

// acked goes on once packets of a PDC have been acknowledged.
//
//uetcc:hot
func (s *source) acked(now int64, h pdc.Handle) {
	if s.leads[h.ID()].ahead <= submitLow {
		s.refill(now, h)
	}
	s.followUp(now)
}

// confirmAny settles n packets of a PDC that an acknowledgement confirms, with handles counting up to
// last: of a message the last by the response, the others by the acknowledgement alone.
//
//uetcc:hot
func (x *receiver) confirmAny(now int64, in *Datagram, p pdc.Handle, n uint32, last uint64, r *Received) {
	ev := pdc.Event{Kind: pdc.EventImplicit, PDC: p, Handle: last + 1 - uint64(n), More: uint16(n - 1)}
	if !isAnswer(last) {
		x.res.ID.PDC, x.res.Header, x.res.Handle, x.res.Next = p, pds.AckCCLen, last, pds.NextResponse
		if x.onResponse(now, in.Packet, r); n == 1 {
			return
		}
		ev.More--
	}
	x.source.settled(now, &ev)
}

// receiveGeneralACK is receiveACK for any ACK_CC.
//
//uetcc:hot
func (x *receiver) receiveGeneralACK(now int64, in *Datagram, r *Received) {
	p := &x.in
	p.Packet, p.Src, p.Trimmed = in.Packet, in.Src, in.Trimmed
	x.pds.Fast().ReceiveACK(now, p, &x.res)
	r.Err, r.PDC = x.res.Err, x.res.ID.PDC
	if x.res.Verdict == pdc.VerdictResponse {
		x.onResponse(now, in.Packet, r)
	}
	x.source.followUp(now)
}

// onResponse takes the response behind the PDS header: the outcome of the answered packet.
//
//uetcc:hot
func (x *receiver) onResponse(now int64, b []byte, r *Received) {
	at, h := x.res.Header, x.res.Handle
	r.Payload = at
	if isAnswer(h) { // to local data, about which a response says nothing
		x.source.settled(now, &pdc.Event{Kind: pdc.EventResponse, PDC: x.res.ID.PDC, Handle: h})
		return
	}
	p := msg.PacketHandle(h)
	var ev msg.Event
	n, err := x.source.sender.RxRsp(now, p, x.res.Next, b[at:], &ev)
	if err == nil {
		r.Payload += n
		if ev.DataLength != 0 {
			x.source.answered(now, p.Message(), ev.DataLength)
			x.source.place(r, p.Message(), &ev)
		}
		x.source.conclude(now, p.Message(), &ev)
	}
	x.source.refill(now, x.res.ID.PDC)
}

// readData takes a packet of data for a read of this side. The packet must come on the PDC of
// the request. False if the packet has to be refused, and so sent again unchanged: no message
// here can have asked for the data, and if taken in the packet would stand for the true data
// under the PSN.
func (x *receiver) readData(now int64, b []byte, form pds.NextHdr, r *Received) bool {
	n, err := x.ack.Decode(form, b[x.res.Header:])
	if err != nil {
		x.ack = ses.Reply{}
	}
	r.Payload = x.res.Header + n
	h := x.source.sender.Find(x.ack.ReadRequestID)
	if err != nil || h == 0 || x.source.message(h).pdc != x.res.ID.PDC || int(x.ack.PayloadLength) > len(b)-r.Payload {
		return x.stray()
	}
	var ev msg.Event
	if x.source.sender.RxData(now, &x.ack, &ev) != nil {
		return x.stray()
	}
	x.source.answered(now, h, ev.DataLength)
	if ev.DataLength != 0 {
		x.source.place(r, h, &ev)
	}
	x.source.conclude(now, h, &ev)
	return true
}

// stray counts data no message waits for, and reports whether the data is for a message given
// up.
func (x *receiver) stray() bool {
	x.stats.StrayData++
	f := &x.flows[x.res.ID.PDC.ID()]
	return f.pdc == x.res.ID.PDC && f.mtu&flowLate != 0
}

// answered takes note of an answer of so many bytes to a packet of a message.
func (s *source) answered(now int64, h ses.Handle, bytes uint32) {
	rec := s.message(h)
	n := s.asks(rec)
	if n.packets == 0 {
		return
	}
	units := min(unitsOf(bytes), n.units)
	n.units -= units
	n.packets--
	a := &s.asking[rec.pdc.ID()]
	if a.arrive(units) {
		a.learn(now, s.pds.BaseRTT(rec.pdc))
	}
	if a.peer != 0 {
		s.hasten(now, rec.pdc)
	}
}

// hasten has as many refused packets of a PDC go again as the peer has room for, as far as known, and returns how
// many are left waiting.
func (s *source) hasten(now int64, h pdc.Handle) (left uint32) {
	a := &s.asking[h.ID()]
	if a.keeps {
		a.kept = uint16(s.pds.Kept(h))
	}
	gone, left := s.pds.Hasten(now, h, a.spare-min(a.spare, uint32(a.kept)))
	a.spare -= gone
	return left
}

// asks is what a message has asked for and not got.
func (s *source) asks(rec *message) *asked { return &s.unanswered[uint16(rec.handle)] }

// refused takes the news of a packet put off by a peer for want of memory.
func (x *receiver) refused(now int64) {
	if isAnswer(x.res.Handle) || !x.res.Nack.IsShortage() {
		return
	}
	x.stats.Shortages++
	h := msg.PacketHandle(x.res.Handle).Message()
	rec := x.source.message(h)
	if rec.handle != h {
		return
	}
	if x.source.asks(rec).packets == 0 {
		if x.res.Nack == pds.NackNoSESMsgAvail {
			x.source.refusedOn(now, x.source.flowOf(rec))
		}
		return
	}
	a := &x.source.asking[rec.pdc.ID()]
	if x.res.Nack == pds.NackNoGtdDelAvail && !a.keeps {
		a.keeps, a.spare = true, max(a.spare, x.source.pds.Kept(rec.pdc))
	}
	a.refuse(x.source.hasten(now, rec.pdc))
}

// place tells the caller the place of data for a local message.
func (s *source) place(r *Received, h ses.Handle, ev *msg.Event) {
	r.Action, r.Message, r.Cookie, r.Offset, r.Length = ses.ActionPlace, h, ev.Cookie, ev.DataOffset, ev.DataLength
	if s.message(h).flags&msgErrand != 0 {
		s.aim(r)
	}
}
