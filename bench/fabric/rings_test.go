// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/link"
)

// Mice beside an elephant have rings of their own size. When each had the ring of the longest
// connection, 50,000 of them at 800 Gb/s took 1.8 GB, and 124 MB now.
func TestRingsByOwnSize(t *testing.T) {
	m := &Matrix{Nodes: 16, Flows: []Flow{{Src: 0, Dst: 1, Size: 40_000_000}}}
	for i := range 1000 {
		m.Flows = append(m.Flows, Flow{Src: 2 + i%7, Dst: 9 + i%7, Size: 10_000, Start: link.Ps(i) * link.Microsecond})
	}
	s, err := newSim(Config{Matrix: m, MaxPSNRange: 4096})
	require.NoError(t, err)
	require.EqualValues(t, 4096, s.psnRange)
	require.EqualValues(t, 4096+1000*4, s.records.most)
	s.loop()
	require.EqualValues(t, len(m.Flows), s.done)
	require.Less(t, s.records.used, int64(4096+1000*4/2), "rings of mice that are done serve others")
	require.Empty(t, s.result().Violations)
	for _, w := range s.bitmaps.slots[:s.bitmaps.used] {
		require.Zero(t, w, "rings are given back empty")
	}
}

// A connection of several messages keeps its rings until the last one is done.
func TestRingsStayForLaterMessages(t *testing.T) {
	m := &Matrix{Nodes: 16}
	for i := range 3 {
		m.Flows = append(m.Flows, Flow{
			Src: 0, Dst: 1, ID: 7, Message: true, Size: 100_000, Start: link.Ps(i) * 1000 * link.Microsecond,
		})
	}
	s, err := newSim(Config{Matrix: m})
	require.NoError(t, err)
	s.loop()
	require.Equal(t, 3, s.done)
	class := s.records.free[7]
	require.Len(t, s.senders, 1)
	require.EqualValues(t, 128, s.senders[0].mask+1)
	require.Equal(t, []uint32{0}, append([]uint32{}, class...), "given back once")
}

// 131,073 connections beside one that keeps track of 32,768 packets: as many records for
// each were 2^32 and more, of which a number of 32 bits left 32,768 in all.
func TestRingsOfManyConnections(t *testing.T) {
	m := &Matrix{Nodes: 16, Flows: []Flow{{Src: 0, Dst: 1, Size: 400_000_000}}}
	for range 131_072 {
		m.Flows = append(m.Flows, Flow{Src: 2, Dst: 3, Size: 1000})
	}
	r, err := Run(Config{Matrix: m, MaxPSNRange: 32_768, End: 30 * link.Microsecond})
	require.NoError(t, err)
	require.Equal(t, 131_073, r.Parameters.Connections)
	require.EqualValues(t, 32_768, r.Parameters.PSNRange)
	require.Empty(t, r.Violations)
}

// What does not fit is refused with the number of connections that would.
func TestRingsThatDoNotFit(t *testing.T) {
	m := &Matrix{Nodes: 16}
	for range 10 {
		m.Flows = append(m.Flows, Flow{Src: 0, Dst: 1, Size: 1_000_000})
	}
	s, err := newSim(Config{Matrix: m, MaxPSNRange: 128})
	require.NoError(t, err)
	require.NoError(t, builder{s}.layOut(10*128))
	err = builder{s}.layOut(10*128 - 1)
	require.ErrorIs(t, err, ErrConfig)
	require.ErrorContains(t, err, "10 connections keep track of more than 1279 packets at once: the first 9 fit; "+
		"or set MaxPSNRange below 128, or raise GOMEMLIMIT, of which a packet takes 16 bytes")
}

// Room is added as rings are taken, and none of what is there is lost.
func TestRingsGrow(t *testing.T) {
	r := rings[uint64]{slots: make([]uint64, 8), most: 40}
	a, b := r.take(4), r.take(4)
	r.slots[a], r.slots[b] = 1, 2
	c := r.take(16)
	require.Equal(t, []uint32{0, 4, 8}, []uint32{a, b, c})
	require.Len(t, r.slots, 24)
	require.Equal(t, []uint64{1, 2}, []uint64{r.slots[a], r.slots[b]})
	r.give(b, 4)
	require.EqualValues(t, 24, r.take(8), "of another size")
	require.Equal(t, b, r.take(4))
	require.Len(t, r.slots, 40)
}

// Rings have one place more than packets, unless the PSN range is what limits them.
func TestRingOf(t *testing.T) {
	for packets, want := range map[uint32]uint32{0: 4, 3: 4, 4: 8, 7: 8, 8: 16, 63: 64, 64: 128, 1000: 1024, 1 << 31: 1024} {
		require.Equal(t, want, ringOf(packets, 1024), "%d packets", packets)
	}
}

// How long rings are changes nothing: a run with the ring of the longest connection for all,
// as it was once, has the same result.
func TestRingsChangeNothing(t *testing.T) {
	m := &Matrix{Nodes: 16, Flows: []Flow{{Src: 0, Dst: 9, Size: 4_000_000}, {Src: 1, Dst: 9, Size: 1_000_000}}}
	for i := range 300 {
		f := Flow{Src: i % 8, Dst: 8 + i*i%5, Size: int64(1+i%13*i) * 100, Start: link.Ps(i) * 100_000}
		if i%4 == 0 {
			f.Message, f.ID = true, int64(i%3)
			f.Src, f.Dst = i%3, 9
		}
		m.Flows = append(m.Flows, f)
	}
	for name, c := range map[string]Config{
		"nscc": {}, "both": {Control: ccc.ControlBoth}, "dropping": {NoTrim: true}, "htsim": {Rules: RulesHTSim},
		"lossy": {Loss: 0.01, Reorder: 0.05}, "short": {MaxPSNRange: 64},
	} {
		c.Matrix = m
		own, err := newSim(c)
		require.NoError(t, err)
		long, err := newSim(c)
		require.NoError(t, err)
		most := int64(len(long.senders)) * int64(long.psnRange)
		long.records, long.bitmaps = makeRings[record](most, most), makeRings[uint64](most, most)
		for i := range long.senders {
			long.senders[i].mask, long.receivers[i].mask = long.psnRange-1, long.psnRange-1
		}
		require.Less(t, own.records.most, most)
		own.loop()
		long.loop()
		require.Equal(t, long.result(), own.result(), name)
		require.Zero(t, own.result().Unfinished, name)
	}
}
