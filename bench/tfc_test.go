// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"testing"

	"github.com/uetcc/uetcc/rccc/tfc"
)

// BenchmarkTFC sends a full packet, takes it in, frees it and brings the credit
// back.
func BenchmarkTFC(b *testing.B) {
	p, err := tfc.NewParams(tfc.Config{CellSize: 256, PktOverhead: 32, Limit: 4096, MTU: 4150, RTT: 9348})
	if err != nil {
		b.Fatal(err)
	}
	var s tfc.Source
	var d tfc.Destination
	s.Init(&p)
	d.Init(&p, 0)
	b.ReportAllocs()
	now := int64(0)
	for b.Loop() {
		now += 83
		if !s.CanSend(&p, 4150) {
			b.Fatal("blocked")
		}
		s.OnSend(&p, 4150)
		d.Accept(&p, now, 4150)
		d.Release(&p, now, 4150)
		s.OnCreditUpdate(&p, tfc.CellsOf(d.Credit(&p, now)).Extend(s.Credit()))
	}
}
