// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/step"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// taggedSum turns a packet of the packet walk into a tagged atomic: a sum of one
// 64-bit number.
func taggedSum(tag uint64) func(*ses.Request, *Arrival) {
	return func(r *ses.Request, a *Arrival) {
		tagged(tag)(r, a)
		r.Opcode, r.RequestLength, a.Payload = ses.OpcodeTSendAtomic, 8, 8
		r.Flags |= flagsOnly
		r.Swap.Atomic = ses.Atomic{Opcode: ses.AtomicSum, Type: ses.TypeUint64}
	}
}

func TestTaggedAtomicUsesTheBufferOfItsTag(t *testing.T) {
	s := newQueueTarget(t)
	s.post(ses.Receive{Base: 0x1000, Length: 64, Match: 5, Cookie: 1})
	s.post(ses.Receive{Base: 0x2000, Length: 64, Match: 6, Cookie: 2})
	d := s.send(0, taggedSum(6), func(r *ses.Request, _ *Arrival) { r.BufferOffset = 16 })
	require.Equal(t, ses.ActionAtomic, d.Action)
	require.Equal(t, uint64(0x2010), d.Address)
	require.Equal(t, uint64(2), d.Cookie)
	require.Equal(t, uint32(8), d.Length)
	require.False(t, d.Guaranteed)
	require.True(t, d.Complete)
	require.Equal(t, ses.RCNoMatch, s.send(0, taggedSum(6)).Response.ReturnCode, "the buffer is used up")
	d = s.send(0, taggedSum(5), func(r *ses.Request, _ *Arrival) { r.Opcode = ses.OpcodeTSendFetchingAtomic })
	require.Equal(t, ses.ActionAtomic, d.Action)
	require.True(t, d.Guaranteed, "it brings data")
}

func TestTaggedAtomicRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*ses.Request, *Arrival)
		check  ses.Check
		code   ses.ReturnCode
	}{
		"beyond the buffer":       {func(r *ses.Request, _ *Arrival) { r.BufferOffset = 57 }, step.PacketEnd, ses.RCBadAddr},
		"offset that wraps":       {func(r *ses.Request, _ *Arrival) { r.BufferOffset = ^uint64(0) }, step.PacketEnd, ses.RCBadAddr},
		"longer than the buffer":  {func(r *ses.Request, a *Arrival) { r.RequestLength, a.Payload = 72, 72 }, step.PacketEnd, ses.RCBadAddr},
		"no such operation":       {func(r *ses.Request, _ *Arrival) { r.Swap.Opcode = ses.AtomicProd }, step.Atomic, ses.RCAMOUnsupportedOp},
		"not aligned":             {func(r *ses.Request, _ *Arrival) { r.BufferOffset = 4 }, step.Atomic, ses.RCAMOUnaligned},
		"of several packets":      {func(r *ses.Request, _ *Arrival) { r.Flags &^= ses.FlagEOM; r.RequestLength = 16384 }, step.Lengths, ses.RCOpViolation},
		"may not happen twice":    {func(_ *ses.Request, a *Arrival) { a.Mode = ses.ModeRUDI }, step.Opcode, ses.RCUnsupportedOp},
		"a form without the tag":  {func(r *ses.Request, _ *Arrival) { r.Form = pds.NextRequestSmall }, step.Opcode, ses.RCUnsupportedOp},
		"an index without queues": {func(r *ses.Request, _ *Arrival) { r.Index, r.Generation = walkIndex, 1 }, step.Opcode, ses.RCUnsupportedOp},
	} {
		t.Run(name, func(t *testing.T) {
			s := newQueueTarget(t)
			s.post(ses.Receive{Base: 0x1000, Length: 64})
			d := s.send(0, taggedSum(0), c.change)
			require.Equal(t, c.check, d.Check)
			require.Equal(t, c.code, d.Response.ReturnCode)
			require.Equal(t, ses.ActionNone, d.Action)
			require.Equal(t, ses.ActionAtomic, s.send(0, taggedSum(0)).Action, "the buffer is still there")
		})
	}
}
