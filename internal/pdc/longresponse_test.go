// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/pds"
)

const longLen = dataHeaderLen + 8192

func longPair(t testing.TB, places int) *pair {
	return established(t, pairConfig{Config: Config{MaxAckData: 8192}, memory: MemoryConfig{LongResponses: places}})
}

func (s *longResponses) places() (n int) {
	for i := s.free; i != 0; i = s.next[i] {
		n++
	}
	return n
}

func longBytes(seed byte) []byte {
	b := make([]byte, longLen)
	for i := range b {
		b[i] = seed + byte(i) + byte(i>>8)
	}
	return b
}

// Read data of the largest Max_ACK_Data_Size is kept like any response: what comes
// again is the same, until the initiator has cleared it.
func TestLongResponseIsKept(t *testing.T) {
	g := longPair(t, 2)
	g.b.reply = Response{Kind: RespondGuaranteed, Next: pds.NextResponseData, Bytes: longBytes(1)}
	g.submit(1, 1)
	ws := g.send(g.a)
	_, first := g.give(ws[0]) // lost
	require.Equal(t, g.b.reply.Bytes, first[0].b[pds.AckCCLen:])
	require.Equal(t, 1, g.b.m.mem.responses.long.places())
	setFlag(ws[0].b, pds.FlagRetx)
	r, again := g.give(ws[0])
	require.ErrorIs(t, r.Err, ErrDuplicate)
	require.Equal(t, g.b.reply.Bytes, again[0].b[pds.AckCCLen:])
	r, _ = g.give(again[0])
	require.Equal(t, VerdictResponse, r.Verdict)
	g.wait(2 * ms) // PDS_Clear_Time
	g.settle()
	require.Equal(t, 2, g.b.m.mem.responses.long.places())
}

// Without a place a long response is refused, before anything has changed: another
// answer can be given.
func TestLongResponseWithoutPlace(t *testing.T) {
	g := longPair(t, 1)
	g.b.later = true
	g.submit(1, 3)
	ws := g.send(g.a)
	out := make([]byte, g.b.m.p.ReplyMax())
	later := Response{Kind: RespondLater, Room: longLen}

	first, _ := g.give(ws[0])
	_, err := g.b.m.Respond(g.now, first.ID, &later, out)
	require.NoError(t, err)
	second, _ := g.give(ws[1])
	for _, a := range []*Response{&later, {Kind: RespondGuaranteed, Bytes: longBytes(2)}} {
		_, err = g.b.m.Respond(g.now, second.ID, a, out)
		require.ErrorIs(t, err, ErrNoStore)
	}
	_, err = g.b.m.Respond(g.now, second.ID, &Response{Kind: RespondLater, Room: ResponseMax}, out)
	require.NoError(t, err, "this needs none")
	_, err = g.b.m.Respond(g.now, second.ID, &Response{Kind: RespondGuaranteed, Bytes: longBytes(2)}, out)
	require.ErrorIs(t, err, ErrNoStore, "nothing was promised for so much")

	_, err = g.b.m.Respond(g.now, first.ID, &guaranteed, out)
	require.NoError(t, err)
	require.Equal(t, 1, g.b.m.mem.responses.long.places(), "an error needs none either")
	n, err := g.b.m.Respond(g.now, second.ID, &Response{Kind: RespondGuaranteed, Next: pds.NextResponseData, Bytes: longBytes(2)}, out)
	require.NoError(t, err)
	require.Equal(t, longBytes(2), out[pds.AckCCLen:n])

	_, err = g.b.m.Respond(g.now, second.ID, &Response{Kind: RespondGuaranteed, Bytes: make([]byte, longLen+1)}, make([]byte, 1<<14))
	require.ErrorIs(t, err, ErrShortBuffer)
	_, err = g.b.m.Respond(g.now, second.ID, &Response{Kind: RespondGuaranteed, Bytes: longBytes(2)}, out[:ReplyMax])
	require.ErrorIs(t, err, ErrShortBuffer)
}

// All places come back, whoever had them and whatever was put there.
func TestLongResponsesComeBack(t *testing.T) {
	const pdcs, places = 4, 3
	r := rand.New(rand.NewPCG(1, 2))
	var s responseStore
	s.init(pdcs, 8, 0)
	s.long.init(places, longLen)
	var l respList
	var live []uint32
	want := map[uint32][]byte{}
	for range 5000 {
		if len(live) > 0 && r.IntN(2) == 0 {
			k := r.IntN(len(live))
			i := live[k]
			live = append(live[:k], live[k+1:]...)
			require.Equal(t, want[i], s.stored(i))
			s.remove(&l, i)
			continue
		}
		if !s.available(&l, false) {
			continue
		}
		i := s.take(1, &l)
		s.slot[i].psn = pds.PSN(r.Uint32() >> 8)
		s.insert(&l, i)
		n := []int{0, 12, ResponseMax, ResponseMax + 1, longLen}[r.IntN(5)]
		if !s.reserve(i, n) {
			require.Zero(t, s.long.places())
			s.remove(&l, i)
			continue
		}
		want[i] = longBytes(byte(r.Int()))[:n]
		s.put(i, want[i])
		live = append(live, i)
	}
	s.freeAll(&l)
	require.Equal(t, places, s.long.places())
}

func TestLongResponseAllocs(t *testing.T) {
	g := longPair(t, 2)
	b, out := longBytes(3), make([]byte, g.b.m.p.ReplyMax())
	s := &g.b.m.mem.responses
	alloctest.Zero(t, "put and take back", func() {
		s.put(1, b)
		copy(out, s.stored(1))
		s.shorten(1)
	})
}
