// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/agenda"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
	"github.com/uetcc/uetcc/ses"
)

// A reference is what the consortium's reference provider enforces, of which its recordings show a
// part: a CRC of this byte order; standard headers, and answers in the form of their request; a
// response for each PSN that an acknowledgement names; 128 PSNs; no PROBE and no CLEAR_REQ;
// message_ids from 0; five retries of a packet, in which NACKs count; read data found by the
// message_id of the response.
type reference struct {
	t    *testing.T
	rng  *rand.Rand
	now  int64
	loss float64

	jitter int64 // of each way; the ordered PDCs of the reference provider do not bear any
	cc     bool  // ACK_CC, with an empty state, in place of ACK
	mem    []byte
	pdcs   []*refPDC
	last   pds.PDCID
	id     ses.MessageID
	open   map[ses.MessageID]*refMessage
	wire   agenda.Agenda[[]byte] // to the endpoint, frames
	done   int

	unknown, outside, gaps int // PROBEs and CLEAR_REQs, PSNs outside the range, ROD_OOO
}

// A refMessage is one that the reference has begun.
type refMessage struct {
	packets int    // without an answer
	data    []byte // a read: what comes back
	missing int
}

// A refPDC is one of its PDCs, with both directions.
type refPDC struct {
	id, peer    pds.PDCID
	typ         pds.Type
	initiator   bool
	start       pds.PSN
	next, base  pds.PSN
	out         map[pds.PSN]*refPacket
	queue       []*refPacket
	cack, clear pds.PSN
	got         map[pds.PSN]bool
	held        map[pds.PSN]*refAnswer // guaranteed ones
}

// A refAnswer is an acknowledgement, and the data that rides in it.
type refAnswer struct {
	frame.Packet
	data []byte
}

type refPacket struct {
	next   pds.NextHdr
	body   []byte
	msg    *refMessage
	id     ses.MessageID
	sentAt int64
	tries  int
}

const (
	refRange = 128
	refTries = 5
	refRTO   = 5_000_000
	refMTU   = 1024
)

func (r *reference) pdc(typ pds.Type, initiator bool, start pds.PSN) *refPDC {
	r.last++
	p := &refPDC{id: r.last, typ: typ, initiator: initiator, start: start, next: start, base: start, cack: start - 1, clear: start - 1,
		out: map[pds.PSN]*refPacket{}, got: map[pds.PSN]bool{}, held: map[pds.PSN]*refAnswer{}}
	r.pdcs = append(r.pdcs, p)
	return p
}

// begin starts a write of data, or a read of as many bytes into it.
func (r *reference) begin(p *refPDC, op ses.Opcode, offset uint64, data []byte) {
	m := &refMessage{}
	if op == ses.OpcodeRead {
		m.data, m.missing = data, len(data)
	}
	r.open[r.id] = m
	for at := 0; at < len(data); at += refMTU {
		n := min(refMTU, len(data)-at)
		q := ses.Request{Form: pds.NextRequestStd, Standard: ses.Standard{
			Common:    ses.Common{Opcode: op, Flags: ses.FlagRel, JobID: 1, Index: 15},
			MessageID: r.id, Key: 0x77, BufferOffset: offset, RequestLength: uint32(len(data)),
		}}
		if at == 0 {
			q.Flags |= ses.FlagSOM
		} else {
			q.PayloadLength, q.MessageOffset = uint16(n), uint32(at)
		}
		if at+n == len(data) {
			q.Flags |= ses.FlagEOM
		}
		body := q.AppendTo(nil)
		if op == ses.OpcodeWrite {
			body = append(body, data[at:at+n]...)
		}
		m.packets++
		p.queue = append(p.queue, &refPacket{next: pds.NextRequestStd, body: body, msg: m, id: r.id})
	}
	r.id++
	r.pump(p)
}

// pump sends what the range of 128 PSNs lets go.
func (r *reference) pump(p *refPDC) {
	for len(p.queue) > 0 && p.next.Diff(p.base) < refRange {
		p.out[p.next] = p.queue[0]
		p.queue = p.queue[1:]
		r.transmit(p, p.next)
		p.next++
	}
}

func (r *reference) transmit(p *refPDC, psn pds.PSN) {
	x := p.out[psn]
	x.sentAt = r.now
	h := pds.Request{Type: p.typ, Next: x.next, Flags: pds.FlagAR, PSN: psn, ClearOffset: int16((p.base - 1).Diff(psn)), SPDCID: p.id, DPDCID: p.peer}
	if x.tries > 0 {
		h.Flags |= pds.FlagRetx
	}
	if p.peer == 0 {
		h.Flags |= pds.FlagSYN
		h.Info = pds.MakePDCInfo(false, uint16(psn.Diff(p.start)))
	}
	r.send(append(h.AppendTo(nil), x.body...))
}

// send puts a packet on the wire, which may lose it.
func (r *reference) send(b []byte) {
	if r.rng.Float64() >= r.loss {
		f := frame.Frame{Src: refAddr.As16(), Dst: ourAddr.As16(), Native: true}
		w := f.Wrap(nil, b, nil)
		binary.BigEndian.PutUint16(w[16:], uint16(len(w)-14+pds.CRCLen)) // a CRC of its own
		r.wire.Push(r.now+10_000+r.rng.Int64N(r.jitter+1), binary.BigEndian.AppendUint32(w, crc32.Checksum(w[26:], castagnoli)))
	}
}

// again sends a packet once more, for whatever reason: five times at most.
func (r *reference) again(p *refPDC, psn pds.PSN) {
	x := p.out[psn]
	x.tries++
	require.LessOrEqual(r.t, x.tries, refTries, "the reference provider gives up")
	r.transmit(p, psn)
}

// tick sends again what has had no answer for long.
func (r *reference) tick() {
	for _, p := range r.pdcs {
		for psn := p.base; psn != p.next; psn++ {
			if x := p.out[psn]; x != nil && r.now-x.sentAt >= refRTO {
				r.again(p, psn)
			}
		}
	}
}

// receive takes a frame of the endpoint.
func (r *reference) receive(w []byte) {
	end := len(w) - pds.CRCLen
	require.Equal(r.t, crc32.Checksum(w[26:end], castagnoli), binary.BigEndian.Uint32(w[end:]), "CRC")
	var f frame.Frame
	require.NoError(r.t, (&frame.Parser{CRC: true}).Ethernet(w, &f))
	require.NoError(r.t, f.Validate(), "%v", &f)
	require.NotContains(r.t, []pds.NextHdr{pds.NextRequestSmall, pds.NextRequestMedium, pds.NextResponseDataSmall}, f.Form, "cannot be parsed: %v", &f)
	switch data := w[f.Payload:f.End]; {
	case f.Type.IsRequest():
		r.request(&f, data)
	case f.Type == pds.TypeACKCC:
		if p := r.named(f.Ack.DPDCID, f.Ack.SPDCID); p != nil {
			r.acknowledged(p, &f, data)
		}
	case f.Type == pds.TypeNACK:
		if p := r.named(f.Nack.DPDCID, f.Nack.SPDCID); p != nil && p.out[f.Nack.PSN] != nil && f.Nack.Code == pds.NackRODOOO {
			r.gaps++
			r.again(p, f.Nack.PSN)
		}
	case f.Type == pds.TypeCP:
		r.control(&f)
	}
}

// named returns the PDC with that id, and has it learn its peer.
func (r *reference) named(id, peer pds.PDCID) *refPDC {
	for _, p := range r.pdcs {
		if p.id == id && (p.peer == 0 || peer == 0 || p.peer == peer) {
			p.peer = max(p.peer, peer)
			return p
		}
	}
	return nil
}

func (r *reference) acknowledged(p *refPDC, f *frame.Frame, data []byte) {
	psn, cack := f.Ack.AckPSN(), f.Ack.CACK
	if x := p.out[psn]; x != nil && f.Ack.Flags&pds.FlagP == 0 {
		require.NotEqual(r.t, pds.NextNone, f.Form, "a PSN that is named without a response is never done: %v", f)
		require.LessOrEqual(r.t, f.Reply.ReturnCode, ses.RCOK)
		if f.Form == pds.NextResponseData {
			require.True(r.t, r.place(f.Reply.MessageID, f.Reply.MessageOffset, data), "RC_UNDELIVERABLE: %v", f)
		} else {
			require.Contains(r.t, []ses.MessageID{0, x.id}, f.Reply.MessageID)
		}
		r.release(p, psn)
	}
	for at := p.base; !at.After(cack) && at != p.next; at++ {
		r.release(p, at)
	}
	for p.base != p.next && p.out[p.base] == nil {
		p.base++
	}
	if f.Ack.Flags.Req() == pds.AckReqClear {
		r.send((&pds.Control{Ctl: pds.CtlClearCmd, SPDCID: p.id, DPDCID: p.peer, Payload: pds.Payload(p.base - 1)}).AppendTo(nil))
	}
	r.pump(p)
}

func (r *reference) release(p *refPDC, psn pds.PSN) {
	if x := p.out[psn]; x != nil {
		delete(p.out, psn)
		if x.msg != nil {
			x.msg.packets--
			r.ended(x.id)
		}
	}
}

func (r *reference) ended(id ses.MessageID) {
	if m := r.open[id]; m != nil && m.packets == 0 && m.missing == 0 {
		delete(r.open, id)
		r.done++
	}
}

// place puts read data where it belongs, false if no read has that id.
func (r *reference) place(id ses.MessageID, at uint32, data []byte) bool {
	m := r.open[id]
	if m == nil || m.data == nil {
		return false
	}
	m.missing -= copy(m.data[at:], data)
	r.ended(id)
	return true
}
