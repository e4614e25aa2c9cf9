package ses

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
)

// wildWhole returns a write of one packet, wrong in one place now and then.
func wildWhole(rng *rand.Rand, gen Generation) (Request, Arrival) {
	r, a := seedPacket(0)
	r.Flags |= FlagEOM | []Flags{0, FlagHD, FlagDC, FlagHD | FlagDC}[rng.IntN(4)]
	r.HeaderData, r.MessageID, r.Generation = rng.Uint64(), MessageID(rng.Uint32()), gen
	r.RequestLength = rng.Uint32N(seedMTU + 1)
	r.BufferOffset = rng.Uint64N(seedLength - seedMTU)
	a.Peer, a.Mode, a.Payload = uint64(rng.IntN(3)), Mode(rng.IntN(2)), int(r.RequestLength)+rng.IntN(2)
	switch rng.IntN(100) {
	case 0:
		r.Flags ^= 1 << rng.IntN(6)
	case 1:
		r.Key ^= 1 << rng.IntN(64) // some of which lie at the same place
	case 2:
		r.BufferOffset = seedLength - rng.Uint64N(2*seedMTU)
	case 3:
		r.BufferOffset = -rng.Uint64N(seedMTU)
	case 4:
		r.RequestLength += seedMTU
		a.Payload += rng.IntN(2) * seedMTU
	case 5:
		a.Payload--
	case 6:
		r.Opcode = Opcode(rng.IntN(16))
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

// Whole says of a write what Receive does, whatever has changed meanwhile.
func TestTargetWholeIsReceive(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	s := newSeedTarget(t)
	region := Region{Length: seedLength, Key: seedKey, Job: seedJob, Rights: RightWrite}
	h, gen, found := s.region, Generation(1), 0
	for i := range 40_000 {
		switch rng.IntN(300) {
		case 0:
			_ = s.Withdraw(h)
		case 1, 2:
			region.Base, region.Length, region.Cookie = rng.Uint64N(1<<40), seedLength-rng.Uint64N(seedMTU), uint64(i)
			region.Rights = []Rights{RightWrite, RightWrite, RightRead}[rng.IntN(3)]
			if got, err := s.Register(s.ep, seedIndex, region); err == nil {
				h = got
			}
		case 3, 4, 5:
			_ = s.SetIndexState(s.ep, seedIndex, []IndexState{IndexEnabled, IndexEnabled, IndexDisabled, IndexGenDisabled}[rng.IntN(4)])
		case 6:
			if g, err := s.Renew(int64(i)*1e8, s.ep, seedIndex); err == nil {
				gen = g
			}
		case 7:
			if s.RemoveEndpoint(int64(i)*1e8, s.ep) == nil {
				s.ep, _ = s.AddEndpoint(Endpoint{Job: seedJob, PID: seedPID})
				gen, _ = s.OpenIndex(int64(i)*1e8, s.ep, seedIndex, Index{})
			}
		}
		r, a := wildWhole(rng, gen)
		v := (*StandardView)(r.Standard.AppendTo(nil))
		address, cookie, ok := uint64(0), uint64(0), false
		if v.IsWhole() {
			address, cookie, ok = s.Whole(v, a.Payload)
		}
		var d Decision
		s.Receive(&r, a, &d)
		if !ok {
			continue
		}
		found++
		want := Decision{Action: ActionPlace, Complete: true, Length: r.RequestLength, Address: address, Cookie: cookie, Response: d.Response}
		if v.Flags().Has(FlagHD) {
			want.HasData, want.HeaderData = true, v.HeaderData()
		}
		require.Equal(t, want, d, "%v", &r)
		var b [ResponseLen]byte
		PutDefault(&b, v)
		require.Equal(t, d.Response.AppendTo(nil), b[:])
	}
	require.Greater(t, found, 4_000, "the test must reach what it is about")
}

func TestTargetWholeAllocatesNothing(t *testing.T) {
	s := newSeedTarget(t)
	r, a := seedPacket(0)
	r.Flags, r.RequestLength, a.Payload = r.Flags|FlagEOM, 8, 8
	v := (*StandardView)(r.Standard.AppendTo(nil))
	_, _, ok := s.Whole(v, 8)
	require.False(t, ok, "nobody has asked yet")
	var d Decision
	s.Receive(&r, a, &d)
	alloctest.Zero(t, "Whole", func() {
		if _, _, ok := s.Whole(v, 8); !ok {
			panic("the path under test did not run")
		}
	})
}

func TestGrantsShareNoCacheLine(t *testing.T) {
	require.EqualValues(t, 64, unsafe.Sizeof(Grant{}))
}
