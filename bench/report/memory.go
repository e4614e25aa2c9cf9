package main

import (
	"fmt"
	"unsafe"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/table"
	"github.com/uetcc/uetcc/pds/pdc"
)

// A footprint is the memory of something. Others is what it takes elsewhere,
// measured once.
type footprint struct {
	what        string
	ours, limit float64
	unit        string
	others      string
}

func (f *footprint) cells() []string {
	word := "missed"
	if f.ours <= f.limit {
		word = "met"
	}
	return []string{f.what, fmt.Sprintf("%s %s", figure(f.ours), f.unit), fmt.Sprintf("<= %.4g", f.limit), f.others, word}
}

var footprintColumns = []string{"memory of", "ours", "goal", "elsewhere", ""}

// footprints are sizes of this build, tested where the types are, and what the
// simulations of the rounds took.
func footprints(rounds []round) []footprint {
	const entries = 1 << 16
	f := []footprint{
		{"a PDC, both directions, 1,024 packets each", float64(unsafe.Sizeof(pdc.PDC{})), 512, "B", "htsim 1,160 + 17,400; KCP 16,410; gVisor TCP 1,903"},
		{"a CCC", float64(unsafe.Sizeof(ccc.Context{})), 256, "B", "htsim 1,016"},
		{"an entry of a table, 40-byte key", float64(table.NewMap(entries, 0).Bytes()) / entries, 100, "B", "pb 66; xsync 81; Go map 112; sync.Map 154"},
	}
	for _, s := range []struct {
		what, ours string
		limit      float64
	}{{"a simulation of 128 nodes", node128, 15}, {"a simulation of 1,024 nodes", node1024, 142}} {
		if mb := series(&job{ours: s.ours}, 0, s.ours, "peak-MB", rounds); mb.largest > 0 {
			f = append(f, footprint{s.what + ", the process at its peak", mb.largest, s.limit, "MB", fmt.Sprintf("htsim %.0f", s.limit)})
		}
	}
	return f
}
