// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/agenda"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
	"github.com/uetcc/uetcc/ses"
)

var ourAddr, refAddr = netip.MustParseAddr("10.9.0.2"), netip.MustParseAddr("10.9.0.1")

// request takes a request of the endpoint, or its data for a read.
func (r *reference) request(f *frame.Frame, data []byte) {
	q := &f.Req
	var p *refPDC
	if q.Flags&pds.FlagSYN == 0 {
		p = r.named(q.DPDCID, q.SPDCID)
	} else if i := slices.IndexFunc(r.pdcs, func(p *refPDC) bool { return !p.initiator && p.peer == q.SPDCID && p.start == q.StartPSN() }); i >= 0 {
		p = r.pdcs[i]
	} else {
		p = r.pdc(q.Type, false, q.StartPSN())
		p.peer = q.SPDCID
	}
	if p == nil {
		r.refuse(pds.NackInvDPDCID, q.PSN, 0, q.SPDCID)
		return
	}
	r.clearTo(p, q.ClearPSN())
	if d := q.PSN.Diff(p.cack + 1); d >= refRange {
		r.outside++
		r.refuse(pds.NackPSNOORWindow, q.PSN, p.id, p.peer)
		return
	} else if d < 0 || p.got[q.PSN] {
		answer, ok := p.held[q.PSN]
		if !ok {
			answer = r.answer(f, ses.RCNull)
		}
		r.ack(p, q.PSN, answer)
		return
	}
	p.got[q.PSN] = true
	answer := r.serve(p, f, data)
	if answer.Form == pds.NextResponseData {
		p.held[q.PSN] = answer
	}
	r.clearTo(p, p.clear)
	r.ack(p, q.PSN, answer)
}

// clearTo drops answers that the endpoint has seen, and moves CACK.
func (r *reference) clearTo(p *refPDC, clear pds.PSN) {
	if clear.After(p.clear) {
		p.clear = clear
	}
	for psn := p.cack + 1; p.got[psn]; psn++ {
		if _, held := p.held[psn]; held && psn.After(p.clear) {
			return
		}
		delete(p.held, psn)
		delete(p.got, psn)
		p.cack = psn
	}
}

// serve does what a request asks for.
func (r *reference) serve(p *refPDC, f *frame.Frame, data []byte) *refAnswer {
	q := &f.Request
	answer := r.answer(f, ses.RCOK)
	if !f.Form.IsRequest() {
		require.True(r.t, r.place(f.Reply.MessageID, f.Reply.MessageOffset, data), "RC_UNDELIVERABLE: %v", f)
		return answer
	}
	at := q.BufferOffset + uint64(q.MessageOffset)
	if q.Opcode == ses.OpcodeWrite {
		copy(r.mem[at:], data)
		return answer
	}
	n := q.RequestLength - q.MessageOffset
	y := ses.Reply{Form: pds.NextResponseData, Response: ses.Response{
		Verdict: ses.Verdict{Opcode: ses.ResponseWithData, ReturnCode: ses.RCOK}, MessageID: q.MessageID, JobID: q.JobID, ModifiedLength: q.RequestLength,
	}, ReadRequestID: q.MessageID, PayloadLength: uint16(min(n, refMTU)), MessageOffset: q.MessageOffset}
	bytes := r.mem[at:][:y.PayloadLength]
	if q.RequestLength > 16 {
		p.queue = append(p.queue, &refPacket{next: pds.NextResponseData, body: append(y.AppendTo(nil), bytes...), id: q.MessageID})
		r.pump(p)
		return answer
	}
	answer.Form, answer.Reply, answer.data = y.Form, y, slices.Clone(bytes)
	answer.Ack.Next = pds.NextResponseData
	return answer
}

// answer is an acknowledgement with the default response to f.
func (r *reference) answer(f *frame.Frame, code ses.ReturnCode) *refAnswer {
	a := &refAnswer{}
	a.Type, a.Form, a.Ack.Next = pds.TypeACK, pds.NextResponse, pds.NextResponse
	if r.cc {
		a.Type = pds.TypeACKCC
	}
	a.Reply = ses.Reply{Form: pds.NextResponse, Response: ses.Response{
		Verdict: ses.Verdict{Opcode: ses.ResponseDefault, ReturnCode: code}, MessageID: f.Request.MessageID, JobID: 1,
	}}
	return a
}

// ack sends an acknowledgement that names psn.
func (r *reference) ack(p *refPDC, psn pds.PSN, a *refAnswer) {
	a.Ack.SPDCID, a.Ack.DPDCID, a.Ack.CACK, a.Ack.Offset = p.id, p.peer, p.cack, int16(psn.Diff(p.cack))
	a.Ack.MPR, a.Ack.SACKOffset, a.Ack.Bitmap = 1, a.Ack.Offset, 1
	b := a.AppendTo(nil)
	if a.Form == pds.NextResponseData {
		b[1] = byte(pds.Flags(b[1]).WithReq(pds.AckReqClear))
		b = append(b, a.data...)
	}
	r.send(b)
}

func (r *reference) refuse(code pds.NackCode, psn pds.PSN, from, to pds.PDCID) {
	r.send((&pds.Nack{Code: code, PSN: psn, SPDCID: from, DPDCID: to}).AppendTo(nil))
}

// control takes a control packet: of CREDIT, NOOP, PROBE and CLEAR_REQ it knows nothing.
func (r *reference) control(f *frame.Frame) {
	c := &f.Control
	p := r.named(c.DPDCID, c.SPDCID)
	switch {
	case c.Ctl == pds.CtlClearCmd && p != nil:
		r.clearTo(p, pds.PSN(c.Payload))
	case c.Ctl == pds.CtlACKReq && p != nil && !c.PSN.After(p.cack): // dropped
	case c.Ctl == pds.CtlACKReq && p != nil && !p.got[c.PSN]:
		r.refuse(pds.NackPktNotRcvd, c.PSN, p.id, p.peer)
	case c.Ctl == pds.CtlACKReq && p != nil:
		a, ok := p.held[c.PSN]
		if !ok {
			a = r.answer(f, ses.RCNull)
		}
		r.ack(p, c.PSN, a)
	case p != nil:
		r.unknown++
		r.refuse(pds.NackUnexpEvent, 0, 0, p.peer)
	}
}

// A refWorld is an endpoint and the model, and a wire with losses between them.
type refWorld struct {
	*reference
	e     *uetcc.Endpoint
	ours  []byte
	local map[uint64][]byte // what our messages send, or where they read to
	kept  []uetcc.Datagram  // with BufferROD
	out   agenda.Agenda[[]byte]
	ended int
}

func newRefWorld(t *testing.T, seed uint64, loss float64, buffer, cc bool) *refWorld {
	const buffers = 512
	e, err := uetcc.NewEndpoint(uetcc.Config{
		Address: ourAddr, MTU: refMTU, Seed: seed + 1, Memory: pdc.MemoryConfig{Buffers: buffers, Responses: 1024},
		PDS: pdc.Config{RTOInit: refRTO, BufferROD: buffer, NackMissing: true, MaxRTORetx: 15, InferLoss: seed%3 == 2},
		CC:  ccc.Config{NSCC: nscc.Config{LinkRate: []int64{1e9, 1e10, 1.5e8}[seed%3], BaseRTT: 100_000}},
	})
	require.NoError(t, err)
	w := &refWorld{e: e, ours: make([]byte, interopMemory), local: map[uint64][]byte{}, kept: make([]uetcc.Datagram, buffers+1),
		reference: &reference{t: t, rng: rand.New(rand.NewPCG(seed, 7)), loss: loss, cc: cc, mem: make([]byte, interopMemory),
			open: map[ses.MessageID]*refMessage{}}}
	openInterop(t, e)
	return w
}

// transmit puts what the endpoint sends on the wire.
func (w *refWorld) transmit() {
	d := uetcc.Datagram{Packet: make([]byte, 0, uetcc.HeaderMax)}
	for w.e.Transmit(w.now, &d) {
		w.emit(&d)
	}
	for ev, ok := w.e.Poll(); ok; ev, ok = w.e.Poll() {
		if !ev.Received {
			require.Equal(w.t, ses.StatusOK, ev.Outcome.Status, "%+v", ev)
			w.ended++
		}
	}
}

func (w *refWorld) emit(d *uetcc.Datagram) {
	if w.rng.Float64() < w.loss || len(d.Packet) == 0 {
		return
	}
	data := w.ours[min(d.Payload.Address, interopMemory/2):][:d.Payload.Length]
	if d.Payload.Message != 0 {
		data = w.local[d.Payload.Cookie][d.Payload.Offset:][:d.Payload.Length]
	}
	f := frame.Frame{Src: ourAddr.As16(), Dst: refAddr.As16(), Native: true, CRC: true}
	w.out.Push(w.now+10_000+w.rng.Int64N(w.jitter+1), f.Wrap(nil, d.Packet, data))
}

// arrive gives a frame of the model to the endpoint.
func (w *refWorld) arrive(b []byte) {
	var f frame.Frame
	require.NoError(w.t, (&frame.Parser{CRC: true}).Ethernet(b, &f))
	in := uetcc.Datagram{Packet: b[f.PDS:f.End], Src: pdc.AddrFrom(refAddr), Dst: pdc.AddrFrom(ourAddr), Size: pds.NominalSize(f.TransportLen)}
	reply, r := uetcc.Datagram{Packet: make([]byte, 0, w.e.ReplyMax())}, uetcc.Received{}
	w.e.Receive(w.now, &in, &reply, &r)
	if r.Buffer != 0 {
		w.kept[r.Buffer] = in
	}
	w.obey(in.Packet, &reply, &r)
	for buffer := w.e.Replay(w.now, w.kept, &reply, &r); buffer != 0; buffer = w.e.Replay(w.now, w.kept, &reply, &r) {
		w.obey(w.kept[buffer].Packet, &reply, &r)
	}
	w.transmit()
}

// obey does in memory what the endpoint asks for, and sends its reply.
func (w *refWorld) obey(b []byte, reply *uetcc.Datagram, r *uetcc.Received) {
	switch {
	case r.Action == ses.ActionPlace && r.Message != 0:
		copy(w.local[r.Cookie][r.Offset:][:r.Length], b[r.Payload:])
	case r.Action == ses.ActionPlace:
		copy(w.ours[r.Address:][:r.Length], b[r.Payload:])
	}
	w.emit(reply)
	if r.Answer != 0 {
		require.NoError(w.t, w.e.Answer(w.now, r.Answer, w.ours[r.Address:][:r.Length], reply))
		w.emit(reply)
	}
}

// run lets time pass until both sides have ended all that they began, for 10 s at most.
func (w *refWorld) run(theirs, ours int) {
	for w.done < theirs || w.ended < ours {
		w.now += 5_000
		require.Less(w.t, w.now, int64(10e9), "%d of %d messages of the model have ended, %d of %d of ours", w.done, theirs, w.ended, ours)
		for at, ok := w.out.Next(); ok && at <= w.now; at, ok = w.out.Next() {
			_, b := w.out.Pop()
			w.receive(b)
		}
		for at, ok := w.wire.Next(); ok && at <= w.now; at, ok = w.wire.Next() {
			_, b := w.wire.Pop()
			w.arrive(b)
		}
		w.tick()
		if at, ok := w.e.NextDeadline(); ok && at <= w.now {
			w.e.Tick(w.now)
		}
		w.transmit()
	}
}
