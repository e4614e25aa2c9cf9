package uetcc

import (
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// receiveACK takes an ACK_CC in, which has no answer. The short way is for most of them:
// for packets in a row, in the middle of a message, all of which went well.
func (e *Endpoint) receiveACK(now int64, in, reply *Datagram, r *Received) {
	if e.prefetched--; e.prefetched < 0 {
		e.prefetchACK(in.Packet)
	}
	if !prepare(reply, r) {
		return
	}
	if b := in.Packet; len(b) >= ackedLen && in.Trimmed == 0 {
		if a := (*pds.AckCCView)(b); a.Plain() {
			if x := e.pds.Fast().TakeACK(now, a, in.Src); x.N != 0 {
				r.PDC, r.Payload = x.PDC, ackedLen
				if !e.sender.Confirm(ses.PacketHandle(x.Last), x.N, (*[ses.ResponseLen]byte)(b[pds.AckCCLen:])) {
					e.confirmAny(now, in, x, r)
				} else if e.flows[x.PDC.ID()].ahead <= submitLow {
					e.refill(now, x.PDC)
				}
				e.followUp(now)
				return
			}
		}
	}
	e.receiveGeneralACK(now, in, r)
}

// confirmAny settles the packets that an acknowledgement confirms: the last of them by the
// response, the others by the acknowledgement alone.
func (e *Endpoint) confirmAny(now int64, in *Datagram, x pdc.Confirmed, r *Received) {
	e.res.ID.PDC, e.res.Header, e.res.Handle, e.res.Next = x.PDC, pds.AckCCLen, x.Last, pds.NextResponse
	e.onResponse(now, in.Packet, r)
	if x.N > 1 {
		e.settled(now, &pdc.Event{
			Kind: pdc.EventImplicit, PDC: x.PDC, Handle: x.Last + 1 - uint64(x.N), More: uint16(x.N - 2),
		})
	}
}

// receiveGeneralACK is receiveACK for any ACK_CC.
func (e *Endpoint) receiveGeneralACK(now int64, in *Datagram, r *Received) {
	p := &e.in
	p.Packet, p.Src, p.Trimmed = in.Packet, in.Src, in.Trimmed
	e.pds.Fast().ReceiveACK(now, p, &e.res)
	r.Err, r.PDC = e.res.Err, e.res.ID.PDC
	if e.res.Verdict == pdc.VerdictResponse {
		e.onResponse(now, in.Packet, r)
	}
	e.followUp(now)
}

// onResponse takes the response behind the PDS header: it is the outcome of the packet
// that it answers.
func (e *Endpoint) onResponse(now int64, b []byte, r *Received) {
	at, h := e.res.Header, e.res.Handle
	r.Payload = at
	if isAnswer(h) { // to data of ours, about which it can say nothing
		e.settled(now, &pdc.Event{Kind: pdc.EventResponse, PDC: e.res.ID.PDC, Handle: h})
		return
	}
	p := ses.PacketHandle(h)
	var ev ses.Event
	n, err := e.sender.RxRsp(now, p, ses.Form(e.res.Next), b[at:], &ev)
	if err == nil {
		r.Payload += n
		if ev.DataLength != 0 {
			e.answered(now, p.Message(), ev.DataLength)
			e.place(r, p.Message(), &ev)
		}
		e.conclude(now, p.Message(), &ev)
	}
	e.refill(now, e.res.ID.PDC)
}

// readData takes a packet of data for a read of this side. It must come on the PDC that the
// request went on. It reports false if the packet has to be refused, so that its sender sends it
// again as it was: no message here can have asked for it, and taken in it would stand for the
// data that is to come under its PSN.
func (e *Endpoint) readData(now int64, b []byte, form ses.Form, r *Received) bool {
	n, err := e.ack.Decode(form, b[e.res.Header:])
	if err != nil {
		e.ack = ses.Reply{}
	}
	r.Payload = e.res.Header + n
	h := e.sender.Find(e.ack.ReadRequestID)
	if err != nil || h == 0 || e.message(h).pdc != e.res.ID.PDC || int(e.ack.PayloadLength) > len(b)-r.Payload {
		return e.stray()
	}
	var ev ses.Event
	if e.sender.RxData(now, &e.ack, &ev) != nil {
		return e.stray()
	}
	e.answered(now, h, ev.DataLength)
	if ev.DataLength != 0 {
		e.place(r, h, &ev)
	}
	e.conclude(now, h, &ev)
	return true
}

// stray counts data that no message waits for, and reports whether it is that of one that has
// been given up.
func (e *Endpoint) stray() bool {
	e.stats.StrayData++
	f := &e.flows[e.res.ID.PDC.ID()]
	return f.pdc == e.res.ID.PDC && f.mtu&flowLate != 0
}

// answered takes note of an answer of so many bytes to a packet of a message.
func (e *Endpoint) answered(now int64, h Handle, bytes uint32) {
	rec := e.message(h)
	n := e.asks(rec)
	if units := min(unitsOf(bytes), *n); units != 0 {
		*n -= units
		e.asking[rec.pdc.ID()].arrive(now, units)
	}
}

// asks is what a message has asked for and not got, in units of an asking.
func (e *Endpoint) asks(rec *message) *uint32 { return &e.unanswered[uint16(rec.handle)] }

// refused takes the news that a peer has put off a packet of this side for want of memory.
func (e *Endpoint) refused(now int64) {
	if isAnswer(e.res.Handle) || !e.res.Nack.IsShortage() {
		return
	}
	e.stats.Shortages++
	h := ses.PacketHandle(e.res.Handle).Message()
	if rec := e.message(h); rec.handle == h && *e.asks(rec) != 0 {
		e.asking[rec.pdc.ID()].shorten(now)
	}
}

// place tells the caller where data for a message of this side belongs.
func (e *Endpoint) place(r *Received, h Handle, ev *ses.Event) {
	r.Action, r.Message, r.Cookie, r.Offset, r.Length = ses.ActionPlace, h, ev.Cookie, ev.DataOffset, ev.DataLength
	if e.message(h).flags&msgErrand != 0 {
		e.aim(r)
	}
}
