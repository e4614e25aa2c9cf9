// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/list"
	"github.com/uetcc/uetcc/internal/step"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

func TestDeferrableSendThatFindsABuffer(t *testing.T) {
	s := newTwoSided(t, 2)
	s.post(ses.Receive{Base: 0x1000, Length: 16384})
	h := s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10000))
	r, _ := s.request(s.packets(h)[0])
	require.Equal(t, ses.RestartToken{Initiator: uint32(h)}, r.Token, "target_restart_token is 0 at first")
	require.Zero(t, s.Pending())

	h = s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10000))
	ds, ev := s.send(h)
	require.Len(t, ds, 3)
	require.Equal(t, EventDone, ev.Kind)
	require.Equal(t, ses.StatusOK, ev.Outcome.Status)
	require.True(t, ds[2].Complete)
	require.EqualValues(t, 1, ds[2].HeaderData)
}

// No buffer: the send is refused and remembered; when one is posted its initiator
// hears of it and sends again, all of it, under the tokens of both.
func TestDeferrableSendIsRestarted(t *testing.T) {
	for name, length := range map[string]uint32{"one packet": 100, "several packets": 10000, "empty": 0} {
		for _, op := range []ses.Opcode{ses.OpcodeDeferrableSend, ses.OpcodeDeferrableTSend} {
			t.Run(name+"/"+op.String(), func(t *testing.T) {
				s := newTwoSided(t, 2)
				h := s.start(matchedOp(op, 5, length))
				ds, ev := s.send(h)
				for _, d := range ds {
					require.Equal(t, ses.RCNoMatch, d.Response.ReturnCode)
					require.Equal(t, ses.ListOverflow, d.Response.List, "one answer to all packets of a message")
					require.True(t, d.Guaranteed)
				}
				if len(ds) > 1 {
					require.Equal(t, eventNone, ev.Kind, "all was sent, so no notice is due")
				}
				require.Equal(t, eventNone, ev.Kind)
				require.Equal(t, 1, s.Pending())
				require.False(t, s.HasErrand())
				require.Empty(t, s.packets(h), "it waits")

				if op == ses.OpcodeDeferrableTSend {
					s.post(ses.Receive{Base: 0x9000, Length: 16384, Match: 4})
					require.False(t, s.HasErrand(), "another tag")
				}
				buffer := s.post(ses.Receive{Base: 0x1000, Length: 16384, Match: 5, Cookie: 55})
				require.True(t, s.HasErrand())
				require.ErrorIs(t, s.CancelReceive(buffer), ses.ErrNotFound, "a send has it")
				ev = s.restartIt()
				require.Equal(t, EventReady, ev.Kind)

				ps := s.packets(h)
				for i, p := range ps {
					r, _ := s.request(p)
					require.Equal(t, uint32(h), r.Token.Initiator)
					require.NotZero(t, r.Token.Target)
					require.Equal(t, i == 0, r.Flags&ses.FlagSOM != 0)
					d := s.arrive(p, ses.ModeRUD)
					require.Equal(t, ses.RCOK, d.Response.ReturnCode)
					require.EqualValues(t, 55, d.Cookie)
					require.Equal(t, 0x1000+uint64(i)*walkMTU, d.Address)
					ev = s.answer(p, &d)
				}
				require.Equal(t, EventDone, ev.Kind)
				require.Equal(t, ses.Outcome{Status: ses.StatusOK, Retries: 1, Length: length}, ev.Outcome)
				require.Zero(t, s.Pending())
				require.Zero(t, s.Messages())
				require.Zero(t, s.in.Messages())
			})
		}
	}
}

// A target that has room for it at last remembers a send that has been tried as often as
// one may, whichever of the answers comes first.
func TestDeferrableSendThatIsRememberedAtLast(t *testing.T) {
	s := newTwoSided(t, 0)
	h := s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10000))
	for range 3 {
		_, ev := s.send(h)
		require.Equal(t, EventReady, ev.Kind)
		s.now = ev.At
	}
	s.addRoom(1)
	ps := s.packets(h)
	require.Len(t, ps, 3)
	var ds []Decision
	for _, p := range ps {
		ds = append(ds, s.arrive(p, ses.ModeRUD))
	}
	for i := len(ps) - 1; i >= 0; i-- {
		require.Equal(t, eventNone, s.answer(ps[i], &ds[i]).Kind)
	}
	s.post(ses.Receive{Length: 16384})
	require.Equal(t, EventReady, s.restartIt().Kind)
}

// Buffers go to deferred sends in the order that those came, and not to later ones.
func TestDeferrableSendsKeepTheirOrder(t *testing.T) {
	s := newTwoSided(t, 4)
	var hs [3]ses.Handle
	for i := range hs {
		hs[i] = s.start(matchedOp(ses.OpcodeDeferrableSend, uint64(i), 10))
		s.send(hs[i])
	}
	for range hs {
		s.post(ses.Receive{Length: 10})
	}
	var x Errand
	for _, h := range hs {
		require.True(t, s.Errand(&x))
		require.Equal(t, uint32(h), x.Operation.Token.Initiator)
	}
	plain := s.start(matchedOp(ses.OpcodeSend, 0, 10))
	ds, _ := s.send(plain)
	require.Equal(t, ses.RCNoMatch, ds[0].Response.ReturnCode, "the buffers are kept")
}

// A buffer finds the deferred send of its tag among others, at any place of the list.
func TestDeferredSendsByTag(t *testing.T) {
	for _, order := range [][]uint64{{1, 2, 3}, {3, 2, 1}, {2, 3, 1}, {2, 1, 3}} {
		s := newTwoSided(t, 3)
		for tag := uint64(1); tag <= 3; tag++ {
			s.send(s.start(matchedOp(ses.OpcodeDeferrableTSend, tag, 10)))
		}
		for _, tag := range order {
			s.post(ses.Receive{Length: 10, Match: tag, Cookie: tag})
			s.restartIt()
		}
		require.False(t, s.HasErrand())
		for i, m := range s.in.messages[:3] {
			ds, ev := s.send(m.handle)
			require.Equal(t, ses.StatusOK, ev.Outcome.Status)
			require.Equal(t, uint64(i+1), ds[0].Cookie)
		}
		s.send(s.start(matchedOp(ses.OpcodeDeferrableTSend, 9, 10)))
		require.Equal(t, 1, s.Pending(), "the list is whole")
	}
}

// A buffer of another queue is not for a deferred send.
func TestDeferredSendKeepsToItsQueue(t *testing.T) {
	s := newTwoSided(t, 1)
	s.send(s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10)))
	_, err := s.OpenIndex(0, s.ep, queueIndex+1, ses.Index{Kind: ses.IndexQueue, Job: ses.AnyJob})
	require.NoError(t, err)
	_, err = s.PostReceive(s.ep, queueIndex+1, ses.Receive{Length: 10})
	require.NoError(t, err)
	require.False(t, s.HasErrand())
	s.post(ses.Receive{Length: 10})
	require.True(t, s.HasErrand())
}

// Two targets in a row: the token of the first means nothing once the send is tried
// afresh, and ready to restart for a message that has failed is refused.
func TestDeferrableSendForgetsItsToken(t *testing.T) {
	s := newTwoSided(t, 1)
	h := s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10))
	s.send(h)
	s.post(ses.Receive{Length: 10})
	s.restartIt()
	p := s.packets(h)[0]
	r, _ := s.request(p)
	require.NotZero(t, r.Token.Target)
	refusal := Decision{}
	refusal.refuse(step.Key, ses.RCNoMatch)
	require.Equal(t, EventReady, s.answer(p, &refusal).Kind, "not remembered: again after a while")
	s.now += defaultBackoff
	p = s.packets(h)[0]
	r, _ = s.request(p)
	require.Zero(t, r.Token.Target)

	var ev Event
	require.NoError(t, s.in.Cancel(0, h, ses.RCCancelled, &ev))
	rtr := ses.Request{Form: pds.NextRequestStd, Standard: ses.Standard{Common: ses.Common{JobID: walkJob}}, Token: ses.RestartToken{Initiator: uint32(h)}}
	require.ErrorIs(t, s.in.Restart(0, &rtr, &ev), ses.ErrStale)
}

// A job that the queue is not open to is not remembered there.
func TestDeferrableSendOfAJobThatIsNotAdmitted(t *testing.T) {
	s := newTwoSided(t, 3)
	require.NoError(t, s.CloseIndex(0, s.ep, queueIndex))
	_, err := s.OpenIndex(0, s.ep, queueIndex, ses.Index{Kind: ses.IndexQueue, Job: 102})
	require.NoError(t, err)
	o := matchedOp(ses.OpcodeDeferrableSend, 0, 10)
	o.Generation = 1
	ds, _ := s.send(s.start(o))
	require.Equal(t, ses.RCNoMatch, ds[0].Response.ReturnCode)
	require.Zero(t, s.Pending())
}

// Under ROD a deferred send does not stop the queue, since its place is kept; one
// that finds no room does, like any other.
func TestDeferrableSendUnderROD(t *testing.T) {
	s := newTwoSided(t, 1)
	h := s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10))
	d := s.arrive(s.packets(h)[0], ses.ModeROD)
	require.Equal(t, ses.ListOverflow, d.Response.List)
	h = s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10))
	d = s.arrive(s.packets(h)[0], ses.ModeROD)
	require.Equal(t, ses.RCNoMatch, d.Response.ReturnCode)
	require.Equal(t, ses.ListExpected, d.Response.List)
	h = s.start(matchedOp(ses.OpcodeSend, 0, 10))
	require.Equal(t, ses.RCDisabledGen, s.arriveOne(h, ses.ModeROD).Response.ReturnCode)
}

// Without room to remember it the initiator tries again by itself, as with any send.
func TestDeferrableSendWithoutRoom(t *testing.T) {
	s := newTwoSided(t, 0)
	h := s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10))
	_, ev := s.send(h)
	require.Equal(t, EventReady, ev.Kind)
	require.EqualValues(t, defaultBackoff, ev.At)
	s.post(ses.Receive{Length: 10})
	s.now = ev.At
	_, ev = s.send(h)
	require.Equal(t, ses.StatusOK, ev.Outcome.Status)
}

// Ready to restart overtakes the refusal that it is about.
func TestReadyToRestartBeforeTheRefusal(t *testing.T) {
	s := newTwoSided(t, 1)
	h := s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 5000))
	ps := s.packets(h)
	ds := []Decision{s.arrive(ps[0], ses.ModeRUD), s.arrive(ps[1], ses.ModeRUD)}
	s.post(ses.Receive{Length: 5000})
	require.Equal(t, eventNone, s.restartIt().Kind, "something is still in flight")
	r, _ := s.request(ps[0])
	require.Zero(t, r.Token.Target, "a retransmission is as before")
	require.Equal(t, eventNone, s.answer(ps[0], &ds[0]).Kind)
	require.Equal(t, EventReady, s.answer(ps[1], &ds[1]).Kind)
	_, ev := s.send(h)
	require.Equal(t, ses.StatusOK, ev.Outcome.Status)
	require.Zero(t, s.Pending())
}

// A message that is refused in its middle sends a notice before it waits.
func TestDeferrableSendRefusedHalfWay(t *testing.T) {
	s := newTwoSided(t, 1)
	h := s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10000))
	var q TxReq
	s.in.Next(0, h, &q)
	require.NoError(t, s.in.Handed(h, 1))
	d := s.arrive(q.Packet, ses.ModeRUD)
	require.Equal(t, EventReady, s.answer(q.Packet, &d).Kind)
	ps := s.packets(h)
	require.Len(t, ps, 1)
	r, _ := s.request(ps[0])
	require.Equal(t, ses.OpcodeMsgError, r.Opcode)
	d = s.arrive(ps[0], ses.ModeRUD)
	require.Equal(t, eventNone, s.answer(ps[0], &d).Kind)
	require.Zero(t, s.Messages())
	require.Equal(t, 1, s.Pending(), "it is still remembered")
	s.post(ses.Receive{Length: 10000})
	require.Equal(t, EventReady, s.restartIt().Kind)
	_, ev := s.send(h)
	require.Equal(t, ses.StatusOK, ev.Outcome.Status)
}

// What ready to restart may not do.
func TestReadyToRestartRefusals(t *testing.T) {
	s := newTwoSided(t, 1)
	h := s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10))
	s.send(h)
	write := s.start(&Operation{Opcode: ses.OpcodeWrite, Relative: true, Job: walkJob, PID: walkPID, Index: walkIndex, Length: 8, Key: walkKey})
	var ev Event
	for name, change := range map[string]func(*ses.Request){
		"unknown token":           func(r *ses.Request) { r.Token.Initiator++ },
		"token of another kind":   func(r *ses.Request) { r.Token.Initiator = uint32(write) },
		"token out of range":      func(r *ses.Request) { r.Token.Initiator = ^uint32(0) },
		"another job":             func(r *ses.Request) { r.JobID++ },
		"a part was kept":         func(r *ses.Request) { r.BufferOffset = 4 },
		"no token":                func(r *ses.Request) { r.Token.Initiator = 0 },
		"generation of the token": func(r *ses.Request) { r.Token.Initiator ^= 1 << 31 },
	} {
		r := ses.Request{Form: pds.NextRequestStd, Standard: ses.Standard{Common: ses.Common{Opcode: ses.OpcodeDeferrableRTR, JobID: walkJob}}, Token: ses.RestartToken{Initiator: uint32(h), Target: 1}}
		change(&r)
		require.ErrorIs(t, s.in.Restart(0, &r, &ev), ses.ErrStale, name)
	}
	r := ses.Request{Form: pds.NextRequestStd, Standard: ses.Standard{Common: ses.Common{Opcode: ses.OpcodeDeferrableRTR, JobID: walkJob}}, Token: ses.RestartToken{Initiator: uint32(h), Target: 1}}
	require.NoError(t, s.in.Restart(0, &r, &ev))
	require.Equal(t, EventReady, ev.Kind)
	require.NoError(t, s.in.Restart(0, &r, &ev), "another one may restart the new attempt, should that be deferred too")
	require.Equal(t, Event{}, ev)
	require.ErrorIs(t, s.in.Restart(0, &r, &ev), ses.ErrStale, "but not two")

	var d Decision
	r.Flags = ses.FlagSOM
	s.Receive(&r, Arrival{}, &d)
	require.Equal(t, step.Lengths, d.Check)
	r.Flags = flagsOnly | ses.FlagIE
	s.Receive(&r, Arrival{}, &d)
	require.Equal(t, step.Initiator, d.Check)
	r.Flags = flagsOnly
	s.Receive(&r, Arrival{Mode: ses.ModeRUDI}, &d)
	require.Equal(t, step.Opcode, d.Check)
}

// The initiator has given the send up: it refuses ready to restart, and the buffer is
// the next one's, which is a deferred send or whoever comes.
func TestBufferOfASendThatWasGivenUp(t *testing.T) {
	s := newTwoSided(t, 2)
	for range 2 {
		s.send(s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10)))
	}
	s.post(ses.Receive{Length: 10, Cookie: 1})
	s.post(ses.Receive{Length: 10, Cookie: 2})
	var x Errand
	require.True(t, s.Errand(&x))
	s.ErrandDone(x.Handle, ses.StatusPDS)
	require.True(t, s.HasErrand(), "not delivered: due again")
	var second, first Errand
	require.True(t, s.Errand(&second))
	require.True(t, s.Errand(&first))
	require.Equal(t, x.Handle, first.Handle)
	s.ErrandDone(first.Handle, ses.StatusFailed)
	s.ErrandDone(first.Handle, ses.StatusFailed)
	require.Equal(t, 1, s.Pending())
	ds, _ := s.send(s.start(matchedOp(ses.OpcodeSend, 0, 10)))
	require.EqualValues(t, 1, ds[0].Cookie, "back in the queue")
	s.ErrandDone(second.Handle, ses.StatusFailed)
	require.Zero(t, s.Pending())
	ds, _ = s.send(s.start(matchedOp(ses.OpcodeSend, 0, 10)))
	require.EqualValues(t, 2, ds[0].Cookie)

	for range 2 {
		s.send(s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10)))
	}
	s.post(ses.Receive{Length: 10, Cookie: 3})
	require.True(t, s.Errand(&x))
	s.ErrandDone(x.Handle, ses.StatusFailed)
	require.True(t, s.Errand(&first), "the next deferred send has it")
	require.NotEqual(t, x.Handle, first.Handle)
}

// NO_MATCH to ready to restart is final: there is no such send any more. It was tried again like
// a send without a buffer, for 1.55 s with the defaults and over 200 s with 50 retries, while the
// buffer was kept.
func TestReadyToRestartThatIsRefused(t *testing.T) {
	for code, want := range map[ses.ReturnCode]EventKind{ses.RCNoMatch: EventDone, ses.RCDisabledGen: EventReady} {
		in := newInitiator(t)
		o := walkWrite()
		o.Opcode, o.Token = ses.OpcodeDeferrableRTR, ses.RestartToken{Initiator: 1, Target: 2}
		qs := sendAll(in, 0, start(t, in, o))
		ev := answer(t, in, &qs[0], bad(&qs[0], code, 1))
		require.Equal(t, want, ev.Kind, "%v", code)
		if want == EventDone {
			require.Equal(t, ses.Outcome{Status: ses.StatusFailed, Code: code}, ev.Outcome)
		}
	}
}

// With the PDC of a deferred send go its claims.
func TestDeferredSendsOfAPDCThatIsGone(t *testing.T) {
	s := newTwoSided(t, 4)
	for range 3 {
		s.send(s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10)))
	}
	s.post(ses.Receive{Length: 10, Cookie: 1})
	s.post(ses.Receive{Length: 10, Cookie: 2})
	var x Errand
	require.True(t, s.Errand(&x))
	s.ClosePeer(9, func(uint64) { require.Fail(t, "nothing was under way") })
	require.Zero(t, s.Pending())
	require.False(t, s.HasErrand())
	s.ErrandDone(x.Handle, ses.StatusOK) // too late
	got := map[uint64]bool{}
	for range 2 {
		ds, _ := s.send(s.start(matchedOp(ses.OpcodeSend, 0, 10)))
		got[ds[0].Cookie] = true
	}
	require.Equal(t, map[uint64]bool{1: true, 2: true}, got, "the buffers are back")
	ds, _ := s.send(s.start(matchedOp(ses.OpcodeSend, 0, 10)))
	require.Equal(t, ses.RCNoMatch, ds[0].Response.ReturnCode)
}

// Nobody waits for ready to restart to a queue that is no more: what is sent again is
// refused, or finds the queue that is there now.
func TestCloseIndexAsksForDeferredSends(t *testing.T) {
	for _, again := range []bool{false, true} {
		s := newTwoSided(t, 1)
		h := s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10))
		s.send(h)
		require.NoError(t, s.CloseIndex(0, s.ep, queueIndex))
		if again {
			_, err := s.OpenIndex(0, s.ep, queueIndex, ses.Index{Kind: ses.IndexQueue, Job: ses.AnyJob})
			require.NoError(t, err)
			s.post(ses.Receive{Length: 10})
			require.Equal(t, 1, s.Pending(), "the buffer is not for a send to the queue of before")
		}
		require.Equal(t, EventReady, s.restartIt().Kind)
		require.Zero(t, s.Pending())
		ds, ev := s.send(h)
		if again {
			require.Equal(t, ses.RCBadGeneration, ds[0].Response.ReturnCode)
			ds, ev = s.send(h)
			require.Equal(t, ses.ActionPlace, ds[0].Action)
			require.Equal(t, ses.StatusOK, ev.Outcome.Status)
			continue
		}
		require.Equal(t, ses.RCBadIndex, ds[0].Response.ReturnCode)
		require.Equal(t, ses.Outcome{Status: ses.StatusFailed, Code: ses.RCBadIndex, Retries: 1}, ev.Outcome)
	}
}

// The queue is closed when ready to restart has arrived: nobody comes back to it.
func TestCloseIndexAfterReadyToRestart(t *testing.T) {
	s := newTwoSided(t, 2)
	h := s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10))
	s.send(h)
	s.post(ses.Receive{Length: 10})
	s.restartIt()
	other := s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10))
	s.send(other)
	s.post(ses.Receive{Length: 10})
	s.restartIt()
	_, ev := s.send(h)
	require.Equal(t, ses.StatusOK, ev.Outcome.Status)
	require.NoError(t, s.CloseIndex(0, s.ep, queueIndex))
	require.Zero(t, s.Pending())
	require.Zero(t, s.recvSlots.live, "nor is the buffer of the first freed twice")
}

// Ready to restart is to be sent again when the PDC of the send ends.
func TestReadyToRestartAgainAfterThePDC(t *testing.T) {
	s := newTwoSided(t, 2)
	s.send(s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10)))
	s.post(ses.Receive{Length: 10})
	var x Errand
	require.True(t, s.Errand(&x))
	s.ErrandDone(x.Handle, ses.StatusPDS)
	require.True(t, s.HasErrand())
	s.ClosePeer(9, nil)
	require.False(t, s.HasErrand())
}

// Nobody is asked when the PDC of the send is gone, too.
func TestCloseIndexThenThePDCOfADeferredSend(t *testing.T) {
	s := newTwoSided(t, 2)
	s.send(s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10)))
	require.NoError(t, s.CloseIndex(0, s.ep, queueIndex))
	require.True(t, s.HasErrand())
	s.ClosePeer(9, nil)
	require.False(t, s.HasErrand())
	require.Zero(t, s.Pending())
}

// The queue is closed while ready to restart is under way, and that does not arrive.
func TestCloseIndexWhileReadyToRestartIsUnderWay(t *testing.T) {
	for _, arrives := range []bool{true, false} {
		s := newTwoSided(t, 1)
		s.send(s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10)))
		s.post(ses.Receive{Length: 10})
		var x Errand
		require.True(t, s.Errand(&x))
		require.NoError(t, s.CloseIndex(0, s.ep, queueIndex))
		require.Zero(t, s.recvSlots.live)
		if !arrives {
			s.ErrandDone(x.Handle, ses.StatusPDS)
			require.True(t, s.HasErrand(), "it is sent again")
			require.True(t, s.Errand(&x))
		}
		s.ErrandDone(x.Handle, ses.StatusOK)
		require.Zero(t, s.Pending())
	}
}

// A token that the target no longer knows, or somebody else's, is as good as none.
func TestDeferrableSendWithAnUnknownToken(t *testing.T) {
	s := newTwoSided(t, 2)
	h := s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10))
	s.send(h)
	s.post(ses.Receive{Length: 10, Cookie: 1})
	s.restartIt()
	_, err := s.OpenIndex(0, s.ep, queueIndex+1, ses.Index{Kind: ses.IndexQueue, Job: ses.AnyJob})
	require.NoError(t, err)
	_, err = s.AddProcess(ses.Process{Job: walkJob + 1, PID: walkPID})
	require.NoError(t, err)
	r, _ := s.request(s.packets(h)[0])
	var d Decision
	for name, change := range map[string]func(*ses.Request){
		"target":    func(r *ses.Request) { r.Token.Target ^= 1 << 20 },
		"initiator": func(r *ses.Request) { r.Token.Initiator++ },
		"opcode":    func(r *ses.Request) { r.Opcode = ses.OpcodeDeferrableTSend },
		"tag":       func(r *ses.Request) { r.Key++ },
		"index":     func(r *ses.Request) { r.Index++ },
	} {
		q := r
		q.MessageID++
		change(&q)
		s.Receive(&q, Arrival{Peer: 10, Payload: 10}, &d)
		require.Equal(t, ses.RCNoMatch, d.Response.ReturnCode, name)
		s.ClosePeer(10, nil)
	}
	s.Receive(&r, Arrival{Peer: 11, Payload: 10}, &d)
	require.Equal(t, ses.RCOK, d.Response.ReturnCode, "also on another PDC")
	require.EqualValues(t, 1, d.Cookie)
	require.Zero(t, s.Pending())
	s.Receive(&r, Arrival{Peer: 11, Payload: 10}, &d)
	require.Equal(t, ses.RCNoMatch, d.Response.ReturnCode, "once")
}

// A send that comes again and is refused comes without its token from then on: the buffer
// that was kept for it is for others.
func TestDeferrableSendRefusedWhenItComesAgain(t *testing.T) {
	for _, c := range []struct {
		state ses.IndexState
		want  EventKind
	}{{ses.IndexGenDisabled, EventReady}, {ses.IndexDisabled, EventDone}} {
		s := newTwoSided(t, 1)
		h := s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10000))
		s.send(h)
		s.post(ses.Receive{Length: 10000, Cookie: 5})
		s.restartIt()
		require.NoError(t, s.SetIndexState(s.ep, queueIndex, c.state))
		_, ev := s.send(h)
		require.Equal(t, c.want, ev.Kind)
		require.Zero(t, s.Pending())
		require.NoError(t, s.SetIndexState(s.ep, queueIndex, ses.IndexEnabled))
		ds, ev := s.send(s.start(matchedOp(ses.OpcodeSend, 0, 10000)))
		require.EqualValues(t, 5, ds[0].Cookie)
		require.Equal(t, ses.StatusOK, ev.Outcome.Status)
	}
	// Nor is anything kept for it once the index was closed, whatever is there now.
	s := newTwoSided(t, 1)
	h := s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10))
	s.send(h)
	s.post(ses.Receive{Length: 10})
	var x Errand
	require.True(t, s.Errand(&x))
	r := s.errandRequest(&x)
	require.NoError(t, s.in.Restart(0, &r, &Event{}))
	require.NoError(t, s.CloseIndex(0, s.ep, queueIndex))
	_, err := s.OpenIndex(0, s.ep, queueIndex, ses.Index{Kind: ses.IndexQueue, Job: ses.AnyJob})
	require.NoError(t, err)
	s.send(h) // learns the generation
	ds, _ := s.send(h)
	require.Equal(t, ses.RCNoMatch, ds[0].Response.ReturnCode)
	s.ErrandDone(x.Handle, ses.StatusFailed)
	require.Zero(t, s.Pending())
	require.Zero(t, s.recvSlots.live)
	o := matchedOp(ses.OpcodeSend, 0, 10)
	o.Generation = 1
	ds, _ = s.send(s.start(o))
	require.Equal(t, ses.RCNoMatch, ds[0].Response.ReturnCode)

	// An old generation is not the end of it.
	s = newTwoSided(t, 1)
	h = s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10))
	s.send(h)
	s.post(ses.Receive{Length: 10})
	s.restartIt()
	_, err = s.Renew(0, s.ep, queueIndex)
	require.NoError(t, err)
	s.send(h)
	require.Equal(t, 1, s.Pending())
	_, ev := s.send(h)
	require.Equal(t, ses.StatusOK, ev.Outcome.Status)
	require.Zero(t, s.Pending())
}

// Ready to restart says how long another message is, and brings none of it.
func TestReadyToRestartBringsNoPayload(t *testing.T) {
	s := newTwoSided(t, 1)
	s.send(s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 10000)))
	s.post(ses.Receive{Length: 16384})
	var x Errand
	require.True(t, s.Errand(&x))
	require.EqualValues(t, 10000, x.Operation.Length)
	h := s.start(&x.Operation)
	var q TxReq
	s.in.Next(0, h, &q)
	require.Zero(t, q.Length)
	require.NoError(t, s.in.Handed(h, 1))
	_, y := s.in.PutHeader(make([]byte, ses.StandardLen), q.Packet)
	require.Zero(t, y.Length)
}

// Buffers that were kept for deferred sends of a PDC that has gone are back in the queue in
// the order in which they were posted, and none goes to another send of that PDC.
func TestKeptBuffersComeBackInOrder(t *testing.T) {
	tg, err := NewTarget(ses.TargetConfig{MTU: 1024, Processes: 1, Indices: 1, Receives: 8, Messages: 4, Pending: 8})
	require.NoError(t, err)
	ep, err := tg.AddProcess(ses.Process{Job: 1, PID: 2})
	require.NoError(t, err)
	_, err = tg.OpenIndex(0, ep, 0, ses.Index{Kind: ses.IndexQueue, Job: ses.AnyJob})
	require.NoError(t, err)
	send := func(peer uint64, op ses.Opcode) Decision {
		r := ses.Request{Form: pds.NextRequestStd, Standard: ses.Standard{
			Common:    ses.Common{Opcode: op, Flags: flagsOnly | ses.FlagRel, JobID: 1, PIDonFEP: 2},
			MessageID: 1, RequestLength: 10,
		}}
		var d Decision
		tg.Receive(&r, Arrival{Peer: peer, Payload: 10}, &d)
		return d
	}
	post := func(cookie uint64) {
		_, err := tg.PostReceive(ep, 0, ses.Receive{Base: 0x1000, Length: 10, Cookie: cookie})
		require.NoError(t, err)
	}
	for range 4 {
		require.Equal(t, ses.ListOverflow, send(7, ses.OpcodeDeferrableSend).Response.List)
	}
	for cookie := range uint64(3) {
		post(cookie) // kept for the first three
	}
	tg.ClosePeer(7, nil)
	require.Zero(t, tg.Pending())
	post(3)
	for cookie := range uint64(4) {
		require.Equal(t, cookie, send(8, ses.OpcodeSend).Cookie)
	}
	require.Equal(t, ses.ListOverflow, send(7, ses.OpcodeDeferrableSend).Response.List)
	post(4) // kept, and then before one that was never
	post(5)
	tg.ClosePeer(7, nil)
	for cookie := range uint64(2) {
		require.Equal(t, 4+cookie, send(8, ses.OpcodeSend).Cookie)
	}
}

// Deferred sends leave room to those of other peers, and go with their own PDC alone,
// wherever they stand in the queue.
func TestDeferredSendsOfManyPeers(t *testing.T) {
	tg, err := NewTarget(ses.TargetConfig{MTU: 1024, Processes: 1, Indices: 1, Receives: 32, Pending: 32})
	require.NoError(t, err)
	ep, err := tg.AddProcess(ses.Process{Job: 1, PID: 2})
	require.NoError(t, err)
	_, err = tg.OpenIndex(0, ep, 0, ses.Index{Kind: ses.IndexQueue, Job: ses.AnyJob})
	require.NoError(t, err)
	send := func(peer uint64) bool {
		r := ses.Request{Form: pds.NextRequestStd, Standard: ses.Standard{
			Common:    ses.Common{Opcode: ses.OpcodeDeferrableSend, Flags: flagsOnly | ses.FlagRel, JobID: 1, PIDonFEP: 2},
			MessageID: 1, RequestLength: 10, Initiator: uint32(peer),
		}}
		var d Decision
		tg.Receive(&r, Arrival{Peer: peer, Payload: 10}, &d)
		require.Equal(t, ses.RCNoMatch, d.Response.ReturnCode)
		return d.Response.List == ses.ListOverflow
	}
	got, order := [3]int{}, []uint64(nil)
	for range 32 {
		for peer := range uint64(3) {
			if send(peer) {
				got[peer]++
				order = append(order, peer)
			}
		}
	}
	require.Equal(t, [3]int{8, 8, 8}, got, "and a fourth could have as many")
	r := rand.New(rand.NewPCG(1, 3))
	for len(order) > 0 {
		if gone := uint64(r.IntN(3)); r.IntN(4) == 0 {
			tg.ClosePeer(gone, nil)
			require.False(t, tg.Awaited(gone))
			order = slices.DeleteFunc(order, func(peer uint64) bool { return peer == gone })
		} else {
			_, err := tg.PostReceive(ep, 0, ses.Receive{Length: 10})
			require.NoError(t, err)
			var x Errand
			require.True(t, tg.Errand(&x))
			require.Equal(t, order[0], x.Peer, "the oldest")
			tg.ErrandDone(x.Handle, ses.StatusFailed)
			order = order[1:]
		}
		require.Equal(t, len(order), tg.Pending())
	}
}

// deferring is a target with two queues, and how to send it deferrable sends of one packet.
func deferring(t *testing.T, pending int) (tg *Target, process ses.Handle, send func(peer uint64, queue ses.ResourceIndex, tag uint64, tagged bool)) {
	tg, err := NewTarget(ses.TargetConfig{MTU: 1024, Processes: 1, Indices: 2, Receives: pending, Pending: pending})
	require.NoError(t, err)
	process, err = tg.AddProcess(ses.Process{Job: 1, PID: 2})
	require.NoError(t, err)
	for i := range ses.ResourceIndex(2) {
		_, err = tg.OpenIndex(0, process, i, ses.Index{Kind: ses.IndexQueue, Job: ses.AnyJob})
		require.NoError(t, err)
	}
	return tg, process, func(peer uint64, queue ses.ResourceIndex, tag uint64, tagged bool) {
		op := ses.OpcodeDeferrableSend
		if tagged {
			op = ses.OpcodeDeferrableTSend
		}
		r := ses.Request{Form: pds.NextRequestStd, Standard: ses.Standard{
			Common:    ses.Common{Opcode: op, Flags: flagsOnly | ses.FlagRel, JobID: 1, PIDonFEP: 2, Index: queue},
			MessageID: 1, RequestLength: 10, Key: tag,
		}}
		var d Decision
		tg.Receive(&r, Arrival{Peer: peer, Payload: 10}, &d)
		require.Equal(t, ses.ListOverflow, d.Response.List)
	}
}

// A buffer goes to the deferred send that a walk through all of them, the oldest first, finds.
func TestDeferredSendIsTheWalks(t *testing.T) {
	type sent struct {
		peer   uint64
		queue  ses.ResourceIndex
		tag    uint64
		tagged bool
	}
	r := rand.New(rand.NewPCG(1, 4))
	tg, process, send := deferring(t, 256)
	var waits []sent
	for i := range 50_000 {
		switch queue := ses.ResourceIndex(r.IntN(2)); {
		case r.IntN(4) != 0 && len(waits) < 100:
			s := sent{uint64(i), queue, uint64(r.IntN(4)), r.IntN(8) != 0}
			send(s.peer, s.queue, s.tag, s.tagged)
			waits = append(waits, s)
		case r.IntN(20) == 0 && len(waits) > 0:
			k := r.IntN(len(waits))
			tg.ClosePeer(waits[k].peer, nil)
			waits = slices.Delete(waits, k, k+1)
		default:
			b := ses.Receive{Length: 10, Match: uint64(r.IntN(4)), Ignore: []uint64{0, 0, 1, ^uint64(0)}[r.IntN(4)]}
			h, err := tg.PostReceive(process, queue, b)
			require.NoError(t, err)
			fits := func(s sent) bool { return s.queue == queue && (!s.tagged || (s.tag^b.Match)&^b.Ignore == 0) }
			var x Errand
			for tg.Errand(&x) { // the buffer goes from one that is gone to the next
				k := slices.IndexFunc(waits, fits)
				require.GreaterOrEqual(t, k, 0)
				require.Equal(t, waits[k].peer, x.Peer)
				waits = slices.Delete(waits, k, k+1)
				tg.ClosePeer(x.Peer, nil)
			}
			require.False(t, slices.ContainsFunc(waits, fits))
			require.NoError(t, tg.CancelReceive(h))
		}
	}
	for _, s := range waits {
		tg.ClosePeer(s.peer, nil)
	}
	require.Equal(t, make([]list.List[uint32], len(tg.deferred)), tg.deferred, "nothing is left behind")
}

// What a buffer for one tag, or for all, looks at does not grow with the number of deferred sends. Before, each buffer
// looked at all of them, 60 us and more with 32k.
func TestPostingAmongManyDeferredSends(t *testing.T) {
	const n = 1 << 15
	tg, process, send := deferring(t, 2*n)
	for i := range uint64(n) {
		send(i, 0, i, true)
	}
	post := func(queue ses.ResourceIndex, match uint64) {
		h, err := tg.PostReceive(process, queue, ses.Receive{Length: 10, Match: match})
		if err != nil || tg.CancelReceive(h) != nil {
			t.Fatal("a deferred send has the buffer")
		}
	}
	began := time.Now()
	for i := range uint64(50_000) {
		post(0, n+i) // fits none
		post(1, i)   // of another queue
	}
	require.Less(t, time.Since(began), time.Second)
}

// A buffer that comes back to the front of a long queue is not looked for from the end. Before, a peer whose messages
// gave buffers back had a target with 32k buffers look at each of them, for each message.
func TestBufferComesBackToALongQueue(t *testing.T) {
	const n = 1 << 15
	tg, process, _ := deferring(t, n)
	for range n - 1 {
		_, err := tg.PostReceive(process, 0, ses.Receive{Length: 10, Ignore: ^uint64(0)})
		require.NoError(t, err)
	}
	began := time.Now()
	for range 50_000 {
		i := tg.entries[0].queue.Head - 1
		b := tg.receives[i]
		tg.consume(i)
		j, _ := tg.recvSlots.take()
		tg.receives[j] = b
		if tg.offer(j); tg.entries[0].queue.Head != j+1 {
			t.Fatal("the buffer is not where it was")
		}
	}
	require.Less(t, time.Since(began), time.Second)
}
