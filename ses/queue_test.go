// SPDX-License-Identifier: Apache-2.0

package ses

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

const queueIndex = ResourceIndex(1)

// newQueueTarget is the packet walk's target with a receive queue beside the region.
func newQueueTarget(t *testing.T) *walkTarget {
	s := newWalkTarget(t)
	_, err := s.OpenIndex(0, s.ep, queueIndex, Index{Kind: IndexQueue, Job: AnyJob})
	require.NoError(t, err)
	return s
}

func (s *walkTarget) post(r Receive) Handle {
	s.t.Helper()
	h, err := s.PostReceive(s.ep, queueIndex, r)
	require.NoError(s.t, err)
	return h
}

// tagged turns a packet of the packet walk into one of a tagged send.
func tagged(tag uint64) func(*Request, *Arrival) {
	return func(r *Request, _ *Arrival) {
		r.Opcode, r.Index, r.Generation, r.Key = OpcodeTaggedSend, queueIndex, 0, tag
	}
}

func TestQueueMatchesInOrderOfPosting(t *testing.T) {
	s := newQueueTarget(t)
	s.post(Receive{Base: 0x1000, Length: 16384, Match: 5, Cookie: 1})
	s.post(Receive{Base: 0x9000, Length: 16384, Match: 6, Cookie: 2})
	s.post(Receive{Base: 0xf000, Length: 16384, Match: 0x106, Ignore: 0xff00, Cookie: 3})
	require.Equal(t, uint64(2), s.send(2, tagged(6)).Cookie, "whichever packet comes first finds the buffer")
	d := s.send(0, tagged(6))
	require.Equal(t, uint64(0x9000), d.Address, "later packets stay with it")
	other := func(r *Request, _ *Arrival) { r.MessageID = 2 }
	require.Equal(t, uint64(3), s.send(0, tagged(6), other).Cookie, "wildcard bits")
	d = s.send(0, tagged(6), func(r *Request, _ *Arrival) { r.MessageID = 3 })
	require.Equal(t, checkKey, d.Check)
	require.Equal(t, RCNoMatch, d.Response.ReturnCode)
	untagged := func(r *Request, a *Arrival) { r.Opcode, r.MessageID = OpcodeSend, 4 }
	require.Equal(t, uint64(1), s.send(0, tagged(0), untagged).Cookie)
}

// A send in packets of a larger MTU, whose last one is short enough and comes first, costs no buffer: the send that comes
// again in shorter packets finds it, before those that were posted later.
func TestQueueTakesABufferBack(t *testing.T) {
	s := newQueueTarget(t)
	for cookie := range uint64(2) {
		s.post(Receive{Base: cookie << 16, Length: 16384, Match: 5, Cookie: cookie + 1})
	}
	length := func(r *Request, _ *Arrival) { r.RequestLength = 3 * walkMTU }
	last := func(r *Request, _ *Arrival) { r.MessageOffset = 2 * walkMTU }
	require.Equal(t, uint64(1), s.send(3, tagged(5), length, last).Cookie)
	d := s.send(0, tagged(5), length, func(_ *Request, a *Arrival) { a.Payload = 2 * walkMTU })
	require.Equal(t, RCOpViolation, d.Response.ReturnCode)
	require.EqualValues(t, walkMTU, d.Response.ModifiedLength)
	require.Equal(t, ActionNone, d.Action, "the buffer still waits")
	require.Zero(t, s.Messages())
	other := func(r *Request, _ *Arrival) { r.MessageID++ }
	require.Equal(t, uint64(1), s.send(0, tagged(5), length, other).Cookie)
	require.Equal(t, uint64(1), s.send(1, tagged(5), length, other).Cookie)
	d = s.send(3, tagged(5), length, last, other)
	require.True(t, d.Complete)
}

// Scenario M5 of the fault list, target side.
func TestQueueNoMatchThenPosted(t *testing.T) {
	s := newQueueTarget(t)
	one := func(r *Request, _ *Arrival) { r.Flags |= flagsOnly; r.RequestLength = 4096 }
	require.Equal(t, RCNoMatch, s.send(0, tagged(5), one).Response.ReturnCode)
	s.post(Receive{Length: 4096, Match: 5})
	d := s.send(0, tagged(5), one)
	require.Equal(t, RCOK, d.Response.ReturnCode)
	require.True(t, d.Complete)
}

func TestQueueRODNoMatchStopsTheQueue(t *testing.T) {
	s := newQueueTarget(t)
	one := func(r *Request, a *Arrival) { r.Flags |= flagsOnly; r.RequestLength, a.Mode = 4096, ModeROD }
	require.Equal(t, RCNoMatch, s.send(0, tagged(5), one).Response.ReturnCode)
	s.post(Receive{Length: 4096, Match: 5})
	require.Equal(t, RCDisabledGen, s.send(0, tagged(5), one).Response.ReturnCode, "must not overtake")
	state, err := s.IndexState(s.ep, queueIndex)
	require.NoError(t, err)
	require.Equal(t, IndexGenDisabled, state)
	require.NoError(t, s.SetIndexState(s.ep, queueIndex, IndexEnabled))
	require.Equal(t, RCOK, s.send(0, tagged(5), one).Response.ReturnCode)
}

// A job that a queue is not open to cannot stop it.
func TestQueueRODNoMatchOfAnotherJob(t *testing.T) {
	s := newWalkTarget(t)
	_, err := s.OpenIndex(0, s.ep, queueIndex, Index{Kind: IndexQueue, Job: 102})
	require.NoError(t, err)
	d := s.send(0, tagged(0), func(r *Request, a *Arrival) { a.Mode = ModeROD })
	require.Equal(t, RCNoMatch, d.Response.ReturnCode)
	state, err := s.IndexState(s.ep, queueIndex)
	require.NoError(t, err)
	require.Equal(t, IndexEnabled, state)
}

func TestQueueTruncates(t *testing.T) {
	s := newQueueTarget(t)
	s.post(Receive{Base: 0x1000, Length: 5000})
	want := []uint32{4096, 904, 0, 0}
	for i := range uint32(4) {
		d := s.send(i, tagged(0))
		require.Equal(t, CheckNone, d.Check)
		require.Equal(t, want[i], d.Length)
		require.Equal(t, ResponseExplicit, d.Response.Opcode)
		require.Equal(t, RCOK, d.Response.ReturnCode)
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
		s.post(Receive{Base: base, Length: 5000})
		for _, i := range order {
			d := s.send(i, tagged(0))
			require.Equal(t, ActionPlace, d.Action)
			require.Equal(t, i*4096, d.Offset)
			require.Equal(t, uint64(base)+min(uint64(d.Offset), 5000), d.Address)
			require.LessOrEqual(t, d.Address-base+uint64(d.Length), uint64(5000))
		}
	}
}

func TestQueueBufferWithoutRoom(t *testing.T) {
	s := newQueueTarget(t)
	s.post(Receive{Cookie: 5})
	d := s.send(1, tagged(0))
	require.Equal(t, RCTooLong, d.Response.ReturnCode)
	require.Equal(t, ActionAbort, d.Action)
	require.Equal(t, uint64(5), d.Cookie)
	s.post(Receive{Cookie: 6})
	d = s.send(0, tagged(0), func(r *Request, a *Arrival) { r.Flags |= FlagEOM; r.RequestLength, a.Payload, r.MessageID = 0, 0, 2 })
	require.Equal(t, CheckNone, d.Check, "an empty message fits")
	require.Equal(t, uint64(6), d.Cookie)
}

func TestQueueJobRestriction(t *testing.T) {
	s := newWalkTarget(t)
	_, err := s.OpenIndex(0, s.ep, queueIndex, Index{Kind: IndexQueue, Job: 102})
	require.NoError(t, err)
	s.post(Receive{Length: 16384})
	require.Equal(t, checkJobAllowed, s.send(0, tagged(0)).Check)
	require.NotZero(t, s.entries[int(s.ep.slot())*s.perProcess+int(queueIndex)].head, "the buffer is still there")
}

// A message that began as a send does not write to a region, nor the other way.
func TestQueueMessageStaysASend(t *testing.T) {
	s := newQueueTarget(t)
	s.post(Receive{Length: 16384})
	s.send(0, tagged(0))
	require.Equal(t, checkSameBuffer, s.send(1).Check)

	s = newQueueTarget(t)
	s.post(Receive{Length: 16384})
	s.send(0)
	d := s.send(1, tagged(0))
	require.Equal(t, checkSameBuffer, d.Check)
	require.Equal(t, RCPermViolation, d.Response.ReturnCode)
}

func TestQueueDatagram(t *testing.T) {
	s := newQueueTarget(t)
	s.post(Receive{Length: 4096, Cookie: 1})
	dgram := func(r *Request, a *Arrival) {
		r.Opcode, r.Flags, r.MessageID, r.RequestLength, a.Mode = OpcodeDatagramSend, FlagRel|flagsOnly, 0, 4096, ModeUUD
	}
	d := s.send(0, tagged(0), dgram)
	require.True(t, d.Complete)
	require.Equal(t, ResponseNone, d.Response.Opcode)
	d = s.send(0, tagged(0), dgram)
	require.Equal(t, checkKey, d.Check)
	require.Equal(t, ResponseNone, d.Response.Opcode, "no answer to a datagram, ever")
	require.False(t, d.Guaranteed)
	d = s.send(0, tagged(0), dgram, func(r *Request, _ *Arrival) { r.Flags, r.RequestLength = FlagSOM|FlagRel, 8192 })
	require.Equal(t, checkLengths, d.Check, "a datagram is one packet")
	s.post(Receive{Length: 4096, Cookie: 2})
	d = s.send(0, tagged(0), dgram, func(r *Request, _ *Arrival) { r.MessageID = 5 })
	require.Equal(t, checkLengths, d.Check, "and no message that could be named")
	require.Equal(t, ActionNone, d.Action)
}

func TestQueueCancel(t *testing.T) {
	s := newQueueTarget(t)
	var h [4]Handle
	for i := range h {
		h[i] = s.post(Receive{Length: 1, Match: uint64(i)})
	}
	for _, i := range []int{1, 3, 0, 2} {
		require.NoError(t, s.CancelReceive(h[i]))
		require.ErrorIs(t, s.CancelReceive(h[i]), ErrNotFound)
	}
	s.post(Receive{Length: 1, Match: 9, Cookie: 9})
	one := func(r *Request, a *Arrival) { r.Flags |= flagsOnly; r.RequestLength, a.Payload = 1, 1 }
	require.Equal(t, uint64(9), s.send(0, tagged(9), one).Cookie)
}

// A resource index that was closed and opened again has nothing to do with the
// messages of its former life, also when it is of another kind now.
func TestQueueMessageEndsWithItsIndex(t *testing.T) {
	again := func(s *walkTarget, ri ResourceIndex, kind IndexKind) func(*Request, *Arrival) {
		require.NoError(t, s.CloseIndex(0, s.ep, ri))
		gen, err := s.OpenIndex(0, s.ep, ri, Index{Kind: kind, Job: AnyJob})
		require.NoError(t, err)
		return func(r *Request, _ *Arrival) { r.Index, r.Generation = ri, gen }
	}
	s := newQueueTarget(t)
	s.post(Receive{Length: 16384})
	s.send(0, tagged(0))
	d := s.send(1, tagged(0), again(s, queueIndex, IndexQueue))
	require.Equal(t, checkSameBuffer, d.Check)

	s = newQueueTarget(t)
	s.send(0)
	d = s.send(1, tagged(0), again(s, walkIndex, IndexQueue))
	require.Equal(t, checkSameBuffer, d.Check)

	s = newWalkTarget(t)
	s.send(0)
	gen, err := s.Renew(0, s.ep, walkIndex)
	require.NoError(t, err)
	d = s.send(1, func(r *Request, _ *Arrival) { r.Generation = gen })
	require.Equal(t, checkSameBuffer, d.Check)
	require.Equal(t, RCPermViolation, d.Response.ReturnCode)
}
