// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/internal/step"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// The packet walk of the UET congestion chapters, a write of 16,384 bytes in four packets.
const (
	walkJob    = ses.JobID(101)
	walkPID    = ses.PIDonFEP(2)
	walkIndex  = ses.ResourceIndex(0x00a)
	walkKey    = 0xacce5
	walkBase   = 0xba5eadd1
	walkLength = 16384
	walkMTU    = 4096
	walkPeer   = 0x8001
)

// walkTarget is the target of the packet walk; its region is as given.
type walkTarget struct {
	*Target
	t      *testing.T
	ep     ses.Handle
	region ses.Handle
}

func newWalkTarget(t *testing.T, change ...func(*ses.Region)) *walkTarget {
	t.Helper()
	tg, err := NewTarget(ses.TargetConfig{
		MTU: walkMTU, Processes: 4, Indices: 64, Regions: 8, Receives: 8, Messages: 8,
		AtomicOps: 1<<ses.AtomicSum | 1<<ses.AtomicBitOr | 1<<ses.AtomicSwapEqual | 1<<ses.AtomicRead, AtomicTypes: 1<<ses.TypeUint64 | 1<<ses.TypeUint8 | 1<<ses.TypeDouble,
	})
	require.NoError(t, err)
	s := &walkTarget{Target: tg, t: t}
	s.ep, err = tg.AddProcess(ses.Process{Job: walkJob, PID: walkPID})
	require.NoError(t, err)
	_, err = tg.OpenIndex(0, s.ep, walkIndex, ses.Index{Kind: ses.IndexMemory})
	require.NoError(t, err)
	gen, err := tg.Renew(0, s.ep, walkIndex)
	require.NoError(t, err)
	require.Equal(t, ses.Generation(1), gen)
	r := ses.Region{
		Base: walkBase, Length: walkLength, Key: walkKey, Cookie: 7, Job: walkJob,
		Rights: ses.RightWrite | ses.RightRead | ses.RightAtomic,
	}
	for _, c := range change {
		c(&r)
	}
	s.region, err = tg.Register(s.ep, walkIndex, r)
	require.NoError(t, err)
	return s
}

// walkPacket returns packet i of the packet walk and its payload length.
func walkPacket(i uint32) (ses.Request, Arrival) {
	r := ses.Request{Form: pds.NextRequestStd, Standard: ses.Standard{
		Common: ses.Common{Opcode: ses.OpcodeWrite, Flags: ses.FlagRel, JobID: walkJob, PIDonFEP: walkPID, Index: walkIndex, Generation: 1},
		Key:    walkKey, MessageID: 1, RequestLength: walkLength,
	}}
	switch i {
	case 0:
		r.Flags |= ses.FlagSOM
	case 3:
		r.Flags |= ses.FlagEOM
	}
	if i > 0 {
		r.PayloadLength, r.MessageOffset = walkMTU, i*walkMTU
	}
	return r, Arrival{Peer: walkPeer, Payload: walkMTU}
}

// send gives the target packet i of the packet walk, changed by fn.
func (s *walkTarget) send(i uint32, fn ...func(*ses.Request, *Arrival)) Decision {
	s.t.Helper()
	r, a := walkPacket(i)
	for _, f := range fn {
		f(&r, &a)
	}
	var d Decision
	s.Receive(&r, a, &d)
	return d
}

func TestTargetWalkPlacement(t *testing.T) {
	orders := [][]uint32{{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}}
	for _, order := range orders {
		s := newWalkTarget(t)
		for n, i := range order {
			d := s.send(i)
			require.Equal(t, Decision{
				Action: ses.ActionPlace, Complete: n == 3, Length: 4096, Offset: i * 4096,
				Address: []uint64{0xba5eadd1, 0xba5ebdd1, 0xba5ecdd1, 0xba5eddd1}[i], Cookie: 7,
				Response: ses.Response{
					Verdict: ses.Verdict{List: ses.ListExpected, Opcode: ses.ResponseDefault, ReturnCode: ses.RCOK},
					JobID:   101, MessageID: 1, Generation: 1, ModifiedLength: 16384,
				},
			}, d)
		}
		require.Equal(t, uint64(0xba5eedd1), uint64(walkBase+walkLength))
		require.Zero(t, s.Messages())
	}
}

// Each row of the validation order, on the packet walk.
func TestTargetValidationOrder(t *testing.T) {
	type change = func(*ses.Request, *Arrival)
	whole := func(r *ses.Request, a *Arrival) {
		r.Flags |= flagsOnly
		r.RequestLength, a.Payload = 8, 8
	}
	atomic := func(r *ses.Request, a *Arrival) {
		whole(r, a)
		r.Opcode, r.BufferOffset = ses.OpcodeAtomic, 7 // 0xba5eadd8, the first aligned address
		r.Swap.Atomic = ses.Atomic{Opcode: ses.AtomicSum, Type: ses.TypeUint64}
	}
	rows := []struct {
		name  string
		setup func(s *walkTarget)
		edit  []change
		check ses.Check
		code  ses.ReturnCode
	}{
		{"1 version", nil, []change{func(r *ses.Request, _ *Arrival) { r.Version = 1 }}, step.Version, ses.RCUncor},
		{"2 opcode reserved", nil, []change{func(r *ses.Request, _ *Arrival) { r.Opcode = 0x10 }}, step.Opcode, ses.RCUnsupportedOp},
		{"2 opcode of a vendor", nil, []change{func(r *ses.Request, _ *Arrival) { r.Opcode = 0x30 }}, step.Opcode, ses.RCUnsupportedOp},
		{"2 opcode not in the form", nil, []change{whole, func(r *ses.Request, _ *Arrival) { r.Form, r.Opcode = pds.NextRequestSmall, ses.OpcodeSend }}, step.Opcode, ses.RCUnsupportedOp},
		{"2 opcode not in the mode", nil, []change{func(r *ses.Request, _ *Arrival) { r.Opcode = ses.OpcodeDatagramSend }}, step.Opcode, ses.RCUnsupportedOp},
		{"2 atomic over RUDI", nil, []change{atomic, func(_ *ses.Request, a *Arrival) { a.Mode = ses.ModeRUDI }}, step.Opcode, ses.RCUnsupportedOp},
		{"2 opcode not on the index", nil, []change{func(r *ses.Request, _ *Arrival) { r.Opcode = ses.OpcodeSend }}, step.Opcode, ses.RCUnsupportedOp},
		{"3 no endpoint", func(s *walkTarget) { require.NoError(s.t, s.RemoveProcess(0, s.ep)) }, nil, step.FEP, ses.RCUndeliverable},
		{"4 JobID 102", nil, []change{func(r *ses.Request, _ *Arrival) { r.JobID = 102 }}, step.Job, ses.RCBadJobID},
		{"5 PIDonFEP 3", nil, []change{func(r *ses.Request, _ *Arrival) { r.PIDonFEP = 3 }}, step.PID, ses.RCBadPID},
		{"5 absolute address without a process", nil, []change{func(r *ses.Request, _ *Arrival) { r.Flags &^= ses.FlagRel }}, step.PID, ses.RCBadPID},
		{"5 absolute address, unknown job", nil, []change{func(r *ses.Request, _ *Arrival) { r.Flags, r.JobID = r.Flags&^ses.FlagRel, 102 }}, step.PID, ses.RCBadPID},
		{"6 RI 0x00b", nil, []change{func(r *ses.Request, _ *Arrival) { r.Index = 0x00b }}, step.Index, ses.RCBadIndex},
		{"6 RI out of range", nil, []change{func(r *ses.Request, _ *Arrival) { r.Index = 0xfff }}, step.Index, ses.RCBadIndex},
		{"7 disabled", func(s *walkTarget) { require.NoError(s.t, s.SetIndexState(s.ep, walkIndex, ses.IndexDisabled)) }, nil, step.Enabled, ses.RCDisabled},
		{"8 generation-disabled", func(s *walkTarget) { require.NoError(s.t, s.SetIndexState(s.ep, walkIndex, ses.IndexGenDisabled)) }, nil, step.GenEnabled, ses.RCDisabledGen},
		{"9 wrong generation", nil, []change{func(r *ses.Request, _ *Arrival) { r.Generation = 0 }}, step.Generation, ses.RCBadGeneration},
		{"10 SOM shorter than the MTU", nil, []change{func(_ *ses.Request, a *Arrival) { a.Payload = 4095 }}, step.Lengths, ses.RCOpViolation},
		{"10 SOM longer than the MTU", nil, []change{func(_ *ses.Request, a *Arrival) { a.Payload = 4097 }}, step.Lengths, ses.RCOpViolation},
		{"10 SOM without EOM carries it all", nil, []change{func(r *ses.Request, _ *Arrival) { r.RequestLength = 4096 }}, step.Lengths, ses.RCOpViolation},
		{"10 payload_length above the MTU", nil, []change{func(r *ses.Request, a *Arrival) { r.Flags, r.PayloadLength, a.Payload = ses.FlagRel, 4097, 4097 }}, step.Lengths, ses.RCOpViolation},
		{"10 payload_length above what came", nil, []change{func(r *ses.Request, a *Arrival) { r.Flags, r.PayloadLength, a.Payload = ses.FlagRel, 4096, 4095 }}, step.Lengths, ses.RCOpViolation},
		{"10 end beyond the message", nil, []change{func(r *ses.Request, _ *Arrival) {
			r.Flags, r.PayloadLength, r.MessageOffset = ses.FlagRel|ses.FlagEOM, 4096, 12289
		}}, step.Lengths, ses.RCOpViolation},
		{"10 end beyond the message, not its last packet", nil, []change{func(r *ses.Request, _ *Arrival) {
			r.Flags, r.PayloadLength, r.MessageOffset = ses.FlagRel, 4096, 12289
		}}, step.Lengths, ses.RCOpViolation},
		{"10 end wraps 32 bits", nil, []change{func(r *ses.Request, _ *Arrival) {
			r.Flags, r.PayloadLength, r.MessageOffset = ses.FlagRel|ses.FlagEOM, 4096, math.MaxUint32
		}}, step.Lengths, ses.RCOpViolation},
		{"10 EOM before the end", nil, []change{func(r *ses.Request, _ *Arrival) {
			r.Flags, r.PayloadLength, r.MessageOffset = ses.FlagRel|ses.FlagEOM, 4096, 4096
		}}, step.Lengths, ses.RCOpViolation},
		{"10 last bytes without EOM", nil, []change{func(r *ses.Request, _ *Arrival) {
			r.Flags, r.PayloadLength, r.MessageOffset = ses.FlagRel, 4096, 12288
		}}, step.Lengths, ses.RCOpViolation},
		{"10 empty fragment", nil, []change{func(r *ses.Request, _ *Arrival) { r.Flags = ses.FlagRel }}, step.Lengths, ses.RCOpViolation},
		{"10 fragment of an atomic", nil, []change{atomic, func(r *ses.Request, _ *Arrival) { r.Flags &^= ses.FlagEOM }}, step.Lengths, ses.RCOpViolation},
		{"10 atomic without its operand", nil, []change{atomic, func(_ *ses.Request, a *Arrival) { a.Payload = 7 }}, step.Lengths, ses.RCOpViolation},
		{"11 initiator error", nil, []change{func(r *ses.Request, _ *Arrival) { r.Flags |= ses.FlagIE }}, step.Initiator, ses.RCInitiatorError},
		{"12 unknown rkey", nil, []change{func(r *ses.Request, _ *Arrival) { r.Key = 0xacce6 }}, step.Key, ses.RCBadMKey},
		{"13 job not admitted", func(s *walkTarget) { s.regions[slotOf(s.region)].Job = 102 }, nil, step.JobAllowed, ses.RCBadJobID},
		{"14 read-only region", func(s *walkTarget) { s.regions[slotOf(s.region)].Rights = ses.RightRead }, nil, step.Rights, ses.RCPermViolation},
		{"15 region of 16,383 bytes", func(s *walkTarget) { s.regions[slotOf(s.region)].Length = 16383 }, nil, step.MessageSize, ses.RCUnsupportedSize},
		{"15 offset one too far", nil, []change{func(r *ses.Request, _ *Arrival) { r.BufferOffset = 1 }}, step.MessageSize, ses.RCUnsupportedSize},
		{"15 offset and length wrap 64 bits", nil, []change{func(r *ses.Request, _ *Arrival) { r.BufferOffset = math.MaxUint64 - 16383 }}, step.MessageSize, ses.RCUnsupportedSize},
		{"16 operand longer than the request", nil, []change{atomic, func(r *ses.Request, _ *Arrival) { r.BufferOffset, r.RequestLength = 16383, 1 }}, step.PacketEnd, ses.RCBadAddr},
		{"18 RUDI on a region not safe for repeats", nil, []change{func(_ *ses.Request, a *Arrival) { a.Mode = ses.ModeRUDI }}, step.Idempotent, ses.RCOpViolation},
		{"19 atomic operation", nil, []change{atomic, func(r *ses.Request, _ *Arrival) { r.Swap.Opcode = ses.AtomicProd }}, step.Atomic, ses.RCAMOUnsupportedOp},
		{"19 atomic operation reserved", nil, []change{atomic, func(r *ses.Request, _ *Arrival) { r.Swap.Opcode = 0x40 }}, step.Atomic, ses.RCAMOUnsupportedOp},
		{"19 atomic type", nil, []change{atomic, func(r *ses.Request, _ *Arrival) { r.Swap.Type = ses.TypeUint32 }}, step.Atomic, ses.RCAMOUnsupportedDT},
		{"19 bits of a floating-point number", nil, []change{atomic, func(r *ses.Request, _ *Arrival) { r.Swap.Opcode, r.Swap.Type = ses.AtomicBitOr, ses.TypeDouble }}, step.Atomic, ses.RCAMOUnsupportedDT},
		{"19 atomic size", nil, []change{atomic, func(r *ses.Request, _ *Arrival) { r.RequestLength = 7 }}, step.Atomic, ses.RCAMOUnsupportedSize},
		{"19 no operand", nil, []change{atomic, func(r *ses.Request, a *Arrival) { r.RequestLength, a.Payload = 0, 0 }}, step.Atomic, ses.RCAMOUnsupportedSize},
		{"19 an operation that needs none is no shorter", nil, []change{atomic, func(r *ses.Request, a *Arrival) { r.Swap.Opcode, a.Payload = ses.AtomicInvalidate, 0 }}, step.Atomic, ses.RCAMOUnsupportedOp},
		{"19 two operands to compare", nil, []change{atomic, func(r *ses.Request, a *Arrival) {
			r.Swap.Opcode, r.RequestLength, a.Payload = ses.AtomicSwapEqual, 16, 16
		}}, step.Atomic, ses.RCAMOUnsupportedSize},
		{"19 atomic alignment", nil, []change{atomic, func(r *ses.Request, _ *Arrival) { r.BufferOffset = 6 }}, step.Atomic, ses.RCAMOUnaligned},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			s := newWalkTarget(t)
			if row.setup != nil {
				row.setup(s)
			}
			d := s.send(0, row.edit...)
			require.Equal(t, row.check, d.Check, "%v", d.Response.ReturnCode)
			require.Equal(t, row.code, d.Response.ReturnCode)
			require.Equal(t, ses.ResponseExplicit, d.Response.Opcode)
			require.True(t, d.Guaranteed)
			require.Equal(t, ses.ActionNone, d.Action)
			require.Zero(t, d.Length)
			want := uint32(0)
			if row.code == ses.RCOpViolation {
				want = 4096 // what the initiator's packets may have
			}
			require.Equal(t, want, d.Response.ModifiedLength)
			require.False(t, d.Complete || d.NACK)
		})
	}
}

// Row 9: the answer names the generation that would have been right.
func TestTargetBadGenerationNamesCurrentOne(t *testing.T) {
	s := newWalkTarget(t)
	for i := range uint32(4) {
		d := s.send(i, func(r *ses.Request, _ *Arrival) { r.Generation = 0 })
		require.Equal(t, ses.RCBadGeneration, d.Response.ReturnCode)
		require.Equal(t, ses.Generation(1), d.Response.Generation)
		require.True(t, d.Guaranteed)
	}
	require.Zero(t, s.Messages(), "all packets of the message have come")
}

// Row 17.
func TestTargetRefusesOtherRegionWithinMessage(t *testing.T) {
	s := newWalkTarget(t)
	require.Equal(t, step.None, s.send(0).Check)
	require.NoError(t, s.Withdraw(s.region))
	_, err := s.Register(s.ep, walkIndex, ses.Region{Base: 0x1000, Length: walkLength, Key: walkKey, Job: walkJob, Rights: ses.RightWrite})
	require.NoError(t, err)
	d := s.send(1)
	require.Equal(t, step.SameBuffer, d.Check)
	require.Equal(t, ses.RCPermViolation, d.Response.ReturnCode)

	s = newWalkTarget(t)
	_, err = s.Register(s.ep, walkIndex, ses.Region{Base: 0x1000, Length: walkLength, Key: 1, Job: walkJob, Rights: ses.RightWrite})
	require.NoError(t, err)
	s.send(0)
	d = s.send(1, func(r *ses.Request, _ *Arrival) { r.Key = 1 })
	require.Equal(t, step.SameBuffer, d.Check, "another key that is open, too")

	s = newWalkTarget(t)
	s.send(0, func(r *ses.Request, _ *Arrival) { r.RequestLength = 8192 })
	d = s.send(1, func(r *ses.Request, _ *Arrival) {
		r.RequestLength, r.BufferOffset, r.Flags = 8192, 1, r.Flags|ses.FlagEOM
	})
	require.Equal(t, step.SameBuffer, d.Check, "another offset is another buffer")
}

// The short way for later fragments gives no other answer than the long one: the
// process is gone, and another has its place in the tables.
func TestTargetProcessGoneInMidMessage(t *testing.T) {
	s := newWalkTarget(t)
	s.send(0)
	require.NoError(t, s.RemoveProcess(0, s.ep))
	ep, err := s.AddProcess(ses.Process{Job: walkJob, PID: 9})
	require.NoError(t, err)
	gen, err := s.OpenIndex(0, ep, walkIndex, ses.Index{})
	require.NoError(t, err)
	d := s.send(1, func(r *ses.Request, _ *Arrival) { r.Generation = gen })
	require.Equal(t, step.PID, d.Check)
}

// Row 20.
func TestTargetRecordsExhausted(t *testing.T) {
	s := newWalkTarget(t) // of 8 records, half of which one peer may have
	for id := range ses.MessageID(4) {
		require.Equal(t, step.None, s.send(0, func(r *ses.Request, _ *Arrival) { r.MessageID = id + 1 }).Check)
	}
	fifth := func(r *ses.Request, _ *Arrival) { r.MessageID = 5 }
	require.Equal(t, Decision{NACK: true, Check: step.Record}, s.send(0, fifth))
	require.Equal(t, Decision{NACK: true, Check: step.Record}, s.send(0, fifth, func(r *ses.Request, _ *Arrival) { r.Key++ }),
		"a failure has to be remembered, too")
	lost := 0
	s.ClosePeer(walkPeer, func(uint64) { lost++ })
	require.Equal(t, 4, lost)
	require.Zero(t, s.Messages())
	require.Equal(t, step.None, s.send(0, fifth).Check, "the packet comes again and finds room")
}

// Who begins messages and ends none gets half of the records that are left.
func TestTargetRecordsAreShared(t *testing.T) {
	s := newWalkTarget(t) // of 8 records
	got := [4]int{}
	for peer := range got {
		for id := range ses.MessageID(9) {
			d := s.send(0, func(r *ses.Request, a *Arrival) { r.MessageID, a.Peer = id+1, uint64(peer) })
			if !d.NACK {
				got[peer]++
			}
		}
	}
	require.Equal(t, [4]int{4, 2, 1, 1}, got)
	s.ClosePeer(1, nil)
	d := s.send(0, func(r *ses.Request, a *Arrival) { r.MessageID, a.Peer = 10, 2 })
	require.Equal(t, step.None, d.Check, "what one gives back another may have")
}

// Of its share of the records a peer keeps the last for a packet that nothing is missing before.
func TestTargetKeepsTheLastRecordOfAShare(t *testing.T) {
	s := newWalkTarget(t) // of 8 records
	_, a := walkPacket(0)
	begin := func(id ses.MessageID) ses.Check {
		return s.send(0, func(r *ses.Request, _ *Arrival) { r.MessageID = id }).Check
	}
	for id := range ses.MessageID(3) {
		require.False(t, s.Scarce(a.Peer))
		require.Equal(t, step.None, begin(id+1))
	}
	require.True(t, s.Scarce(a.Peer))
	require.False(t, s.Scarce(a.Peer+1), "others have theirs")
	require.Equal(t, step.None, begin(4))
	require.Equal(t, step.Record, begin(5))
}

// Which packets have to leave the last record to others, if one before them is missing.
func TestTargetOpens(t *testing.T) {
	s := newWalkTarget(t) // of 8 records
	opens := func(change func(*ses.Request, *Arrival)) bool {
		r, a := walkPacket(1)
		change(&r, &a)
		return s.Opens(&r, a)
	}
	none := func(*ses.Request, *Arrival) {}
	require.True(t, opens(none))
	_, a := walkPacket(0)
	for peer := range uint64(6) {
		require.False(t, s.Scarce(a.Peer+7))
		require.Equal(t, step.None, s.send(0, func(_ *ses.Request, a *Arrival) { a.Peer += peer }).Check)
	}
	require.True(t, s.Scarce(a.Peer+7))
	require.False(t, opens(none), "it has a record")
	require.True(t, opens(func(_ *ses.Request, a *Arrival) { a.Peer += 7 }))
	other := func(r *ses.Request) { r.MessageID = 9 }
	for name, change := range map[string]func(*ses.Request, *Arrival){
		"one packet":            func(r *ses.Request, _ *Arrival) { other(r); r.Flags |= flagsOnly },
		"short form":            func(r *ses.Request, _ *Arrival) { other(r); r.Form = pds.NextRequestMedium },
		"no state in this mode": func(r *ses.Request, a *Arrival) { other(r); a.Mode = ses.ModeRUDI },
		"the end of a message":  func(r *ses.Request, _ *Arrival) { other(r); r.Opcode = ses.OpcodeMsgError },
		"comes again":           func(r *ses.Request, _ *Arrival) { other(r); r.Opcode, r.Token.Target = ses.OpcodeDeferrableSend, 1 },
	} {
		require.False(t, opens(change), name)
	}
	require.True(t, opens(func(r *ses.Request, _ *Arrival) { other(r); r.Opcode = ses.OpcodeDeferrableSend }))
}

// A PDC that is gone takes its own messages along, in whatever order they ended and
// whoever shares a list with it.
func TestTargetClosePeerLeavesOthers(t *testing.T) {
	s := newWalkTarget(t) // eight lists
	r := rand.New(rand.NewPCG(1, 2))
	live := map[[2]uint64]bool{}
	for range 20_000 {
		peer, id := uint64(1+r.IntN(24)), ses.MessageID(1+r.IntN(3))
		k := [2]uint64{peer, uint64(id)}
		request := func(r *ses.Request, a *Arrival) { r.MessageID, a.Peer = id, peer }
		switch {
		case r.IntN(5) == 0:
			n := 0
			s.ClosePeer(peer, func(uint64) { n++ })
			for k := range live {
				if k[0] == peer {
					n--
					delete(live, k)
				}
			}
			require.Zero(t, n)
		case live[k]:
			require.Equal(t, ses.ActionAbort, s.send(1, request, func(r *ses.Request, _ *Arrival) { r.Opcode, r.Flags = ses.OpcodeMsgError, r.Flags|ses.FlagEOM }).Action)
			delete(live, k)
		default:
			live[k] = s.send(0, request).Check == step.None
			if !live[k] {
				delete(live, k)
			}
		}
		require.Equal(t, len(live), s.Messages())
	}
}

// Row 21.
func TestTargetHostFailure(t *testing.T) {
	s := newWalkTarget(t)
	r, a := walkPacket(1)
	var d Decision
	s.Receive(&r, a, &d)
	s.Fail(&r, a, ses.RCHostPoisoned, &d)
	require.Equal(t, ses.ActionAbort, d.Action)
	require.Equal(t, step.Host, d.Check)
	require.Equal(t, ses.RCHostPoisoned, d.Response.ReturnCode)
	for _, i := range []uint32{0, 2, 3} {
		d := s.send(i)
		require.Equal(t, step.Sticky, d.Check)
		require.Equal(t, ses.RCHostPoisoned, d.Response.ReturnCode)
	}
	require.Zero(t, s.Messages())
}

// Scenario M4 of the fault list, target side.
func TestTargetErrorIsSticky(t *testing.T) {
	for _, order := range [][]uint32{{1, 0, 2, 3}, {1, 3, 2, 0}} {
		s := newWalkTarget(t)
		for n, i := range order {
			d := s.send(i, func(r *ses.Request, _ *Arrival) {
				if i == 1 {
					r.Key++
				}
			})
			require.Equal(t, ses.RCBadMKey, d.Response.ReturnCode)
			require.Equal(t, ses.ActionNone, d.Action)
			require.Equal(t, n > 0, d.Check == step.Sticky)
		}
		require.Zero(t, s.Messages())
	}
}

// A packet whose lengths are wrong is none of those that the message still waits for: its
// failure is remembered until they have come.
func TestTargetCountsNoBytesThatAreNotThere(t *testing.T) {
	s := newWalkTarget(t)
	require.Equal(t, step.Lengths, s.send(0, func(_ *ses.Request, a *Arrival) { a.Payload-- }).Check)
	for i := range uint32(3) {
		require.Equal(t, step.Sticky, s.send(1+i).Check)
	}
	require.Equal(t, step.Sticky, s.send(0).Check)
	require.Zero(t, s.Messages())
}

// request_length is the same in every packet.
func TestTargetRefusesOtherLengthWithinMessage(t *testing.T) {
	s := newWalkTarget(t)
	s.send(0)
	d := s.send(1, func(r *ses.Request, _ *Arrival) { r.RequestLength-- })
	require.Equal(t, step.Lengths, d.Check)
}

// Scenario M2: no byte is placed after the key has been withdrawn.
func TestTargetKeyWithdrawnInMidMessage(t *testing.T) {
	s := newWalkTarget(t)
	s.send(0)
	_, err := s.Renew(0, s.ep, walkIndex)
	require.NoError(t, err)
	d := s.send(2)
	require.Equal(t, ses.RCBadGeneration, d.Response.ReturnCode)
	require.Equal(t, ses.Generation(2), d.Response.Generation)
	require.Equal(t, ses.ActionAbort, d.Action, "the message was good so far")
	require.Equal(t, uint64(7), d.Cookie)
	d = s.send(1, func(r *ses.Request, _ *Arrival) { r.Generation = 2 })
	require.Equal(t, step.Sticky, d.Check)
	require.Equal(t, 1, s.Messages())
	d = s.send(3, func(r *ses.Request, _ *Arrival) { r.Opcode, r.RequestLength = ses.OpcodeMsgError, 0 })
	require.Equal(t, ses.RCOK, d.Response.ReturnCode)
	require.Equal(t, ses.ActionNone, d.Action)
	require.Zero(t, s.Messages())
}

// Scenario M1: packets of two messages of a peer that lets them interleave. Each is
// placed by its own offset, and each message is complete once.
func TestTargetInterleavedMessages(t *testing.T) {
	s := newWalkTarget(t)
	second := func(r *ses.Request, _ *Arrival) { r.MessageID = 2 }
	for n, i := range []uint32{0, 2, 1, 3} {
		for _, d := range []Decision{s.send(i), s.send(3-i, second)} {
			require.Equal(t, ses.ActionPlace, d.Action)
			require.Equal(t, n == 3, d.Complete)
			require.Equal(t, uint64(walkBase)+uint64(d.Offset), d.Address)
		}
	}
	require.Zero(t, s.Messages())
}

func TestTargetMsgErrorEndsMessage(t *testing.T) {
	s := newWalkTarget(t)
	s.send(0)
	d := s.send(1, func(r *ses.Request, _ *Arrival) { r.Opcode, r.Flags = ses.OpcodeMsgError, ses.FlagRel|ses.FlagEOM })
	require.Equal(t, ses.ActionAbort, d.Action)
	require.Equal(t, uint64(7), d.Cookie)
	require.Zero(t, s.Messages())
}

func TestTargetRODErrorEndsWithEOM(t *testing.T) {
	s := newWalkTarget(t)
	rod := func(r *ses.Request, a *Arrival) { a.Mode = ses.ModeROD; r.Key = 1 }
	s.send(0, rod)
	require.Equal(t, 1, s.Messages())
	s.send(3, rod)
	require.Zero(t, s.Messages(), "in order, so nothing can follow")
}

// A peer that sends a byte twice under another offset gains nothing.
func TestTargetRefusesMoreBytesThanTheMessageHas(t *testing.T) {
	s := newWalkTarget(t)
	short := func(r *ses.Request, _ *Arrival) { r.RequestLength, r.MessageOffset, r.PayloadLength = 8205, 8000, 100 }
	for range 82 {
		require.Equal(t, step.None, s.send(1, short).Check)
	}
	require.Equal(t, step.Lengths, s.send(1, short).Check)
}

func TestTargetLengths(t *testing.T) {
	for _, n := range []uint32{0, 1, 4095, 4096} {
		s := newWalkTarget(t)
		d := s.send(0, func(r *ses.Request, a *Arrival) {
			r.Flags |= ses.FlagEOM
			r.RequestLength, a.Payload = n, int(n)
		})
		require.Equal(t, step.None, d.Check)
		require.True(t, d.Complete)
		require.Equal(t, n, d.Length)
		require.Equal(t, n, d.Response.ModifiedLength)
	}
	s := newWalkTarget(t)
	d := s.send(0, func(r *ses.Request, a *Arrival) { r.Flags |= ses.FlagEOM; r.RequestLength, a.Payload = 4097, 4097 })
	require.Equal(t, step.Lengths, d.Check, "MTU+1 is two packets")
	d = s.send(0, func(r *ses.Request, _ *Arrival) { r.RequestLength = 4097; r.MessageID = 2 })
	require.Equal(t, step.None, d.Check)
	d = s.send(3, func(r *ses.Request, _ *Arrival) {
		r.RequestLength, r.MessageOffset, r.PayloadLength, r.MessageID = 4097, 4096, 1, 2
	})
	require.True(t, d.Complete)
	require.Equal(t, uint32(1), d.Length)
}

// The short forms are for messages of one packet, and so is what they are refused with:
// they have no message_id that a record could be found by.
func TestTargetShortFormsAreWholeMessages(t *testing.T) {
	for _, form := range []pds.NextHdr{pds.NextRequestSmall, pds.NextRequestMedium} {
		for _, flags := range []ses.Flags{0, ses.FlagSOM, ses.FlagEOM} {
			for _, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD, ses.ModeRUDI} {
				s := newWalkTarget(t, func(g *ses.Region) { g.Key, g.Idempotent = 0, true })
				d := s.send(0, func(r *ses.Request, a *Arrival) {
					r.Form, r.Flags, r.MessageID, r.Key, r.RequestLength, a.Mode = form, r.Flags&^ses.FlagSOM|flags, 0, 0, 16383, mode
				})
				require.Equal(t, step.Lengths, d.Check, "%v %v %v", form, flags, mode)
				require.Equal(t, ses.RCOpViolation, d.Response.ReturnCode)
				require.Zero(t, s.Messages())
			}
		}
		s := newWalkTarget(t)
		d := s.send(0, func(r *ses.Request, _ *Arrival) { r.Form, r.Opcode, r.MessageID = form, ses.OpcodeMsgError, 0 })
		require.Equal(t, step.Opcode, d.Check, "only the standard form has it")
	}
}

// A message is one operation.
func TestTargetRefusesOtherOpcodeWithinMessage(t *testing.T) {
	s := newWalkTarget(t)
	s.send(0)
	d := s.send(1, func(r *ses.Request, _ *Arrival) { r.Opcode = ses.OpcodeRead })
	require.Equal(t, step.SameBuffer, d.Check)
	require.Equal(t, ses.RCPermViolation, d.Response.ReturnCode)

	s = newQueueTarget(t)
	s.post(ses.Receive{Length: 16384})
	s.send(0, tagged(0))
	d = s.send(1, tagged(0), func(r *ses.Request, _ *Arrival) { r.Opcode = ses.OpcodeSend })
	require.Equal(t, step.SameBuffer, d.Check)
}

func TestTargetMaximumLength(t *testing.T) {
	s := newWalkTarget(t, func(r *ses.Region) { r.Base, r.Length = math.MaxUint64-math.MaxUint32+1, math.MaxUint32 })
	const length = math.MaxUint32 - 1
	last := uint32(length / walkMTU * walkMTU)
	d := s.send(3, func(r *ses.Request, a *Arrival) {
		r.RequestLength, r.MessageOffset, r.PayloadLength = length, last, uint16(length-last)
	})
	require.Equal(t, step.None, d.Check)
	require.Equal(t, uint64(math.MaxUint64-math.MaxUint32+1)+uint64(last), d.Address)
}

func TestTargetHeaderDataComesWithCompletion(t *testing.T) {
	s := newWalkTarget(t)
	hd := func(r *ses.Request, _ *Arrival) { r.Flags |= ses.FlagHD; r.HeaderData = 0xfeed }
	require.False(t, s.send(0, hd).HasData)
	s.send(2)
	s.send(3)
	d := s.send(1)
	require.True(t, d.Complete && d.HasData)
	require.Equal(t, uint64(0xfeed), d.HeaderData)
}

func TestTargetRead(t *testing.T) {
	s := newWalkTarget(t)
	read := func(r *ses.Request, a *Arrival) { r.Opcode, a.Payload = ses.OpcodeRead, 0 }
	d := s.send(1, read)
	require.Equal(t, ses.ActionRead, d.Action)
	require.Equal(t, uint64(0xba5ebdd1), d.Address)
	require.Equal(t, uint32(4096), d.Length)
	require.True(t, d.Guaranteed)
	y := d.DataReply()
	require.NoError(t, y.Validate())
	require.Equal(t, ses.Reply{
		Form:          pds.NextResponseData,
		Response:      ses.Response{Verdict: ses.Verdict{Opcode: ses.ResponseWithData, ReturnCode: ses.RCOK}, MessageID: 1, JobID: 101, ModifiedLength: 16384},
		ReadRequestID: 1, PayloadLength: 4096, MessageOffset: 4096,
	}, y, "the reference provider finds the read by message_id alone: with 0 there each read of its own failed")
	d = s.send(0, read, func(r *ses.Request, _ *Arrival) { r.Flags |= ses.FlagEOM; r.MessageID = 2 })
	require.Equal(t, uint32(16384), d.Length, "one request may ask for all")
	small := d.SmallDataReply(0x12000)
	require.NoError(t, small.Validate())
	require.Equal(t, uint32(0x12000), small.OriginalRequestPSN)
}

// What cannot be read is an opcode that nobody knows.
func TestTargetRefusesWhatHasNoForm(t *testing.T) {
	d := newWalkTarget(t).send(0, func(r *ses.Request, _ *Arrival) { *r = ses.Request{} })
	require.Equal(t, step.Opcode, d.Check)
	require.Equal(t, ses.RCUnsupportedOp, d.Response.ReturnCode)
}

func TestTargetAtomic(t *testing.T) {
	s := newWalkTarget(t)
	add := func(r *ses.Request, a *Arrival) {
		r.Opcode, r.BufferOffset, r.RequestLength, a.Payload = ses.OpcodeFetchingAtomic, 7, 8, 8
		r.Flags |= ses.FlagEOM
		r.Swap.Atomic = ses.Atomic{Opcode: ses.AtomicSum, Type: ses.TypeUint64}
	}
	d := s.send(0, add)
	require.Equal(t, ses.ActionAtomic, d.Action)
	require.Equal(t, uint64(0xba5eadd8), d.Address)
	require.True(t, d.Guaranteed && d.Complete)
	d = s.send(0, add, func(r *ses.Request, a *Arrival) {
		r.Opcode, r.Swap.Opcode, a.Payload = ses.OpcodeAtomic, ses.AtomicSwapEqual, 0
	})
	require.Equal(t, ses.ActionAtomic, d.Action, "operands are in the extension")
	require.False(t, d.Guaranteed)
	d = s.send(0, add, func(r *ses.Request, a *Arrival) { r.RequestLength, a.Payload = 16, 16 })
	require.Equal(t, ses.ActionAtomic, d.Action, "two operands")
	d = s.send(0, add, func(r *ses.Request, a *Arrival) { r.Swap.Opcode, a.Payload = ses.AtomicRead, 0 })
	require.Equal(t, ses.ActionAtomic, d.Action, "none")
	d = s.send(0, add, func(r *ses.Request, a *Arrival) { r.Swap.Type, r.RequestLength, a.Payload = ses.TypeUint8, 1, 1 })
	require.Equal(t, ses.ActionAtomic, d.Action, "a single byte")
}

// A compare and swap is 8 bytes long for some, 32 for the reference provider (both operands in
// full): either is about one operand in memory, also in the last 8 bytes of a region. Before,
// 32 was RC_AMO_UNSUPPORTED_SIZE.
func TestTargetCompareAndSwapOfEitherLength(t *testing.T) {
	for length, want := range map[uint32]ses.ReturnCode{8: ses.RCOK, 32: ses.RCOK, 16: ses.RCAMOUnsupportedSize, 24: ses.RCAMOUnsupportedSize} {
		for _, op := range []ses.Opcode{ses.OpcodeAtomic, ses.OpcodeFetchingAtomic} {
			d := newWalkTarget(t, func(r *ses.Region) { r.Base = 0x1000 }).send(0, func(r *ses.Request, a *Arrival) {
				r.Opcode, r.BufferOffset, r.RequestLength, a.Payload = op, walkLength-8, length, 0
				r.Flags |= ses.FlagEOM
				r.Swap.Atomic = ses.Atomic{Opcode: ses.AtomicSwapEqual, Type: ses.TypeUint64}
			})
			if want != ses.RCOK {
				require.NotEqual(t, ses.RCOK, d.Response.ReturnCode, length)
				continue
			}
			require.Equal(t, want, d.Response.ReturnCode, length)
			require.Equal(t, ses.ActionAtomic, d.Action)
			require.EqualValues(t, 8, d.Length)
			require.EqualValues(t, 0x1000+walkLength-8, d.Address)
			require.Equal(t, length, d.Response.ModifiedLength, "as it was asked for")
		}
	}
}

// An index may lead to memory and to a queue, as that of a peer that sends and writes to one.
func TestIndexOfBothKinds(t *testing.T) {
	tg, err := NewTarget(ses.TargetConfig{MTU: walkMTU, Processes: 1, Indices: 1, Regions: 1, Receives: 1, Messages: 4})
	require.NoError(t, err)
	ep, err := tg.AddProcess(ses.Process{Job: walkJob, PID: walkPID})
	require.NoError(t, err)
	gen, err := tg.OpenIndex(0, ep, 0, ses.Index{Kind: ses.IndexBoth, Job: ses.AnyJob})
	require.NoError(t, err)
	_, err = tg.Register(ep, 0, ses.Region{Base: 0x1000, Length: walkLength, Key: walkKey, Job: walkJob, Rights: ses.RightWrite})
	require.NoError(t, err)
	_, err = tg.PostReceive(ep, 0, ses.Receive{Base: 0x9000, Length: walkLength})
	require.NoError(t, err)
	for op, address := range map[ses.Opcode]uint64{ses.OpcodeWrite: 0x1000, ses.OpcodeSend: 0x9000} {
		r, a := walkPacket(0)
		r.Opcode, r.Index, r.Generation, r.MessageID = op, 0, gen, ses.MessageID(op)
		var d Decision
		tg.Receive(&r, a, &d)
		require.Equal(t, ses.RCOK, d.Response.ReturnCode, op)
		require.Equal(t, address, d.Address, op)
	}
	require.Equal(t, "both", ses.IndexBoth.String())
}

func TestTargetSmallFormUsesKeyZero(t *testing.T) {
	s := newWalkTarget(t, func(r *ses.Region) { r.Key = 0 })
	small := func(r *ses.Request, a *Arrival) {
		r.Form, r.Flags, r.Key, r.MessageID, r.RequestLength = pds.NextRequestSmall, r.Flags|flagsOnly, 0, 0, 4096
	}
	d := s.send(0, small)
	require.Equal(t, ses.ActionPlace, d.Action)
	require.True(t, d.Complete)
}

func TestTargetAbsoluteAddress(t *testing.T) {
	s := newWalkTarget(t)
	ep, err := s.AddProcess(ses.Process{Job: 5, PID: 9, Absolute: true})
	require.NoError(t, err)
	gen, err := s.OpenIndex(0, ep, 3, ses.Index{})
	require.NoError(t, err)
	_, err = s.Register(ep, 3, ses.Region{Length: 8192, Key: 1, Job: walkJob, Rights: ses.RightWrite})
	require.NoError(t, err)
	abs := func(r *ses.Request, a *Arrival) {
		r.Flags, r.PIDonFEP, r.Index, r.Generation, r.Key, r.RequestLength = flagsOnly, 9, 3, gen, 1, 4096
	}
	require.Equal(t, step.None, s.send(0, abs).Check)
	d := s.send(0, abs, func(r *ses.Request, _ *Arrival) { r.JobID = 77 })
	require.Equal(t, step.JobAllowed, d.Check, "an unknown job is only not authorised")
	d = s.send(0, abs, func(r *ses.Request, _ *Arrival) { r.Flags |= ses.FlagRel })
	require.Equal(t, step.PID, d.Check)
}

func TestTargetNoOp(t *testing.T) {
	s := newWalkTarget(t)
	d := s.send(0, func(r *ses.Request, a *Arrival) {
		r.Opcode, r.Flags, r.RequestLength, a.Payload = ses.OpcodeNoOp, flagsOnly, 0, 0
	})
	require.Equal(t, step.None, d.Check)
	require.Equal(t, ses.ActionNone, d.Action)
	require.Equal(t, step.Lengths, s.send(0, func(r *ses.Request, _ *Arrival) { r.Opcode = ses.OpcodeNoOp }).Check)
}

// Over RUDI each packet is on its own; the flag of a later one brings no header data.
func TestTargetRUDIHeaderDataIsOfTheFirstPacket(t *testing.T) {
	s := newWalkTarget(t, func(g *ses.Region) { g.Idempotent = true })
	for i, has := range []bool{true, false, false, false} {
		d := s.send(uint32(i), func(r *ses.Request, a *Arrival) { r.Flags |= ses.FlagHD; a.Mode = ses.ModeRUDI })
		require.Equal(t, ses.ActionPlace, d.Action)
		require.Equal(t, has, d.HasData)
	}
}

func TestTargetRUDIAppliesEachTime(t *testing.T) {
	s := newWalkTarget(t, func(r *ses.Region) { r.Idempotent = true })
	for range 2 {
		d := s.send(1, func(_ *ses.Request, a *Arrival) { a.Mode = ses.ModeRUDI })
		require.Equal(t, ses.ActionPlace, d.Action)
		require.Zero(t, s.Messages(), "no record")
	}
}

func TestTargetAllocs(t *testing.T) {
	s := newWalkTarget(t)
	var d Decision
	pass, fail := [4]ses.Request{}, [4]ses.Request{}
	var a Arrival
	for i := range uint32(4) {
		pass[i], a = walkPacket(i)
		fail[i] = pass[i]
		fail[i].Key = 1
	}
	alloctest.Zero(t, "Receive", func() {
		for i := range pass {
			s.Receive(&pass[i], a, &d)
		}
		if !d.Complete {
			panic("not whole")
		}
	})
	alloctest.Zero(t, "Receive/refused", func() {
		for i := range fail {
			s.Receive(&fail[i], a, &d)
		}
		if d.Check != step.Sticky || s.Messages() != 0 {
			panic("not refused")
		}
	})
}
