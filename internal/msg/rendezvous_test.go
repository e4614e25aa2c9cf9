// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/step"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// The rest of a rendezvous send is read though its queue has closed, and goes nowhere:
// its initiator waits for that.
func TestCloseIndexReadsForRendezvousSends(t *testing.T) {
	for _, begun := range []bool{false, true} {
		s := newTwoSided(t, 1)
		s.post(ses.Receive{Length: 20000, Match: 5})
		s.send(s.start(rendezvousOp(ses.OpcodeRendezvousSend, 20000, 100)))
		var x Errand
		if begun {
			require.True(t, s.Errand(&x))
		}
		require.NoError(t, s.CloseIndex(0, s.ep, queueIndex))
		if !begun {
			require.True(t, s.Errand(&x))
		}
		require.Equal(t, ses.OpcodeRead, x.Operation.Opcode)
		p, ok := s.PullOf(x.Handle)
		require.False(t, ok)
		require.EqualValues(t, 9, p.Peer, "whom to tell if it fails")
		s.ErrandDone(x.Handle, ses.StatusOK)
		require.Zero(t, s.Pending())
	}
}

// rendezvousOp is a message of which eager bytes go with it.
func rendezvousOp(op ses.Opcode, length, eager uint32) *Operation {
	o := matchedOp(op, 5, length)
	o.Rendezvous.EagerLength = eager
	return o
}

// source is where the rest of a rendezvous send can be read.
var source = ses.Rendezvous{Generation: 4, PIDonFEP: 6, Index: 7, BufferOffset: 1 << 20, Key: 0xbeef}

// The eager bytes are placed as they come, and when they are whole the rest is to be
// read to behind them. The initiator is done when all has been read.
func TestRendezvousSend(t *testing.T) {
	for _, c := range []struct{ length, eager, packets uint32 }{{20000, 0, 1}, {20000, 100, 1}, {20000, 4096, 1}, {20000, 5000, 2}, {20000, 19999, 5}} {
		for _, op := range []ses.Opcode{ses.OpcodeRendezvousSend, ses.OpcodeRendezvousTSend} {
			s := newTwoSided(t, 1)
			s.post(ses.Receive{Base: 0x1000, Length: 30000, Match: 5, Cookie: 55})
			h := s.start(rendezvousOp(op, c.length, c.eager))
			require.NoError(t, s.in.SetSource(h, source))
			ps := s.packets(h)
			require.Len(t, ps, int(c.packets))
			var ev Event
			for i := len(ps) - 1; i >= 0; i-- { // in any order
				r, _ := s.request(ps[i])
				want := source
				want.EagerLength = c.eager
				require.Equal(t, want, r.Rendezvous)
				require.Equal(t, c.length, r.RequestLength)
				d := s.arrive(ps[i], ses.ModeRUD)
				require.Equal(t, ses.RCOK, d.Response.ReturnCode)
				require.Equal(t, c.length, d.Response.ModifiedLength, "the message's, not the part's")
				require.Equal(t, 0x1000+uint64(i)*walkMTU, d.Address)
				require.False(t, d.Complete)
				require.Equal(t, i == 0, s.HasErrand())
				ev = s.answer(ps[i], &d)
			}
			require.Equal(t, eventNone, ev.Kind, "not before it is read")

			var x Errand
			require.True(t, s.Errand(&x))
			require.EqualValues(t, 9, x.Peer)
			o := &x.Operation
			require.NoError(t, o.Validate(walkMTU))
			require.Equal(t, Operation{Opcode: ses.OpcodeRead, Relative: true, Job: walkJob, PID: 6, Index: 7, Generation: 4, Initiator: 3,
				Key: 0xbeef, BufferOffset: 1<<20 + uint64(c.eager), Length: c.length - c.eager, Cookie: uint64(x.Handle)}, *o)
			p, ok := s.PullOf(x.Handle)
			require.True(t, ok)
			require.Equal(t, Pull{Peer: 9, Address: 0x1000 + uint64(c.eager), Cookie: 55, HeaderData: 6, HasData: true, Length: c.length, Placed: c.length, Eager: c.eager}, p)
			s.ErrandDone(x.Handle, ses.StatusOK)
			require.Zero(t, s.Pending())
			_, ok = s.PullOf(x.Handle)
			require.False(t, ok)

			require.ErrorIs(t, s.in.Lent(0, h, c.length-c.eager+1, &ev), ses.ErrRange)
			if c.length-c.eager > 1 {
				require.NoError(t, s.in.Lent(0, h, c.length-c.eager-1, &ev))
				require.Equal(t, eventNone, ev.Kind)
			}
			require.NoError(t, s.in.Lent(0, h, 1, &ev))
			require.Equal(t, ses.Outcome{Status: ses.StatusOK, Length: c.length}, ev.Outcome)
			require.ErrorIs(t, s.in.Lent(0, h, 0, &ev), ses.ErrStale)
		}
	}
}

// All goes with the send: nothing is to be read, and it is over like a send.
func TestRendezvousSendThatIsAllEager(t *testing.T) {
	s := newTwoSided(t, 0)
	s.post(ses.Receive{Base: 0x1000, Length: 30000, Match: 5})
	ds, ev := s.send(s.start(rendezvousOp(ses.OpcodeRendezvousSend, 10000, 10000)))
	require.True(t, ds[2].Complete)
	require.EqualValues(t, 6, ds[2].HeaderData)
	require.Equal(t, ses.StatusOK, ev.Outcome.Status)
	require.False(t, s.HasErrand())
}

// A shorter buffer: no more is read than has a place, and both sides know.
func TestRendezvousSendTruncated(t *testing.T) {
	for room, c := range map[uint32]struct {
		read     uint32
		complete bool
	}{3000: {0, true}, 5000: {0, true}, 5001: {1, false}, 19999: {14999, false}} {
		s := newTwoSided(t, 1)
		s.post(ses.Receive{Length: room, Match: 5})
		h := s.start(rendezvousOp(ses.OpcodeRendezvousSend, 20000, 5000))
		ds, ev := s.send(h)
		require.Equal(t, room, ds[1].Response.ModifiedLength)
		require.True(t, ds[1].Guaranteed)
		require.Equal(t, c.complete, ds[1].Complete)
		if c.read > 0 {
			var x Errand
			require.True(t, s.Errand(&x))
			require.Equal(t, c.read, x.Operation.Length)
			require.Equal(t, eventNone, ev.Kind)
			require.NoError(t, s.in.Lent(0, h, c.read, &ev))
		}
		require.False(t, s.HasErrand())
		require.Equal(t, ses.Outcome{Status: ses.StatusTruncated, Length: room}, ev.Outcome)
	}
}

// The notice is shorter than the other headers, and needs no more room than it has.
func TestNoticeOfARendezvousSendFitsItsHeader(t *testing.T) {
	s := newTwoSided(t, 1)
	h := s.start(rendezvousOp(ses.OpcodeRendezvousSend, 20000, 10000))
	var q TxReq
	s.in.Next(0, h, &q)
	require.EqualValues(t, ses.StandardLen+ses.RendezvousLen, q.Header)
	require.NoError(t, s.in.Handed(h, 1))
	first := q.Packet
	var ev Event
	require.NoError(t, s.in.Cancel(0, h, ses.RCCancelled, &ev))
	require.NoError(t, s.in.RxAck(0, first, 1, &ev))
	require.Equal(t, EventReady, ev.Kind)
	s.in.Next(0, h, &q)
	require.True(t, q.Notice)
	require.EqualValues(t, ses.StandardLen, q.Header)
	require.NoError(t, s.in.Handed(h, 1))
	b := make([]byte, q.Header)
	n, _ := s.in.PutHeader(b, q.Packet)
	require.Equal(t, len(b), n)
	var r ses.Request
	_, err := r.Decode(pds.NextRequestStd, b)
	require.NoError(t, err)
	require.Equal(t, ses.OpcodeMsgError, r.Opcode)
	n, _ = s.in.PutHeader(b[:n-1], q.Packet)
	require.Zero(t, n)
}

func TestRendezvousSendRefusals(t *testing.T) {
	s := newTwoSided(t, 1)
	s.post(ses.Receive{Length: 30000, Match: 5})
	r, payload := s.request(s.packets(s.start(rendezvousOp(ses.OpcodeRendezvousSend, 20000, 100)))[0])
	var d Decision
	q := r
	q.Rendezvous.EagerLength = 20001
	s.Receive(&q, Arrival{Payload: payload}, &d)
	require.Equal(t, step.Lengths, d.Check)
	q = r
	q.Form = pds.NextRequestMedium
	s.Receive(&q, Arrival{Payload: payload}, &d)
	require.Equal(t, step.Opcode, d.Check)
	q = r
	s.Receive(&q, Arrival{Mode: ses.ModeRUDI, Payload: payload}, &d)
	require.Equal(t, step.Opcode, d.Check)
	q.Index++
	s.Receive(&q, Arrival{Payload: payload}, &d)
	require.Equal(t, ses.RCBadIndex, d.Response.ReturnCode)
	require.Equal(t, uint32(20000), q.RequestLength, "the header is as it was")
	require.EqualValues(t, 100, q.Rendezvous.EagerLength)

	s.Receive(&r, Arrival{Payload: payload}, &d)
	require.Equal(t, step.None, d.Check)
	s.post(ses.Receive{Length: 30000, Match: 5})
	r.MessageID++
	s.Receive(&r, Arrival{Payload: payload}, &d)
	require.True(t, d.NACK, "no room for another; the packet comes again")
	s.post(ses.Receive{})
	var x Errand
	require.True(t, s.Errand(&x))
	s.ErrandDone(x.Handle, ses.StatusFailed)
	s.Receive(&r, Arrival{Payload: payload}, &d)
	require.Equal(t, step.None, d.Check)
	require.True(t, s.Errand(&x))
	s.ErrandDone(x.Handle, ses.StatusOK)
	r.Rendezvous.EagerLength, r.MessageID = 0, 9
	s.Receive(&r, Arrival{}, &d)
	require.Equal(t, ses.RCTooLong, d.Response.ReturnCode, "a buffer without room, also when nothing comes with the send")
}

// What is wrong with a rendezvous send is said in the order of all requests: the address
// comes before the lengths, and want of room last.
func TestRendezvousSendValidationOrder(t *testing.T) {
	s := newTwoSided(t, 0)
	r, payload := s.request(s.packets(s.start(rendezvousOp(ses.OpcodeRendezvousSend, 20000, 5000)))[0])
	for _, c := range []struct {
		change func(*ses.Request)
		want   ses.Check
	}{
		{func(r *ses.Request) { r.Index++; r.Rendezvous.EagerLength = 20001 }, step.Index},
		{func(r *ses.Request) { r.Rendezvous.EagerLength = 20001 }, step.Lengths},
		{func(r *ses.Request) { r.Flags |= ses.FlagIE }, step.Initiator},
		{func(*ses.Request) {}, step.Key},
	} {
		var d Decision
		q := r
		q.MessageID += ses.MessageID(c.want)
		c.change(&q)
		s.Receive(&q, Arrival{Payload: payload}, &d)
		require.Equal(t, c.want, d.Check)
		require.False(t, d.NACK)
		q.Rendezvous.EagerLength = 5000
		s.Receive(&q, Arrival{Payload: payload}, &d)
		require.Equal(t, step.Sticky, d.Check, "the message has failed")
		require.Equal(t, 1, s.Messages())
		s.ClosePeer(0, nil)
	}
	s.post(ses.Receive{Length: 30000})
	var d Decision
	s.Receive(&r, Arrival{Payload: payload}, &d)
	require.True(t, d.NACK)
	require.Zero(t, s.Messages())
	s.post(ses.Receive{Length: 5000, Cookie: 2})
	r.MessageID++
	short := r
	short.RequestLength = 5000
	s.Receive(&short, Arrival{Payload: payload}, &d)
	require.Equal(t, step.None, d.Check, "nothing is left to read")
}

// No buffer: all of a rendezvous send comes again, as of any send.
func TestRendezvousSendWithoutABuffer(t *testing.T) {
	s := newTwoSided(t, 1)
	h := s.start(rendezvousOp(ses.OpcodeRendezvousTSend, 20000, 5000))
	require.NoError(t, s.in.SetSource(h, source))
	ds, ev := s.send(h)
	require.Equal(t, ses.RCNoMatch, ds[0].Response.ReturnCode)
	require.Equal(t, EventReady, ev.Kind)
	require.Zero(t, s.Pending())
	s.post(ses.Receive{Length: 20000, Match: 5})
	s.now = ev.At
	_, ev = s.send(h)
	require.Equal(t, eventNone, ev.Kind)
	require.NoError(t, s.in.Lent(s.now, h, 15000, &ev))
	require.Equal(t, ses.StatusOK, ev.Outcome.Status)
}

// The notice that a rendezvous send is given up has no extension, and ends it at the
// target.
func TestRendezvousSendGivenUpHalfWay(t *testing.T) {
	s := newTwoSided(t, 1)
	s.post(ses.Receive{Length: 30000, Match: 5, Cookie: 55})
	h := s.start(rendezvousOp(ses.OpcodeRendezvousSend, 20000, 10000))
	require.NoError(t, s.in.SetSource(h, source))
	var q TxReq
	s.in.Next(0, h, &q)
	require.EqualValues(t, ses.StandardLen+ses.RendezvousLen, q.Header)
	require.NoError(t, s.in.Handed(h, 1))
	d := s.arrive(q.Packet, ses.ModeRUD)
	var ev Event
	require.NoError(t, s.in.Cancel(0, h, ses.RCCancelled, &ev))
	require.Equal(t, EventReady, s.answer(q.Packet, &d).Kind)
	s.in.Next(0, h, &q)
	require.True(t, q.Notice)
	require.EqualValues(t, ses.StandardLen, q.Header)
	require.NoError(t, s.in.Handed(h, 1))
	r, payload := s.request(q.Packet)
	require.Equal(t, ses.OpcodeMsgError, r.Opcode)
	require.Equal(t, ses.FlagEOM|ses.FlagIE, r.Flags&(flagsOnly|ses.FlagIE|ses.FlagHD))
	require.Zero(t, payload)
	d = s.arrive(q.Packet, ses.ModeRUD)
	require.Equal(t, ses.ActionAbort, d.Action)
	require.EqualValues(t, 55, d.Cookie)
	ev = s.answer(q.Packet, &d)
	require.Equal(t, ses.RCCancelled, ev.Outcome.Code)
	require.Zero(t, s.Messages())
	require.Zero(t, s.Pending())
}

// What a host does not take of a rendezvous send it does not read the rest of either,
// whichever packet it was.
func TestRendezvousSendThatTheHostFails(t *testing.T) {
	for bad := range 3 {
		s := newTwoSided(t, 2)
		s.post(ses.Receive{Length: 30000, Match: 5, Cookie: 55})
		s.post(ses.Receive{Length: 30000, Match: 5, Cookie: 56})
		h := s.start(rendezvousOp(ses.OpcodeRendezvousSend, 20000, 10000))
		ps := s.packets(h)
		other := s.start(rendezvousOp(ses.OpcodeRendezvousSend, 20000, 0))
		s.arrive(s.packets(other)[0], ses.ModeRUD)
		for i, p := range ps {
			r, payload := s.request(p)
			d := s.arrive(p, ses.ModeRUD)
			if i == bad {
				s.Fail(&r, Arrival{Peer: 9, Payload: payload}, ses.RCATPerm, &d)
				require.Equal(t, ses.ActionAbort, d.Action)
				require.EqualValues(t, 56, d.Cookie)
			}
			ev := s.answer(p, &d)
			require.Equal(t, i == len(ps)-1, ev.Kind == EventDone)
			require.True(t, i < bad || d.Response.ReturnCode == ses.RCATPerm)
			if ev.Kind == EventDone {
				require.Equal(t, ses.RCATPerm, ev.Outcome.Code)
			}
		}
		var x Errand
		require.True(t, s.Errand(&x), "the other's")
		require.False(t, s.HasErrand())
		require.Equal(t, 1, s.Pending())
		require.Zero(t, s.Messages())
	}
}

// The read has begun already when the host finds out that it could not place the bytes
// before: it goes on, and what it brings goes nowhere.
func TestRendezvousSendThatTheHostFailsWhileTheRestIsRead(t *testing.T) {
	s := newTwoSided(t, 2)
	var x Errand
	for range 2 {
		s.post(ses.Receive{Length: 30000, Match: 5, Cookie: 55})
		h := s.start(rendezvousOp(ses.OpcodeRendezvousSend, 20000, 4000))
		require.NoError(t, s.in.SetSource(h, ses.Rendezvous{Index: 7, Key: uint64(h)}))
		p := s.packets(h)[0]
		r, payload := s.request(p)
		d := s.arrive(p, ses.ModeRUD)
		other := x
		require.True(t, s.Errand(&x))
		if other.Handle == 0 {
			continue
		}
		plain := r // a decoder leaves the extension of another packet there
		plain.Opcode = ses.OpcodeSend
		s.Fail(&plain, Arrival{Peer: 9, Payload: payload}, ses.RCATPerm, &Decision{})
		_, ok := s.PullOf(x.Handle)
		require.True(t, ok)
		s.Fail(&r, Arrival{Peer: 9, Payload: payload}, ses.RCATPerm, &d)
		require.Equal(t, ses.ActionAbort, d.Action)
		_, ok = s.PullOf(x.Handle)
		require.False(t, ok)
		_, ok = s.PullOf(other.Handle)
		require.True(t, ok, "the other send's")
		require.Equal(t, 2, s.Pending())
		s.ErrandDone(x.Handle, ses.StatusOK)
		s.ErrandDone(other.Handle, ses.StatusOK)
		require.Zero(t, s.Pending())
	}
}

// What is left of a rendezvous send says nothing about the packets of its first bytes.
func TestRendezvousSendThatIsNotDelivered(t *testing.T) {
	s := newTwoSided(t, 1)
	h := s.start(rendezvousOp(ses.OpcodeRendezvousSend, 20000, 100))
	var ev Event
	require.NoError(t, s.in.Error(0, s.packets(h)[0], 3, false, &ev))
	require.Equal(t, ses.Outcome{Status: ses.StatusPDS, Cause: 3}, ev.Outcome)
}

func TestSetSourceRefusesWideFields(t *testing.T) {
	s := newTwoSided(t, 1)
	h := s.start(rendezvousOp(ses.OpcodeRendezvousSend, 20000, 100))
	require.ErrorIs(t, s.in.SetSource(h, ses.Rendezvous{Index: 0x1000}), ses.ErrRange)
	require.ErrorIs(t, s.in.SetSource(h+1<<16, ses.Rendezvous{}), ses.ErrStale)
}

// TestLend: a region is lent to a peer of its job at a memory index, and to nobody else.
func TestLend(t *testing.T) {
	s := newQueueTarget(t)
	g := ses.Region{Base: 0x5000, Length: 100, Key: 3, Job: walkJob, Rights: ses.RightRead}
	x, h, err := s.Lend(s.ep, walkIndex, false, g)
	require.NoError(t, err)
	require.Equal(t, ses.Rendezvous{Generation: 1, PIDonFEP: walkPID, Index: walkIndex, Key: 3}, x)
	require.NoError(t, s.Withdraw(h))
	_, _, err = s.Lend(s.ep, walkIndex, true, g)
	require.ErrorIs(t, err, ses.ErrRange)
	g.Job++
	_, _, err = s.Lend(s.ep, walkIndex, false, g)
	require.ErrorIs(t, err, ses.ErrRange)
	g.Job--
	_, _, err = s.Lend(s.ep, queueIndex, false, g)
	require.ErrorIs(t, err, ses.ErrRange)
	_, _, err = s.Lend(s.ep+1<<16, walkIndex, false, g)
	require.ErrorIs(t, err, ses.ErrNotFound)
	_, _, err = s.Lend(0xffff, walkIndex, false, g)
	require.ErrorIs(t, err, ses.ErrNotFound)
	ep, err := s.AddProcess(ses.Process{Job: walkJob + 1, PID: 9, Absolute: true})
	require.NoError(t, err)
	_, err = s.OpenIndex(0, ep, 0, ses.Index{})
	require.NoError(t, err)
	_, _, err = s.Lend(ep, 0, true, g)
	require.NoError(t, err, "a job is only checked for authorisation by an absolute address")
}

// A rendezvous send of more than any message may have: no read can ask for the rest. Before,
// the target took it and gave up in silence, and the sender waited for its IdleTime (60 s).
func TestRendezvousSendTooLongToBeRead(t *testing.T) {
	for length, want := range map[uint32]ses.ReturnCode{ses.MaxMessage: ses.RCOK, ses.MaxMessage + 1: ses.RCTooLong} {
		s := newTwoSided(t, 1)
		s.post(ses.Receive{Length: ses.MaxMessage + 1, Match: 5})
		h := s.start(rendezvousOp(ses.OpcodeRendezvousSend, 20000, 0))
		require.NoError(t, s.in.SetSource(h, source))
		r, _ := s.request(s.packets(h)[0])
		r.RequestLength = length
		var d Decision
		s.Receive(&r, Arrival{Peer: 9, Mode: ses.ModeRUD}, &d)
		require.Equal(t, want, d.Response.ReturnCode)
		require.Equal(t, want != ses.RCOK, d.Guaranteed, "the sender is told")
		require.Equal(t, want == ses.RCOK, s.HasErrand())
	}
}
