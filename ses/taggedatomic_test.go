// SPDX-License-Identifier: Apache-2.0

package ses

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// taggedSum turns a packet of the packet walk into a tagged atomic: a sum of one
// 64-bit number.
func taggedSum(tag uint64) func(*Request, *Arrival) {
	return func(r *Request, a *Arrival) {
		tagged(tag)(r, a)
		r.Opcode, r.RequestLength, a.Payload = OpcodeTSendAtomic, 8, 8
		r.Flags |= flagsOnly
		r.Swap.Atomic = Atomic{Opcode: AtomicSum, Type: TypeUint64}
	}
}

func TestTaggedAtomicUsesTheBufferOfItsTag(t *testing.T) {
	s := newQueueTarget(t)
	s.post(Receive{Base: 0x1000, Length: 64, Match: 5, Cookie: 1})
	s.post(Receive{Base: 0x2000, Length: 64, Match: 6, Cookie: 2})
	d := s.send(0, taggedSum(6), func(r *Request, _ *Arrival) { r.BufferOffset = 16 })
	require.Equal(t, ActionAtomic, d.Action)
	require.Equal(t, uint64(0x2010), d.Address)
	require.Equal(t, uint64(2), d.Cookie)
	require.Equal(t, uint32(8), d.Length)
	require.False(t, d.Guaranteed)
	require.True(t, d.Complete)
	require.Equal(t, RCNoMatch, s.send(0, taggedSum(6)).Response.ReturnCode, "the buffer is used up")
	d = s.send(0, taggedSum(5), func(r *Request, _ *Arrival) { r.Opcode = OpcodeTSendFetchingAtomic })
	require.Equal(t, ActionAtomic, d.Action)
	require.True(t, d.Guaranteed, "it brings data")
}

func TestTaggedAtomicRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Request, *Arrival)
		check  Check
		code   ReturnCode
	}{
		"beyond the buffer":       {func(r *Request, _ *Arrival) { r.BufferOffset = 57 }, checkPacketEnd, RCBadAddr},
		"offset that wraps":       {func(r *Request, _ *Arrival) { r.BufferOffset = ^uint64(0) }, checkPacketEnd, RCBadAddr},
		"longer than the buffer":  {func(r *Request, a *Arrival) { r.RequestLength, a.Payload = 72, 72 }, checkPacketEnd, RCBadAddr},
		"no such operation":       {func(r *Request, _ *Arrival) { r.Swap.Opcode = AtomicProd }, checkAtomic, RCAMOUnsupportedOp},
		"not aligned":             {func(r *Request, _ *Arrival) { r.BufferOffset = 4 }, checkAtomic, RCAMOUnaligned},
		"of several packets":      {func(r *Request, _ *Arrival) { r.Flags &^= FlagEOM; r.RequestLength = 16384 }, checkLengths, RCOpViolation},
		"may not happen twice":    {func(_ *Request, a *Arrival) { a.Mode = ModeRUDI }, checkOpcode, RCUnsupportedOp},
		"a form without the tag":  {func(r *Request, _ *Arrival) { r.Form = FormSmall }, checkOpcode, RCUnsupportedOp},
		"an index without queues": {func(r *Request, _ *Arrival) { r.Index, r.Generation = walkIndex, 1 }, checkOpcode, RCUnsupportedOp},
	} {
		t.Run(name, func(t *testing.T) {
			s := newQueueTarget(t)
			s.post(Receive{Base: 0x1000, Length: 64})
			d := s.send(0, taggedSum(0), c.change)
			require.Equal(t, c.check, d.Check)
			require.Equal(t, c.code, d.Response.ReturnCode)
			require.Equal(t, ActionNone, d.Action)
			require.Equal(t, ActionAtomic, s.send(0, taggedSum(0)).Action, "the buffer is still there")
		})
	}
}
