// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/internal/table"
	"github.com/uetcc/uetcc/nscc"
)

// A footprint is the memory of something; limit 0 is no goal. Others is the memory
// taken by rivals, measured once.
type footprint struct {
	what        string
	ours, limit float64
	unit        string
	others      string
}

func (f *footprint) cells() []string {
	goal, word := fmt.Sprintf("<= %.4g", f.limit), "missed"
	switch {
	case f.limit == 0:
		goal, word = "", ""
	case f.ours <= f.limit:
		word = "met"
	}
	return []string{f.what, fmt.Sprintf("%s %s", figure(f.ours), f.unit), goal, f.others, word}
}

var footprintColumns = []string{"memory of", "ours", "goal", "elsewhere", ""}

// allocated is the memory for making a value, bytes.
func allocated(make func() any) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	v := make()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(v)
	return float64(after.TotalAlloc - before.TotalAlloc)
}

// manager returns a maker of a manager with the most PDCs possible and the least of
// everything else.
func manager() func() any {
	params, _ := pdc.NewParams(pdc.Config{})
	ids, _ := pdc.NewTable(pdc.TableConfig{General: pdc.MaxPDCs})
	contexts, _ := ccc.NewTable(1, true, 0)
	rules, _ := ccc.NewParams(ccc.Config{NSCC: nscc.Config{LinkRate: 100e9 / 8, BaseRTT: 12_000, MTU: 4096}})
	cc, _ := ccc.NewManager(ccc.ManagerConfig{Params: &rules, Contexts: 2, PDCs: pdc.MaxPDCs + 1})
	return func() any {
		m, _ := pdc.NewManager(pdc.ManagerConfig{Params: &params, Table: ids, CC: cc, Contexts: contexts,
			Memory: pdc.MemoryConfig{Chunks: 1, Responses: 1}, Waiting: 1, RUDI: 1})
		return m
	}
}

// footprints are sizes of the present build, tested beside the types, and the memory
// of the simulations in the rounds.
func footprints(rounds []round) []footprint {
	const entries = 1 << 16
	shared := allocated(manager()) - pdc.MaxPDCs*float64(unsafe.Sizeof(pdc.PDC{}))
	f := []footprint{
		{"a PDC, with the bits of 1,024 packets received", float64(unsafe.Sizeof(pdc.PDC{})), 512, "B", "htsim 1,160 + 17,400; KCP 16,410; gVisor TCP 1,903"},
		{"its part of what PDCs share while it is idle: the bits of 64 packets sent, a response, a timer", shared / pdc.MaxPDCs, 0, "B", ""},
		{"a CCC", float64(unsafe.Sizeof(ccc.Context{})), 256, "B", "htsim 1,016"},
		{"an entry of a table, 40-byte key", allocated(func() any { return table.NewMap(entries, 0) }) / entries, 100, "B", "pb 66; xsync 81; Go map 112; sync.Map 154"},
	}
	for _, s := range []struct {
		what, ours string
		limit      float64
	}{{"a simulation of 128 nodes", node128, 15}, {"a simulation of 1,024 nodes", node1024, 142}} {
		if mb := series(&job{ours: s.ours}, ourSide, s.ours, "peak-MB", rounds); mb.largest > 0 {
			f = append(f, footprint{s.what + ", the process at its peak", mb.largest, s.limit, "MB", fmt.Sprintf("htsim %.0f", s.limit)})
		}
	}
	return f
}
