// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
	"github.com/uetcc/uetcc/ses"
)

// parsed is a packet on the wire, taken apart.
func parsed(t testing.TB, p wirePacket) (h frame.Packet) {
	require.NoError(t, new(frame.Parser).UDP(p.data, &h))
	return h
}

// The data that a request asks for has the form that the request has, whatever its message_id
// is: a standard request with the message_id 0, with which the reference provider begins, was
// answered in the short form, which it cannot read. And the data names the read as its own
// message too, since the reference provider looks nowhere else.
func TestReadAnswerHasTheFormOfItsRequest(t *testing.T) {
	for _, length := range []int{8, 500} { // in the acknowledgement, and in a packet of its own
		for _, id := range []uint16{0, 7} {
			n := newNetwork(t, 1, netFaults{}, 2, knownSources)
			n.read(ses.ModeRUD, length)
			q := sendAll(0, n.ends[0].e)[0]
			binary.BigEndian.PutUint16(q.data[pds.RequestLen+2:], id)
			r, _ := receive(0, n.ends[1].e, q)
			var back []wirePacket
			if length == 8 {
				reply := newReply(n.ends[1].e)
				require.NoError(t, n.ends[1].e.Answer(0, r.Answer, make([]byte, 8), &reply))
				back = []wirePacket{onWire(&reply)}
			} else {
				back = sendAll(0, n.ends[1].e)
			}
			h := parsed(t, back[0])
			require.Equal(t, pds.NextResponseData, h.Form, "%d bytes, id %d", length, id)
			require.EqualValues(t, id, h.Reply.ReadRequestID)
			require.EqualValues(t, id, h.Reply.MessageID)
		}
	}
}

// A request in a short form gets its data in the short form, under RUDI too.
func TestReadAnswerToAShortRequest(t *testing.T) {
	for _, mode := range []ses.Mode{ses.ModeRUD, ses.ModeRUDI} {
		n := newNetwork(t, 1, netFaults{}, 2, knownSources)
		n.read(mode, 500)
		q := sendAll(0, n.ends[0].e)[0]
		at, number := pds.RequestLen, parsed(t, q).Req.PSN
		if mode == ses.ModeRUDI {
			at, number = pds.RUDILen, pds.PSN(parsed(t, q).RUDI.PktID)
		}
		r := parsed(t, q).Request
		r.Form, r.MessageID = pds.NextRequestMedium, 0
		q.data = r.AppendTo(q.data[:at])
		v := binary.BigEndian.Uint16(q.data)&^(0xf<<7) | uint16(pds.NextRequestMedium)<<7
		binary.BigEndian.PutUint16(q.data, v)
		_, back := receive(0, n.ends[1].e, q)
		if mode == ses.ModeRUD {
			back = sendAll(0, n.ends[1].e)
		}
		h := parsed(t, back[0])
		require.Equal(t, pds.NextResponseDataSmall, h.Form, mode)
		require.EqualValues(t, number, h.Reply.OriginalRequestPSN)
	}
}

// Whatever an acknowledgement names, it says for which message: also a packet of data.
func TestDataIsAcknowledgedWithTheDefaultResponse(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, knownSources)
	a, b := n.ends[0].e, n.ends[1].e
	n.read(ses.ModeRUD, 500)
	q := sendAll(0, a)[0]
	receive(0, b, q)
	_, back := receive(0, a, sendAll(0, b)[0])
	require.Len(t, back, 1)
	h, id := parsed(t, back[0]), parsed(t, q).Request.MessageID
	require.Equal(t, pds.NextResponse, h.Form)
	require.Equal(t, ses.Response{
		Verdict: ses.Verdict{Opcode: ses.ResponseDefault, ReturnCode: ses.RCOK}, MessageID: id, JobID: 1, ModifiedLength: 500,
	}, h.Reply.Response)
	receive(0, b, back[0])
	require.Zero(t, b.Usage().Answers)
}
