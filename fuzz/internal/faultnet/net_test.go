// SPDX-License-Identifier: Apache-2.0

package faultnet

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

// The hash of a run depends on everything that was noted, and on the order.
func TestHash(t *testing.T) {
	hash := func(all ...uint64) uint64 {
		var n Net
		for _, x := range all {
			n.Note(x)
		}
		return n.Hash()
	}
	seen := map[uint64][]uint64{}
	for _, all := range [][]uint64{{}, {1}, {2}, {1, 2}, {2, 1}, {1, 2, 3}, {1 << 63}, {1 << 63, 1}} {
		h := hash(all...)
		require.NotContains(t, seen, h, "%v and %v", all, seen[h])
		seen[h] = all
		require.Equal(t, h, hash(all...))
	}
}

// The network does what it has always done: another number says that each seed of the tests which
// use it means another run, and that whoever breaks the network by accident hears of it here.
func TestNetDoesTheSameAsEver(t *testing.T) {
	loss := [NumClasses]float64{.05, .06, .07, .08, .09, .1}
	plan := Plan{Loss: loss, Duplicate: .05, LongDelay: .05, Overtaken: .05, Corrupt: .02, Mangle: .05, Trim: .1, Mark: .1,
		Replay: .05, ReplayLate: .05, Forge: .3, Blackhole: .002, Partition: .002, Delay: 5000, Jitter: 2000, Tail: 40_000, Dark: 30_000}
	n := New(3, 1, plan)
	note := func(p *Packet) {
		for _, x := range []uint64{uint64(n.Now), uint64(p.From), uint64(p.To), uint64(p.Len), uint64(p.Trim), uint64(p.Class)} {
			n.Note(x)
		}
		if p.CE || p.Fabled {
			n.Note(7)
		}
		for _, b := range p.Head {
			n.Note(uint64(b))
		}
	}
	drain := func() {
		for p, ok := n.Take(); ok; p, ok = n.Take() {
			note(p)
		}
	}
	for i := range uint32(6000) {
		n.Now += int64(i % 3 * 700)
		head := (&pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, PSN: pds.PSN(i), SPDCID: 3, DPDCID: 4}).AppendTo(nil)
		switch i % 7 {
		case 1:
			head = (&pds.Request{Type: pds.TypeRODReq, Flags: pds.FlagSYN, PSN: pds.PSN(i), SPDCID: 5}).AppendTo(nil)
		case 2:
			head = (&pds.AckCC{Ack: pds.Ack{SPDCID: 4, DPDCID: 3, CACK: pds.PSN(i)}}).AppendTo(nil)
		case 3:
			head = (&pds.AckCC{Ack: pds.Ack{Next: pds.NextResponse, SPDCID: 4, DPDCID: 3, CACK: pds.PSN(i)}}).AppendTo(make([]byte, 0, 64))
			head = append(head, make([]byte, 12)...)
		case 4:
			head = (&pds.Nack{Code: pds.NackTrimmed, SPDCID: 4, DPDCID: 3, PSN: pds.PSN(i)}).AppendTo(nil)
		case 5:
			head = (&pds.Control{Ctl: pds.CtlProbe, SPDCID: 3, DPDCID: 4, PSN: pds.PSN(i)}).AppendTo(nil)
		}
		n.Send(&Packet{From: int(i % 3), To: int((i + i/5) % 4), Head: head, Len: len(head), Size: 100})
		drain()
	}
	n.Heal()
	require.True(t, n.Healed())
	for n.Len() > 0 {
		n.Now = n.Next()
		drain()
	}
	require.EqualValues(t, 6000, n.Sent)
	for f, count := range n.Counts {
		n.Note(uint64(f)<<32 ^ count)
	}
	require.EqualValues(t, uint64(0x6e5a5a4109729fc7), n.Hash())
}
