package ses

import (
	"bytes"
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
)

func walkWrite() *Operation {
	return &Operation{
		Opcode: OpcodeWrite, Relative: true, Job: walkJob, PID: walkPID, Index: walkIndex, Generation: 1,
		Key: walkKey, Length: walkLength, Cookie: 99,
	}
}

func newInitiator(t *testing.T) *Initiator {
	t.Helper()
	in, err := NewInitiator(InitiatorConfig{MTU: walkMTU, Messages: 4})
	require.NoError(t, err)
	return in
}

func start(t *testing.T, in *Initiator, o *Operation) Handle {
	t.Helper()
	h, err := in.Start(o)
	require.NoError(t, err)
	return h
}

// A sentReq is a packet with its header.
type sentReq struct {
	TxReq
	Offset  uint32
	Request Request
}

// next takes a packet and reads its header, which must come out the same again.
func next(in *Initiator, now int64, h Handle, q *sentReq) (bool, int64) {
	n, at := in.Next(now, h, &q.TxReq)
	if n == 0 {
		return false, at
	}
	b := make([]byte, q.Header)
	if n, _ := in.PutHeader(b, q.Packet); n != 0 || in.Handed(h, 1) != nil {
		panic("Handed")
	}
	size, y := in.PutHeader(b, q.Packet)
	q.Offset = y.Offset
	if n, err := q.Request.Decode(q.Form, b); err != nil || n != size || n != len(b) || y.Length != q.Length {
		panic("PutHeader and Next differ")
	}
	return true, at
}

// packetOf is packet i of a message of its own.
func packetOf(o *Operation, mtu, i uint32) (q sentReq) {
	var m message
	m.begin(o, 1, o.Packets(mtu))
	m.describe(mtu, i, &q.TxReq)
	b := make([]byte, q.Header)
	off, n := m.place(mtu, i)
	if q.Offset = off; q.Header == StandardLen {
		m.header((*[StandardLen]byte)(b), i, uint64(n)<<32|uint64(off))
	} else {
		m.otherHeader(b, i, 0)
	}
	if _, err := q.Request.Decode(q.Form, b); err != nil {
		panic(err)
	}
	return q
}

// plainHeader is the header of packet i, field by field.
func plainHeader(o *Operation, mtu, i uint32, id MessageID) Request {
	off := i * mtu
	n := min(mtu, o.Length-off)
	r := Request{Form: o.form(), Swap: o.Swap}
	r.Standard = Standard{
		Common: Common{
			Opcode: o.Opcode, Flags: o.flags(), Generation: o.Generation, PIDonFEP: o.PID, Index: o.Index, JobID: o.Job,
		},
		MessageID: id, Initiator: o.Initiator, RequestLength: o.Length, BufferOffset: o.BufferOffset, Key: o.Key,
	}
	if i == 0 {
		r.Flags |= FlagSOM
		if o.HasData {
			r.HeaderData = o.HeaderData
		}
	} else {
		r.Flags &^= FlagHD
		r.PayloadLength, r.MessageOffset = uint16(n), off
	}
	if off+n == o.Length {
		r.Flags |= FlagEOM
	}
	return r
}

// Where the header says that there is no header data it is 0.
func TestOperationHeaderDataNeedsItsFlag(t *testing.T) {
	for _, op := range []Opcode{OpcodeWrite, OpcodeDeferrableSend, OpcodeDeferrableRTR, OpcodeRendezvousSend} {
		o := walkWrite()
		o.Opcode, o.HasData, o.HeaderData = op, false, 5
		q := packetOf(o, walkMTU, 0)
		require.Zero(t, q.Request.HeaderData, op)
	}
}

// Headers are a copy of the first one with what differs: they must be what the
// plain way makes.
func TestInitiatorHeaders(t *testing.T) {
	for _, edit := range []func(o *Operation){
		func(o *Operation) {},
		func(o *Operation) {
			o.HasData, o.HeaderData, o.DeliveryComplete, o.Relative = true, 0xfedcba9876543210, true, false
		},
		func(o *Operation) { o.Opcode, o.BufferOffset, o.Initiator, o.Length = OpcodeRead, 1<<63+5, 1<<31, 5000 },
		func(o *Operation) { o.Opcode, o.Length, o.HeaderData = OpcodeTaggedSend, MaxMessage, 7 },
		func(o *Operation) {
			o.Opcode, o.Length, o.Swap.Atomic = OpcodeAtomic, 8, Atomic{AtomicSum, TypeInt64, 3}
		},
		func(o *Operation) {
			o.Opcode, o.Length = OpcodeFetchingAtomic, 8
			o.Swap = CompareSwap{Atomic{AtomicSwapEqual, TypeUint64, 0}, Operand{1, 2}, Operand{3, 4}}
		},
		func(o *Operation) { o.Form, o.Length, o.Key, o.BufferOffset = FormSmall, 4096, 0, 9 },
		func(o *Operation) { o.Form, o.Length, o.HasData, o.HeaderData = FormMedium, 1, true, 77 },
		func(o *Operation) { o.Form, o.Length, o.BufferOffset = FormMedium, 0, 77 },
		func(o *Operation) { o.Mode, o.Opcode, o.Length = ModeUUD, OpcodeDatagramSend, 10 },
	} {
		o := walkWrite()
		edit(o)
		in := newInitiator(t)
		h := start(t, in, o)
		packets := o.Packets(4096)
		for i := range packets {
			var q TxReq
			alike, _ := in.Next(0, h, &q)
			require.Equal(t, max(packets-i-1, 1), alike)
			require.NoError(t, in.Handed(h, 1))
			if 4 < i && i < packets-4 {
				continue
			}
			want := plainHeader(o, 4096, i, in.messages[h.slot()].id())
			b := bytes.Repeat([]byte{0xa5}, 90)
			n, y := in.PutHeader(b, q.Packet)
			require.Equal(t, want.AppendTo(nil), b[:n], "packet %d of %+v", i, o)
			require.Equal(t, byte(0xa5), b[n])
			require.Equal(t, n, int(q.Header))
			require.Equal(t, want.Flags.Has(FlagEOM), q.EOM)
			require.Equal(t, Payload{Offset: i * 4096, Length: q.Length, Cookie: 99}, y)
			n, _ = in.PutHeader(b[:n-1], q.Packet)
			require.Zero(t, n, "no room")
		}
		n, _ := in.PutHeader(make([]byte, 90), packetHandle(h, 0, packets))
		require.Zero(t, n, "not sent")
		n, _ = in.PutHeader(make([]byte, 90), packetHandle(h, 1, 0))
		require.Zero(t, n, "of another attempt")
	}
}

// sendAll takes all packets that a message has to send now.
func sendAll(in *Initiator, now int64, h Handle) (all []sentReq) {
	for {
		var q sentReq
		if ok, _ := next(in, now, h, &q); !ok {
			return all
		}
		all = append(all, q)
	}
}

// ok is the target's answer to a fragment that was placed.
func ok(q *sentReq) *Reply {
	return &Reply{
		Form: FormResponse, Verdict: Verdict{ReturnCode: RCOK}, Generation: q.Request.Generation,
		MessageID: q.Request.MessageID, JobID: q.Request.JobID, ModifiedLength: q.Request.RequestLength,
	}
}

// bad is an error response to a packet.
func bad(q *sentReq, code ReturnCode, gen Generation) *Reply {
	y := ok(q)
	y.Opcode, y.ReturnCode, y.Generation, y.ModifiedLength = ResponseExplicit, code, gen, 0
	return y
}

func answer(t *testing.T, in *Initiator, q *sentReq, y *Reply) (ev Event) {
	t.Helper()
	require.NoError(t, rsp(in, 1000, q.Packet, y, &ev))
	return ev
}

// rsp gives the bytes of a response to in, or the acknowledgement without one.
func rsp(in *Initiator, now int64, p PacketHandle, y *Reply, ev *Event) error {
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

// The packet walk: four packets, and one completion after the fourth answer,
// in whatever order they come; the length is not added up.
func TestInitiatorWalk(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {3, 0, 2, 1}} {
		in := newInitiator(t)
		qs := sendAll(in, 0, start(t, in, walkWrite()))
		require.Len(t, qs, 4)
		for i, q := range qs {
			want, _ := walkPacket(uint32(i))
			require.Equal(t, want, q.Request)
			require.Equal(t, uint32(i*4096), q.Offset)
			require.Equal(t, uint32(4096), q.Length)
		}
		for n, i := range order {
			ev := answer(t, in, &qs[i], ok(&qs[i]))
			if n < 3 {
				require.Equal(t, Event{}, ev)
				continue
			}
			require.Equal(t, Event{Kind: EventDone, Cookie: 99, Outcome: Outcome{Status: StatusOK, Length: 16384}}, ev)
		}
		require.ErrorIs(t, rsp(in, 0, qs[0].Packet, nil, &Event{}), ErrStale)
		require.Zero(t, in.Messages())
		require.Zero(t, in.Mismatched)
	}
}

// Transcript B: the second and third fragment are released by CACK alone.
func TestInitiatorImplicitResponses(t *testing.T) {
	in := newInitiator(t)
	qs := sendAll(in, 0, start(t, in, walkWrite()))
	answer(t, in, &qs[0], ok(&qs[0]))
	answer(t, in, &qs[3], ok(&qs[3]))
	require.Equal(t, EventNone, answer(t, in, &qs[1], nil).Kind)
	require.Equal(t, EventDone, answer(t, in, &qs[2], nil).Kind)
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
	require.ErrorIs(t, in.RxAck(0, first, 4, &ev), ErrStale, "the fourth is not sent")
	require.ErrorIs(t, in.RxAck(0, first+1, 3, &ev), ErrStale)
	require.NoError(t, in.RxAck(0, first, 2, &ev))
	require.ErrorIs(t, in.RxAck(0, first, 2, &ev), ErrStale, "one is left")
	next(in, 0, h, &q)
	require.Equal(t, EventNone, ev.Kind)
	require.NoError(t, in.RxAck(0, first+2, 2, &ev))
	require.Equal(t, EventDone, ev.Kind)
}

// A response that cannot be read, or that announces more data than it brings,
// fails its message.
func TestInitiatorBrokenResponses(t *testing.T) {
	y := Reply{Form: FormResponseDataSmall, Verdict: Verdict{Opcode: ResponseWithData, ReturnCode: RCOK}, JobID: walkJob, PayloadLength: 9}
	for _, c := range []struct {
		f Form
		b []byte
		n int
	}{
		{FormResponse, make([]byte, ResponseLen-1), 0},
		{FormStandard, make([]byte, StandardLen), 0},
		{FormNone, nil, 0},
		{FormResponseDataSmall, append(y.AppendTo(nil), make([]byte, 8)...), ResponseDataSmallLen},
	} {
		in := newInitiator(t)
		o := walkWrite()
		o.Opcode, o.Length = OpcodeRead, 9
		q := sendAll(in, 0, start(t, in, o))[0]
		var ev Event
		n, err := in.RxRsp(0, q.Packet, c.f, c.b, &ev)
		require.NoError(t, err)
		require.Equal(t, c.n, n)
		require.Equal(t, Outcome{Status: StatusFailed, Code: RCUncor}, ev.Outcome, "%v", c.f)
	}
}

// Scenario M3.
func TestInitiatorSegmentation(t *testing.T) {
	for _, c := range []struct {
		length, packets, last uint32
	}{
		{0, 1, 0},
		{1, 1, 1},
		{4095, 1, 4095},
		{4096, 1, 4096},
		{4097, 2, 1},
		{8192, 2, 4096},
		{16384, 4, 4096},
		{MaxMessage, 1 << 20, 4094},
	} {
		o := walkWrite()
		o.Length, o.HasData, o.HeaderData = c.length, true, 5
		require.NoError(t, o.Validate(4096))
		require.Equal(t, c.packets, o.Packets(4096))
		q := packetOf(o, 4096, c.packets-1)
		r, off, n := &q.Request, q.Offset, q.Length
		require.Equal(t, c.last, n)
		require.Equal(t, c.length, off+n)
		require.True(t, r.Flags.Has(FlagEOM))
		require.True(t, q.EOM)
		require.Equal(t, c.packets == 1, r.Flags.Has(FlagSOM))
		if c.packets > 1 {
			require.Equal(t, uint16(n), r.PayloadLength)
			require.Equal(t, off, r.MessageOffset)
			require.False(t, r.Flags.Has(FlagHD))
			q = packetOf(o, 4096, 0)
			require.Equal(t, uint32(4096), q.Length)
			require.Equal(t, FlagSOM, q.Request.Flags&flagsOnly)
			require.False(t, q.EOM)
		}
	}
	o := walkWrite()
	o.Length = MaxMessage
	require.Equal(t, uint32(1<<22), o.Packets(1024))
	o.Length = math.MaxUint32
	require.ErrorIs(t, o.Validate(4096), ErrTooLong)
}

func TestOperationValidate(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*Operation)
		want error
	}{
		{"vendor opcode", func(o *Operation) { o.Opcode = 0x30 }, ErrOperation},
		{"message error is not an operation", func(o *Operation) { o.Opcode = OpcodeMsgError }, ErrOperation},
		{"datagram over RUD", func(o *Operation) { o.Opcode = OpcodeDatagramSend }, ErrOperation},
		{"write over UUD", func(o *Operation) { o.Mode = ModeUUD }, ErrOperation},
		{"mode that is none", func(o *Operation) { o.Mode = 9 }, ErrOperation},
		{"datagram of two packets", func(o *Operation) { o.Opcode, o.Mode, o.Length = OpcodeDatagramSend, ModeUUD, 4097 }, ErrTooLong},
		{"atomic of two packets", func(o *Operation) { o.Opcode, o.Length = OpcodeAtomic, 4097 }, ErrTooLong},
		{"no-op with data", func(o *Operation) { o.Opcode = OpcodeNoOp }, ErrTooLong},
		{"job too wide", func(o *Operation) { o.Job = AnyJob }, ErrRange},
		{"process to read from too wide", func(o *Operation) { o.Opcode, o.Rendezvous.PIDonFEP = OpcodeRendezvousSend, 0x1000 }, ErrRange},
		{"index to read from too wide", func(o *Operation) { o.Opcode, o.Rendezvous.Index = OpcodeRendezvousTSend, 0x1000 }, ErrRange},
		{"small with a key", func(o *Operation) { o.Form, o.Length = FormSmall, 1 }, ErrOperation},
		{"small of two packets", func(o *Operation) { o.Form, o.Key = FormSmall, 0 }, ErrTooLong},
		{"small", func(o *Operation) { o.Form, o.Key, o.Length = FormSmall, 0, 4096 }, nil},
		{"medium with data and offset", func(o *Operation) { o.Form, o.Length, o.HasData, o.BufferOffset = FormMedium, 1, true, 1 }, ErrOperation},
		{"medium", func(o *Operation) { o.Form, o.Length, o.HasData = FormMedium, 1, true }, nil},
		{"response form", func(o *Operation) { o.Form = FormResponse }, ErrOperation},
	} {
		o := walkWrite()
		c.edit(o)
		require.Equal(t, c.want, o.Validate(4096), c.name)
		if c.want == nil {
			q := packetOf(o, 4096, 0)
			require.NoError(t, q.Request.Validate(), c.name)
		}
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
				y = bad(&qs[i], RCBadMKey, 1)
			}
			if ev := answer(t, in, &qs[i], y); ev.Kind != EventNone {
				require.Equal(t, EventDone, ev.Kind)
				require.Equal(t, Outcome{Status: StatusFailed, Code: RCBadMKey}, ev.Outcome)
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
	okA, _ := next(in, 0, h, &a)
	okB, _ := next(in, 0, h, &b)
	require.True(t, okA && okB)
	require.Equal(t, EventNone, answer(t, in, &a, bad(&a, RCPermViolation, 1)).Kind)
	more, at := next(in, 0, h, &q)
	require.False(t, more)
	require.Equal(t, int64(math.MaxInt64), at)
	require.Equal(t, Event{Kind: EventReady, At: 1000, Cookie: 99}, answer(t, in, &b, bad(&b, RCBadAddr, 1)))
	more, _ = next(in, 1000, h, &q)
	require.True(t, more)
	require.Equal(t, OpcodeMsgError, q.Request.Opcode)
	require.True(t, q.Request.Flags.Has(FlagEOM))
	require.Equal(t, a.Request.MessageID, q.Request.MessageID)
	require.ErrorIs(t, rsp(in, 0, a.Packet, nil, &Event{}), ErrStale, "answered before")
	more, _ = next(in, 1000, h, &b)
	require.False(t, more, "one notice")
	require.Equal(t, Outcome{Status: StatusFailed, Code: RCPermViolation}, answer(t, in, &q, ok(&q)).Outcome)
}

// Next may be asked again, tells how many packets are alike, and counts none.
func TestInitiatorHanded(t *testing.T) {
	in := newInitiator(t)
	o := walkWrite()
	o.Length = 3*walkMTU + 1
	h := start(t, in, o)
	var q, again TxReq
	for range 2 {
		n, _ := in.Next(0, h, &q)
		require.Equal(t, uint32(3), n)
		require.False(t, q.EOM)
	}
	require.ErrorIs(t, in.Handed(h, 5), ErrStale, "so many there are not")
	require.ErrorIs(t, rsp(in, 0, q.Packet, nil, &Event{}), ErrStale, "not sent")
	require.NoError(t, in.Handed(h, 2))
	n, _ := in.Next(0, h, &again)
	require.Equal(t, uint32(1), n)
	require.Equal(t, q.Packet+2, again.Packet)
	require.Equal(t, q.Length, again.Length)
	require.NoError(t, in.Handed(h, 1))
	n, _ = in.Next(0, h, &again)
	require.Equal(t, uint32(1), n)
	require.True(t, again.EOM)
	require.Equal(t, uint32(1), again.Length)
	require.ErrorIs(t, in.Handed(h+1<<16, 1), ErrStale)

	// What has not been handed over is not waited for.
	var ev Event
	for i := range PacketHandle(3) {
		require.NoError(t, rsp(in, 0, q.Packet+i, nil, &ev))
		require.Equal(t, EventNone, ev.Kind)
	}
	require.NoError(t, in.Cancel(0, h, &ev))
	require.Equal(t, EventReady, ev.Kind)
	n, _ = in.Next(0, h, &q)
	require.Equal(t, uint32(1), n)
	require.True(t, q.Notice)
	require.ErrorIs(t, in.Handed(h, 2), ErrStale, "one notice")
	require.NoError(t, in.Handed(h, 1))
	require.ErrorIs(t, in.Handed(h, 1), ErrStale)
	require.NoError(t, rsp(in, 0, q.Packet, nil, &ev))
	require.Equal(t, EventDone, ev.Kind)
	require.ErrorIs(t, in.Handed(h, 1), ErrStale)
}

// "Once per new generation", the simple way: one retry of the message.
func TestInitiatorBadGeneration(t *testing.T) {
	in := newInitiator(t)
	o := walkWrite()
	o.Generation = 0
	h := start(t, in, o)
	qs := sendAll(in, 0, h)
	for i := range 3 {
		require.Equal(t, EventNone, answer(t, in, &qs[i], bad(&qs[i], RCBadGeneration, 1)).Kind)
	}
	require.Equal(t, Event{Kind: EventReady, At: 1000, Cookie: 99}, answer(t, in, &qs[3], bad(&qs[3], RCBadGeneration, 1)))
	again := sendAll(in, 1000, h)
	require.Len(t, again, 4)
	require.Equal(t, Generation(1), again[0].Request.Generation)
	require.Equal(t, MessageID(2), again[0].Request.MessageID, "the target may know the old one as failed")
	require.ErrorIs(t, rsp(in, 0, qs[0].Packet, nil, &Event{}), ErrStale, "of the first attempt")
	var ev Event
	for i := range again {
		ev = answer(t, in, &again[i], bad(&again[i], RCBadGeneration, 1))
	}
	require.Equal(t, Outcome{Status: StatusFailed, Code: RCBadGeneration, Retries: 1}, ev.Outcome, "that is what was sent")
}

func TestInitiatorGenerationRetriesAreBounded(t *testing.T) {
	in := newInitiator(t)
	h := start(t, in, walkWrite())
	var ev Event
	attempts := 0
	for ev.Kind != EventDone {
		attempts++
		for _, q := range sendAll(in, 1000, h) {
			ev = answer(t, in, &q, bad(&q, RCBadGeneration, q.Request.Generation+1))
		}
	}
	require.Equal(t, 6, attempts)
}

// Scenario M5, initiator side.
func TestInitiatorNoMatchBacksOff(t *testing.T) {
	for _, code := range []ReturnCode{RCNoMatch, RCDisabledGen} {
		in := newInitiator(t)
		o := walkWrite()
		o.Opcode, o.Length = OpcodeTaggedSend, 100
		h := start(t, in, o)
		now := int64(0)
		var waits []int64
		for {
			q := sendAll(in, now, h)
			require.Len(t, q, 1)
			var ev Event
			require.NoError(t, rsp(in, now, q[0].Packet, bad(&q[0], code, 1), &ev))
			if ev.Kind == EventDone {
				require.Equal(t, Outcome{Status: StatusFailed, Code: code, Retries: 5}, ev.Outcome)
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
		op   ResponseOpcode
		code ReturnCode
		n    uint32
		want Outcome
	}{
		{"default, null", ResponseDefault, RCNull, 0, Outcome{Status: StatusOK, Length: 100}},
		{"default made by the PDS", ResponseDefault, RCOK, 7, Outcome{Status: StatusOK, Length: 100}},
		{"no response", ResponseNone, RCOK, 7, Outcome{Status: StatusOK, Length: 100}},
		{"explicit, same length", ResponseExplicit, RCOK, 100, Outcome{Status: StatusOK, Length: 100}},
		{"explicit, length not given", ResponseExplicit, RCOK, 0, Outcome{Status: StatusOK, Length: 100}},
		{"explicit, shorter", ResponseExplicit, RCOK, 60, Outcome{Status: StatusTruncated, Length: 60}},
		{"explicit, longer than the message", ResponseExplicit, RCOK, 101, Outcome{Status: StatusOK, Length: 100}},
		{"too long", ResponseExplicit, RCTooLong, 0, Outcome{Status: StatusFailed, Code: RCTooLong}},
		{"reserved code", ResponseExplicit, 0x25, 0, Outcome{Status: StatusFailed, Code: RCUncor}},
		{"data for a write", ResponseWithData, RCOK, 0, Outcome{Status: StatusFailed, Code: RCUncor}},
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
		op   Opcode
		n    uint32
		want Outcome
	}{
		{OpcodeSend, 5000, Outcome{Status: StatusTruncated, Length: 5000}},
		{OpcodeTaggedSend, 16383, Outcome{Status: StatusTruncated, Length: 16383}},
		{OpcodeSend, 0, Outcome{Status: StatusFailed, Code: RCTooLong}},
		{OpcodeSend, 16384, Outcome{Status: StatusFailed, Code: RCTooLong}},
		{OpcodeWrite, 5000, Outcome{Status: StatusFailed, Code: RCTooLong}},
	} {
		in := newInitiator(t)
		o := walkWrite()
		o.Opcode = c.op
		var last Event
		for _, q := range sendAll(in, 0, start(t, in, o)) {
			y := ok(&q)
			y.Opcode, y.ReturnCode, y.ModifiedLength = ResponseExplicit, RCTooLong, c.n
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
	require.NoError(t, in.Error(0, a.Packet, 11, &ev))
	require.Equal(t, EventNone, ev.Kind)
	require.NoError(t, in.Error(0, b.Packet, 12, &ev))
	require.Equal(t, Outcome{Status: StatusPDS, Cause: 11}, ev.Outcome, "no notice on a PDC that is gone; the first cause")
	require.ErrorIs(t, in.Error(0, b.Packet, 12, &ev), ErrStale)
}

func TestInitiatorCancel(t *testing.T) {
	in := newInitiator(t)
	h := start(t, in, walkWrite())
	var ev Event
	require.NoError(t, in.Cancel(0, h, &ev))
	require.Equal(t, Outcome{Status: StatusFailed, Code: RCCancelled}, ev.Outcome)
	require.ErrorIs(t, in.Cancel(0, h, &ev), ErrStale)

	h = start(t, in, walkWrite())
	var q sentReq
	next(in, 0, h, &q)
	require.NoError(t, in.Cancel(0, h, &ev))
	require.Equal(t, EventNone, ev.Kind)
	require.Equal(t, EventReady, answer(t, in, &q, ok(&q)).Kind)
	require.Len(t, sendAll(in, 1000, h), 1)
}

// Scenario W4: ids wrap past 0 and past those in use.
func TestInitiatorMessageIDWrap(t *testing.T) {
	in := newInitiator(t)
	o := walkWrite()
	o.Length = 1
	kept := sendAll(in, 0, start(t, in, o))[0]
	require.Equal(t, MessageID(1), kept.Request.MessageID)
	seen := map[MessageID]bool{}
	for range 1 << 16 {
		q := sendAll(in, 0, start(t, in, o))[0]
		require.NotEqual(t, kept.Request.MessageID, q.Request.MessageID)
		require.NotZero(t, q.Request.MessageID)
		seen[q.Request.MessageID] = true
		require.Equal(t, EventDone, answer(t, in, &q, nil).Kind)
	}
	require.Len(t, seen, 1<<16-2)
	require.Equal(t, EventDone, answer(t, in, &kept, ok(&kept)).Kind)
}

func TestInitiatorFull(t *testing.T) {
	in := newInitiator(t)
	for range 4 {
		start(t, in, walkWrite())
	}
	_, err := in.Start(walkWrite())
	require.ErrorIs(t, err, ErrFull)
	for _, c := range []InitiatorConfig{{MTU: 1000, Messages: 1}, {MTU: 1024}, {MTU: 1024, Messages: 1, Retries: 51}, {MTU: 1024, Messages: 1, Backoff: -1}} {
		_, err := NewInitiator(c)
		require.ErrorIs(t, err, ErrConfig)
		require.ErrorContains(t, err, "InitiatorConfig.")
	}
}

func TestInitiatorReadByReturnData(t *testing.T) {
	in := newInitiator(t)
	o := walkWrite()
	o.Opcode = OpcodeRead
	h := start(t, in, o)
	qs := sendAll(in, 0, h)
	require.Len(t, qs, 4, "a request for each MTU")
	data := func(off uint32, n uint16) *Reply {
		return &Reply{
			Form: FormResponseData, Verdict: Verdict{Opcode: ResponseWithData, ReturnCode: RCOK},
			JobID: walkJob, ReadRequestID: 1, PayloadLength: n, MessageOffset: off, ModifiedLength: walkLength,
		}
	}
	for i, q := range qs {
		require.Zero(t, q.Length, "no payload")
		require.Equal(t, uint32(i)*4096, q.Request.MessageOffset)
		require.Equal(t, EventNone, answer(t, in, &q, nil).Kind, "the data is still to come")
	}
	var ev Event
	require.ErrorIs(t, in.RxData(0, data(16384, 1), &ev), ErrRange)
	require.ErrorIs(t, in.RxData(0, data(math.MaxUint32, 2), &ev), ErrRange)
	wrong := data(0, 1)
	wrong.ReadRequestID = 2
	require.ErrorIs(t, in.RxData(0, wrong, &ev), ErrStale)
	wrong = data(0, 1)
	wrong.JobID = 1
	require.ErrorIs(t, in.RxData(0, wrong, &ev), ErrStale)
	for i := range uint32(3) {
		require.NoError(t, in.RxData(0, data((i+1)*4096, 4096), &ev))
		require.Equal(t, Event{Cookie: 99, DataOffset: (i + 1) * 4096, DataLength: 4096}, ev)
	}
	require.NoError(t, in.RxData(0, data(0, 4096), &ev))
	require.Equal(t, EventDone, ev.Kind)
	require.Equal(t, Outcome{Status: StatusOK, Length: 16384}, ev.Outcome)
	require.ErrorIs(t, in.RxData(0, data(0, 4096), &ev), ErrStale, "completed once")
}

// Data that could not be had ends the read, at once or when its other packets are
// answered.
func TestInitiatorReadFailsByReturnData(t *testing.T) {
	for answered := range 5 {
		in := newInitiator(t)
		o := walkWrite()
		o.Opcode = OpcodeRead
		h := start(t, in, o)
		qs := sendAll(in, 0, h)
		for i := range answered {
			answer(t, in, &qs[i], nil)
		}
		y := Reply{Form: FormResponseData, Verdict: Verdict{Opcode: ResponseWithData, ReturnCode: RCHostPoisoned}, JobID: walkJob, ReadRequestID: 1, MessageOffset: 4096}
		var ev Event
		require.NoError(t, in.RxData(0, &y, &ev))
		require.Zero(t, ev.DataLength)
		for i := answered; i < len(qs); i++ {
			require.Equal(t, EventNone, ev.Kind)
			ev = answer(t, in, &qs[i], nil)
		}
		require.Equal(t, EventDone, ev.Kind)
		require.Equal(t, Outcome{Status: StatusFailed, Code: RCHostPoisoned}, ev.Outcome)
	}
}

// A target that sends the same bytes again cannot make up for those missing.
func TestInitiatorRefusesMoreDataThanAskedFor(t *testing.T) {
	in := newInitiator(t)
	o := walkWrite()
	o.Opcode = OpcodeRead
	sendAll(in, 0, start(t, in, o))
	y := Reply{
		Form: FormResponseData, Verdict: Verdict{Opcode: ResponseWithData, ReturnCode: RCOK},
		JobID: walkJob, ReadRequestID: 1, PayloadLength: 4096, MessageOffset: 4096,
	}
	for range 4 {
		require.NoError(t, in.RxData(0, &y, &Event{}))
	}
	y.PayloadLength = 1
	require.ErrorIs(t, in.RxData(0, &y, &Event{}), ErrRange)
}

func TestInitiatorReadByAckData(t *testing.T) {
	in := newInitiator(t)
	o := walkWrite()
	o.Opcode, o.Length = OpcodeRead, 4200
	qs := sendAll(in, 0, start(t, in, o))
	small := func(n uint16) *Reply {
		return &Reply{
			Form: FormResponseDataSmall, Verdict: Verdict{Opcode: ResponseWithData, ReturnCode: RCOK},
			JobID: walkJob, PayloadLength: n,
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
	require.Equal(t, Outcome{Status: StatusFailed, Code: RCUncor}, ev.Outcome, "more than was asked for")
	require.Zero(t, ev.DataLength)
}

func TestInitiatorAtomic(t *testing.T) {
	in := newInitiator(t)
	o := walkWrite()
	o.Opcode, o.Length, o.BufferOffset = OpcodeFetchingAtomic, 8, 7
	o.Swap = CompareSwap{Atomic: Atomic{Opcode: AtomicSwapEqual, Type: TypeUint64}, Compare: Operand{Lo: 1}, Swap: Operand{Lo: 2}}
	q := sendAll(in, 0, start(t, in, o))[0]
	require.Zero(t, q.Length, "operands are in the extension")
	require.Equal(t, uint8(80), q.Header)
	require.Equal(t, o.Swap, q.Request.Swap)
	y := &Reply{
		Form: FormResponseData, Verdict: Verdict{Opcode: ResponseWithData, ReturnCode: RCOK},
		JobID: walkJob, ReadRequestID: 1, PayloadLength: 8, ModifiedLength: 8,
	}
	ev := answer(t, in, &q, y)
	require.Equal(t, uint32(8), ev.DataLength)
	require.Equal(t, StatusOK, ev.Outcome.Status)
}

// Scenarios U1 and U3, initiator side.
func TestInitiatorUnreliableModes(t *testing.T) {
	in := newInitiator(t)
	o := walkWrite()
	o.Opcode, o.Mode, o.Length = OpcodeDatagramSend, ModeUUD, 100
	q := sendAll(in, 0, start(t, in, o))[0]
	require.Zero(t, q.Request.MessageID)
	require.Equal(t, EventDone, answer(t, in, &q, nil).Kind, "sent is done")

	o = walkWrite()
	o.Mode, o.Length = ModeRUDI, 100
	q = sendAll(in, 0, start(t, in, o))[0]
	require.Equal(t, EventDone, answer(t, in, &q, ok(&q)).Kind)
	require.ErrorIs(t, rsp(in, 0, q.Packet, ok(&q), &Event{}), ErrStale, "the answer to the repetition")

	o.Opcode = OpcodeRead
	q = sendAll(in, 0, start(t, in, o))[0]
	ev := answer(t, in, &q, ok(&q))
	require.Equal(t, Outcome{Status: StatusFailed, Code: RCUncor}, ev.Outcome, "an answer without the data, which nothing else can bring")
	require.Zero(t, in.Messages())
}

func TestInitiatorCountsForeignResponses(t *testing.T) {
	in := newInitiator(t)
	o := walkWrite()
	o.Length = 1
	q := sendAll(in, 0, start(t, in, o))[0]
	y := ok(&q)
	y.MessageID = 77
	require.Equal(t, EventDone, answer(t, in, &q, y).Kind)
	require.Equal(t, uint64(1), in.Mismatched)
}

func TestInitiatorAllocs(t *testing.T) {
	in := newInitiator(t)
	o := walkWrite()
	var q TxReq
	var packets [4]PacketHandle
	b := make([]byte, StandardLen)
	y := Response{Verdict: Verdict{ReturnCode: RCOK}, JobID: walkJob}
	r := y.AppendTo(nil)
	alloctest.Zero(t, "write", func() {
		h, err := in.Start(o)
		if err != nil {
			panic(err)
		}
		for i := range packets {
			if n, _ := in.Next(0, h, &q); n == 0 || in.Handed(h, 1) != nil {
				panic("no packet")
			}
			packets[i] = q.Packet
			if n, _ := in.PutHeader(b, q.Packet); n == 0 {
				panic("no header")
			}
		}
		var ev Event
		for _, p := range packets[:2] {
			if _, err := in.RxRsp(0, p, FormResponse, r, &ev); err != nil {
				panic(err)
			}
		}
		if err := in.RxAck(0, packets[2], 2, &ev); err != nil {
			panic(err)
		}
		if ev.Kind != EventDone {
			panic("not done")
		}
	})
}

// A packet that is sent or answered needs one cache line of its message.
func TestMessageLayout(t *testing.T) {
	require.EqualValues(t, 64, unsafe.Offsetof(message{}.notBefore))
	require.Zero(t, unsafe.Sizeof(message{})%64)
}
