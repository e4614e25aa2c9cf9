// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/internal/step"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// A host that does not take one packet of a write: the initiator hears its reason, and
// nobody places a later byte. Most of these packets would not have been answered by
// themselves.
func TestEndpointFailEachPacket(t *testing.T) {
	const packets = 9
	for _, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD, ses.ModeRUDI} {
		for bad := range packets {
			t.Run(fmt.Sprint(mode, bad), func(t *testing.T) {
				n := newNetwork(t, 1, netFaults{}, 2, nil)
				a, b := n.ends[0], n.ends[1]
				seen, failed := 0, false
				b.fails = func(r *uetcc.Received) ses.ReturnCode {
					require.True(t, !failed || mode == ses.ModeRUDI, "%+v", r)
					if seen++; seen != bad+1 {
						return ses.RCOK
					}
					failed = true
					return ses.RCHostPoisoned
				}
				n.write(mode, packets*netMTU)
				n.run(func() bool { return len(a.events) == 1 })
				require.Equal(t, ses.StatusFailed, a.events[0].Outcome.Status)
				require.Equal(t, ses.RCHostPoisoned, a.events[0].Outcome.Code)
				require.Empty(t, b.whole)
				b.fails = nil
				n.write(mode, packets*netMTU)
				n.run(func() bool { return len(a.events) == 2 })
				require.Equal(t, ses.StatusOK, a.events[1].Outcome.Status, "the next one goes through")
				require.Zero(t, b.e.Usage().Arriving)
			})
		}
	}
}

// All kinds of requests, with a host that fails some of them, where packets are lost: the
// outcome is what the host has done, also when the answers come again.
func TestEndpointFailUnderFaults(t *testing.T) {
	eachNetwork(t, 6, func(t *testing.T, seed uint64, faults netFaults) {
		n := newNetwork(t, seed, faults, 2, nil)
		a, b := n.ends[0], n.ends[1]
		bad := map[uint64]bool{} // by header data, which is the cookie
		b.fails = func(r *uetcc.Received) ses.ReturnCode {
			if n.r.IntN(12) != 0 {
				return ses.RCOK
			}
			bad[uint64(b.rank)] = true
			return ses.RCHostUnsuccessCmpl
		}
		const messages = 24
		for i := range uint64(messages) {
			m := uetcc.Message{To: uetcc.Destination{Address: b.addr, Job: 1}, Mode: ses.Mode(i % 2), Cookie: i, Initiator: uint32(i), Key: 1,
				Offset: i * 20 * netMTU, HasData: true, HeaderData: i}
			a.local[i] = fill(int(1+i%5*i)*100, byte(i))
			start := a.e.Write
			switch i % 4 {
			case 1:
				a.local[i] = binary.BigEndian.AppendUint64(nil, i)
				m.Swap, start = ses.CompareSwap{Atomic: ses.Atomic{Opcode: ses.AtomicSum, Type: ses.TypeUint64}}, a.e.Atomic
			case 2:
				n.post(b, i*20*netMTU, 20*netMTU)
				m.To.Index, start = netQueue, a.e.Send
			}
			m.Length = uint32(len(a.local[i]))
			_, err := start(n.now, &m)
			require.NoError(t, err)
		}
		n.run(func() bool { return len(a.events) == messages })
		for _, ev := range a.events {
			if want := bad[ev.Cookie]; want {
				require.Equal(t, ses.RCHostUnsuccessCmpl, ev.Outcome.Code, "%+v", ev)
				require.NotContains(t, b.whole, ev.Cookie)
			} else {
				require.Equal(t, ses.StatusOK, ev.Outcome.Status, "%+v", ev)
				require.Contains(t, b.whole, ev.Cookie)
			}
		}
		require.NotEmpty(t, bad)
		require.Less(t, len(bad), messages)
	})
}

// A packet that closes its PDC, as the CLOSE_CMD behind it has come before, leaves its message
// broken. The host that does not take the packet either hears of the message once: in the Event.
func TestEndpointFailWhatClosesThePDC(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, nil)
	a, b := n.ends[0], n.ends[1]
	n.write(ses.ModeRUD, netMTU)
	n.endWell(a, 1)
	n.write(ses.ModeRUD, 3*netMTU)
	first := sendAll(n.now, a.e)[0]
	var q pds.Request
	_, err := q.Decode(first.data)
	require.NoError(t, err)
	over := first
	over.data = (&pds.Control{Ctl: pds.CtlCloseCmd, Flags: pds.FlagAR, PSN: q.PSN + 1, SPDCID: q.SPDCID, DPDCID: q.DPDCID}).AppendTo(nil)
	receive(n.now, b.e, over)

	in, reply := uetcc.Datagram{Packet: first.data, Src: first.src, Dst: first.dst}, newReply(b.e)
	var r uetcc.Received
	b.e.Receive(n.now, &in, &reply, &r)
	require.Equal(t, ses.ActionPlace, r.Action)
	require.Zero(t, b.e.Usage().PDCs, "it has closed")
	r.Code = ses.RCHostPoisoned
	require.ErrorIs(t, b.e.Fail(n.now, &in, &reply, &r), pdc.ErrUnknown)
	require.Equal(t, ses.ActionNone, r.Action)
	n.poll(b)
	require.Len(t, b.events, 1)
	require.True(t, b.events[0].Received)
}

// A datagram that the host does not take has no answer, as any other.
func TestEndpointFailDatagram(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, nil)
	a, b := n.ends[0], n.ends[1]
	n.post(b, 0, netMTU)
	asked := 0
	b.fails = func(*uetcc.Received) ses.ReturnCode { asked++; return ses.RCHostPoisoned }
	a.local[1] = fill(100, 1)
	_, err := a.e.Send(0, &uetcc.Message{To: uetcc.Destination{Address: b.addr, Job: 1, Index: netQueue}, Mode: ses.ModeUUD, Length: 100, Cookie: 1, HasData: true})
	require.NoError(t, err)
	n.run(func() bool { return n.q.Len() == 0 && len(a.events) == 1 })
	require.Equal(t, ses.StatusOK, a.events[0].Outcome.Status)
	require.Equal(t, 1, asked)
	require.Empty(t, b.whole)
}

// A host that takes its time: other PDCs, and everything but an acknowledgement on this
// one, go on before it says that it has not placed a packet.
func TestEndpointFailLater(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, nil)
	a, b := n.ends[0], n.ends[1]
	for i, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD} { // a PDC of each
		n.write(mode, 10)
		n.run(func() bool { return len(a.events) == i+1 })
	}
	for _, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD, ses.ModeRUDI} {
		other := ses.ModeROD - mode&1
		a.events = nil
		bad := n.write(mode, 3*netMTU)
		ps := sendAll(n.now, a.e)
		in, reply, r := take(n.now, b.e, ps[0])
		require.Equal(t, ses.ActionPlace, r.Action)

		good := n.write(other, 5*netMTU)
		read := n.read(other, 8)
		b.local[201] = fill(netMTU, 3)
		_, err := b.e.Write(n.now, &uetcc.Message{To: uetcc.Destination{Address: a.addr, Job: 1}, Mode: mode, Key: 1, Length: netMTU, Cookie: 201})
		require.NoError(t, err)
		n.run(func() bool { return len(a.events) == 2 && len(b.events) == 1 })
		for _, ev := range append(a.events, b.events...) {
			require.Equal(t, ses.StatusOK, ev.Outcome.Status)
			require.Contains(t, []uint64{good, read, 201}, ev.Cookie)
		}
		a.events, b.events = nil, nil

		r.Code = ses.RCHostPoisoned
		require.NoError(t, b.e.Fail(n.now, &in, &reply, &r))
		n.carry(b, &reply)
		n.run(func() bool { return len(a.events) == 1 })
		require.Equal(t, bad, a.events[0].Cookie)
		require.Equal(t, ses.RCHostPoisoned, a.events[0].Outcome.Code)
	}
	n.settle()
}

// The rest of a rendezvous send is being read already when the host says that it has not
// placed what came with it: nobody is told that it was received.
func TestEndpointFailWhileTheRestIsRead(t *testing.T) {
	for eager := range uint32(2) {
		s := newTwoSided(t, 1, netFaults{}, knownSources)
		s.postTag(s.b, 0, netMTU, 1, 9)
		s.rendezvous(fill(1000, 5), 0, eager, 1)
		ps := sendAll(s.now, s.a.e)
		require.Len(t, ps, 1)
		in, reply, r := take(s.now, s.b.e, ps[0])
		require.Equal(t, ses.ActionPlace, r.Action)
		s.transmit() // the read is on its way

		r.Code = ses.RCHostPoisoned
		require.NoError(t, s.b.e.Fail(s.now, &in, &reply, &r))
		require.Equal(t, ses.ActionAbort, r.Action)
		s.carry(s.b, &reply)
		s.run(func() bool { return len(s.a.events) == 1 && s.b.e.Usage().Pending == 0 })
		require.Equal(t, ses.RCHostPoisoned, s.a.events[0].Outcome.Code)
		require.Empty(t, s.b.events)
		s.settle()
	}
}

// What cannot fail, is no reason, or comes too late.
func TestEndpointFailErrors(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, nil)
	a, b := n.ends[0], n.ends[1]
	n.write(ses.ModeRUD, 3*netMTU)
	n.read(ses.ModeRUD, 10)
	ps := sendAll(0, a.e)
	in, reply, r := take(0, b.e, ps[0])
	require.NoError(t, r.Err)
	require.ErrorIs(t, b.e.Fail(0, &in, &reply, &r), ses.ErrRange, "RC_OK is no failure")
	before, was := append([]byte(nil), reply.Packet...), r
	for _, c := range []ses.ReturnCode{ses.RCNull, ses.RCUnsupportedSize, ses.RCNoMatch, ses.RCPermViolation, 63} {
		r.Code = c
		require.ErrorIs(t, b.e.Fail(0, &in, &reply, &r), ses.ErrRange)
	}
	was.Code = r.Code
	require.Equal(t, was, r)
	require.Equal(t, before, reply.Packet, "nothing has changed")
	r.Code = ses.RCATPerm
	require.NoError(t, b.e.Fail(0, &in, &reply, &r))
	require.Equal(t, ses.ActionAbort, r.Action)
	require.ErrorIs(t, b.e.Fail(0, &in, &reply, &r), ses.ErrStale, "once")

	in, reply, r = take(0, b.e, ps[1])
	require.Equal(t, step.Sticky, r.Check)
	require.Equal(t, ses.RCATPerm, r.Code)
	require.ErrorIs(t, b.e.Fail(0, &in, &reply, &r), ses.ErrStale, "nothing is to be placed")
	in, reply, r = take(0, b.e, ps[3])
	require.Equal(t, ses.ActionRead, r.Action)
	r.Code = ses.RCATPerm
	require.ErrorIs(t, b.e.Fail(0, &in, &reply, &r), ses.ErrStale, "that is for Refuse")
	r.Action = ses.ActionAtomic
	require.ErrorIs(t, b.e.Fail(0, &in, &reply, &r), ses.ErrStale, "as is the value of an atomic")

	n.write(ses.ModeRUD, 10)
	in, reply, r = take(0, b.e, sendAll(0, a.e)[0])
	r.Code = ses.RCATPerm
	short := uetcc.Datagram{}
	require.ErrorIs(t, b.e.Fail(0, &in, &short, &r), pdc.ErrShortBuffer)
	require.NoError(t, b.e.PDS().Abort(0, r.PDC))
	require.ErrorIs(t, b.e.Fail(0, &in, &reply, &r), pdc.ErrUnknown)
	require.Empty(t, reply.Packet)
}

func TestEndpointFailAllocs(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, nil)
	a, b := n.ends[0], n.ends[1]
	n.write(ses.ModeRUD, 10)
	p := sendAll(0, a.e)[0]
	in, reply, first := take(0, b.e, p)
	first.Code = ses.RCATPerm
	alloctest.Zero(t, "Fail", func() {
		r := first
		if err := b.e.Fail(0, &in, &reply, &r); err != nil {
			panic(err)
		}
	})
}

// A host that has no data for a read says so whatever its length, in the place of the
// data, and once is enough: what is sent again says the same.
func TestEndpointRefusesReads(t *testing.T) {
	eachNetwork(t, 3, func(t *testing.T, seed uint64, faults netFaults) {
		n := newNetwork(t, seed, faults, 2, nil)
		a, b := n.ends[0], n.ends[1]
		n.refuses = true
		lengths := []int{8, 100, netMTU, 10*netMTU + 1}
		for i, l := range lengths {
			n.read(ses.Mode(i%2), l)
		}
		n.run(func() bool { return len(a.events) == len(lengths) && b.e.Usage().Answers == 0 })
		for _, ev := range a.events {
			require.Equal(t, ses.RCHostPoisoned, ev.Outcome.Code, "%+v", ev)
		}
		n.refuses = false
		a.events = nil
		n.readAll(ses.ModeRUD, lengths...)
	})
}

// The data of a RUDI read is part of its reply.
func TestEndpointFailRUDIRead(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, nil)
	a, b := n.ends[0], n.ends[1]
	n.read(ses.ModeRUDI, 100)
	p := sendAll(0, a.e)[0]
	in, reply, r := take(0, b.e, p)
	require.EqualValues(t, 100, reply.Payload.Length)
	require.Equal(t, pds.NominalSize(8+len(reply.Packet)+100), reply.Size, "with its data")
	r.Code = ses.RCATNoTrans
	require.NoError(t, b.e.Fail(0, &in, &reply, &r))
	require.Zero(t, reply.Payload)
	require.Equal(t, pds.NominalSize(8+len(reply.Packet)), reply.Size)
	receive(0, a.e, onWire(&reply))
	n.poll(a)
	require.Equal(t, ses.RCATNoTrans, a.events[0].Outcome.Code)
}

// What a late answer says besides its data: the generation of the request, and the
// congestion state that the caller has for it.
func TestEndpointLateAnswerHeaders(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, nil)
	a, b := n.ends[0], n.ends[1]
	gen, err := b.e.Target().Renew(0, 1<<16, 0)
	require.NoError(t, err)
	_, err = b.e.Target().Register(1<<16, 0, ses.Region{Length: netMemory, Key: 2, Job: ses.AnyJob, Rights: ses.RightRead})
	require.NoError(t, err)
	require.NotZero(t, gen)
	for _, refused := range []bool{false, true} {
		a.local[1] = make([]byte, 8)
		_, err = a.e.Read(0, &uetcc.Message{To: uetcc.Destination{Address: b.addr, Job: 1, Generation: gen}, Key: 2, Length: 8, Cookie: 1})
		require.NoError(t, err)
		p := sendAll(0, a.e)[0]
		_, reply, r := take(0, b.e, p)
		require.NotZero(t, r.Answer)
		reply.State = pdc.AckState{Pend: 64, Restore: true}
		reply.Packet = reply.Packet[: 0 : uetcc.HeaderMax-1] // too short, and then not
		require.Equal(t, pdc.ErrShortBuffer, b.e.Answer(0, r.Answer, make([]byte, 8), &reply))
		require.Equal(t, pdc.ErrShortBuffer, b.e.Refuse(0, r.Answer, ses.RCHostPoisoned, &reply))
		reply.Packet, reply.Payload.Length = newDatagram().Packet, 5
		require.ErrorIs(t, b.e.Answer(0, r.Answer+1<<16, make([]byte, 8), &reply), ses.ErrStale)
		require.ErrorIs(t, b.e.Answer(0, r.Answer|0xffff, make([]byte, 8), &reply), ses.ErrStale)
		require.ErrorIs(t, b.e.Refuse(0, r.Answer+1<<16, ses.RCHostPoisoned, &reply), ses.ErrStale)
		if refused {
			for _, code := range []ses.ReturnCode{ses.RCNull, ses.RCOK, 0x40, 0xff} {
				require.Equal(t, ses.ErrRange, b.e.Refuse(0, r.Answer, code, &reply))
			}
			require.NoError(t, b.e.Refuse(0, r.Answer, ses.RCHostPoisoned, &reply))
		} else {
			require.NoError(t, b.e.Answer(0, r.Answer, make([]byte, 8), &reply))
		}
		require.Zero(t, reply.Payload)
		require.Equal(t, pds.NominalSize(8+len(reply.Packet)), reply.Size)
		var ack pds.AckCC
		at, err := ack.Decode(reply.Packet)
		require.NoError(t, err)
		var st pds.NSCCState
		require.True(t, ack.NSCC(&st))
		require.EqualValues(t, 64, st.CwndPend)
		require.True(t, st.Restore)
		if refused {
			var y ses.Response
			_, err = y.Decode(reply.Packet[at:])
			require.NoError(t, err)
			require.Equal(t, gen, y.Generation)
		}
		receive(0, a.e, onWire(&reply))
	}
}
