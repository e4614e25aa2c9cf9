package bench

import (
	"testing"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
)

// pdcOrders give the i-th PSN to arrive, as in the peers' ranges package.
var pdcOrders = []struct {
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

// BenchmarkRecvWindow marks a packet as arrived and takes the SACK of its
// acknowledgement. Its peer is Receive/<order>/floor-ring+sack.
func BenchmarkRecvWindow(b *testing.B) {
	for _, o := range pdcOrders {
		b.Run("op=accept+sack/order="+o.name, func(b *testing.B) {
			b.ReportAllocs()
			var w pdc.RecvWindow
			w.Init(0)
			i := uint32(0)
			for b.Loop() {
				psn := pds.PSN(o.psn(i))
				if w.Classify(psn, pdc.MaxRange) == pdc.ArrivalNew {
					w.Accept(psn)
				}
				sinkU64 += w.SACK(w.SACKBase(psn))
				i++
			}
		})
	}
}

var sinkU64 uint64
