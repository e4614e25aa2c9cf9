// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ses"
)

// A pairOfTargets are two that see the same: one may let packets follow, the other
// judges each from scratch.
type pairOfTargets struct {
	follows, judges    *walkTarget
	followed, expected int
}

// follow is what the layer above makes of the parts: the record of the message that a packet continues.
func (s *walkTarget) follow(v *StandardView, a Arrival) *Record {
	m := s.Recent(uint16(a.Peer))
	if !m.Repeats(v, a.Peer) || !s.Continues(m, v, v.MessageOffset(), uint32(v.PayloadLength()), a.Payload) {
		return nil
	}
	return m
}

func (p *pairOfTargets) both(f func(*walkTarget)) { f(p.follows); f(p.judges) }

func (p *pairOfTargets) send(r *ses.Request, a Arrival) {
	var d, want Decision
	p.judges.Receive(r, a, &want)
	v := (*StandardView)(r.Standard.AppendTo(nil))
	if m := p.follows.follow(v, a); m != nil {
		p.followed++
		m.Place(uint32(r.PayloadLength))
		address, cookie := m.At(r.MessageOffset)
		d = Decision{Action: ses.ActionPlace, Length: uint32(r.PayloadLength), Offset: r.MessageOffset, Address: address, Cookie: cookie}
		var b [ses.ResponseLen]byte
		PutDefault(&b, v)
		require.Equal(p.judges.t, want.Response.AppendTo(nil), b[:])
		d.Response = want.Response
	} else if x := (Expected{Length: 9}); p.follows.Expect(v, uint16(a.Peer), a, &x) {
		p.expected++
		p.follows.Take(v, a, &x)
		d = Decision{
			Action: ses.ActionPlace, Complete: x.Complete, HasData: x.HasData, Length: x.Length, Offset: x.Offset,
			Address: x.Address, Cookie: x.Cookie, HeaderData: x.HeaderData, Response: want.Response,
		}
		require.Equal(p.judges.t, ses.Verdict{Opcode: ses.ResponseDefault, ReturnCode: ses.RCOK}, want.Response.Verdict)
	} else {
		p.follows.Receive(r, a, &d)
	}
	require.Equal(p.judges.t, want, d, "%v", r)
	require.Equal(p.judges.t, p.judges.Messages(), p.follows.Messages())
}

func TestTargetFollowsOnlyWhatItWouldAccept(t *testing.T) {
	const packets, index = 64, walkIndex + 1
	rng := rand.New(rand.NewPCG(1, 7))
	p := pairOfTargets{follows: newWalkTarget(t), judges: newWalkTarget(t)}
	var gen ses.Generation
	p.both(func(s *walkTarget) {
		_, err := s.OpenIndex(0, s.ep, index, ses.Index{Kind: ses.IndexQueue, Job: ses.AnyJob})
		require.NoError(t, err)
	})
	region := ses.Region{Base: 1 << 20, Length: packets * walkMTU, Key: 1, Job: walkJob, Rights: ses.RightWrite}
	var h ses.Handle
	for range 40_000 {
		switch rng.IntN(400) {
		case 0:
			p.both(func(s *walkTarget) { _ = s.Withdraw(h) })
		case 1:
			p.both(func(s *walkTarget) {
				if got, err := s.Register(s.ep, walkIndex, region); err == nil {
					h = got
				}
			})
		case 2, 3:
			state := []ses.IndexState{ses.IndexEnabled, ses.IndexEnabled, ses.IndexDisabled, ses.IndexGenDisabled}[rng.IntN(4)]
			p.both(func(s *walkTarget) { _ = s.SetIndexState(s.ep, walkIndex, state) })
		case 4, 5, 6, 7:
			p.both(func(s *walkTarget) { _, _ = s.PostReceive(s.ep, index, ses.Receive{Length: packets * walkMTU}) })
		case 8, 9, 10, 11, 12, 13, 14, 15:
			peer := uint64(rng.IntN(3))
			p.both(func(s *walkTarget) { s.ClosePeer(peer, nil) })
		}
		if rng.IntN(4000) == 0 {
			p.both(func(s *walkTarget) {
				if g, err := s.Renew(0, s.ep, walkIndex); err == nil {
					gen = g
				}
			})
		}
		r, a := wildPacket(rng, packets, region.Key, gen)
		p.send(&r, a)
		if rng.IntN(500) == 0 {
			p.both(func(s *walkTarget) { s.Fail(&r, a, ses.RCHostPoisoned, new(Decision)) })
		}
	}
	require.Greater(t, p.followed, 1_000, "the test must reach what it is about")
	require.Greater(t, p.expected, 20, "also at the end of a message")
}

// wildPacket returns a packet of one of a few long messages, wrong in one place now
// and then.
func wildPacket(rng *rand.Rand, packets int, key uint64, gen ses.Generation) (ses.Request, Arrival) {
	r, a := walkPacket(1)
	i := uint32(rng.IntN(packets))
	r.Key, r.Generation, r.RequestLength, r.MessageOffset = key, gen, uint32(packets)*walkMTU, i*walkMTU
	a.Peer, a.Mode = uint64(rng.IntN(3)), ses.Mode(rng.IntN(2))
	r.MessageID = ses.MessageID(a.Peer)
	if a.Peer == 2 {
		r.Opcode, r.Index, r.Generation = ses.OpcodeSend, walkIndex+1, 0
	}
	switch int(i) {
	case 0:
		r.Flags |= ses.FlagSOM
		r.MessageOffset, r.PayloadLength = 0, 0
	case packets - 1:
		r.Flags |= ses.FlagEOM
	}
	switch rng.IntN(300) {
	case 0:
		r.Flags ^= 1 << rng.IntN(6)
	case 1:
		r.Key++
	case 2:
		r.BufferOffset += walkMTU
	case 3:
		r.RequestLength -= walkMTU
	case 4:
		r.PayloadLength = uint16(rng.IntN(walkMTU + 2))
	case 5:
		a.Payload = rng.IntN(walkMTU + 2)
	case 6:
		r.MessageOffset = rng.Uint32()
	case 7:
		r.Opcode = ses.Opcode(rng.IntN(16))
	case 8:
		r.JobID++
	case 9:
		r.PIDonFEP++
	case 10:
		r.Generation++
	case 11:
		r.Index ^= 1
	case 12:
		r.Version = 1
	case 13:
		r.MessageID ^= 1
	}
	return r, a
}

// An epoch that comes back after 2^32 changes must not revive a message.
func TestTargetEpochGoesRound(t *testing.T) {
	s := newWalkTarget(t)
	s.epoch = 1<<32 - 1
	s.send(0)
	s.changed()
	require.Equal(t, uint32(1), s.epoch)
	follows := func(i uint32) bool {
		r, a := walkPacket(i)
		return s.follow((*StandardView)(r.Standard.AppendTo(nil)), a) != nil
	}
	require.False(t, follows(1), "of an epoch before")
	require.Equal(t, ses.ActionPlace, s.send(1).Action)
	require.True(t, follows(2))
}

// A queue that has closed takes nothing any more, also of a message that it has taken the
// beginning of.
func TestTargetFollowsNothingIntoAClosedQueue(t *testing.T) {
	s := newQueueTarget(t)
	s.post(ses.Receive{Length: walkLength})
	s.send(0, tagged(0))
	require.NoError(t, s.CloseIndex(0, s.ep, queueIndex))
	r, a := walkPacket(1)
	tagged(0)(&r, &a)
	require.Nil(t, s.follow((*StandardView)(r.Standard.AppendTo(nil)), a))
}

// Nor into one that an ordered send without a buffer has stopped.
func TestTargetFollowsNothingIntoAStoppedQueue(t *testing.T) {
	s := newQueueTarget(t)
	s.post(ses.Receive{Length: walkLength})
	s.send(0, tagged(0))
	s.send(1, tagged(0))
	follow := func() *Record {
		r, a := walkPacket(2)
		tagged(0)(&r, &a)
		return s.follow((*StandardView)(r.Standard.AppendTo(nil)), a)
	}
	require.NotNil(t, follow())
	ordered := func(r *ses.Request, a *Arrival) {
		r.Flags |= flagsOnly
		r.RequestLength, a.Peer, a.Mode = 4096, a.Peer+1, ses.ModeROD
	}
	require.Equal(t, ses.RCNoMatch, s.send(0, tagged(5), ordered).Response.ReturnCode)
	require.Nil(t, follow())
	require.Equal(t, ses.RCDisabledGen, s.send(2, tagged(0)).Response.ReturnCode)
}

// Nor what comes with an old generation.
func TestTargetFollowsNothingOfAnOldGeneration(t *testing.T) {
	s := newWalkTarget(t)
	s.send(0)
	_, err := s.Renew(0, s.ep, walkIndex)
	require.NoError(t, err)
	r, a := walkPacket(1)
	require.Nil(t, s.follow((*StandardView)(r.Standard.AppendTo(nil)), a))
}

// Nor what was granted.
func TestTargetEpochGoesRoundForGrants(t *testing.T) {
	s := newWalkTarget(t)
	r, a := walkPacket(0)
	r.Flags |= ses.FlagEOM
	r.RequestLength, a.Payload = walkMTU, walkMTU
	whole := func() bool {
		var x Expected
		return s.Expect((*StandardView)(r.Standard.AppendTo(nil)), uint16(a.Peer), a, &x)
	}
	s.epoch = 1
	var d Decision
	s.Receive(&r, a, &d)
	require.Equal(t, ses.ActionPlace, d.Action)
	require.True(t, whole())
	s.epoch = 1<<32 - 1
	s.changed()
	require.Equal(t, uint32(1), s.epoch)
	require.False(t, whole(), "of an epoch before")
}

func TestRecordsShareNoCacheLine(t *testing.T) {
	require.Equal(t, uintptr(recordLen), unsafe.Sizeof(Record{}))
	require.Equal(t, uintptr(64), unsafe.Offsetof(Record{}.headerData))
}
