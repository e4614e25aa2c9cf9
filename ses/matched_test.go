package ses

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
)

// twoSided is an initiator and a target with a queue, and the packets between them.
type twoSided struct {
	*walkTarget
	in  *Initiator
	now int64
}

func newTwoSided(t *testing.T, n int) *twoSided {
	s := newQueueTarget(t)
	s.pendSlots, s.pendings = newSlots(n), make([]pending, n)
	in, err := NewInitiator(InitiatorConfig{MTU: walkMTU, Messages: 4, Retries: 3})
	require.NoError(t, err)
	return &twoSided{walkTarget: s, in: in}
}

// matchedOp is a message of the packet walk's initiator to the queue.
func matchedOp(op Opcode, tag uint64, length uint32) *Operation {
	return &Operation{Opcode: op, Relative: true, Job: walkJob, PID: walkPID, Index: queueIndex, Length: length, Key: tag, Initiator: 3,
		HasData: true, HeaderData: tag + 1, Cookie: 77}
}

func (s *twoSided) start(o *Operation) Handle {
	h, err := s.in.Start(o)
	require.NoError(s.t, err)
	return h
}

// packets takes all that the message has to send.
func (s *twoSided) packets(h Handle) (ps []PacketHandle) {
	var q TxReq
	for {
		n, _ := s.in.Next(s.now, h, &q)
		if n == 0 {
			return ps
		}
		require.NoError(s.t, s.in.Handed(h, 1))
		ps = append(ps, q.Packet)
	}
}

// request reads the header that a packet goes with.
func (s *twoSided) request(p PacketHandle) (r Request, payload int) {
	b := make([]byte, 128)
	size, y := s.in.PutHeader(b, p)
	require.NotZero(s.t, size)
	n, err := r.Decode(FormStandard, b[:size])
	require.NoError(s.t, err)
	require.Equal(s.t, size, n)
	require.NoError(s.t, r.Validate())
	return r, int(y.Length)
}

// arrive gives a packet to the target.
func (s *twoSided) arrive(p PacketHandle, mode Mode) (d Decision) {
	r, payload := s.request(p)
	s.Receive(&r, Arrival{Peer: 9, Mode: mode, Payload: payload}, &d)
	return d
}

// answer gives the answer back.
func (s *twoSided) answer(p PacketHandle, d *Decision) (ev Event) {
	_, err := s.in.RxRsp(s.now, p, FormResponse, d.Response.AppendTo(nil), &ev)
	require.NoError(s.t, err)
	return ev
}

// send carries the packets to the target and the answers back.
func (s *twoSided) send(h Handle) (ds []Decision, ev Event) {
	for _, p := range s.packets(h) {
		d := s.arrive(p, ModeRUD)
		ds = append(ds, d)
		ev = s.answer(p, &d)
	}
	return ds, ev
}

// restartIt carries ready to restart to the initiator.
func (s *twoSided) restartIt() (ev Event) {
	var x Errand
	require.True(s.t, s.Errand(&x))
	require.Equal(s.t, OpcodeDeferrableRTR, x.Operation.Opcode)
	r := s.errandRequest(&x)
	var d Decision
	s.Receive(&r, Arrival{Peer: 8}, &d)
	require.Equal(s.t, ActionRestart, d.Action)
	require.NoError(s.t, s.in.Restart(s.now, &r, &ev))
	s.ErrandDone(x.Handle, StatusOK)
	return ev
}

// errandRequest is the one packet of an errand.
func (s *twoSided) errandRequest(x *Errand) (r Request) {
	side, err := NewInitiator(InitiatorConfig{MTU: walkMTU, Messages: 1})
	require.NoError(s.t, err)
	h, err := side.Start(&x.Operation)
	require.NoError(s.t, err)
	var q TxReq
	n, _ := side.Next(0, h, &q)
	require.EqualValues(s.t, 1, n)
	require.True(s.t, q.EOM)
	require.NoError(s.t, side.Handed(h, 1))
	b := make([]byte, 128)
	size, _ := side.PutHeader(b, q.Packet)
	_, err = r.Decode(FormStandard, b[:size])
	require.NoError(s.t, err)
	return r
}

func TestDeferrableSendThatFindsABuffer(t *testing.T) {
	s := newTwoSided(t, 2)
	s.post(Receive{Base: 0x1000, Length: 16384})
	h := s.start(matchedOp(OpcodeDeferrableSend, 0, 10000))
	r, _ := s.request(s.packets(h)[0])
	require.Equal(t, RestartToken{Initiator: uint32(h)}, r.Token, "target_restart_token is 0 at first")
	require.Zero(t, s.Pending())

	h = s.start(matchedOp(OpcodeDeferrableSend, 0, 10000))
	ds, ev := s.send(h)
	require.Len(t, ds, 3)
	require.Equal(t, EventDone, ev.Kind)
	require.Equal(t, StatusOK, ev.Outcome.Status)
	require.True(t, ds[2].Complete)
	require.EqualValues(t, 1, ds[2].HeaderData)
}

// No buffer: the send is refused and remembered; when one is posted its initiator
// hears of it and sends again, all of it, under the tokens of both.
func TestDeferrableSendIsRestarted(t *testing.T) {
	for name, length := range map[string]uint32{"one packet": 100, "several packets": 10000, "empty": 0} {
		for _, op := range []Opcode{OpcodeDeferrableSend, OpcodeDeferrableTSend} {
			t.Run(name+"/"+op.String(), func(t *testing.T) {
				s := newTwoSided(t, 2)
				h := s.start(matchedOp(op, 5, length))
				ds, ev := s.send(h)
				for _, d := range ds {
					require.Equal(t, RCNoMatch, d.Response.ReturnCode)
					require.Equal(t, ListOverflow, d.Response.List, "one answer to all packets of a message")
					require.True(t, d.Guaranteed)
				}
				if len(ds) > 1 {
					require.Equal(t, EventNone, ev.Kind, "all was sent, so no notice is due")
				}
				require.Equal(t, EventNone, ev.Kind)
				require.Equal(t, 1, s.Pending())
				require.False(t, s.HasErrand())
				require.Empty(t, s.packets(h), "it waits")

				if op == OpcodeDeferrableTSend {
					s.post(Receive{Base: 0x9000, Length: 16384, Match: 4})
					require.False(t, s.HasErrand(), "another tag")
				}
				buffer := s.post(Receive{Base: 0x1000, Length: 16384, Match: 5, Cookie: 55})
				require.True(t, s.HasErrand())
				require.ErrorIs(t, s.CancelReceive(buffer), ErrNotFound, "a send has it")
				ev = s.restartIt()
				require.Equal(t, EventReady, ev.Kind)

				ps := s.packets(h)
				for i, p := range ps {
					r, _ := s.request(p)
					require.Equal(t, uint32(h), r.Token.Initiator)
					require.NotZero(t, r.Token.Target)
					require.Equal(t, i == 0, r.Flags&FlagSOM != 0)
					d := s.arrive(p, ModeRUD)
					require.Equal(t, RCOK, d.Response.ReturnCode)
					require.EqualValues(t, 55, d.Cookie)
					require.Equal(t, 0x1000+uint64(i)*walkMTU, d.Address)
					ev = s.answer(p, &d)
				}
				require.Equal(t, EventDone, ev.Kind)
				require.Equal(t, Outcome{Status: StatusOK, Retries: 1, Length: length}, ev.Outcome)
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
	h := s.start(matchedOp(OpcodeDeferrableSend, 0, 10000))
	for range 3 {
		_, ev := s.send(h)
		require.Equal(t, EventReady, ev.Kind)
		s.now = ev.At
	}
	s.pendSlots, s.pendings = newSlots(1), make([]pending, 1)
	ps := s.packets(h)
	require.Len(t, ps, 3)
	var ds []Decision
	for _, p := range ps {
		ds = append(ds, s.arrive(p, ModeRUD))
	}
	for i := len(ps) - 1; i >= 0; i-- {
		require.Equal(t, EventNone, s.answer(ps[i], &ds[i]).Kind)
	}
	s.post(Receive{Length: 16384})
	require.Equal(t, EventReady, s.restartIt().Kind)
}

// Buffers go to deferred sends in the order that those came, and not to later ones.
func TestDeferrableSendsKeepTheirOrder(t *testing.T) {
	s := newTwoSided(t, 4)
	var hs [3]Handle
	for i := range hs {
		hs[i] = s.start(matchedOp(OpcodeDeferrableSend, uint64(i), 10))
		s.send(hs[i])
	}
	for range hs {
		s.post(Receive{Length: 10})
	}
	var x Errand
	for _, h := range hs {
		require.True(t, s.Errand(&x))
		require.Equal(t, uint32(h), x.Operation.Token.Initiator)
	}
	plain := s.start(matchedOp(OpcodeSend, 0, 10))
	ds, _ := s.send(plain)
	require.Equal(t, RCNoMatch, ds[0].Response.ReturnCode, "the buffers are kept")
}

// A buffer finds the deferred send of its tag among others, at any place of the list.
func TestDeferredSendsByTag(t *testing.T) {
	for _, order := range [][]uint64{{1, 2, 3}, {3, 2, 1}, {2, 3, 1}, {2, 1, 3}} {
		s := newTwoSided(t, 3)
		for tag := uint64(1); tag <= 3; tag++ {
			s.send(s.start(matchedOp(OpcodeDeferrableTSend, tag, 10)))
		}
		for _, tag := range order {
			s.post(Receive{Length: 10, Match: tag, Cookie: tag})
			s.restartIt()
		}
		require.False(t, s.HasErrand())
		for i, m := range s.in.messages[:3] {
			ds, ev := s.send(m.handle)
			require.Equal(t, StatusOK, ev.Outcome.Status)
			require.Equal(t, uint64(i+1), ds[0].Cookie)
		}
		s.send(s.start(matchedOp(OpcodeDeferrableTSend, 9, 10)))
		require.Equal(t, 1, s.Pending(), "the list is whole")
	}
}

// A buffer of another queue is not for a deferred send.
func TestDeferredSendKeepsToItsQueue(t *testing.T) {
	s := newTwoSided(t, 1)
	s.send(s.start(matchedOp(OpcodeDeferrableSend, 0, 10)))
	_, err := s.OpenIndex(0, s.ep, queueIndex+1, Index{Kind: IndexQueue, Job: AnyJob})
	require.NoError(t, err)
	_, err = s.PostReceive(s.ep, queueIndex+1, Receive{Length: 10})
	require.NoError(t, err)
	require.False(t, s.HasErrand())
	s.post(Receive{Length: 10})
	require.True(t, s.HasErrand())
}

// Two targets in a row: the token of the first means nothing once the send is tried
// afresh, and ready to restart for a message that has failed is refused.
func TestDeferrableSendForgetsItsToken(t *testing.T) {
	s := newTwoSided(t, 1)
	h := s.start(matchedOp(OpcodeDeferrableSend, 0, 10))
	s.send(h)
	s.post(Receive{Length: 10})
	s.restartIt()
	p := s.packets(h)[0]
	r, _ := s.request(p)
	require.NotZero(t, r.Token.Target)
	refusal := Decision{}
	refusal.refuse(CheckKey, RCNoMatch)
	require.Equal(t, EventReady, s.answer(p, &refusal).Kind, "not remembered: again after a while")
	s.now += defaultBackoff
	p = s.packets(h)[0]
	r, _ = s.request(p)
	require.Zero(t, r.Token.Target)

	var ev Event
	require.NoError(t, s.in.Cancel(0, h, &ev))
	rtr := Request{Form: FormStandard, Standard: Standard{Common: Common{JobID: walkJob}}, Token: RestartToken{Initiator: uint32(h)}}
	require.ErrorIs(t, s.in.Restart(0, &rtr, &ev), ErrStale)
}

// A job that the queue is not open to is not remembered there.
func TestDeferrableSendOfAJobThatIsNotAdmitted(t *testing.T) {
	s := newTwoSided(t, 3)
	require.NoError(t, s.CloseIndex(0, s.ep, queueIndex))
	_, err := s.OpenIndex(0, s.ep, queueIndex, Index{Kind: IndexQueue, Job: 102})
	require.NoError(t, err)
	o := matchedOp(OpcodeDeferrableSend, 0, 10)
	o.Generation = 1
	ds, _ := s.send(s.start(o))
	require.Equal(t, RCNoMatch, ds[0].Response.ReturnCode)
	require.Zero(t, s.Pending())
}

// Under ROD a deferred send does not stop the queue, since its place is kept; one
// that finds no room does, like any other.
func TestDeferrableSendUnderROD(t *testing.T) {
	s := newTwoSided(t, 1)
	h := s.start(matchedOp(OpcodeDeferrableSend, 0, 10))
	d := s.arrive(s.packets(h)[0], ModeROD)
	require.Equal(t, ListOverflow, d.Response.List)
	h = s.start(matchedOp(OpcodeDeferrableSend, 0, 10))
	d = s.arrive(s.packets(h)[0], ModeROD)
	require.Equal(t, RCNoMatch, d.Response.ReturnCode)
	require.Equal(t, ListExpected, d.Response.List)
	h = s.start(matchedOp(OpcodeSend, 0, 10))
	require.Equal(t, RCDisabledGen, s.arriveOne(h, ModeROD).Response.ReturnCode)
}

func (s *twoSided) arriveOne(h Handle, mode Mode) Decision { return s.arrive(s.packets(h)[0], mode) }

// Without room to remember it the initiator tries again by itself, as with any send.
func TestDeferrableSendWithoutRoom(t *testing.T) {
	s := newTwoSided(t, 0)
	h := s.start(matchedOp(OpcodeDeferrableSend, 0, 10))
	_, ev := s.send(h)
	require.Equal(t, EventReady, ev.Kind)
	require.EqualValues(t, defaultBackoff, ev.At)
	s.post(Receive{Length: 10})
	s.now = ev.At
	_, ev = s.send(h)
	require.Equal(t, StatusOK, ev.Outcome.Status)
}

// Ready to restart overtakes the refusal that it is about.
func TestReadyToRestartBeforeTheRefusal(t *testing.T) {
	s := newTwoSided(t, 1)
	h := s.start(matchedOp(OpcodeDeferrableSend, 0, 5000))
	ps := s.packets(h)
	ds := []Decision{s.arrive(ps[0], ModeRUD), s.arrive(ps[1], ModeRUD)}
	s.post(Receive{Length: 5000})
	require.Equal(t, EventNone, s.restartIt().Kind, "something is still in flight")
	r, _ := s.request(ps[0])
	require.Zero(t, r.Token.Target, "a retransmission is as before")
	require.Equal(t, EventNone, s.answer(ps[0], &ds[0]).Kind)
	require.Equal(t, EventReady, s.answer(ps[1], &ds[1]).Kind)
	_, ev := s.send(h)
	require.Equal(t, StatusOK, ev.Outcome.Status)
	require.Zero(t, s.Pending())
}

// A message that is refused in its middle sends a notice before it waits.
func TestDeferrableSendRefusedHalfWay(t *testing.T) {
	s := newTwoSided(t, 1)
	h := s.start(matchedOp(OpcodeDeferrableSend, 0, 10000))
	var q TxReq
	_, _ = s.in.Next(0, h, &q)
	require.NoError(t, s.in.Handed(h, 1))
	d := s.arrive(q.Packet, ModeRUD)
	require.Equal(t, EventReady, s.answer(q.Packet, &d).Kind)
	ps := s.packets(h)
	require.Len(t, ps, 1)
	r, _ := s.request(ps[0])
	require.Equal(t, OpcodeMsgError, r.Opcode)
	d = s.arrive(ps[0], ModeRUD)
	require.Equal(t, EventNone, s.answer(ps[0], &d).Kind)
	require.Zero(t, s.Messages())
	require.Equal(t, 1, s.Pending(), "it is still remembered")
	s.post(Receive{Length: 10000})
	require.Equal(t, EventReady, s.restartIt().Kind)
	_, ev := s.send(h)
	require.Equal(t, StatusOK, ev.Outcome.Status)
}

// What ready to restart may not do.
func TestReadyToRestartRefusals(t *testing.T) {
	s := newTwoSided(t, 1)
	h := s.start(matchedOp(OpcodeDeferrableSend, 0, 10))
	s.send(h)
	write := s.start(&Operation{Opcode: OpcodeWrite, Relative: true, Job: walkJob, PID: walkPID, Index: walkIndex, Length: 8, Key: walkKey})
	var ev Event
	for name, change := range map[string]func(*Request){
		"unknown token":           func(r *Request) { r.Token.Initiator++ },
		"token of another kind":   func(r *Request) { r.Token.Initiator = uint32(write) },
		"token out of range":      func(r *Request) { r.Token.Initiator = ^uint32(0) },
		"another job":             func(r *Request) { r.JobID++ },
		"a part was kept":         func(r *Request) { r.BufferOffset = 4 },
		"no token":                func(r *Request) { r.Token.Initiator = 0 },
		"generation of the token": func(r *Request) { r.Token.Initiator ^= 1 << 31 },
	} {
		r := Request{Form: FormStandard, Standard: Standard{Common: Common{Opcode: OpcodeDeferrableRTR, JobID: walkJob}}, Token: RestartToken{Initiator: uint32(h), Target: 1}}
		change(&r)
		require.ErrorIs(t, s.in.Restart(0, &r, &ev), ErrStale, name)
	}
	r := Request{Form: FormStandard, Standard: Standard{Common: Common{Opcode: OpcodeDeferrableRTR, JobID: walkJob}}, Token: RestartToken{Initiator: uint32(h), Target: 1}}
	require.NoError(t, s.in.Restart(0, &r, &ev))
	require.NoError(t, s.in.Restart(0, &r, &ev), "another one may restart the new attempt, should that be deferred too")
	require.ErrorIs(t, s.in.Restart(0, &r, &ev), ErrStale, "but not two")

	var d Decision
	r.Flags = FlagSOM
	s.Receive(&r, Arrival{}, &d)
	require.Equal(t, CheckLengths, d.Check)
	r.Flags = flagsOnly | FlagIE
	s.Receive(&r, Arrival{}, &d)
	require.Equal(t, CheckInitiator, d.Check)
	r.Flags = flagsOnly
	s.Receive(&r, Arrival{Mode: ModeRUDI}, &d)
	require.Equal(t, CheckOpcode, d.Check)
}

// The initiator has given the send up: it refuses ready to restart, and the buffer is
// the next one's, which is a deferred send or whoever comes.
func TestBufferOfASendThatWasGivenUp(t *testing.T) {
	s := newTwoSided(t, 2)
	for range 2 {
		s.send(s.start(matchedOp(OpcodeDeferrableSend, 0, 10)))
	}
	s.post(Receive{Length: 10, Cookie: 1})
	s.post(Receive{Length: 10, Cookie: 2})
	var x Errand
	require.True(t, s.Errand(&x))
	s.ErrandDone(x.Handle, StatusPDS)
	require.True(t, s.HasErrand(), "not delivered: due again")
	var second, first Errand
	require.True(t, s.Errand(&second))
	require.True(t, s.Errand(&first))
	require.Equal(t, x.Handle, first.Handle)
	s.ErrandDone(first.Handle, StatusFailed)
	s.ErrandDone(first.Handle, StatusFailed)
	require.Equal(t, 1, s.Pending())
	ds, _ := s.send(s.start(matchedOp(OpcodeSend, 0, 10)))
	require.EqualValues(t, 1, ds[0].Cookie, "back in the queue")
	s.ErrandDone(second.Handle, StatusFailed)
	require.Zero(t, s.Pending())
	ds, _ = s.send(s.start(matchedOp(OpcodeSend, 0, 10)))
	require.EqualValues(t, 2, ds[0].Cookie)

	for range 2 {
		s.send(s.start(matchedOp(OpcodeDeferrableSend, 0, 10)))
	}
	s.post(Receive{Length: 10, Cookie: 3})
	require.True(t, s.Errand(&x))
	s.ErrandDone(x.Handle, StatusFailed)
	require.True(t, s.Errand(&first), "the next deferred send has it")
	require.NotEqual(t, x.Handle, first.Handle)
}

// With the PDC of a deferred send go its claims.
func TestDeferredSendsOfAPDCThatIsGone(t *testing.T) {
	s := newTwoSided(t, 4)
	for range 3 {
		s.send(s.start(matchedOp(OpcodeDeferrableSend, 0, 10)))
	}
	s.post(Receive{Length: 10, Cookie: 1})
	s.post(Receive{Length: 10, Cookie: 2})
	var x Errand
	require.True(t, s.Errand(&x))
	s.ClosePeer(9, func(uint64) { require.Fail(t, "nothing was under way") })
	require.Zero(t, s.Pending())
	require.False(t, s.HasErrand())
	s.ErrandDone(x.Handle, StatusOK) // too late
	got := map[uint64]bool{}
	for range 2 {
		ds, _ := s.send(s.start(matchedOp(OpcodeSend, 0, 10)))
		got[ds[0].Cookie] = true
	}
	require.Equal(t, map[uint64]bool{1: true, 2: true}, got, "the buffers are back")
	ds, _ := s.send(s.start(matchedOp(OpcodeSend, 0, 10)))
	require.Equal(t, RCNoMatch, ds[0].Response.ReturnCode)
}

func TestCloseIndexForgetsPendingSends(t *testing.T) {
	s := newTwoSided(t, 4)
	s.send(s.start(matchedOp(OpcodeDeferrableSend, 0, 10)))
	s.send(s.start(matchedOp(OpcodeDeferrableSend, 0, 10)))
	s.post(Receive{Length: 10})
	require.NoError(t, s.CloseIndex(0, s.ep, queueIndex))
	require.Zero(t, s.recvSlots.live)
	for range 2 { // whether there was a buffer for it or not
		var x Errand
		require.True(t, s.Errand(&x))
		require.Equal(t, OpcodeDeferrableRTR, x.Operation.Opcode)
		s.ErrandDone(x.Handle, StatusPDS)
		require.True(t, s.HasErrand(), "it did not arrive")
		require.True(t, s.Errand(&x))
		s.ErrandDone(x.Handle, StatusOK)
	}
	require.Zero(t, s.Pending())
	require.False(t, s.HasErrand())
}

// Nobody waits for ready to restart to a queue that is no more: what is sent again is
// refused, or finds the queue that is there now.
func TestCloseIndexAsksForDeferredSends(t *testing.T) {
	for _, again := range []bool{false, true} {
		s := newTwoSided(t, 1)
		h := s.start(matchedOp(OpcodeDeferrableSend, 0, 10))
		s.send(h)
		require.NoError(t, s.CloseIndex(0, s.ep, queueIndex))
		if again {
			_, err := s.OpenIndex(0, s.ep, queueIndex, Index{Kind: IndexQueue, Job: AnyJob})
			require.NoError(t, err)
			s.post(Receive{Length: 10})
			require.Equal(t, 1, s.Pending(), "the buffer is not for a send to the queue of before")
		}
		require.Equal(t, EventReady, s.restartIt().Kind)
		require.Zero(t, s.Pending())
		ds, ev := s.send(h)
		if again {
			require.Equal(t, RCBadGeneration, ds[0].Response.ReturnCode)
			ds, ev = s.send(h)
			require.Equal(t, ActionPlace, ds[0].Action)
			require.Equal(t, StatusOK, ev.Outcome.Status)
			continue
		}
		require.Equal(t, RCBadIndex, ds[0].Response.ReturnCode)
		require.Equal(t, Outcome{Status: StatusFailed, Code: RCBadIndex, Retries: 1}, ev.Outcome)
	}
}

// The queue is closed while ready to restart is under way, and that does not arrive.
func TestCloseIndexWhileReadyToRestartIsUnderWay(t *testing.T) {
	for _, arrives := range []bool{true, false} {
		s := newTwoSided(t, 1)
		s.send(s.start(matchedOp(OpcodeDeferrableSend, 0, 10)))
		s.post(Receive{Length: 10})
		var x Errand
		require.True(t, s.Errand(&x))
		require.NoError(t, s.CloseIndex(0, s.ep, queueIndex))
		require.Zero(t, s.recvSlots.live)
		if !arrives {
			s.ErrandDone(x.Handle, StatusPDS)
			require.True(t, s.HasErrand(), "it is sent again")
			require.True(t, s.Errand(&x))
		}
		s.ErrandDone(x.Handle, StatusOK)
		require.Zero(t, s.Pending())
	}
}

// The rest of a rendezvous send is read though its queue has closed, and goes nowhere:
// its initiator waits for that.
func TestCloseIndexReadsForRendezvousSends(t *testing.T) {
	for _, begun := range []bool{false, true} {
		s := newTwoSided(t, 1)
		s.post(Receive{Length: 20000, Match: 5})
		s.send(s.start(rendezvousOp(OpcodeRendezvousSend, 20000, 100)))
		var x Errand
		if begun {
			require.True(t, s.Errand(&x))
		}
		require.NoError(t, s.CloseIndex(0, s.ep, queueIndex))
		if !begun {
			require.True(t, s.Errand(&x))
		}
		require.Equal(t, OpcodeRead, x.Operation.Opcode)
		p, ok := s.PullOf(x.Handle)
		require.False(t, ok)
		require.EqualValues(t, 9, p.Peer, "whom to tell if it fails")
		s.ErrandDone(x.Handle, StatusOK)
		require.Zero(t, s.Pending())
	}
}

// A token that the target no longer knows, or somebody else's, is as good as none.
func TestDeferrableSendWithAnUnknownToken(t *testing.T) {
	s := newTwoSided(t, 2)
	h := s.start(matchedOp(OpcodeDeferrableSend, 0, 10))
	s.send(h)
	s.post(Receive{Length: 10, Cookie: 1})
	s.restartIt()
	_, err := s.OpenIndex(0, s.ep, queueIndex+1, Index{Kind: IndexQueue, Job: AnyJob})
	require.NoError(t, err)
	_, err = s.AddEndpoint(Endpoint{Job: walkJob + 1, PID: walkPID})
	require.NoError(t, err)
	r, _ := s.request(s.packets(h)[0])
	var d Decision
	for name, change := range map[string]func(*Request){
		"target":    func(r *Request) { r.Token.Target ^= 1 << 20 },
		"initiator": func(r *Request) { r.Token.Initiator++ },
		"opcode":    func(r *Request) { r.Opcode = OpcodeDeferrableTSend },
		"tag":       func(r *Request) { r.Key++ },
		"index":     func(r *Request) { r.Index++ },
	} {
		q := r
		q.MessageID++
		change(&q)
		s.Receive(&q, Arrival{Peer: 10, Payload: 10}, &d)
		require.Equal(t, RCNoMatch, d.Response.ReturnCode, name)
		s.ClosePeer(10, nil)
	}
	s.Receive(&r, Arrival{Peer: 11, Payload: 10}, &d)
	require.Equal(t, RCOK, d.Response.ReturnCode, "also on another PDC")
	require.EqualValues(t, 1, d.Cookie)
	require.Zero(t, s.Pending())
	s.Receive(&r, Arrival{Peer: 11, Payload: 10}, &d)
	require.Equal(t, RCNoMatch, d.Response.ReturnCode, "once")
}

// A send that comes again and is refused comes without its token from then on: the buffer
// that was kept for it is for others.
func TestDeferrableSendRefusedWhenItComesAgain(t *testing.T) {
	for _, c := range []struct {
		state IndexState
		want  EventKind
	}{{IndexGenDisabled, EventReady}, {IndexDisabled, EventDone}} {
		s := newTwoSided(t, 1)
		h := s.start(matchedOp(OpcodeDeferrableSend, 0, 10000))
		s.send(h)
		s.post(Receive{Length: 10000, Cookie: 5})
		s.restartIt()
		require.NoError(t, s.SetIndexState(s.ep, queueIndex, c.state))
		_, ev := s.send(h)
		require.Equal(t, c.want, ev.Kind)
		require.Zero(t, s.Pending())
		require.NoError(t, s.SetIndexState(s.ep, queueIndex, IndexEnabled))
		ds, ev := s.send(s.start(matchedOp(OpcodeSend, 0, 10000)))
		require.EqualValues(t, 5, ds[0].Cookie)
		require.Equal(t, StatusOK, ev.Outcome.Status)
	}
	// An old generation is not the end of it.
	s := newTwoSided(t, 1)
	h := s.start(matchedOp(OpcodeDeferrableSend, 0, 10))
	s.send(h)
	s.post(Receive{Length: 10})
	s.restartIt()
	_, err := s.Renew(0, s.ep, queueIndex)
	require.NoError(t, err)
	s.send(h)
	require.Equal(t, 1, s.Pending())
	_, ev := s.send(h)
	require.Equal(t, StatusOK, ev.Outcome.Status)
	require.Zero(t, s.Pending())
}

// rendezvousOp is a message of which eager bytes go with it.
func rendezvousOp(op Opcode, length, eager uint32) *Operation {
	o := matchedOp(op, 5, length)
	o.Rendezvous.EagerLength = eager
	return o
}

// source is where the rest of a rendezvous send can be read.
var source = Rendezvous{Generation: 4, PIDonFEP: 6, Index: 7, BufferOffset: 1 << 20, Key: 0xbeef}

// The eager bytes are placed as they come, and when they are whole the rest is to be
// read to behind them. The initiator is done when all has been read.
func TestRendezvousSend(t *testing.T) {
	for _, c := range []struct{ length, eager, packets uint32 }{{20000, 0, 1}, {20000, 100, 1}, {20000, 4096, 1}, {20000, 5000, 2}, {20000, 19999, 5}} {
		for _, op := range []Opcode{OpcodeRendezvousSend, OpcodeRendezvousTSend} {
			s := newTwoSided(t, 1)
			s.post(Receive{Base: 0x1000, Length: 30000, Match: 5, Cookie: 55})
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
				d := s.arrive(ps[i], ModeRUD)
				require.Equal(t, RCOK, d.Response.ReturnCode)
				require.Equal(t, c.length, d.Response.ModifiedLength, "the message's, not the part's")
				require.Equal(t, 0x1000+uint64(i)*walkMTU, d.Address)
				require.False(t, d.Complete)
				require.Equal(t, i == 0, s.HasErrand())
				ev = s.answer(ps[i], &d)
			}
			require.Equal(t, EventNone, ev.Kind, "not before it is read")

			var x Errand
			require.True(t, s.Errand(&x))
			require.EqualValues(t, 9, x.Peer)
			o := &x.Operation
			require.NoError(t, o.Validate(walkMTU))
			require.Equal(t, Operation{Opcode: OpcodeRead, Relative: true, Job: walkJob, PID: 6, Index: 7, Generation: 4, Initiator: 3,
				Key: 0xbeef, BufferOffset: 1<<20 + uint64(c.eager), Length: c.length - c.eager, Cookie: uint64(x.Handle)}, *o)
			p, ok := s.PullOf(x.Handle)
			require.True(t, ok)
			require.Equal(t, Pull{Peer: 9, Address: 0x1000 + uint64(c.eager), Cookie: 55, HeaderData: 6, HasData: true, Length: c.length, Placed: c.length, Eager: c.eager}, p)
			s.ErrandDone(x.Handle, StatusOK)
			require.Zero(t, s.Pending())
			_, ok = s.PullOf(x.Handle)
			require.False(t, ok)

			require.ErrorIs(t, s.in.Lent(0, h, c.length-c.eager+1, &ev), ErrRange)
			if c.length-c.eager > 1 {
				require.NoError(t, s.in.Lent(0, h, c.length-c.eager-1, &ev))
				require.Equal(t, EventNone, ev.Kind)
			}
			require.NoError(t, s.in.Lent(0, h, 1, &ev))
			require.Equal(t, Outcome{Status: StatusOK, Length: c.length}, ev.Outcome)
			require.ErrorIs(t, s.in.Lent(0, h, 0, &ev), ErrStale)
		}
	}
}

// All goes with the send: nothing is to be read, and it is over like a send.
func TestRendezvousSendThatIsAllEager(t *testing.T) {
	s := newTwoSided(t, 0)
	s.post(Receive{Base: 0x1000, Length: 30000, Match: 5})
	ds, ev := s.send(s.start(rendezvousOp(OpcodeRendezvousSend, 10000, 10000)))
	require.True(t, ds[2].Complete)
	require.EqualValues(t, 6, ds[2].HeaderData)
	require.Equal(t, StatusOK, ev.Outcome.Status)
	require.False(t, s.HasErrand())
}

// A shorter buffer: no more is read than has a place, and both sides know.
func TestRendezvousSendTruncated(t *testing.T) {
	for room, c := range map[uint32]struct {
		read     uint32
		complete bool
	}{3000: {0, true}, 5000: {0, true}, 5001: {1, false}, 19999: {14999, false}} {
		s := newTwoSided(t, 1)
		s.post(Receive{Length: room, Match: 5})
		h := s.start(rendezvousOp(OpcodeRendezvousSend, 20000, 5000))
		ds, ev := s.send(h)
		require.Equal(t, room, ds[1].Response.ModifiedLength)
		require.True(t, ds[1].Guaranteed)
		require.Equal(t, c.complete, ds[1].Complete)
		if c.read > 0 {
			var x Errand
			require.True(t, s.Errand(&x))
			require.Equal(t, c.read, x.Operation.Length)
			require.Equal(t, EventNone, ev.Kind)
			require.NoError(t, s.in.Lent(0, h, c.read, &ev))
		}
		require.False(t, s.HasErrand())
		require.Equal(t, Outcome{Status: StatusTruncated, Length: room}, ev.Outcome)
	}
}

// The notice is shorter than the other headers, and needs no more room than it has.
func TestNoticeOfARendezvousSendFitsItsHeader(t *testing.T) {
	s := newTwoSided(t, 1)
	h := s.start(rendezvousOp(OpcodeRendezvousSend, 20000, 10000))
	var q TxReq
	s.in.Next(0, h, &q)
	require.EqualValues(t, StandardLen+RendezvousLen, q.Header)
	require.NoError(t, s.in.Handed(h, 1))
	first := q.Packet
	var ev Event
	require.NoError(t, s.in.Cancel(0, h, &ev))
	require.NoError(t, s.in.RxAck(0, first, 1, &ev))
	require.Equal(t, EventReady, ev.Kind)
	s.in.Next(0, h, &q)
	require.True(t, q.Notice)
	require.EqualValues(t, StandardLen, q.Header)
	require.NoError(t, s.in.Handed(h, 1))
	b := make([]byte, q.Header)
	n, _ := s.in.PutHeader(b, q.Packet)
	require.Equal(t, len(b), n)
	var r Request
	_, err := r.Decode(FormStandard, b)
	require.NoError(t, err)
	require.Equal(t, OpcodeMsgError, r.Opcode)
	n, _ = s.in.PutHeader(b[:n-1], q.Packet)
	require.Zero(t, n)
}

// Ready to restart says how long another message is, and brings none of it.
func TestReadyToRestartBringsNoPayload(t *testing.T) {
	s := newTwoSided(t, 1)
	s.send(s.start(matchedOp(OpcodeDeferrableSend, 0, 10000)))
	s.post(Receive{Length: 16384})
	var x Errand
	require.True(t, s.Errand(&x))
	require.EqualValues(t, 10000, x.Operation.Length)
	h := s.start(&x.Operation)
	var q TxReq
	s.in.Next(0, h, &q)
	require.Zero(t, q.Length)
	require.NoError(t, s.in.Handed(h, 1))
	_, y := s.in.PutHeader(make([]byte, StandardLen), q.Packet)
	require.Zero(t, y.Length)
}

func TestRendezvousSendRefusals(t *testing.T) {
	s := newTwoSided(t, 1)
	s.post(Receive{Length: 30000, Match: 5})
	r, payload := s.request(s.packets(s.start(rendezvousOp(OpcodeRendezvousSend, 20000, 100)))[0])
	var d Decision
	q := r
	q.Rendezvous.EagerLength = 20001
	s.Receive(&q, Arrival{Payload: payload}, &d)
	require.Equal(t, CheckLengths, d.Check)
	q = r
	q.Form = FormMedium
	s.Receive(&q, Arrival{Payload: payload}, &d)
	require.Equal(t, CheckOpcode, d.Check)
	q = r
	s.Receive(&q, Arrival{Mode: ModeRUDI, Payload: payload}, &d)
	require.Equal(t, CheckOpcode, d.Check)
	q.Index++
	s.Receive(&q, Arrival{Payload: payload}, &d)
	require.Equal(t, RCBadIndex, d.Response.ReturnCode)
	require.Equal(t, uint32(20000), q.RequestLength, "the header is as it was")
	require.EqualValues(t, 100, q.Rendezvous.EagerLength)

	s.Receive(&r, Arrival{Payload: payload}, &d)
	require.Equal(t, CheckNone, d.Check)
	s.post(Receive{Length: 30000, Match: 5})
	r.MessageID++
	s.Receive(&r, Arrival{Payload: payload}, &d)
	require.True(t, d.NACK, "no room for another; the packet comes again")
	s.post(Receive{})
	var x Errand
	require.True(t, s.Errand(&x))
	s.ErrandDone(x.Handle, StatusFailed)
	s.Receive(&r, Arrival{Payload: payload}, &d)
	require.Equal(t, CheckNone, d.Check)
	require.True(t, s.Errand(&x))
	s.ErrandDone(x.Handle, StatusOK)
	r.Rendezvous.EagerLength, r.MessageID = 0, 9
	s.Receive(&r, Arrival{}, &d)
	require.Equal(t, RCTooLong, d.Response.ReturnCode, "a buffer without room, also when nothing comes with the send")
}

// What is wrong with a rendezvous send is said in the order of all requests: the address
// comes before the lengths, and want of room last.
func TestRendezvousSendValidationOrder(t *testing.T) {
	s := newTwoSided(t, 0)
	r, payload := s.request(s.packets(s.start(rendezvousOp(OpcodeRendezvousSend, 20000, 5000)))[0])
	for _, c := range []struct {
		change func(*Request)
		want   Check
	}{
		{func(r *Request) { r.Index++; r.Rendezvous.EagerLength = 20001 }, CheckIndex},
		{func(r *Request) { r.Rendezvous.EagerLength = 20001 }, CheckLengths},
		{func(r *Request) { r.Flags |= FlagIE }, CheckInitiator},
		{func(*Request) {}, CheckKey},
	} {
		var d Decision
		q := r
		q.MessageID += MessageID(c.want)
		c.change(&q)
		s.Receive(&q, Arrival{Payload: payload}, &d)
		require.Equal(t, c.want, d.Check)
		require.False(t, d.NACK)
		q.Rendezvous.EagerLength = 5000
		s.Receive(&q, Arrival{Payload: payload}, &d)
		require.Equal(t, CheckSticky, d.Check, "the message has failed")
		require.Equal(t, 1, s.Messages())
		s.ClosePeer(0, nil)
	}
	s.post(Receive{Length: 30000})
	var d Decision
	s.Receive(&r, Arrival{Payload: payload}, &d)
	require.True(t, d.NACK)
	require.Zero(t, s.Messages())
	s.post(Receive{Length: 5000, Cookie: 2})
	r.MessageID++
	short := r
	short.RequestLength = 5000
	s.Receive(&short, Arrival{Payload: payload}, &d)
	require.Equal(t, CheckNone, d.Check, "nothing is left to read")
}

// No buffer: all of a rendezvous send comes again, as of any send.
func TestRendezvousSendWithoutABuffer(t *testing.T) {
	s := newTwoSided(t, 1)
	h := s.start(rendezvousOp(OpcodeRendezvousTSend, 20000, 5000))
	require.NoError(t, s.in.SetSource(h, source))
	ds, ev := s.send(h)
	require.Equal(t, RCNoMatch, ds[0].Response.ReturnCode)
	require.Equal(t, EventReady, ev.Kind)
	require.Zero(t, s.Pending())
	s.post(Receive{Length: 20000, Match: 5})
	s.now = ev.At
	_, ev = s.send(h)
	require.Equal(t, EventNone, ev.Kind)
	require.NoError(t, s.in.Lent(s.now, h, 15000, &ev))
	require.Equal(t, StatusOK, ev.Outcome.Status)
}

// The notice that a rendezvous send is given up has no extension, and ends it at the
// target.
func TestRendezvousSendGivenUpHalfWay(t *testing.T) {
	s := newTwoSided(t, 1)
	s.post(Receive{Length: 30000, Match: 5, Cookie: 55})
	h := s.start(rendezvousOp(OpcodeRendezvousSend, 20000, 10000))
	require.NoError(t, s.in.SetSource(h, source))
	var q TxReq
	_, _ = s.in.Next(0, h, &q)
	require.EqualValues(t, StandardLen+RendezvousLen, q.Header)
	require.NoError(t, s.in.Handed(h, 1))
	d := s.arrive(q.Packet, ModeRUD)
	var ev Event
	require.NoError(t, s.in.Cancel(0, h, &ev))
	require.Equal(t, EventReady, s.answer(q.Packet, &d).Kind)
	_, _ = s.in.Next(0, h, &q)
	require.True(t, q.Notice)
	require.EqualValues(t, StandardLen, q.Header)
	require.NoError(t, s.in.Handed(h, 1))
	r, payload := s.request(q.Packet)
	require.Equal(t, OpcodeMsgError, r.Opcode)
	require.Equal(t, FlagEOM|FlagIE, r.Flags&(flagsOnly|FlagIE|FlagHD))
	require.Zero(t, payload)
	d = s.arrive(q.Packet, ModeRUD)
	require.Equal(t, ActionAbort, d.Action)
	require.EqualValues(t, 55, d.Cookie)
	ev = s.answer(q.Packet, &d)
	require.Equal(t, RCCancelled, ev.Outcome.Code)
	require.Zero(t, s.Messages())
	require.Zero(t, s.Pending())
}

// What a host does not take of a rendezvous send it does not read the rest of either,
// whichever packet it was.
func TestRendezvousSendThatTheHostFails(t *testing.T) {
	for bad := range 3 {
		s := newTwoSided(t, 2)
		s.post(Receive{Length: 30000, Match: 5, Cookie: 55})
		s.post(Receive{Length: 30000, Match: 5, Cookie: 56})
		h := s.start(rendezvousOp(OpcodeRendezvousSend, 20000, 10000))
		ps := s.packets(h)
		other := s.start(rendezvousOp(OpcodeRendezvousSend, 20000, 0))
		s.arrive(s.packets(other)[0], ModeRUD)
		for i, p := range ps {
			r, payload := s.request(p)
			d := s.arrive(p, ModeRUD)
			if i == bad {
				s.Fail(&r, Arrival{Peer: 9, Payload: payload}, RCATPerm, &d)
				require.Equal(t, ActionAbort, d.Action)
				require.EqualValues(t, 56, d.Cookie)
			}
			ev := s.answer(p, &d)
			require.Equal(t, i == len(ps)-1, ev.Kind == EventDone)
			require.True(t, i < bad || d.Response.ReturnCode == RCATPerm)
			if ev.Kind == EventDone {
				require.Equal(t, RCATPerm, ev.Outcome.Code)
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
		s.post(Receive{Length: 30000, Match: 5, Cookie: 55})
		h := s.start(rendezvousOp(OpcodeRendezvousSend, 20000, 4000))
		require.NoError(t, s.in.SetSource(h, Rendezvous{Index: 7, Key: uint64(h)}))
		p := s.packets(h)[0]
		r, payload := s.request(p)
		d := s.arrive(p, ModeRUD)
		other := x
		require.True(t, s.Errand(&x))
		if other.Handle == 0 {
			continue
		}
		s.Fail(&r, Arrival{Peer: 9, Payload: payload}, RCATPerm, &d)
		require.Equal(t, ActionAbort, d.Action)
		_, ok := s.PullOf(x.Handle)
		require.False(t, ok)
		_, ok = s.PullOf(other.Handle)
		require.True(t, ok, "the other send's")
		require.Equal(t, 2, s.Pending())
		s.ErrandDone(x.Handle, StatusOK)
		s.ErrandDone(other.Handle, StatusOK)
		require.Zero(t, s.Pending())
	}
}

// A cancelled message is over as soon as nothing of it is in flight, whatever it
// waits for.
func TestCancelOfASendThatWaits(t *testing.T) {
	s := newTwoSided(t, 4)
	s.post(Receive{Length: 20000, Match: 5})
	rendezvous := s.start(rendezvousOp(OpcodeRendezvousTSend, 20000, 5000))
	s.send(rendezvous)
	deferred := s.start(matchedOp(OpcodeDeferrableSend, 0, 10000))
	s.send(deferred)
	for _, h := range []Handle{rendezvous, deferred} {
		var ev Event
		require.NoError(t, s.in.Cancel(0, h, &ev))
		require.Equal(t, EventDone, ev.Kind)
		require.Equal(t, RCCancelled, ev.Outcome.Code)
	}
}

func TestSetSourceRefusesWideFields(t *testing.T) {
	s := newTwoSided(t, 1)
	h := s.start(rendezvousOp(OpcodeRendezvousSend, 20000, 100))
	require.ErrorIs(t, s.in.SetSource(h, Rendezvous{Index: 0x1000}), ErrRange)
}

func TestLend(t *testing.T) {
	s := newQueueTarget(t)
	g := Region{Base: 0x5000, Length: 100, Key: 3, Job: walkJob, Rights: RightRead}
	x, h, err := s.Lend(s.ep, walkIndex, false, g)
	require.NoError(t, err)
	require.Equal(t, Rendezvous{Generation: 1, PIDonFEP: walkPID, Index: walkIndex, Key: 3}, x)
	require.NoError(t, s.Withdraw(h))
	_, _, err = s.Lend(s.ep, walkIndex, true, g)
	require.ErrorIs(t, err, ErrRange)
	g.Job++
	_, _, err = s.Lend(s.ep, walkIndex, false, g)
	require.ErrorIs(t, err, ErrRange)
	g.Job--
	_, _, err = s.Lend(s.ep, queueIndex, false, g)
	require.ErrorIs(t, err, ErrRange)
	_, _, err = s.Lend(s.ep+1<<16, walkIndex, false, g)
	require.ErrorIs(t, err, ErrNotFound)
}

func TestMatchedSendErrors(t *testing.T) {
	o := rendezvousOp(OpcodeRendezvousSend, 10, 11)
	require.ErrorIs(t, o.Validate(walkMTU), ErrTooLong)
	o = matchedOp(OpcodeDeferrableSend, 0, 10)
	o.Mode = ModeRUDI
	require.ErrorIs(t, o.Validate(walkMTU), ErrOperation)
	o.Mode, o.Form = ModeRUD, FormMedium
	require.ErrorIs(t, o.Validate(walkMTU), ErrOperation)
	s := newTwoSided(t, 1)
	h := s.start(matchedOp(OpcodeSend, 0, 10))
	require.ErrorIs(t, s.in.SetSource(h, source), ErrStale)
	h = s.start(rendezvousOp(OpcodeRendezvousSend, 100, 10))
	s.packets(h)
	require.ErrorIs(t, s.in.SetSource(h, source), ErrStale, "it has begun")
	_, err := NewTarget(TargetConfig{MTU: 1024, Pending: maxSlots + 1})
	require.ErrorContains(t, err, "Pending")
}

func TestMatchedSendsAllocateNothing(t *testing.T) {
	s := newTwoSided(t, 4)
	deferrable, rendezvous := matchedOp(OpcodeDeferrableSend, 0, 10), rendezvousOp(OpcodeRendezvousSend, 100, 10)
	var q TxReq
	var d Decision
	var ev Event
	var x Errand
	var r Request
	buf := make([]byte, 0, 128)
	one := func(h Handle) {
		_, _ = s.in.Next(0, h, &q)
		if s.in.Handed(h, 1) != nil {
			panic("handed")
		}
		n, y := s.in.PutHeader(buf[:cap(buf)], q.Packet)
		_, _ = r.Decode(FormStandard, buf[:n])
		s.Receive(&r, Arrival{Peer: 9, Payload: int(y.Length)}, &d)
		if _, err := s.in.RxRsp(0, q.Packet, FormResponse, d.Response.AppendTo(buf[:0]), &ev); err != nil {
			panic("answer")
		}
	}
	alloctest.Zero(t, "deferrable", func() {
		h, _ := s.in.Start(deferrable)
		one(h)
		_, _ = s.PostReceive(s.ep, queueIndex, Receive{Length: 100})
		s.Target.Errand(&x)
		r.Token, r.BufferOffset = x.Operation.Token, 0
		if s.in.Restart(0, &r, &ev) != nil || ev.Kind != EventReady {
			panic("restart")
		}
		s.ErrandDone(x.Handle, StatusOK)
		if one(h); ev.Outcome.Status != StatusOK {
			panic("outcome")
		}
	})
	alloctest.Zero(t, "rendezvous", func() {
		_, _ = s.PostReceive(s.ep, queueIndex, Receive{Length: 100})
		h, _ := s.in.Start(rendezvous)
		one(h)
		if !s.Target.Errand(&x) {
			panic("errand")
		}
		s.ErrandDone(x.Handle, StatusOK)
		if s.in.Lent(0, h, 90, &ev) != nil || ev.Outcome.Status != StatusOK {
			panic("outcome")
		}
	})
}
