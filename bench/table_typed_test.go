// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"net/netip"
	"testing"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
)

// typedTables is a FEP with n PDCs opened by SYN packets and n contexts, and their
// keys in random order.
func typedTables(b testing.TB, n int) (*pdc.Table, []pdc.TargetKey, []pds.PDCID) {
	b.Helper()
	t, err := pdc.NewTable(pdc.TableConfig{General: n, Seed: 1, FirstID: 1})
	if err != nil {
		b.Fatal(err)
	}
	dst := netip.AddrFrom4([4]byte{10, 128, 0, 1})
	ks, ids := make([]pdc.TargetKey, n), make([]pds.PDCID, n)
	for _, i := range tableOrder(n) {
		src := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		ks[i] = pdc.TargetKey{Source: src, Destination: dst, SPDCID: pds.PDCID(i%1000 + 1)}
		h, _, err := t.OpenTarget(0, &ks[i], false)
		if err != nil {
			b.Fatal(err)
		}
		ids[i] = h.ID()
	}
	return t, ks, ids
}

// BenchmarkKeyed16 finds a PDC by its 16-bit id: what every packet costs. Match
// also compares the source address and the peer's id.
func BenchmarkKeyed16(b *testing.B) {
	for _, sz := range tableSizes {
		n := min(sz.n, pdc.MaxPDCs)
		t, ks, ids := typedTables(b, n)
		b.Run("n="+sz.name+"/hit/uetcc/g=1", func(b *testing.B) {
			b.ReportAllocs()
			i, s := 0, 0
			for b.Loop() {
				if t.ByID(ids[i]) != 0 {
					s++
				}
				if i++; i == n {
					i = 0
				}
			}
			if s == 0 {
				b.Fatal("nothing found")
			}
		})
		b.Run("n="+sz.name+"/hit/uetcc/g=2", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(p *testing.PB) {
				i, s := 0, uint64(0)
				for p.Next() {
					s += uint64(t.ByID(ids[i]))
					if i++; i == n {
						i = 0
					}
				}
				tableSink.Add(s)
			})
		})
		b.Run("n="+sz.name+"/hit/uetcc-match/g=1", func(b *testing.B) {
			b.ReportAllocs()
			i, s := 0, 0
			for b.Loop() {
				if _, err := t.Match(ids[i], ks[i].Source, ks[i].SPDCID); err == nil {
					s++
				}
				if i++; i == n {
					i = 0
				}
			}
			if s == 0 {
				b.Fatal("nothing found")
			}
		})
	}
}

// BenchmarkKeyed16Cores is ByID on several cores at once, in one table.
func BenchmarkKeyed16Cores(b *testing.B) {
	t, _, ids := typedTables(b, pdc.MaxPDCs)
	onCores(b, "n=64k/uetcc/", func(core, from, to int) {
		i, s := (core*len(ids)/3+from)%len(ids), uint64(0)
		for range to - from {
			s += uint64(t.ByID(ids[i]))
			if i++; i == len(ids) {
				i = 0
			}
		}
		tableSink.Add(s)
	})
}

// BenchmarkTyped finds and opens by addresses, with the key built on the way.
func BenchmarkTyped(b *testing.B) {
	for _, sz := range tableSizes {
		n := min(sz.n, pdc.MaxPDCs)
		t, ks, _ := typedTables(b, n)
		b.Run("n="+sz.name+"/pdc.Target", func(b *testing.B) {
			b.ReportAllocs()
			i, s := 0, 0
			for b.Loop() {
				if _, err := t.Target(&ks[i]); err == nil {
					s++
				}
				if i++; i == n {
					i = 0
				}
			}
			if s == 0 {
				b.Fatal("nothing found")
			}
		})
	}
	b.Run("pdc.Open+Match+Release+Reap", benchTargetLife)
	b.Run("ccc.Lookup", benchContextLookup)
}

// benchTargetLife is what a PDC costs the table from its first packet to its end.
func benchTargetLife(b *testing.B) {
	b.ReportAllocs()
	t, err := pdc.NewTable(pdc.TableConfig{General: 1 << 12})
	if err != nil {
		b.Fatal(err)
	}
	k := pdc.TargetKey{Source: netip.MustParseAddr("2001:db8::1"), Destination: netip.MustParseAddr("2001:db8::2"), SPDCID: 1}
	for b.Loop() {
		h, _, err := t.OpenTarget(0, &k, false)
		if err != nil {
			b.Fatal(err)
		}
		if _, err = t.Match(h.ID(), k.Source, 1); err != nil {
			b.Fatal(err)
		}
		if t.Release(0, h) != nil || t.Reap(0, 1) != 1 {
			b.Fatal("not released")
		}
	}
}

// benchContextLookup finds contexts by their addresses.
func benchContextLookup(b *testing.B) {
	b.ReportAllocs()
	t, err := ccc.NewTable(1<<10, true, 0)
	if err != nil {
		b.Fatal(err)
	}
	var ks [1 << 10]ccc.Key
	for i := range ks {
		ks[i] = ccc.Key{Source: netip.MustParseAddr("10.0.0.1"), Destination: netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}), TC: 1}
		if _, _, err := t.Open(&ks[i]); err != nil {
			b.Fatal(err)
		}
	}
	i, s := 0, uint64(0)
	for b.Loop() {
		s += uint64(t.Lookup(&ks[i]))
		i = (i + 1) % len(ks)
	}
	tableSink.Add(s)
}
