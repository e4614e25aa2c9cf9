// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// ok is the target's answer to a fragment that was placed.
func ok(q *sentReq) *ses.Reply {
	return &ses.Reply{
		Form: pds.NextResponse,
		Response: ses.Response{
			Verdict: ses.Verdict{ReturnCode: ses.RCOK}, Generation: q.Request.Generation,
			MessageID: q.Request.MessageID, JobID: q.Request.JobID, ModifiedLength: q.Request.RequestLength,
		},
	}
}

// brings is what a reply with data says of its request.
var brings = ses.Response{Verdict: ses.Verdict{Opcode: ses.ResponseWithData, ReturnCode: ses.RCOK}, JobID: walkJob}

// bad is an error response to a packet.
func bad(q *sentReq, code ses.ReturnCode, gen ses.Generation) *ses.Reply {
	y := ok(q)
	y.Opcode, y.ReturnCode, y.Generation, y.ModifiedLength = ses.ResponseExplicit, code, gen, 0
	return y
}

func answer(t *testing.T, in *Initiator, q *sentReq, y *ses.Reply) (ev Event) {
	t.Helper()
	ev = Event{Kind: EventReady, At: 7, Cookie: 7, DataOffset: 7, DataLength: 7, Outcome: ses.Outcome{Status: ses.StatusPDS}} // nothing may be left
	require.NoError(t, rsp(in, 1000, q.Packet, y, &ev))
	return ev
}

// rsp gives the bytes of a response to in, or the acknowledgement without one.
func rsp(in *Initiator, now int64, p PacketHandle, y *ses.Reply, ev *Event) error {
	if y == nil {
		return in.RxAck(now, p, 1, ev)
	}
	b := y.AppendTo(nil)
	n, err := in.RxRsp(now, p, y.Form, append(b, make([]byte, y.PayloadLength)...), ev)
	if err == nil && n != len(b) {
		panic("RxRsp: length")
	}
	return err
}

// The second and third fragment are released by CACK alone.
func TestInitiatorImplicitResponses(t *testing.T) {
	in := newInitiator(t)
	qs := sendAll(in, 0, start(t, in, walkWrite()))
	answer(t, in, &qs[0], ok(&qs[0]))
	answer(t, in, &qs[3], ok(&qs[3]))
	require.Equal(t, eventNone, answer(t, in, &qs[1], nil).Kind)
	require.Equal(t, EventDone, answer(t, in, &qs[2], nil).Kind)
}

// Confirm takes only packets of this attempt in flight, and a default response that says success.
func TestInitiatorConfirm(t *testing.T) {
	in := newInitiator(t)
	h := start(t, in, walkWrite())
	var q sentReq
	for range 3 {
		next(in, 0, h, &q)
	}
	good := binary.BigEndian.Uint64(ok(&q).AppendTo(nil))
	refused := binary.BigEndian.Uint64(bad(&q, ses.RCBadMKey, 0).AppendTo(nil))
	var ev Event
	require.False(t, in.Confirm(q.Packet+1, 1, good, &ev), "not sent")
	require.False(t, in.Confirm(q.Packet+1<<packetBits, 1, good, &ev), "another attempt")
	require.False(t, in.Confirm(q.Packet+1<<32, 1, good, &ev), "no message")
	require.False(t, in.Confirm(q.Packet, 1, refused, &ev))
	require.False(t, in.Confirm(q.Packet, 4, good, &ev), "so many are not in flight")
	require.True(t, in.Confirm(q.Packet, 2, good, &ev))
	require.True(t, in.Confirm(q.Packet, 1, good, &ev), "the last packet is not sent")
	require.False(t, in.Confirm(q.Packet, 1, good, &ev), "none is left")
	require.Equal(t, Event{}, ev)
	next(in, 0, h, &q)
	require.True(t, in.Confirm(q.Packet, 1, good, &ev))
	require.Equal(t, EventDone, ev.Kind)
	require.Equal(t, ses.Outcome{Status: ses.StatusOK, Length: walkWrite().Length}, ev.Outcome)
	require.Zero(t, in.Messages())
	require.False(t, in.Confirm(q.Packet, 1, good, &ev), "over")
}

// Messages that wait for more than responses to their packets do not end with Confirm, nor do
// those that have failed.
func TestInitiatorConfirmDeclinesEnds(t *testing.T) {
	for _, fails := range []bool{false, true} {
		in := newInitiator(t)
		o := walkWrite()
		if o.Length = 1; !fails {
			o.Opcode = ses.OpcodeRead
		}
		h := start(t, in, o)
		var q sentReq
		next(in, 0, h, &q)
		var ev Event
		if fails {
			require.NoError(t, in.Cancel(0, h, ses.RCCancelled, &ev))
		}
		good := binary.BigEndian.Uint64(ok(&q).AppendTo(nil))
		require.False(t, in.Confirm(q.Packet, 1, good, &ev))
		require.True(t, in.InFlight(h))
	}
}

func TestInitiatorAcksOfSeveralPackets(t *testing.T) {
	in := newInitiator(t)
	h := start(t, in, walkWrite())
	var q sentReq
	for range 3 {
		next(in, 0, h, &q)
	}
	first := packetHandle(h, 0, 0)
	var ev Event
	require.ErrorIs(t, in.RxAck(0, first, 4, &ev), ses.ErrStale, "the fourth is not sent")
	require.ErrorIs(t, in.RxAck(0, first+1, 3, &ev), ses.ErrStale)
	require.NoError(t, in.RxAck(0, first, 2, &ev))
	require.ErrorIs(t, in.RxAck(0, first, 2, &ev), ses.ErrStale, "one is left")
	next(in, 0, h, &q)
	require.Equal(t, eventNone, ev.Kind)
	require.NoError(t, in.RxAck(0, first+2, 2, &ev))
	require.Equal(t, EventDone, ev.Kind)
}

// A response that cannot be read, or that announces more data than it brings,
// fails its message.
func TestInitiatorBrokenResponses(t *testing.T) {
	y := ses.Reply{
		Form:          pds.NextResponseDataSmall,
		Response:      brings,
		PayloadLength: 9,
	}
	for _, c := range []struct {
		f pds.NextHdr
		b []byte
		n int
	}{
		{pds.NextResponse, make([]byte, ses.ResponseLen-1), 0},
		{pds.NextRequestStd, make([]byte, ses.StandardLen), 0},
		{pds.NextNone, nil, 0},
		{pds.NextResponseDataSmall, append(y.AppendTo(nil), make([]byte, 8)...), 12},
	} {
		in := newInitiator(t)
		o := walkWrite()
		o.Length = 9
		before := sendAll(in, 0, start(t, in, o))[0]
		require.Equal(t, ses.StatusOK, answer(t, in, &before, bad(&before, ses.RCOK, 0)).Outcome.Status)
		o.Opcode = ses.OpcodeRead
		q := sendAll(in, 0, start(t, in, o))[0]
		var ev Event
		n, err := in.RxRsp(0, q.Packet, c.f, c.b, &ev)
		require.NoError(t, err)
		require.Equal(t, c.n, n)
		require.Equal(t, ses.Outcome{Status: ses.StatusFailed, Code: ses.RCUncor}, ev.Outcome, "%v", c.f)
	}
}

// Scenario M4: the message fails once, with the code of the second packet.
func TestInitiatorErrorFailsMessageOnce(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2, 3}, {1, 0, 2, 3}, {3, 2, 0, 1}} {
		in := newInitiator(t)
		qs := sendAll(in, 0, start(t, in, walkWrite()))
		done := 0
		for _, i := range order {
			y := ok(&qs[i])
			if i == 1 {
				y = bad(&qs[i], ses.RCBadMKey, 1)
			}
			if ev := answer(t, in, &qs[i], y); ev.Kind != eventNone {
				require.Equal(t, EventDone, ev.Kind)
				require.Equal(t, ses.Outcome{Status: ses.StatusFailed, Code: ses.RCBadMKey}, ev.Outcome)
				done++
			}
		}
		require.Equal(t, 1, done)
	}
}

func TestInitiatorFatalErrorStopsAndGivesNotice(t *testing.T) {
	in := newInitiator(t)
	h := start(t, in, walkWrite())
	var a, b, q sentReq
	require.True(t, next(in, 0, h, &a))
	require.True(t, next(in, 0, h, &b))
	require.Equal(t, eventNone, answer(t, in, &a, bad(&a, ses.RCPermViolation, 1)).Kind)
	require.False(t, next(in, math.MaxInt64, h, &q))
	require.Equal(t, Event{Kind: EventReady, At: 1000, Cookie: 99}, answer(t, in, &b, bad(&b, ses.RCBadAddr, 1)))
	require.True(t, next(in, 1000, h, &q))
	require.Equal(t, ses.OpcodeMsgError, q.Request.Opcode)
	require.True(t, q.Request.Flags.Has(ses.FlagEOM))
	require.Equal(t, a.Request.MessageID, q.Request.MessageID)
	require.ErrorIs(t, rsp(in, 0, a.Packet, nil, &Event{}), ses.ErrStale, "answered before")
	require.False(t, next(in, 1000, h, &b), "one notice")
	require.Equal(t, ses.Outcome{Status: ses.StatusFailed, Code: ses.RCPermViolation}, answer(t, in, &q, ok(&q)).Outcome)
}

// "Once per new generation", the simple way: one retry of the message.
func TestInitiatorBadGeneration(t *testing.T) {
	in := newInitiator(t)
	o := walkWrite()
	o.Generation = 0
	h := start(t, in, o)
	qs := sendAll(in, 0, h)
	for i := range 3 {
		require.Equal(t, eventNone, answer(t, in, &qs[i], bad(&qs[i], ses.RCBadGeneration, 1)).Kind)
	}
	require.Equal(t, Event{Kind: EventReady, At: 1000, Cookie: 99}, answer(t, in, &qs[3], bad(&qs[3], ses.RCBadGeneration, 1)))
	again := sendAll(in, 1000, h)
	require.Len(t, again, 4)
	require.Equal(t, ses.Generation(1), again[0].Request.Generation)
	require.Equal(t, ses.MessageID(2), again[0].Request.MessageID, "the target may know the old one as failed")
	require.ErrorIs(t, rsp(in, 0, qs[0].Packet, nil, &Event{}), ses.ErrStale, "of the first attempt")
	var ev Event
	for i := range again {
		ev = answer(t, in, &again[i], bad(&again[i], ses.RCBadGeneration, 1))
	}
	require.Equal(t, ses.Outcome{Status: ses.StatusFailed, Code: ses.RCBadGeneration, Retries: 1}, ev.Outcome, "that is what was sent")
}

func TestInitiatorGenerationRetriesAreBounded(t *testing.T) {
	in := newInitiator(t)
	h := start(t, in, walkWrite())
	var ev Event
	attempts := 0
	for ev.Kind != EventDone {
		attempts++
		for _, q := range sendAll(in, 1000, h) {
			ev = answer(t, in, &q, bad(&q, ses.RCBadGeneration, q.Request.Generation+1))
		}
	}
	require.Equal(t, 6, attempts)
}

// Scenario M5, initiator side.
func TestInitiatorNoMatchBacksOff(t *testing.T) {
	for _, code := range []ses.ReturnCode{ses.RCNoMatch, ses.RCDisabledGen} {
		in := newInitiator(t)
		o := walkWrite()
		o.Opcode, o.Length = ses.OpcodeTaggedSend, 100
		h := start(t, in, o)
		now := int64(0)
		var waits []int64
		for {
			q := sendAll(in, now, h)
			require.Len(t, q, 1)
			var ev Event
			require.NoError(t, rsp(in, now, q[0].Packet, bad(&q[0], code, 1), &ev))
			if ev.Kind == EventDone {
				require.Equal(t, ses.Outcome{Status: ses.StatusFailed, Code: code, Retries: 5}, ev.Outcome)
				break
			}
			require.Equal(t, EventReady, ev.Kind)
			require.Empty(t, sendAll(in, ev.At-1, h))
			waits = append(waits, ev.At-now)
			now = ev.At
		}
		require.Equal(t, []int64{50e6, 100e6, 200e6, 400e6, 800e6}, waits)
	}
}

func TestInitiatorModifiedLength(t *testing.T) {
	for _, c := range []struct {
		name string
		op   ses.ResponseOpcode
		code ses.ReturnCode
		n    uint32
		want ses.Outcome
	}{
		{"default, null", ses.ResponseDefault, ses.RCNull, 0, ses.Outcome{Status: ses.StatusOK, Length: 100}},
		{"default made by the PDS", ses.ResponseDefault, ses.RCOK, 7, ses.Outcome{Status: ses.StatusOK, Length: 100}},
		{"no response", ses.ResponseNone, ses.RCOK, 7, ses.Outcome{Status: ses.StatusOK, Length: 100}},
		{"explicit, same length", ses.ResponseExplicit, ses.RCOK, 100, ses.Outcome{Status: ses.StatusOK, Length: 100}},
		{"explicit, length not given", ses.ResponseExplicit, ses.RCOK, 0, ses.Outcome{Status: ses.StatusOK, Length: 100}},
		{"explicit, shorter", ses.ResponseExplicit, ses.RCOK, 60, ses.Outcome{Status: ses.StatusTruncated, Length: 60}},
		{"explicit, longer than the message", ses.ResponseExplicit, ses.RCOK, 101, ses.Outcome{Status: ses.StatusOK, Length: 100}},
		{"too long", ses.ResponseExplicit, ses.RCTooLong, 0, ses.Outcome{Status: ses.StatusFailed, Code: ses.RCTooLong}},
		{"reserved code", ses.ResponseExplicit, 0x25, 0, ses.Outcome{Status: ses.StatusFailed, Code: ses.RCUncor}},
		{"data for a write", ses.ResponseWithData, ses.RCOK, 0, ses.Outcome{Status: ses.StatusFailed, Code: ses.RCUncor}},
	} {
		in := newInitiator(t)
		o := walkWrite()
		o.Length = 100
		q := sendAll(in, 0, start(t, in, o))[0]
		y := ok(&q)
		y.Opcode, y.ReturnCode, y.ModifiedLength = c.op, c.code, c.n
		require.Equal(t, c.want, answer(t, in, &q, y).Outcome, c.name)
	}
}

// A target may call a receive that was cut RC_OK or RC_TOO_LONG; how many bytes were
// placed says whether any were.
func TestInitiatorTooLong(t *testing.T) {
	for _, c := range []struct {
		op   ses.Opcode
		n    uint32
		want ses.Outcome
	}{
		{ses.OpcodeSend, 5000, ses.Outcome{Status: ses.StatusTruncated, Length: 5000}},
		{ses.OpcodeTaggedSend, 16383, ses.Outcome{Status: ses.StatusTruncated, Length: 16383}},
		{ses.OpcodeSend, 0, ses.Outcome{Status: ses.StatusFailed, Code: ses.RCTooLong}},
		{ses.OpcodeSend, 16384, ses.Outcome{Status: ses.StatusFailed, Code: ses.RCTooLong}},
		{ses.OpcodeWrite, 5000, ses.Outcome{Status: ses.StatusFailed, Code: ses.RCTooLong}},
	} {
		in := newInitiator(t)
		o := walkWrite()
		o.Opcode = c.op
		var last Event
		for _, q := range sendAll(in, 0, start(t, in, o)) {
			y := ok(&q)
			y.Opcode, y.ReturnCode, y.ModifiedLength = ses.ResponseExplicit, ses.RCTooLong, c.n
			last = answer(t, in, &q, y)
		}
		require.Equal(t, EventDone, last.Kind)
		require.Equal(t, c.want, last.Outcome, "%v %d", c.op, c.n)
	}
}

func TestInitiatorPDSError(t *testing.T) {
	in := newInitiator(t)
	h := start(t, in, walkWrite())
	var a, b sentReq
	next(in, 0, h, &a)
	next(in, 0, h, &b)
	var ev Event
	require.NoError(t, in.Error(0, a.Packet, 11, false, &ev))
	require.Equal(t, eventNone, ev.Kind)
	require.NoError(t, in.Error(0, b.Packet, 12, false, &ev))
	require.Equal(t, ses.Outcome{Status: ses.StatusPDS, Cause: 11}, ev.Outcome, "no notice on a PDC that is gone; the first cause")
	require.ErrorIs(t, in.Error(0, b.Packet, 12, false, &ev), ses.ErrStale)
}

// The data of a read has come, but not the acknowledgements of its requests: that is no
// failure, unless a byte is missing.
func TestInitiatorPDSErrorOfAReadThatHasItsData(t *testing.T) {
	for _, got := range []uint16{0, 1, 4095, 4096} {
		in := newInitiator(t)
		o := walkWrite()
		o.Opcode = ses.OpcodeRead
		qs := sendAll(in, 0, start(t, in, o))
		var ev Event
		for i := range uint32(4) {
			n := uint16(4096)
			if i == 3 {
				n = got
			}
			y := ses.Reply{
				Form:          pds.NextResponseData,
				Response:      brings,
				ReadRequestID: 1, PayloadLength: n, MessageOffset: i * 4096,
			}
			if n != 4096 { // not what its packet has asked for
				require.ErrorIs(t, in.RxData(0, &y, &ev), ses.ErrRange)
				continue
			}
			require.NoError(t, in.RxData(0, &y, &ev))
			require.Equal(t, eventNone, ev.Kind)
		}
		for _, q := range qs {
			require.NoError(t, in.Error(0, q.Packet, 11, false, &ev))
		}
		want := ses.Outcome{Status: ses.StatusPDS, Cause: 11, Length: 3 * 4096}
		if got == 4096 {
			want = ses.Outcome{Status: ses.StatusOK, Length: 16384}
		}
		require.Equal(t, want, ev.Outcome)
	}
}

func TestInitiatorCancel(t *testing.T) {
	in := newInitiator(t)
	h := start(t, in, walkWrite())
	var ev Event
	require.NoError(t, in.Cancel(0, h, ses.RCCancelled, &ev))
	require.Equal(t, ses.Outcome{Status: ses.StatusFailed, Code: ses.RCCancelled}, ev.Outcome)
	require.ErrorIs(t, in.Cancel(0, h, ses.RCCancelled, &ev), ses.ErrStale)

	h = start(t, in, walkWrite())
	var q sentReq
	next(in, 0, h, &q)
	require.NoError(t, in.Cancel(0, h, ses.RCCancelled, &ev))
	require.Equal(t, Event{}, ev, "nothing is left of an event before")
	again := make([]byte, 64)
	in.PutHeader(again, q.Packet)
	require.NotZero(t, again[1]&byte(ses.FlagIE), "sent again it is no good: the data may have gone")
	require.Equal(t, EventReady, answer(t, in, &q, ok(&q)).Kind)
	require.Len(t, sendAll(in, 1000, h), 1)
}

func TestInitiatorReadByReturnData(t *testing.T) {
	in := newInitiator(t)
	o := walkWrite()
	o.Opcode = ses.OpcodeRead
	h := start(t, in, o)
	qs := sendAll(in, 0, h)
	require.Len(t, qs, 4, "a request for each MTU")
	data := func(off uint32, n uint16) *ses.Reply {
		return &ses.Reply{
			Form:          pds.NextResponseData,
			Response:      ses.Response{Verdict: ses.Verdict{Opcode: ses.ResponseWithData, ReturnCode: ses.RCOK}, JobID: walkJob, ModifiedLength: walkLength},
			ReadRequestID: 1, PayloadLength: n, MessageOffset: off,
		}
	}
	for i, q := range qs {
		require.Zero(t, q.Length, "no payload")
		require.Equal(t, uint32(i)*4096, q.Request.MessageOffset)
		require.Equal(t, eventNone, answer(t, in, &q, nil).Kind, "the data is still to come")
	}
	var ev Event
	require.ErrorIs(t, in.RxData(0, data(16384, 1), &ev), ses.ErrRange)
	require.ErrorIs(t, in.RxData(0, data(math.MaxUint32, 2), &ev), ses.ErrRange)
	wrong := data(0, 1)
	wrong.ReadRequestID = 2
	require.ErrorIs(t, in.RxData(0, wrong, &ev), ses.ErrStale)
	wrong = data(0, 1)
	wrong.JobID = 1
	require.ErrorIs(t, in.RxData(0, wrong, &ev), ses.ErrStale)
	start(t, in, walkWrite())
	wrong = data(0, 1)
	wrong.ReadRequestID = 2
	require.ErrorIs(t, in.RxData(0, wrong, &ev), ses.ErrStale, "of a write")
	for i := range uint32(3) {
		ev.Kind, ev.At = EventDone, 1 // of before
		require.NoError(t, in.RxData(0, data((i+1)*4096, 4096), &ev))
		require.Equal(t, Event{Cookie: 99, DataOffset: (i + 1) * 4096, DataLength: 4096}, ev)
	}
	require.NoError(t, in.RxData(0, data(0, 4096), &ev))
	require.Equal(t, EventDone, ev.Kind)
	require.Equal(t, ses.Outcome{Status: ses.StatusOK, Length: 16384}, ev.Outcome)
	require.ErrorIs(t, in.RxData(0, data(0, 4096), &ev), ses.ErrStale, "completed once")
}

// What a read brings has to be exactly what one of its packets has asked for, and each packet
// brings it once: while only lengths were summed up, a target with a larger MTU, or a packet
// that came twice, made up for data that never came.
func TestInitiatorReadCountsPlaces(t *testing.T) {
	o := walkWrite()
	o.Opcode = ses.OpcodeRead
	var ev Event
	for name, places := range map[string][]uint32{"all": {4096, 0, 12288, 8192}, "one twice": {4096, 0, 4096, 8192}} {
		in := newInitiator(t)
		h := start(t, in, o)
		data := ses.Reply{Form: pds.NextResponseData, Response: brings, ReadRequestID: 1, PayloadLength: 4096}
		require.ErrorIs(t, in.RxData(0, &data, &ev), ses.ErrRange, "not asked for yet")
		for _, q := range sendAll(in, 0, h) {
			answer(t, in, &q, nil)
		}
		for _, wrong := range []struct {
			off uint32
			n   uint16
		}{{0, 3000}, {0, 4095}, {0, 0}, {1, 4096}, {2048, 4096}, {8192, 8192}, {12288, 4097}} {
			data.MessageOffset, data.PayloadLength = wrong.off, wrong.n
			require.ErrorIs(t, in.RxData(0, &data, &ev), ses.ErrRange, "%v", wrong)
		}
		for _, off := range places {
			require.NotEqual(t, EventDone, ev.Kind)
			data.MessageOffset, data.PayloadLength = off, 4096
			require.NoError(t, in.RxData(0, &data, &ev))
		}
		require.Equal(t, EventDone, ev.Kind)
		want := ses.Outcome{Status: ses.StatusOK, Length: 16384}
		if name != "all" {
			want = ses.Outcome{Status: ses.StatusFailed, Code: ses.RCUncor}
		}
		require.Equal(t, want, ev.Outcome, name)
	}
}

// A target that says that packets are too long for it gets the message again in shorter ones.
func TestInitiatorLearnsASmallerMTU(t *testing.T) {
	for _, op := range []ses.Opcode{ses.OpcodeWrite, ses.OpcodeRead, ses.OpcodeSend, ses.OpcodeDeferrableSend} {
		in := newInitiator(t)
		o := walkWrite()
		o.Opcode, o.Length = op, 9000
		h := start(t, in, o)
		qs := sendAll(in, 0, h)
		require.Len(t, qs, 3)
		var ev Event
		for i := range qs {
			y := bad(&qs[i], ses.RCOpViolation, 1)
			y.ModifiedLength = 1024
			ev = answer(t, in, &qs[i], y)
		}
		require.Equal(t, EventReady, ev.Kind, "%v", op)
		qs = sendAll(in, 1000, h)
		require.Len(t, qs, 9)
		require.EqualValues(t, 8192, qs[8].Request.MessageOffset)
		require.EqualValues(t, 808, qs[8].Request.PayloadLength)
		if op == ses.OpcodeRead {
			require.EqualValues(t, int64(1024)<<32, qs[0].Request.HeaderData)
		}
		for i := range qs {
			y := bad(&qs[i], ses.RCOpViolation, 1)
			y.ModifiedLength = 1024
			ev = answer(t, in, &qs[i], y)
		}
		require.Equal(t, ses.Outcome{Status: ses.StatusFailed, Code: ses.RCOpViolation, Retries: 1}, ev.Outcome, "it was not that")
	}
}

// Data that could not be had ends the read, at once or when its other packets are
// answered.
func TestInitiatorReadFailsByReturnData(t *testing.T) {
	for answered := range 5 {
		in := newInitiator(t)
		o := walkWrite()
		o.Opcode = ses.OpcodeRead
		h := start(t, in, o)
		qs := sendAll(in, 0, h)
		for i := range answered {
			answer(t, in, &qs[i], nil)
		}
		y := ses.Reply{
			Form:          pds.NextResponseData,
			Response:      ses.Response{Verdict: ses.Verdict{Opcode: ses.ResponseWithData, ReturnCode: ses.RCHostPoisoned}, JobID: walkJob},
			ReadRequestID: 1, MessageOffset: 4096,
		}
		var ev Event
		require.NoError(t, in.RxData(0, &y, &ev))
		require.Zero(t, ev.DataLength)
		for i := answered; i < len(qs); i++ {
			require.Equal(t, eventNone, ev.Kind)
			ev = answer(t, in, &qs[i], nil)
		}
		require.Equal(t, EventDone, ev.Kind)
		require.Equal(t, ses.Outcome{Status: ses.StatusFailed, Code: ses.RCHostPoisoned}, ev.Outcome)
	}
}

// A target that sends the same bytes again cannot make up for those missing.
func TestInitiatorRefusesMoreDataThanAskedFor(t *testing.T) {
	in := newInitiator(t)
	o := walkWrite()
	o.Opcode = ses.OpcodeRead
	sendAll(in, 0, start(t, in, o))
	y := ses.Reply{
		Form:          pds.NextResponseData,
		Response:      brings,
		ReadRequestID: 1, PayloadLength: 4096, MessageOffset: 4096,
	}
	for range 4 {
		require.NoError(t, in.RxData(0, &y, &Event{}))
	}
	y.PayloadLength = 1
	require.ErrorIs(t, in.RxData(0, &y, &Event{}), ses.ErrRange)
}

func TestInitiatorReadByAckData(t *testing.T) {
	in := newInitiator(t)
	o := walkWrite()
	o.Opcode, o.Length = ses.OpcodeRead, 4200
	qs := sendAll(in, 0, start(t, in, o))
	small := func(n uint16) *ses.Reply {
		return &ses.Reply{
			Form:          pds.NextResponseDataSmall,
			Response:      brings,
			PayloadLength: n,
		}
	}
	ev := answer(t, in, &qs[1], small(104))
	require.Equal(t, uint32(4096), ev.DataOffset, "the packet says where")
	ev = answer(t, in, &qs[0], small(4096))
	require.Equal(t, EventDone, ev.Kind)
	require.Equal(t, uint32(4096), ev.DataLength)

	qs = sendAll(in, 0, start(t, in, o))
	answer(t, in, &qs[0], small(4096))
	ev = answer(t, in, &qs[1], small(105))
	require.Equal(t, ses.Outcome{Status: ses.StatusFailed, Code: ses.RCUncor, Length: 4096}, ev.Outcome, "more than was asked for")
	require.Zero(t, ev.DataLength)
}

// Nothing but a read asks for data.
func TestInitiatorRefusesDataThatNobodyAskedFor(t *testing.T) {
	in := newInitiator(t)
	o := walkWrite()
	o.Length = 9
	q := sendAll(in, 0, start(t, in, o))[0]
	ev := answer(t, in, &q, &ses.Reply{Form: pds.NextResponseDataSmall, Response: brings, PayloadLength: 9})
	require.Equal(t, ses.Outcome{Status: ses.StatusFailed, Code: ses.RCUncor}, ev.Outcome)
	require.Zero(t, ev.DataLength)
}

func TestInitiatorCountsForeignResponses(t *testing.T) {
	in := newInitiator(t)
	o := walkWrite()
	o.Length = 1
	q := sendAll(in, 0, start(t, in, o))[0]
	y := ok(&q)
	y.MessageID = 77
	require.Equal(t, EventDone, answer(t, in, &q, y).Kind)
	require.Equal(t, uint64(1), in.Mismatched())

	q = sendAll(in, 0, start(t, in, o))[0]
	y = ok(&q)
	y.JobID++
	require.Equal(t, EventDone, answer(t, in, &q, y).Kind)
	require.Equal(t, uint64(2), in.Mismatched())

	q = sendAll(in, 0, start(t, in, o))[0]
	y = ok(&q)
	y.MessageID, y.JobID, y.ReturnCode = 0, 0, ses.RCNull
	require.Equal(t, EventDone, answer(t, in, &q, y).Kind)
	require.Equal(t, uint64(2), in.Mismatched(), "the default response of the PDS itself need not name them")

	o.Opcode = ses.OpcodeRead
	q = sendAll(in, 0, start(t, in, o))[0]
	y = &ses.Reply{Form: pds.NextResponseData, Response: brings, PayloadLength: 1}
	y.MessageID = 77
	require.Equal(t, EventDone, answer(t, in, &q, y).Kind)
	require.Equal(t, uint64(2), in.Mismatched(), "a response with data has an id of its own")
}
