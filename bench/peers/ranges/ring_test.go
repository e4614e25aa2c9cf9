// SPDX-License-Identifier: Apache-2.0

package ranges

import (
	"math"
	"math/bits"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/pion/transport/v3/replaydetector"
	"golang.zx2c4.com/wireguard/replay"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/seqnum"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
)

// orders give the i-th packet to arrive. Spray reverses blocks of 32; gap brings
// the first of every 64 last.
var orders = []struct {
	name string
	psn  func(i uint32) uint32
}{
	{"inorder", func(i uint32) uint32 { return i }},
	{"spray", func(i uint32) uint32 { return i ^ 31 }},
	{"gap1of64", func(i uint32) uint32 {
		if i%64 == 63 {
			return i - 63
		}
		return i + 1
	}},
}

func TestRingAgreesWithMap(t *testing.T) {
	for _, o := range orders {
		var r Ring
		seen, base := map[uint32]bool{}, uint32(0)
		for i := range uint32(20_000) {
			p := o.psn(i)
			if r.Add(p) == seen[p] && p >= base || r.Add(p) {
				t.Fatalf("%s: packet %d at %d", o.name, p, i)
			}
			for seen[p] = true; seen[base]; base++ {
			}
			if r.Base != base {
				t.Fatalf("%s: edge %d, want %d at %d", o.name, r.Base, base, i)
			}
		}
	}
}

func TestRingMergesWhatIsNew(t *testing.T) {
	var r Ring
	for _, psn := range []uint32{0, 32, 64, 100} {
		before := r.Sack(psn)
		if n := r.Merge(psn, 0x5555_5555_5555_5555); n != bits.OnesCount64(0x5555_5555_5555_5555&^before) {
			t.Errorf("at %d: %d new", psn, n)
		}
	}
}

var sink uint64

// BenchmarkReceive marks packets as received, in each order.
func BenchmarkReceive(b *testing.B) {
	for _, o := range orders {
		run := func(name string, add func(psn uint32)) {
			b.Run(o.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for i := uint32(0); b.Loop(); i++ {
					add(o.psn(i))
				}
			})
		}
		b.Run(o.name+"/floor-ring", func(b *testing.B) {
			b.ReportAllocs()
			var r Ring
			for i := uint32(0); b.Loop(); i++ {
				r.Add(o.psn(i))
			}
			sink += uint64(r.Base)
		})
		b.Run(o.name+"/floor-ring+sack", func(b *testing.B) {
			b.ReportAllocs()
			var r Ring
			for i := uint32(0); b.Loop(); i++ {
				r.Add(o.psn(i))
				sink += r.Sack(r.Base)
			}
		})
		b.Run(o.name+"/wireguard-replay", func(b *testing.B) {
			b.ReportAllocs()
			var f replay.Filter
			for i := uint64(0); b.Loop(); i++ {
				f.ValidateCounter(uint64(o.psn(uint32(i)))+64, 1<<63)
			}
		})
		seen, base := make(map[uint32]struct{}, Window), uint32(0)
		run("gomap", func(psn uint32) {
			seen[psn] = struct{}{}
			for {
				if _, ok := seen[base]; !ok {
					return
				}
				delete(seen, base)
				base++
			}
		})
		detector := replaydetector.New(Window, math.MaxUint64)
		run("pion-replaydetector", func(psn uint32) {
			if accept, ok := detector.Check(uint64(psn) + 64); ok {
				accept()
			}
		})
		bitmap, edge := roaring.New(), uint32(0)
		run("roaring", func(psn uint32) {
			for bitmap.Add(psn); bitmap.Contains(edge); edge++ {
				bitmap.Remove(edge)
			}
		})
	}
}

// BenchmarkSender merges a 64-bit bitmap into what the sender knows; the scoreboard
// of a TCP takes one of the up to 64 blocks that such a bitmap can stand for.
func BenchmarkSender(b *testing.B) {
	b.Run("floor-merge-64-packets", func(b *testing.B) {
		b.ReportAllocs()
		var r Ring
		fresh := 0
		for i := uint32(0); b.Loop(); i++ {
			fresh += r.Merge(i&^31, 0x5555_5555_5555_5555<<(i&1))
		}
		sink += uint64(fresh)
	})
	b.Run("gvisor-scoreboard-insert", func(b *testing.B) {
		b.ReportAllocs()
		board := tcp.NewSACKScoreboard(1, 0)
		for i := 0; b.Loop(); i++ {
			if i%32 == 0 {
				board.Reset() // 32 blocks with gaps: every second packet of 64
			}
			at := seqnum.Value(2*(i%32) + 1)
			board.Insert(header.SACKBlock{Start: at, End: at + 1})
		}
	})
}
