// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"github.com/uetcc/uetcc/internal/msg"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// Transmit gives the next packet to send: its headers are in out.Packet, and out.Payload names
// the bytes for the caller to append. False when nothing may be sent now, as every other call
// may change, and when out.Packet has less capacity than [HeaderMax].
//
//uetcc:hot
func (e *Endpoint) Transmit(now int64, out *Datagram) bool {
	if e.clock.even(now) && !e.grantsDue(now) && e.idle() { // as at the end of each burst
		return false
	}
	one := [1]Datagram{{Packet: out.Packet}}
	if e.TransmitBatch(now, one[:]) == 0 {
		return false
	}
	*out = one[0]
	return true
}

// TransmitBatch is Transmit for as many packets as may go, up to len(out), and returns the
// number. The cost per packet is less, most of all where a PDC sends several in a row.
//
//uetcc:hot
func (e *Endpoint) TransmitBatch(now int64, out []Datagram) (n int) {
	if !e.clock.even(now) {
		return e.transmitBatchOdd(now, out)
	}
	for n < len(out) {
		k := 0
		if !e.grantsDue(now) {
			if e.idle() {
				break
			}
			k = e.transmitRun(now, out[n:])
		}
		if k == 0 {
			if !e.transmitOne(now, &out[n]) {
				break
			}
			k = 1
		}
		n += k
	}
	return n
}

// grantsDue reports whether grants of credit are to go before all else.
func (e *Endpoint) grantsDue(now int64) bool { return e.credit != nil && e.credit.isDue(now) }

// idle reports whether Transmit has nothing to give but grants of credit.
//
//uetcc:hot inlines nobounds
func (e *Endpoint) idle() bool {
	return e.pds.Idle() && !e.target.HasErrand()
}

// transmitOne gives any packet to send.
//
//uetcc:hot
func (e *Endpoint) transmitOne(now int64, out *Datagram) bool {
	if cap(out.Packet) < HeaderMax {
		return false
	}
	buf := out.Packet[:cap(out.Packet)]
	return e.credit != nil && e.grant(now, out, buf) || e.transmitAny(now, out, buf)
}

// transmitAny gives any packet to send but a grant of credit.
//
//uetcc:hot
func (e *Endpoint) transmitAny(now int64, out *Datagram, buf []byte) bool {
	for e.pds.Transmit(now, buf, &e.out) {
		o := &e.out
		if o.Aside {
			if e.source.unsent.Head == 0 { // it has been cancelled
				continue
			}
			e.source.sendDatagram(now, out, buf)
			return true
		}
		out.Src, out.Dst, out.Retx, out.Entropy = o.Local, o.Peer, o.Retx, o.Entropy
		if o.Control {
			out.Payload = Payload{}
			e.recv.control(out, o.Header, o.Local, o.Peer)
			if o.AsData {
				out.TC = o.TC
			}
			return true
		}
		e.describe(now, out, buf)
		return true
	}
	return e.source.mayRunErrand() && e.source.runErrands(now) && e.transmitOne(now, out)
}

// transmitRun gives several packets of the PDC whose turn it is, see [pdc.FastPath.TransmitRun].
// The result is how many: 0 if the next packet is of another kind, or out, which is not empty, has no
// room for headers.
//
//uetcc:hot
func (e *Endpoint) transmitRun(now int64, out []Datagram) (n int) {
	id, most := e.pds.Fast().NextSender()
	if most > 1 {
		if most = min(most, len(out)); e.source.leads[id].short(most) {
			most = e.source.leads[id].run(most, e.flows[id].waiting())
		}
	}
	if most = roomy(out[:most]); most == 0 {
		return 0
	}
	p := e.pds.Fast().TransmitRun(now, most)
	if p == nil {
		return 0
	}
	x := e.pds.Fast().Run()
	for k := 0; k < x.Sent; {
		h, alike := x.Handle(k)
		if alike > 1 || x.Sent == 1 { // else no two are of one message
			if y, left := e.source.sender.Middle(msg.PacketHandle(h)); y != nil {
				k = e.describeMiddles(out[:k+min(int(left), alike)], p, k, y)
				continue
			}
		}
		end := k + 1
		if alike == 1 {
			end = x.Sent
		}
		k = e.describeEdges(out[:end], p, k)
	}
	if n = x.Sent; e.source.leads[id].sent(n) {
		e.source.goOn(now, &e.flows[id])
	}
	return n
}

// describeMiddles describes the packets of p in the last Run from k on, up to the end of out, and returns
// that end. y writes the semantic headers.
//
//uetcc:hot
func (e *Endpoint) describeMiddles(out []Datagram, p *pdc.PDC, k int, y *msg.Middle) int {
	x, mtu := e.pds.Fast().Run(), y.MTU()
	h, _ := x.Handle(k)
	first := y.Offset(msg.PacketHandle(h))
	for i := uint(k); i < uint(len(out)); i++ {
		d, k := &out[i], int(i)
		buf := (*[HeaderMax]byte)(d.Packet[:HeaderMax])
		d.Packet = d.Packet[:pds.RequestLen+ses.StandardLen]
		at := (*[ses.StandardLen]byte)(buf[pds.RequestLen:])
		x.PutHeader((*[pds.RequestLen]byte)(buf[:]), k)
		if x.HasTarget(k) {
			x.PutTarget((*[pds.RequestCCLen]byte)(buf[:]), k)
			d.Packet = d.Packet[:pds.RequestCCLen+ses.StandardLen]
			at = (*[ses.StandardLen]byte)(buf[pds.RequestCCLen:])
		}
		y.Put(at, first, mtu)
		d.Src, d.Dst = e.local, p.Peer()
		d.Size, d.Entropy, d.TC, d.Retx = x.Size, x.Path(k), p.TC(), false
		to := &d.Payload
		to.Length, to.Offset, to.Message, to.Cookie, to.Address = mtu, first, y.Handle(), y.Cookie(), 0
		first += mtu
	}
	return len(out)
}

// roomy returns how many at the front have room for the headers.
//
//uetcc:hot inlines nobounds
func roomy(out []Datagram) int {
	for i := range out {
		if cap(out[i].Packet) < HeaderMax {
			return i
		}
	}
	return len(out)
}

// describeEdges is describeMiddles for packets of any kind: each an answer's data, or the first or last
// of a message.
//
//uetcc:hot
func (e *Endpoint) describeEdges(out []Datagram, p *pdc.PDC, k int) int {
	x := e.pds.Fast().Run()
	for i := uint(k); i < uint(len(out)); i++ {
		d, k := &out[i], int(i)
		buf, h := (*[HeaderMax]byte)(d.Packet[:HeaderMax]), x.HandleOf(k)
		x.PutHeader((*[pds.RequestLen]byte)(buf[:]), k)
		at, b := pds.RequestLen, (*[ses.StandardLen]byte)(buf[pds.RequestLen:])
		if x.HasTarget(k) {
			x.PutTarget((*[pds.RequestCCLen]byte)(buf[:]), k)
			at, b = pds.RequestCCLen, (*[ses.StandardLen]byte)(buf[pds.RequestCCLen:])
		}
		d.Src, d.Dst, d.Size, d.Entropy, d.TC, d.Retx = e.local, p.Peer(), x.Size, x.Path(k), p.TC(), false
		if isAnswer(h) {
			e.source.describeAnswer(d, b, at, AnswerID(h))
		} else if y, ok := e.source.sender.PutStandard(b, msg.PacketHandle(h)); ok {
			d.Packet = d.Packet[:at+ses.StandardLen]
			to := &d.Payload
			to.Length, to.Offset, to.Message, to.Cookie, to.Address = y.Length, y.Offset, msg.PacketHandle(h).Message(), y.Cookie, 0
		} else {
			e.source.describeOwn(d, d.Packet[:cap(d.Packet)], at, msg.PacketHandle(h))
		}
	}
	return len(out)
}

// describe appends the semantic header to a data packet and names the payload.
//
//uetcc:hot
func (e *Endpoint) describe(now int64, out *Datagram, buf []byte) {
	o := &e.out
	out.TC, out.Size = o.TC, o.Size
	if isAnswer(o.Handle) {
		out.Packet = buf
		e.source.describeAnswer(out, (*[ses.StandardLen]byte)(buf[o.Header:]), o.Header, AnswerID(o.Handle))
	} else {
		e.source.describeOwn(out, buf, o.Header, msg.PacketHandle(o.Handle))
	}
	if o.PDC == 0 {
		out.TC = e.source.message(msg.PacketHandle(o.Handle).Message()).tc
	}
	if !o.Retx {
		if id := o.PDC.ID(); e.source.leads[id].sent(1) {
			e.source.goOn(now, &e.flows[id])
		}
	}
}

// describeAnswer appends the semantic header of a packet of data a peer has asked for,
// at offset at, where b is.
func (s *source) describeAnswer(out *Datagram, b *[ses.StandardLen]byte, at int, id AnswerID) {
	a := &s.answers.slot[uint16(id)] // in use until the packet is acknowledged
	*(*answerHeader)(b[:]) = a.header
	out.Packet = out.Packet[:at+int(a.size)]
	to := &out.Payload
	to.Length, to.Offset, to.Message, to.Cookie, to.Address, to.Answer = a.length, a.offset, 0, a.cookie, a.address, id
}

// describeOwn appends the semantic header of a packet of a local message.
//
//uetcc:hot
func (s *source) describeOwn(out *Datagram, buf []byte, at int, p msg.PacketHandle) {
	n, y := s.sender.PutHeader(buf[at:], p)
	out.Packet = buf[:at+n]
	to := &out.Payload
	to.Length, to.Offset, to.Message, to.Cookie, to.Address = y.Length, y.Offset, p.Message(), y.Cookie, 0
}

// sendDatagram sends the one packet of a UUD message, ending the message.
func (s *source) sendDatagram(now int64, out *Datagram, buf []byte) {
	rec := &s.messages[s.unsent.Head-1]
	q := &s.tx
	s.sender.Next(now, rec.handle, q)
	_ = s.sender.Handed(rec.handle, 1)
	n := len((&pds.UUD{Next: q.Form}).AppendTo(buf[:0]))
	m, y := s.sender.PutHeader(buf[n:], q.Packet)
	out.Packet = buf[:n+m]
	out.Src, out.Dst, out.TC, out.Entropy, out.Retx = s.local, rec.peer, rec.tc, 0, false
	out.Payload = Payload{Length: y.Length, Message: rec.handle, Cookie: y.Cookie}
	out.Size = pds.NominalSize(udpLen + len(out.Packet) + int(q.Length))
	var ev msg.Event
	if s.sender.RxAck(now, q.Packet, 1, &ev) == nil {
		s.conclude(now, rec.handle, &ev)
	}
}
