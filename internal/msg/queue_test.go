// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/step"
	"github.com/uetcc/uetcc/ses"
)

const queueIndex = ses.ResourceIndex(1)

// newQueueTarget is the packet walk's target with a receive queue beside the region.
func newQueueTarget(t *testing.T) *walkTarget {
	s := newWalkTarget(t)
	_, err := s.OpenIndex(0, s.ep, queueIndex, ses.Index{Kind: ses.IndexQueue, Job: ses.AnyJob})
	require.NoError(t, err)
	return s
}

func (s *walkTarget) post(r ses.Receive) ses.Handle {
	s.t.Helper()
	h, err := s.PostReceive(s.ep, queueIndex, r)
	require.NoError(s.t, err)
	return h
}

// tagged turns a packet of the packet walk into one of a tagged send.
func tagged(tag uint64) func(*ses.Request, *Arrival) {
	return func(r *ses.Request, _ *Arrival) {
		r.Opcode, r.Index, r.Generation, r.Key = ses.OpcodeTaggedSend, queueIndex, 0, tag
	}
}

func TestQueueMatchesInOrderOfPosting(t *testing.T) {
	s := newQueueTarget(t)
	s.post(ses.Receive{Base: 0x1000, Length: 16384, Match: 5, Cookie: 1})
	s.post(ses.Receive{Base: 0x9000, Length: 16384, Match: 6, Cookie: 2})
	s.post(ses.Receive{Base: 0xf000, Length: 16384, Match: 0x106, Ignore: 0xff00, Cookie: 3})
	require.Equal(t, uint64(2), s.send(2, tagged(6)).Cookie, "whichever packet comes first finds the buffer")
	d := s.send(0, tagged(6))
	require.Equal(t, uint64(0x9000), d.Address, "later packets stay with it")
	other := func(r *ses.Request, _ *Arrival) { r.MessageID = 2 }
	require.Equal(t, uint64(3), s.send(0, tagged(6), other).Cookie, "wildcard bits")
	d = s.send(0, tagged(6), func(r *ses.Request, _ *Arrival) { r.MessageID = 3 })
	require.Equal(t, step.Key, d.Check)
	require.Equal(t, ses.RCNoMatch, d.Response.ReturnCode)
	untagged := func(r *ses.Request, a *Arrival) { r.Opcode, r.MessageID = ses.OpcodeSend, 4 }
	require.Equal(t, uint64(1), s.send(0, tagged(0), untagged).Cookie)
}

// A send in packets of a larger MTU, whose last one is short enough and comes first, costs no buffer: the send that comes
// again in shorter packets finds it, before those that were posted later.
func TestQueueTakesABufferBack(t *testing.T) {
	s := newQueueTarget(t)
	for cookie := range uint64(2) {
		s.post(ses.Receive{Base: cookie << 16, Length: 16384, Match: 5, Cookie: cookie + 1})
	}
	length := func(r *ses.Request, _ *Arrival) { r.RequestLength = 3 * walkMTU }
	last := func(r *ses.Request, _ *Arrival) { r.MessageOffset = 2 * walkMTU }
	require.Equal(t, uint64(1), s.send(3, tagged(5), length, last).Cookie)
	d := s.send(0, tagged(5), length, func(_ *ses.Request, a *Arrival) { a.Payload = 2 * walkMTU })
	require.Equal(t, ses.RCOpViolation, d.Response.ReturnCode)
	require.EqualValues(t, walkMTU, d.Response.ModifiedLength)
	require.Equal(t, ses.ActionNone, d.Action, "the buffer still waits")
	require.Zero(t, s.Messages())
	other := func(r *ses.Request, _ *Arrival) { r.MessageID++ }
	require.Equal(t, uint64(1), s.send(0, tagged(5), length, other).Cookie)
	require.Equal(t, uint64(1), s.send(1, tagged(5), length, other).Cookie)
	d = s.send(3, tagged(5), length, last, other)
	require.True(t, d.Complete)
}

// Scenario M5 of the fault list, target side.
func TestQueueNoMatchThenPosted(t *testing.T) {
	s := newQueueTarget(t)
	one := func(r *ses.Request, _ *Arrival) { r.Flags |= flagsOnly; r.RequestLength = 4096 }
	require.Equal(t, ses.RCNoMatch, s.send(0, tagged(5), one).Response.ReturnCode)
	s.post(ses.Receive{Length: 4096, Match: 5})
	d := s.send(0, tagged(5), one)
	require.Equal(t, ses.RCOK, d.Response.ReturnCode)
	require.True(t, d.Complete)
}

func TestQueueRODNoMatchStopsTheQueue(t *testing.T) {
	s := newQueueTarget(t)
	one := func(r *ses.Request, a *Arrival) {
		r.Flags |= flagsOnly
		r.RequestLength, a.Mode = 4096, ses.ModeROD
	}
	require.Equal(t, ses.RCNoMatch, s.send(0, tagged(5), one).Response.ReturnCode)
	s.post(ses.Receive{Length: 4096, Match: 5})
	require.Equal(t, ses.RCDisabledGen, s.send(0, tagged(5), one).Response.ReturnCode, "must not overtake")
	e, _, _ := s.entryOf(s.ep, queueIndex)
	require.Equal(t, ses.IndexGenDisabled, e.state)
	require.NoError(t, s.SetIndexState(s.ep, queueIndex, ses.IndexEnabled))
	require.Equal(t, ses.RCOK, s.send(0, tagged(5), one).Response.ReturnCode)
}

// A job that a queue is not open to cannot stop it.
func TestQueueRODNoMatchOfAnotherJob(t *testing.T) {
	s := newWalkTarget(t)
	_, err := s.OpenIndex(0, s.ep, queueIndex, ses.Index{Kind: ses.IndexQueue, Job: 102})
	require.NoError(t, err)
	d := s.send(0, tagged(0), func(r *ses.Request, a *Arrival) { a.Mode = ses.ModeROD })
	require.Equal(t, ses.RCNoMatch, d.Response.ReturnCode)
	e, _, _ := s.entryOf(s.ep, queueIndex)
	require.Equal(t, ses.IndexEnabled, e.state)
}

func TestQueueTruncates(t *testing.T) {
	s := newQueueTarget(t)
	s.post(ses.Receive{Base: 0x1000, Length: 5000})
	want := []uint32{4096, 904, 0, 0}
	for i := range uint32(4) {
		d := s.send(i, tagged(0))
		require.Equal(t, step.None, d.Check)
		require.Equal(t, want[i], d.Length)
		require.Equal(t, ses.ResponseExplicit, d.Response.Opcode)
		require.Equal(t, ses.RCOK, d.Response.ReturnCode)
		require.Equal(t, uint32(5000), d.Response.ModifiedLength)
		require.True(t, d.Guaranteed)
	}
}

// What has no place any more is nothing at the end of the buffer, so that who slices its
// memory at the address stays inside, whatever peers send.
func TestQueueTruncatesToTheBuffersEnd(t *testing.T) {
	const base = math.MaxUint64 - 5000
	for _, order := range [][]uint32{{0, 1, 2, 3}, {3, 2, 1, 0}} {
		s := newQueueTarget(t)
		s.post(ses.Receive{Base: base, Length: 5000})
		for _, i := range order {
			d := s.send(i, tagged(0))
			require.Equal(t, ses.ActionPlace, d.Action)
			require.Equal(t, i*4096, d.Offset)
			require.Equal(t, uint64(base)+min(uint64(d.Offset), 5000), d.Address)
			require.LessOrEqual(t, d.Address-base+uint64(d.Length), uint64(5000))
		}
	}
}

func TestQueueBufferWithoutRoom(t *testing.T) {
	s := newQueueTarget(t)
	s.post(ses.Receive{Cookie: 5})
	d := s.send(1, tagged(0))
	require.Equal(t, ses.RCTooLong, d.Response.ReturnCode)
	require.Equal(t, ses.ActionAbort, d.Action)
	require.Equal(t, uint64(5), d.Cookie)
	s.post(ses.Receive{Cookie: 6})
	d = s.send(0, tagged(0), func(r *ses.Request, a *Arrival) {
		r.Flags |= ses.FlagEOM
		r.RequestLength, a.Payload, r.MessageID = 0, 0, 2
	})
	require.Equal(t, step.None, d.Check, "an empty message fits")
	require.Equal(t, uint64(6), d.Cookie)
}

func TestQueueJobRestriction(t *testing.T) {
	s := newWalkTarget(t)
	_, err := s.OpenIndex(0, s.ep, queueIndex, ses.Index{Kind: ses.IndexQueue, Job: 102})
	require.NoError(t, err)
	s.post(ses.Receive{Length: 16384})
	require.Equal(t, step.JobAllowed, s.send(0, tagged(0)).Check)
	require.NotZero(t, s.entries[int(slotOf(s.ep))*s.perProcess+int(queueIndex)].queue.Head, "the buffer is still there")
}

// A message that began as a send does not write to a region, nor the other way.
func TestQueueMessageStaysASend(t *testing.T) {
	s := newQueueTarget(t)
	s.post(ses.Receive{Length: 16384})
	s.send(0, tagged(0))
	require.Equal(t, step.SameBuffer, s.send(1).Check)

	s = newQueueTarget(t)
	s.post(ses.Receive{Length: 16384})
	s.send(0)
	d := s.send(1, tagged(0))
	require.Equal(t, step.SameBuffer, d.Check)
	require.Equal(t, ses.RCPermViolation, d.Response.ReturnCode)
}

func TestQueueDatagram(t *testing.T) {
	s := newQueueTarget(t)
	s.post(ses.Receive{Length: 4096, Cookie: 1})
	dgram := func(r *ses.Request, a *Arrival) {
		r.Opcode, r.Flags, r.MessageID, r.RequestLength, a.Mode = ses.OpcodeDatagramSend, ses.FlagRel|flagsOnly, 0, 4096, ses.ModeUUD
	}
	d := s.send(0, tagged(0), dgram)
	require.True(t, d.Complete)
	require.Equal(t, ses.ResponseNone, d.Response.Opcode)
	d = s.send(0, tagged(0), dgram)
	require.Equal(t, step.Key, d.Check)
	require.Equal(t, ses.ResponseNone, d.Response.Opcode, "no answer to a datagram, ever")
	require.False(t, d.Guaranteed)
	d = s.send(0, tagged(0), dgram, func(r *ses.Request, _ *Arrival) { r.Flags, r.RequestLength = ses.FlagSOM|ses.FlagRel, 8192 })
	require.Equal(t, step.Lengths, d.Check, "a datagram is one packet")
	s.post(ses.Receive{Length: 4096, Cookie: 2})
	d = s.send(0, tagged(0), dgram, func(r *ses.Request, _ *Arrival) { r.MessageID = 5 })
	require.Equal(t, step.Lengths, d.Check, "and no message that could be named")
	require.Equal(t, ses.ActionNone, d.Action)
}

func TestQueueCancel(t *testing.T) {
	s := newQueueTarget(t)
	var h [4]ses.Handle
	for i := range h {
		h[i] = s.post(ses.Receive{Length: 1, Match: uint64(i)})
	}
	for _, i := range []int{1, 3, 0, 2} {
		require.NoError(t, s.CancelReceive(h[i]))
		require.ErrorIs(t, s.CancelReceive(h[i]), ses.ErrNotFound)
	}
	s.post(ses.Receive{Length: 1, Match: 9, Cookie: 9})
	one := func(r *ses.Request, a *Arrival) { r.Flags |= flagsOnly; r.RequestLength, a.Payload = 1, 1 }
	require.Equal(t, uint64(9), s.send(0, tagged(9), one).Cookie)
}

// A resource index that was closed and opened again has nothing to do with the
// messages of its former life, also when it is of another kind now.
func TestQueueMessageEndsWithItsIndex(t *testing.T) {
	again := func(s *walkTarget, ri ses.ResourceIndex, kind ses.IndexKind) func(*ses.Request, *Arrival) {
		require.NoError(t, s.CloseIndex(0, s.ep, ri))
		gen, err := s.OpenIndex(0, s.ep, ri, ses.Index{Kind: kind, Job: ses.AnyJob})
		require.NoError(t, err)
		return func(r *ses.Request, _ *Arrival) { r.Index, r.Generation = ri, gen }
	}
	s := newQueueTarget(t)
	s.post(ses.Receive{Length: 16384})
	s.send(0, tagged(0))
	d := s.send(1, tagged(0), again(s, queueIndex, ses.IndexQueue))
	require.Equal(t, step.SameBuffer, d.Check)

	s = newQueueTarget(t)
	s.send(0)
	d = s.send(1, tagged(0), again(s, walkIndex, ses.IndexQueue))
	require.Equal(t, step.SameBuffer, d.Check)

	s = newWalkTarget(t)
	s.send(0)
	gen, err := s.Renew(0, s.ep, walkIndex)
	require.NoError(t, err)
	d = s.send(1, func(r *ses.Request, _ *Arrival) { r.Generation = gen })
	require.Equal(t, step.SameBuffer, d.Check)
	require.Equal(t, ses.RCPermViolation, d.Response.ReturnCode)
}
