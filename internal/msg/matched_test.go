// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/internal/list"
	"github.com/uetcc/uetcc/internal/step"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// twoSided is an initiator and a target with a queue, and the packets between them.
type twoSided struct {
	*walkTarget
	in  *Initiator
	now int64
}

// addRoom makes room for n pending sends, none of them remembered so far.
func (s *walkTarget) addRoom(n int) {
	s.pendSlots, s.pendings, s.pends, s.waits = newSlots(n), make([]pending, n), newPeerLists(n), list.Make[uint32](n)
	s.deferred, s.alike = make([]list.List[uint32], buckets(n)), list.Make[uint32](n)
}

// newTwoSided makes them with room for n pending sends of the one peer that there is.
func newTwoSided(t *testing.T, n int) *twoSided {
	s := newQueueTarget(t)
	s.addRoom(max(2*n-1, 0))
	in, err := NewInitiator(InitiatorConfig{MTU: walkMTU, Messages: 4, Retries: 3})
	require.NoError(t, err)
	return &twoSided{walkTarget: s, in: in}
}

// matchedOp is a message of the packet walk's initiator to the queue.
func matchedOp(op ses.Opcode, tag uint64, length uint32) *Operation {
	return &Operation{Opcode: op, Relative: true, Job: walkJob, PID: walkPID, Index: queueIndex, Length: length, Key: tag, Initiator: 3,
		HasData: true, HeaderData: tag + 1, Cookie: 77}
}

func (s *twoSided) start(o *Operation) ses.Handle {
	h, err := s.in.Start(o)
	require.NoError(s.t, err)
	return h
}

// packets takes all that the message has to send.
func (s *twoSided) packets(h ses.Handle) (ps []PacketHandle) {
	var q TxReq
	for {
		n := s.in.Next(s.now, h, &q)
		if n == 0 {
			return ps
		}
		require.NoError(s.t, s.in.Handed(h, 1))
		ps = append(ps, q.Packet)
	}
}

// request reads the header that a packet goes with.
func (s *twoSided) request(p PacketHandle) (r ses.Request, payload int) {
	b := make([]byte, 128)
	size, y := s.in.PutHeader(b, p)
	require.NotZero(s.t, size)
	n, err := r.Decode(pds.NextRequestStd, b[:size])
	require.NoError(s.t, err)
	require.Equal(s.t, size, n)
	require.NoError(s.t, r.Validate())
	return r, int(y.Length)
}

// arrive gives a packet to the target.
func (s *twoSided) arrive(p PacketHandle, mode ses.Mode) (d Decision) {
	r, payload := s.request(p)
	s.Receive(&r, Arrival{Peer: 9, Mode: mode, Payload: payload}, &d)
	return d
}

// answer gives the answer back.
func (s *twoSided) answer(p PacketHandle, d *Decision) (ev Event) {
	_, err := s.in.RxRsp(s.now, p, pds.NextResponse, d.Response.AppendTo(nil), &ev)
	require.NoError(s.t, err)
	return ev
}

// send carries the packets to the target and the answers back.
func (s *twoSided) send(h ses.Handle) (ds []Decision, ev Event) {
	for _, p := range s.packets(h) {
		d := s.arrive(p, ses.ModeRUD)
		ds = append(ds, d)
		ev = s.answer(p, &d)
	}
	return ds, ev
}

// restartIt carries ready to restart to the initiator.
func (s *twoSided) restartIt() (ev Event) {
	var x Errand
	require.True(s.t, s.Errand(&x))
	require.Equal(s.t, ses.OpcodeDeferrableRTR, x.Operation.Opcode)
	r := s.errandRequest(&x)
	var d Decision
	s.Receive(&r, Arrival{Peer: 8}, &d)
	require.Equal(s.t, ses.ActionRestart, d.Action)
	require.Equal(s.t, ses.RCOK, d.Response.ReturnCode)
	require.Equal(s.t, r.RequestLength, d.Response.ModifiedLength)
	require.NoError(s.t, s.in.Restart(s.now, &r, &ev))
	s.ErrandDone(x.Handle, ses.StatusOK)
	return ev
}

// errandRequest is the one packet of an errand.
func (s *twoSided) errandRequest(x *Errand) (r ses.Request) {
	side, err := NewInitiator(InitiatorConfig{MTU: walkMTU, Messages: 1})
	require.NoError(s.t, err)
	h, err := side.Start(&x.Operation)
	require.NoError(s.t, err)
	var q TxReq
	n := side.Next(0, h, &q)
	require.EqualValues(s.t, 1, n)
	require.True(s.t, q.EOM)
	require.NoError(s.t, side.Handed(h, 1))
	b := make([]byte, 128)
	size, _ := side.PutHeader(b, q.Packet)
	_, err = r.Decode(pds.NextRequestStd, b[:size])
	require.NoError(s.t, err)
	return r
}

func (s *twoSided) arriveOne(h ses.Handle, mode ses.Mode) Decision {
	return s.arrive(s.packets(h)[0], mode)
}

func TestCloseIndexForgetsPendingSends(t *testing.T) {
	s := newTwoSided(t, 4)
	require.False(t, s.Awaited(9))
	s.send(s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10)))
	s.send(s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10)))
	require.True(t, s.Awaited(9))
	s.post(ses.Receive{Length: 10})
	require.NoError(t, s.CloseIndex(0, s.ep, walkIndex))
	require.Equal(t, 1, s.recvSlots.live, "another one's")
	require.NoError(t, s.CloseIndex(0, s.ep, queueIndex))
	require.Zero(t, s.recvSlots.live)
	for range 2 { // whether there was a buffer for it or not
		var x Errand
		require.True(t, s.Errand(&x))
		require.Equal(t, ses.OpcodeDeferrableRTR, x.Operation.Opcode)
		s.ErrandDone(x.Handle, ses.StatusPDS)
		require.True(t, s.HasErrand(), "it did not arrive")
		require.True(t, s.Errand(&x))
		s.ErrandDone(x.Handle, ses.StatusOK)
	}
	require.Zero(t, s.Pending())
	require.False(t, s.Awaited(9))
	require.False(t, s.HasErrand())
}

// A cancelled message is over as soon as nothing of it is in flight, whatever it
// waits for.
func TestCancelOfASendThatWaits(t *testing.T) {
	s := newTwoSided(t, 4)
	s.post(ses.Receive{Length: 20000, Match: 5})
	rendezvous := s.start(rendezvousOp(ses.OpcodeRendezvousTSend, 20000, 5000))
	s.send(rendezvous)
	deferred := s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10000))
	s.send(deferred)
	for _, h := range []ses.Handle{rendezvous, deferred} {
		var ev Event
		require.NoError(t, s.in.Cancel(0, h, ses.RCCancelled, &ev))
		require.Equal(t, EventDone, ev.Kind)
		require.Equal(t, ses.RCCancelled, ev.Outcome.Code)
	}
}

func TestMatchedSendErrors(t *testing.T) {
	o := rendezvousOp(ses.OpcodeRendezvousSend, 10, 11)
	require.ErrorIs(t, o.Validate(walkMTU), ses.ErrTooLong)
	o = matchedOp(ses.OpcodeDeferrableSend, 0, 10)
	o.Mode = ses.ModeRUDI
	require.ErrorIs(t, o.Validate(walkMTU), ses.ErrOperation)
	o.Mode, o.Form = ses.ModeRUD, pds.NextRequestMedium
	require.ErrorIs(t, o.Validate(walkMTU), ses.ErrOperation)
	s := newTwoSided(t, 1)
	h := s.start(matchedOp(ses.OpcodeSend, 0, 10))
	require.ErrorIs(t, s.in.SetSource(h, source), ses.ErrStale)
	require.ErrorIs(t, s.in.Lent(0, h, 0, &Event{}), ses.ErrStale)
	s.in.Reread(0)
	h = s.start(rendezvousOp(ses.OpcodeRendezvousSend, 100, 10))
	s.packets(h)
	require.ErrorIs(t, s.in.SetSource(h, source), ses.ErrStale, "it has begun")
	_, err := NewTarget(ses.TargetConfig{MTU: 1024, Pending: maxSlots + 1})
	require.ErrorContains(t, err, "Pending")
}

func TestMatchedSendsAllocateNothing(t *testing.T) {
	s := newTwoSided(t, 4)
	deferrable, rendezvous := matchedOp(ses.OpcodeDeferrableSend, 0, 10), rendezvousOp(ses.OpcodeRendezvousSend, 100, 10)
	var q TxReq
	var d Decision
	var ev Event
	var x Errand
	var r ses.Request
	buf := make([]byte, 0, 128)
	one := func(h ses.Handle) {
		s.in.Next(0, h, &q)
		if s.in.Handed(h, 1) != nil {
			panic("handed")
		}
		n, y := s.in.PutHeader(buf[:cap(buf)], q.Packet)
		_, _ = r.Decode(pds.NextRequestStd, buf[:n])
		s.Receive(&r, Arrival{Peer: 9, Payload: int(y.Length)}, &d)
		if _, err := s.in.RxRsp(0, q.Packet, pds.NextResponse, d.Response.AppendTo(buf[:0]), &ev); err != nil {
			panic("answer")
		}
	}
	alloctest.Zero(t, "deferrable", func() {
		h, _ := s.in.Start(deferrable)
		one(h)
		_, _ = s.PostReceive(s.ep, queueIndex, ses.Receive{Length: 100})
		s.Target.Errand(&x)
		r.Token, r.BufferOffset = x.Operation.Token, 0
		if s.in.Restart(0, &r, &ev) != nil || ev.Kind != EventReady {
			panic("restart")
		}
		s.ErrandDone(x.Handle, ses.StatusOK)
		if one(h); ev.Outcome.Status != ses.StatusOK {
			panic("outcome")
		}
	})
	alloctest.Zero(t, "rendezvous", func() {
		_, _ = s.PostReceive(s.ep, queueIndex, ses.Receive{Length: 100})
		h, _ := s.in.Start(rendezvous)
		one(h)
		if !s.Target.Errand(&x) {
			panic("errand")
		}
		s.ErrandDone(x.Handle, ses.StatusOK)
		ev.Kind = EventDone // of before
		if s.in.Lent(0, h, 0, &ev) != nil || ev != (Event{}) {
			panic("nothing has come")
		}
		if s.in.Lent(0, h, 90, &ev) != nil || ev.Outcome.Status != ses.StatusOK {
			panic("outcome")
		}
	})
}

// A send that is given up between ready to restart and its first packet tells its target,
// which keeps a buffer for it: that is the next one's.
func TestDeferrableSendGivenUpWhenItsBufferIsReady(t *testing.T) {
	restart := func(s *twoSided, h ses.Handle) Event {
		s.post(ses.Receive{Length: 10000, Cookie: 55})
		return s.restartIt()
	}
	for name, prepare := range map[string]func(s *twoSided, h ses.Handle) (refused func()){
		"before the first packet": func(s *twoSided, h ses.Handle) func() {
			s.send(h)
			require.Equal(s.t, EventReady, restart(s, h).Kind)
			return func() {}
		},
		"before the refusal": func(s *twoSided, h ses.Handle) func() {
			ps := s.packets(h)
			var ds []Decision
			for _, p := range ps {
				ds = append(ds, s.arrive(p, ses.ModeRUD))
			}
			restart(s, h)
			return func() {
				for i, p := range ps {
					s.answer(p, &ds[i])
				}
			}
		},
	} {
		for _, op := range []ses.Opcode{ses.OpcodeDeferrableSend, ses.OpcodeDeferrableTSend} {
			for _, length := range []uint32{0, 100, 10000} {
				t.Run(name, func(t *testing.T) {
					s := newTwoSided(t, 2)
					h := s.start(matchedOp(op, 0, length))
					refused := prepare(s, h)
					var ev Event
					require.NoError(t, s.in.Cancel(0, h, ses.RCCancelled, &ev))
					refused()
					require.Equal(t, 1, s.in.Messages(), "not over before its target knows")
					var q TxReq
					n := s.in.Next(s.now, h, &q)
					require.EqualValues(t, 1, n)
					require.True(t, q.EOM)
					require.True(t, q.Notice)
					require.Zero(t, q.Length)
					require.NoError(t, s.in.Handed(h, 1))
					r, payload := s.request(q.Packet)
					require.Equal(t, op, r.Opcode)
					require.Equal(t, flagsOnly|ses.FlagIE, r.Flags&(flagsOnly|ses.FlagIE))
					require.Zero(t, payload)
					d := s.arrive(q.Packet, ses.ModeRUD)
					require.Equal(t, step.Initiator, d.Check)
					require.Equal(t, ses.RCInitiatorError, d.Response.ReturnCode)
					require.Zero(t, s.Pending())
					ev = s.answer(q.Packet, &d)
					require.Equal(t, EventDone, ev.Kind)
					require.Equal(t, ses.StatusFailed, ev.Outcome.Status)
					require.Equal(t, ses.RCCancelled, ev.Outcome.Code)
					require.Zero(t, s.in.Messages())
					require.Zero(t, s.Messages())
					plain := ses.OpcodeSend
					if op == ses.OpcodeDeferrableTSend {
						plain = ses.OpcodeTaggedSend
					}
					ds, _ := s.send(s.start(matchedOp(plain, 0, 10)))
					require.EqualValues(t, 55, ds[0].Cookie, "the buffer is the next one's")
				})
			}
		}
	}
}

// Nor does it wait for the end of a pause that its target has ended.
func TestDeferrableSendGivenUpInAPause(t *testing.T) {
	s := newTwoSided(t, 1)
	h := s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10))
	p := s.packets(h)[0]
	r, _ := s.request(p)
	refusal := Decision{}
	refusal.refuse(step.Key, ses.RCNoMatch)
	require.EqualValues(t, defaultBackoff, s.answer(p, &refusal).At)
	var ev Event
	r.Token.Target = 1
	require.NoError(t, s.in.Restart(0, &r, &ev))
	require.NoError(t, s.in.Cancel(0, h, ses.RCCancelled, &ev))
	require.Equal(t, Event{Kind: EventReady, Cookie: 77}, ev)
	require.Len(t, s.packets(h), 1)
}

// Whoever gives the same send up again does not wait for its target, nor does one that has
// no PDC, nor one whose target keeps nothing for it.
func TestDeferrableSendGivenUpWithoutANotice(t *testing.T) {
	for name, end := range map[string]func(s *twoSided, h ses.Handle, ev *Event){
		"twice": func(s *twoSided, h ses.Handle, ev *Event) {
			s.send(h)
			s.post(ses.Receive{Length: 10000})
			s.restartIt()
			require.NoError(s.t, s.in.Cancel(0, h, ses.RCCancelled, ev))
			require.Equal(s.t, EventReady, ev.Kind)
			require.NoError(s.t, s.in.Cancel(0, h, ses.RCCancelled, ev))
		},
		"no PDC": func(s *twoSided, h ses.Handle, ev *Event) {
			ps := s.packets(h)
			s.arrive(ps[0], ses.ModeRUD)
			s.post(ses.Receive{Length: 10000})
			s.restartIt()
			require.NoError(s.t, s.in.Error(0, ps[0], 1, false, ev))
		},
		"deferred again": func(s *twoSided, h ses.Handle, ev *Event) {
			s.send(h)
			s.post(ses.Receive{Length: 10000})
			s.restartIt()
			refusal := Decision{}
			refusal.refuse(step.Key, ses.RCNoMatch)
			refusal.Response.List = ses.ListOverflow
			s.answer(s.packets(h)[0], &refusal)
			require.NoError(s.t, s.in.Cancel(0, h, ses.RCCancelled, ev))
		},
		"all sent": func(s *twoSided, h ses.Handle, ev *Event) {
			s.send(h)
			s.post(ses.Receive{Length: 10000})
			s.restartIt()
			ps := s.packets(h)
			require.NoError(s.t, s.in.Cancel(0, h, ses.RCCancelled, ev))
			d := s.arrive(ps[0], ses.ModeRUD)
			*ev = s.answer(ps[0], &d)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTwoSided(t, 2)
			var ev Event
			end(s, s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10)), &ev)
			require.Equal(t, EventDone, ev.Kind)
			require.NotEqual(t, ses.StatusOK, ev.Outcome.Status)
			require.Zero(t, s.in.Messages())
		})
	}
}
