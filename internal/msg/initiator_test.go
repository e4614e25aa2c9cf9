// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"bytes"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

func walkWrite() *Operation {
	return &Operation{
		Opcode: ses.OpcodeWrite, Relative: true, Job: walkJob, PID: walkPID, Index: walkIndex, Generation: 1,
		Key: walkKey, Length: walkLength, Cookie: 99,
	}
}

func newInitiator(t *testing.T) *Initiator {
	t.Helper()
	in, err := NewInitiator(InitiatorConfig{MTU: walkMTU, Messages: 4})
	require.NoError(t, err)
	return in
}

// The payload sizes of the specification are taken, and no others.
func TestInitiatorMTU(t *testing.T) {
	for mtu := range uint32(17) {
		_, err := NewInitiator(InitiatorConfig{MTU: mtu << 10, Messages: 4})
		require.Equal(t, mtu == 1 || mtu == 2 || mtu == 4 || mtu == 8, err == nil, "%d KiB", mtu)
	}
}

func start(t *testing.T, in *Initiator, o *Operation) ses.Handle {
	t.Helper()
	h, err := in.Start(o)
	require.NoError(t, err)
	return h
}

// A sentReq is a packet with its header.
type sentReq struct {
	TxReq
	Offset  uint32
	Request ses.Request
}

// next takes a packet and reads its header, which must come out the same again.
func next(in *Initiator, now int64, h ses.Handle, q *sentReq) bool {
	if in.Next(now, h, &q.TxReq) == 0 {
		return false
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
	return true
}

// packetOf is packet i of a message of its own.
func packetOf(o *Operation, mtu, i uint32) (q sentReq) {
	in := Initiator{messages: make([]message, 2)}
	m := &in.messages[1]
	m.handle = 1
	m.open(o.Mode, o.Length, o.Cookie)
	m.begin(o, mtu)
	m.describe(i, &q.TxReq)
	if m.sent = i + 1; i == m.packets {
		m.state = messageGivenUp
	}
	b := make([]byte, q.Header)
	n, y := in.PutHeader(b, q.Packet)
	if q.Offset = y.Offset; n != len(b) {
		panic("PutHeader")
	}
	if _, err := q.Request.Decode(q.Form, b); err != nil {
		panic(err)
	}
	return q
}

// plainHeader is the header of packet i, field by field.
func plainHeader(o *Operation, mtu, i uint32, id ses.MessageID) ses.Request {
	off := i * mtu
	n := min(mtu, o.Length-off)
	r := ses.Request{Form: o.form(), Swap: o.Swap}
	r.Standard = ses.Standard{
		Common: ses.Common{
			Opcode: o.Opcode, Flags: o.flags(), Generation: o.Generation, PIDonFEP: o.PID, Index: o.Index, JobID: o.Job,
		},
		MessageID: id, Initiator: o.Initiator, RequestLength: o.Length, BufferOffset: o.BufferOffset, Key: o.Key,
	}
	if i == 0 {
		r.Flags |= ses.FlagSOM
		if o.HasData {
			r.HeaderData = o.HeaderData
		} else if o.Opcode == ses.OpcodeRead && o.Length > mtu { // how much it asks for
			r.HeaderData = uint64(mtu) << 32
		}
	} else {
		r.Flags &^= ses.FlagHD
		r.PayloadLength, r.MessageOffset = uint16(n), off
	}
	if off+n == o.Length {
		r.Flags |= ses.FlagEOM
	}
	return r
}

// Headers are a copy of the first one with what differs: they must be what the
// plain way makes.
func TestInitiatorHeaders(t *testing.T) {
	for _, edit := range []func(o *Operation){
		func(o *Operation) {},
		func(o *Operation) {
			o.HasData, o.HeaderData, o.DeliveryComplete, o.Relative = true, 0xfedcba9876543210, true, false
		},
		func(o *Operation) {
			o.Opcode, o.BufferOffset, o.Initiator, o.Length = ses.OpcodeRead, 1<<63+5, 1<<31, 5000
		},
		func(o *Operation) { o.Opcode, o.Length, o.HeaderData = ses.OpcodeTaggedSend, ses.MaxMessage, 7 },
		func(o *Operation) {
			o.Opcode, o.Length, o.Swap.Atomic = ses.OpcodeAtomic, 8, ses.Atomic{Opcode: ses.AtomicSum, Type: ses.TypeInt64, Control: 3}
		},
		func(o *Operation) {
			o.Opcode, o.Length = ses.OpcodeFetchingAtomic, 8
			o.Swap = ses.CompareSwap{
				Atomic:  ses.Atomic{Opcode: ses.AtomicSwapEqual, Type: ses.TypeUint64},
				Compare: ses.Operand{Hi: 1, Lo: 2}, Swap: ses.Operand{Hi: 3, Lo: 4},
			}
		},
		func(o *Operation) { o.Form, o.Length, o.Key, o.BufferOffset = pds.NextRequestSmall, 4096, 0, 9 },
		func(o *Operation) { o.Form, o.Length, o.HasData, o.HeaderData = pds.NextRequestMedium, 1, true, 77 },
		func(o *Operation) { o.Form, o.Length, o.BufferOffset = pds.NextRequestMedium, 0, 77 },
		func(o *Operation) { o.Mode, o.Opcode, o.Length = ses.ModeUUD, ses.OpcodeDatagramSend, 10 },
	} {
		o := walkWrite()
		edit(o)
		in := newInitiator(t)
		h := start(t, in, o)
		packets := o.Packets(4096)
		for i := range packets {
			var q TxReq
			alike := in.Next(0, h, &q)
			require.Equal(t, max(packets-i-1, 1), alike)
			require.NoError(t, in.Handed(h, 1))
			if 4 < i && i < packets-4 {
				continue
			}
			want := plainHeader(o, 4096, i, in.messages[slotOf(h)].id())
			b := bytes.Repeat([]byte{0xa5}, 90)
			n, y := in.PutHeader(b, q.Packet)
			require.Equal(t, want.AppendTo(nil), b[:n], "packet %d of %+v", i, o)
			require.Equal(t, byte(0xa5), b[n])
			require.Equal(t, n, int(q.Header))
			require.Equal(t, want.Flags.Has(ses.FlagEOM), q.EOM)
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
func sendAll(in *Initiator, now int64, h ses.Handle) (all []sentReq) {
	for {
		var q sentReq
		if !next(in, now, h, &q) {
			return all
		}
		all = append(all, q)
	}
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
			require.Equal(t, Event{Kind: EventDone, Cookie: 99, Outcome: ses.Outcome{Status: ses.StatusOK, Length: 16384}}, ev)
		}
		require.ErrorIs(t, rsp(in, 0, qs[0].Packet, nil, &Event{}), ses.ErrStale)
		require.Zero(t, in.Messages())
		require.Zero(t, in.Mismatched())
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
		{ses.MaxMessage, 1 << 20, 4094},
	} {
		o := walkWrite()
		o.Length, o.HasData, o.HeaderData = c.length, true, 5
		require.NoError(t, o.Validate(4096))
		require.Equal(t, c.packets, o.Packets(4096))
		q := packetOf(o, 4096, c.packets-1)
		r, off, n := &q.Request, q.Offset, q.Length
		require.Equal(t, c.last, n)
		require.Equal(t, c.length, off+n)
		require.True(t, r.Flags.Has(ses.FlagEOM))
		require.True(t, q.EOM)
		require.Equal(t, c.packets == 1, r.Flags.Has(ses.FlagSOM))
		if c.packets > 1 {
			require.Equal(t, uint16(n), r.PayloadLength)
			require.Equal(t, off, r.MessageOffset)
			require.False(t, r.Flags.Has(ses.FlagHD))
			q = packetOf(o, 4096, 0)
			require.Equal(t, uint32(4096), q.Length)
			require.Equal(t, ses.FlagSOM, q.Request.Flags&flagsOnly)
			require.False(t, q.EOM)
		}
	}
	o := walkWrite()
	o.Length = ses.MaxMessage
	require.Equal(t, uint32(1<<22), o.Packets(1024))
	o.Length = math.MaxUint32
	require.ErrorIs(t, o.Validate(4096), ses.ErrTooLong)
}

// Next may be asked again, tells how many packets are alike, and counts none.
func TestInitiatorHanded(t *testing.T) {
	in := newInitiator(t)
	o := walkWrite()
	o.Length = 3*walkMTU + 1
	h := start(t, in, o)
	var q, again TxReq
	for range 2 {
		n := in.Next(0, h, &q)
		require.Equal(t, uint32(3), n)
		require.False(t, q.EOM)
	}
	require.ErrorIs(t, in.Handed(h, 5), ses.ErrStale, "so many there are not")
	require.ErrorIs(t, rsp(in, 0, q.Packet, nil, &Event{}), ses.ErrStale, "not sent")
	require.NoError(t, in.Handed(h, 2))
	n := in.Next(0, h, &again)
	require.Equal(t, uint32(1), n)
	require.Equal(t, q.Packet+2, again.Packet)
	require.Equal(t, q.Length, again.Length)
	require.NoError(t, in.Handed(h, 1))
	n = in.Next(0, h, &again)
	require.Equal(t, uint32(1), n)
	require.True(t, again.EOM)
	require.Equal(t, uint32(1), again.Length)
	require.ErrorIs(t, in.Handed(h+1<<16, 1), ses.ErrStale)

	// What has not been handed over is not waited for.
	var ev Event
	for i := range PacketHandle(3) {
		require.NoError(t, rsp(in, 0, q.Packet+i, nil, &ev))
		require.Equal(t, eventNone, ev.Kind)
	}
	require.NoError(t, in.Cancel(0, h, ses.RCCancelled, &ev))
	require.Equal(t, EventReady, ev.Kind)
	n = in.Next(0, h, &q)
	require.Equal(t, uint32(1), n)
	require.True(t, q.Notice)
	require.ErrorIs(t, in.Handed(h, 2), ses.ErrStale, "one notice")
	require.NoError(t, in.Handed(h, 1))
	require.ErrorIs(t, in.Handed(h, 1), ses.ErrStale)
	require.NoError(t, rsp(in, 0, q.Packet, nil, &ev))
	require.Equal(t, EventDone, ev.Kind)
	require.ErrorIs(t, in.Handed(h, 1), ses.ErrStale)
}

// Scenario W4: ids wrap past 0 and past those in use.
func TestInitiatorMessageIDWrap(t *testing.T) {
	in := newInitiator(t)
	o := walkWrite()
	o.Length = 1
	kept := sendAll(in, 0, start(t, in, o))[0]
	require.Equal(t, ses.MessageID(1), kept.Request.MessageID)
	seen := map[ses.MessageID]bool{}
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

// Over RUDI there is nobody to tell that a message is given up.
func TestInitiatorRUDIGivesNoNotice(t *testing.T) {
	in := newInitiator(t)
	o := walkWrite()
	o.Mode = ses.ModeRUDI
	h := start(t, in, o)
	var q sentReq
	next(in, 0, h, &q)
	require.Equal(t, ses.Outcome{Status: ses.StatusFailed, Code: ses.RCBadMKey}, answer(t, in, &q, bad(&q, ses.RCBadMKey, 0)).Outcome)
}

// A short header has no message_id: what stands in its place is not one.
func TestInitiatorShortFormsHaveNoID(t *testing.T) {
	in := newInitiator(t)
	h := start(t, in, walkWrite())
	require.Equal(t, h, in.Find(1))
	o := walkWrite()
	o.Form, o.Key, o.Length = pds.NextRequestSmall, 0, 1
	q := sendAll(in, 0, start(t, in, o))[0]
	require.Equal(t, EventDone, answer(t, in, &q, nil).Kind)
	require.Equal(t, h, in.Find(1))
}

func TestInitiatorFull(t *testing.T) {
	in := newInitiator(t)
	for range 4 {
		start(t, in, walkWrite())
	}
	_, err := in.Start(walkWrite())
	require.ErrorIs(t, err, ses.ErrFull)
	for _, c := range []InitiatorConfig{{MTU: 1000, Messages: 1}, {MTU: 1024}, {MTU: 1024, Messages: 1, Retries: 51}, {MTU: 1024, Messages: 1, Backoff: -1}} {
		_, err := NewInitiator(c)
		require.ErrorIs(t, err, ses.ErrConfig)
		require.ErrorContains(t, err, "InitiatorConfig.")
	}
}

func TestInitiatorAtomic(t *testing.T) {
	in := newInitiator(t)
	o := walkWrite()
	o.Opcode, o.Length, o.BufferOffset = ses.OpcodeFetchingAtomic, 8, 7
	o.Swap = ses.CompareSwap{Atomic: ses.Atomic{Opcode: ses.AtomicSwapEqual, Type: ses.TypeUint64}, Compare: ses.Operand{Lo: 1}, Swap: ses.Operand{Lo: 2}}
	q := sendAll(in, 0, start(t, in, o))[0]
	require.Zero(t, q.Length, "operands are in the extension")
	require.Equal(t, uint8(80), q.Header)
	require.Equal(t, o.Swap, q.Request.Swap)
	y := &ses.Reply{
		Form:          pds.NextResponseData,
		Response:      ses.Response{Verdict: ses.Verdict{Opcode: ses.ResponseWithData, ReturnCode: ses.RCOK}, JobID: walkJob, ModifiedLength: 8},
		ReadRequestID: 1, PayloadLength: 8,
	}
	ev := answer(t, in, &q, y)
	require.Equal(t, uint32(8), ev.DataLength)
	require.Equal(t, ses.StatusOK, ev.Outcome.Status)
}

// What has no PDC, at the initiator: a datagram, and a RUDI packet.
func TestInitiatorUnreliableModes(t *testing.T) {
	in := newInitiator(t)
	o := walkWrite()
	o.Opcode, o.Mode, o.Length = ses.OpcodeDatagramSend, ses.ModeUUD, 100
	q := sendAll(in, 0, start(t, in, o))[0]
	require.Zero(t, q.Request.MessageID)
	require.Equal(t, EventDone, answer(t, in, &q, nil).Kind, "sent is done")

	o = walkWrite()
	o.Mode, o.Length = ses.ModeRUDI, 100
	q = sendAll(in, 0, start(t, in, o))[0]
	require.Equal(t, EventDone, answer(t, in, &q, ok(&q)).Kind)
	require.ErrorIs(t, rsp(in, 0, q.Packet, ok(&q), &Event{}), ses.ErrStale, "the answer to the repetition")

	o.Opcode = ses.OpcodeRead
	q = sendAll(in, 0, start(t, in, o))[0]
	ev := answer(t, in, &q, ok(&q))
	require.Equal(t, ses.Outcome{Status: ses.StatusFailed, Code: ses.RCUncor}, ev.Outcome, "an answer without the data, which nothing else can bring")
	require.Zero(t, in.Messages())
}

func TestInitiatorAllocs(t *testing.T) {
	in := newInitiator(t)
	o := walkWrite()
	var q TxReq
	var packets [4]PacketHandle
	b := make([]byte, ses.StandardLen)
	y := ses.Response{Verdict: ses.Verdict{ReturnCode: ses.RCOK}, JobID: walkJob}
	r := y.AppendTo(nil)
	alloctest.Zero(t, "write", func() {
		h, err := in.Start(o)
		if err != nil {
			panic(err)
		}
		for i := range packets {
			if n := in.Next(0, h, &q); n == 0 || in.Handed(h, 1) != nil {
				panic("no packet")
			}
			packets[i] = q.Packet
			if n, _ := in.PutHeader(b, q.Packet); n == 0 {
				panic("no header")
			}
		}
		var ev Event
		for _, p := range packets[:2] {
			if _, err := in.RxRsp(0, p, pds.NextResponse, r, &ev); err != nil {
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

// A packet that is sent or answered needs one cache line of its message, the first and the last two.
func TestMessageLayout(t *testing.T) {
	require.EqualValues(t, 64, unsafe.Offsetof(message{}.wire)+atPlace)
	require.EqualValues(t, 128, unsafe.Offsetof(message{}.late))
	require.EqualValues(t, 192, unsafe.Sizeof(message{}))
}

// Any number of messages whose message_ids have the same lower bits are told apart, and end in any
// order.
func TestInitiatorMessageIDs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	in, err := NewInitiator(InitiatorConfig{MTU: 4096, Messages: 5})
	require.NoError(t, err)
	live := map[ses.MessageID]ses.Handle{}
	together := 0
	for range 20_000 {
		if len(live) < 5 && r.IntN(3) != 0 {
			h := start(t, in, walkWrite())
			live[in.of(h).id()] = h
		} else if ids := slices.Sorted(maps.Keys(live)); len(ids) != 0 {
			i := len(ids) - 1 - min(r.IntN(len(ids)), r.IntN(len(ids))) // the first live long
			var ev Event
			require.NoError(t, in.Cancel(0, live[ids[i]], ses.RCCancelled, &ev))
			require.Equal(t, EventDone, ev.Kind)
			delete(live, ids[i])
		}
		require.Equal(t, len(live), in.Messages())
		lists := map[ses.MessageID]bool{}
		for id, h := range live {
			require.Equal(t, h, in.Find(id))
			lists[id%8] = true
		}
		if len(lists) < len(live) {
			together++
		}
		require.Zero(t, in.Find(in.lastID+1))
	}
	require.Greater(t, together, 1000)
	in, err = NewInitiator(InitiatorConfig{MTU: 4096, Messages: maxSlots - 1})
	require.NoError(t, err)
	require.Len(t, in.ids, maxSlots)
}

// For peers that count both operands of a compare and swap its length is 32, in every form;
// what it brings back stays one operand.
func TestInitiatorCompareAndSwapOfBothOperands(t *testing.T) {
	for _, form := range []pds.NextHdr{pds.NextRequestStd, pds.NextRequestMedium, pds.NextRequestSmall} {
		for _, both := range []bool{false, true} {
			in, err := NewInitiator(InitiatorConfig{MTU: 4096, Messages: 2, SwapBoth: both})
			require.NoError(t, err)
			o := walkWrite()
			o.Opcode, o.Length, o.BufferOffset, o.Form = ses.OpcodeFetchingAtomic, 8, 0, form
			if form == pds.NextRequestSmall {
				o.Key = 0
			}
			o.Swap = ses.CompareSwap{Atomic: ses.Atomic{Opcode: ses.AtomicSwapEqual, Type: ses.TypeUint64}}
			q := sendAll(in, 0, start(t, in, o))[0]
			require.EqualValues(t, map[bool]uint32{false: 8, true: 32}[both], q.Request.RequestLength)
			y := &ses.Reply{
				Form:          pds.NextResponseData,
				Response:      ses.Response{Verdict: ses.Verdict{Opcode: ses.ResponseWithData, ReturnCode: ses.RCOK}, JobID: walkJob, ModifiedLength: 32},
				ReadRequestID: 1, PayloadLength: 8,
			}
			var ev Event
			_, err = in.RxRsp(0, q.Packet, pds.NextResponseData, append(y.AppendTo(nil), 0, 0, 0, 0, 0, 0, 0, 1), &ev)
			require.NoError(t, err)
			require.Equal(t, EventDone, ev.Kind)
			require.Equal(t, ses.Outcome{Status: ses.StatusOK, Length: 8}, ev.Outcome)
		}
	}
}
