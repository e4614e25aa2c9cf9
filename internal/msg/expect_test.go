// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/ses"
)

// wildWhole returns a write of one packet, wrong in one place now and then.
func wildWhole(rng *rand.Rand, gen ses.Generation) (ses.Request, Arrival) {
	r, a := walkPacket(0)
	r.Flags |= ses.FlagEOM | []ses.Flags{0, ses.FlagHD, ses.FlagDC, ses.FlagHD | ses.FlagDC}[rng.IntN(4)]
	r.HeaderData, r.MessageID, r.Generation = rng.Uint64(), ses.MessageID(rng.Uint32()), gen
	r.RequestLength = rng.Uint32N(walkMTU + 1)
	r.BufferOffset = rng.Uint64N(walkLength - walkMTU)
	a.Peer, a.Mode, a.Payload = uint64(rng.IntN(3)), ses.Mode(rng.IntN(2)), int(r.RequestLength)+rng.IntN(2)
	switch rng.IntN(100) {
	case 0:
		r.Flags ^= 1 << rng.IntN(6)
	case 1:
		r.Key ^= 1 << rng.IntN(64) // some of which lie at the same place
	case 2:
		r.BufferOffset = walkLength - rng.Uint64N(2*walkMTU)
	case 3:
		r.BufferOffset = -rng.Uint64N(walkMTU)
	case 4:
		r.RequestLength += walkMTU
		a.Payload += rng.IntN(2) * walkMTU
	case 5:
		a.Payload--
	case 6:
		r.Opcode = ses.Opcode(rng.IntN(16))
	case 7:
		r.JobID++
	case 8:
		r.PIDonFEP ^= 1 << rng.IntN(12)
	case 9:
		r.Generation++
	case 10:
		r.Index ^= 1 << rng.IntN(12)
	case 11:
		r.Version = 1
	}
	return r, a
}

// Expect and Take do with writes of one packet and a few what Receive does, whatever
// has changed meanwhile.
func TestTargetExpectsWhatReceiveWould(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	p := pairOfTargets{follows: newWalkTarget(t), judges: newWalkTarget(t)}
	region := ses.Region{Length: walkLength, Key: walkKey, Job: walkJob, Rights: ses.RightWrite}
	gen := ses.Generation(1)
	for i := range 40_000 {
		now, turn := int64(i)*1e8, rng.IntN(400)
		region.Base, region.Length, region.Cookie = rng.Uint64N(1<<40), walkLength-rng.Uint64N(walkMTU), uint64(i)
		region.Rights = []ses.Rights{ses.RightWrite, ses.RightWrite, ses.RightRead}[rng.IntN(3)]
		state, peer := []ses.IndexState{ses.IndexEnabled, ses.IndexEnabled, ses.IndexEnabled, ses.IndexDisabled, ses.IndexGenDisabled}[rng.IntN(5)], uint64(rng.IntN(3))
		p.both(func(s *walkTarget) {
			switch turn {
			case 0:
				_ = s.Withdraw(s.region)
			case 1, 2:
				if h, err := s.Register(s.ep, walkIndex, region); err == nil {
					s.region = h
				}
			case 3, 4, 5:
				_ = s.SetIndexState(s.ep, walkIndex, state)
			case 6:
				if g, err := s.Renew(now, s.ep, walkIndex); err == nil {
					gen = g
				}
			case 7:
				if s.RemoveProcess(now, s.ep) == nil {
					s.ep, _ = s.AddProcess(ses.Process{Job: walkJob, PID: walkPID})
					gen, _ = s.OpenIndex(now, s.ep, walkIndex, ses.Index{})
				}
			case 8, 9, 10:
				s.ClosePeer(peer, nil)
			}
		})
		r, a := wildWhole(rng, gen)
		if rng.IntN(2) == 0 {
			severalPackets(rng, &r, &a)
		}
		p.send(&r, a)
	}
	require.Greater(t, p.expected, 3_000, "the test must reach what it is about")
}

// severalPackets makes r a packet of a message of three.
func severalPackets(rng *rand.Rand, r *ses.Request, a *Arrival) {
	i := rng.Uint32N(3)
	r.MessageID, r.RequestLength, r.BufferOffset = ses.MessageID(rng.IntN(2)), 2*walkMTU+100, 64
	r.Flags &^= flagsOnly
	switch a.Payload = walkMTU; i {
	case 0:
		r.Flags |= ses.FlagSOM
		if rng.IntN(50) == 0 {
			r.RequestLength = walkMTU // which would be a message of one packet
		}
		return
	case 2:
		r.Flags |= ses.FlagEOM
		a.Payload = 100
	}
	r.MessageOffset, r.PayloadLength = i*walkMTU, uint16(a.Payload)
	switch rng.IntN(50) {
	case 0:
		r.Flags ^= 1 << rng.IntN(6)
		a.Payload += rng.IntN(3) - 1
	case 1:
		r.MessageOffset -= i
		r.PayloadLength += uint16(i)
		a.Payload++
	case 2:
		r.PayloadLength = 0
	}
}

// The last record is not for a message that begins: Receive, and its caller, have a say.
func TestTargetExpectsNothingForTheLastRecord(t *testing.T) {
	s := newWalkTarget(t)
	s.send(0)
	for peer := uint64(1); ; peer++ {
		r, a := walkPacket(0)
		a.Peer = peer
		var x Expected
		require.Equal(t, !s.Scarce(peer), s.Expect((*StandardView)(r.Standard.AppendTo(nil)), uint16(peer), a, &x))
		if s.Scarce(peer) {
			return
		}
		s.Receive(&r, a, &Decision{})
	}
}

func TestTargetExpectAllocatesNothing(t *testing.T) {
	s := newWalkTarget(t)
	r, a := walkPacket(0)
	r.Flags, r.RequestLength, a.Payload = r.Flags|ses.FlagEOM, 8, 8
	v := (*StandardView)(r.Standard.AppendTo(nil))
	var x Expected
	require.False(t, s.Expect(v, uint16(a.Peer), a, &x), "nobody has asked yet")
	var d Decision
	s.Receive(&r, a, &d)
	first, begins := walkPacket(0)
	last, ends := walkPacket(3)
	last.MessageOffset, first.RequestLength, last.RequestLength = walkMTU, 2*walkMTU, 2*walkMTU
	som, eom := (*StandardView)(first.Standard.AppendTo(nil)), (*StandardView)(last.Standard.AppendTo(nil))
	take := func(v *StandardView, a Arrival) {
		if !s.Expect(v, uint16(a.Peer), a, &x) {
			panic("the path under test did not run")
		}
		s.Take(v, a, &x)
	}
	alloctest.Zero(t, "Expect and Take", func() {
		take(v, a)
		take(som, begins)
		take(eom, ends)
	})
	require.Zero(t, s.Messages())
	require.True(t, x.Complete)
}

func TestGrantsShareNoCacheLine(t *testing.T) {
	require.EqualValues(t, 64, unsafe.Sizeof(grant{}))
}
