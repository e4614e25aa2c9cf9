// SPDX-License-Identifier: Apache-2.0

package fabric_test

import (
	"fmt"
	"log"
	"maps"
	"slices"
	"strings"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/link"
)

// Three hosts write to a fourth at once, with the window that NSCC computes from
// marks and delays and with none.
func Example() {
	m, err := fabric.ParseMatrix("incast", strings.NewReader(`
Nodes 16
Connections 3
5->0 start 0 size 1000000
9->0 start 0 size 1000000
13->0 start 0 size 1000000
`))
	if err != nil {
		panic(err)
	}
	for _, mode := range []ccc.Mode{ccc.ModeOff, ccc.ModeEnforce} {
		r, err := fabric.Run(fabric.Config{Matrix: m, Mode: mode})
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s: trimmed %v, all done %v, nothing lost %v\n",
			mode, r.Totals.Trimmed > 100, r.Unfinished == 0, len(r.Violations) == 0)
	}
	// Output:
	// off: trimmed true, all done true, nothing lost true
	// enforce: trimmed false, all done true, nothing lost true
}

// Two endpoints on a fabric that loses a packet in a hundred: a message of each way.
func ExampleNewWorld() {
	w, err := fabric.NewWorld(fabric.Config{Node: fabric.NodeEndpoint, Topology: fabric.FatTree(2, 100e9, link.Microsecond), Loss: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	write := &fabric.Message{Src: 0, Dst: 1, Op: fabric.OpWrite, Size: 1_000_000}
	read := &fabric.Message{Src: 1, Dst: 0, Op: fabric.OpRead, Size: 1_000_000}
	w.Post(write)
	w.Post(read)
	w.Run(link.Second)
	fmt.Println(write.OK(), write.Placed(), write.Check(w))
	fmt.Println(read.OK(), read.Placed(), read.Check(w))
	// Output:
	// true 1000000 <nil>
	// true 1000000 <nil>
}

// Figure 6-1 of the UET congestion chapters: a segment is two nodes, two rail switches and a spine.
// Each node has two GPUs with a NIC port each, one on each rail, so GPU g of node n is the host
// with number 2g + n of its segment. What stays on a rail never reaches the spine.
func ExampleTopology_rails() {
	segments := &fabric.Topology{Nodes: 8, PodSize: 8, Tiers: []fabric.Tier{
		{DownRate: 100e9, DownLatency: link.Microsecond, RadixDown: 2, RadixUp: 2},
		{DownRate: 100e9, DownLatency: link.Microsecond, RadixDown: 4},
	}}
	superSpine := &fabric.Topology{Nodes: 16, PodSize: 8, Tiers: []fabric.Tier{
		{DownRate: 100e9, DownLatency: link.Microsecond, RadixDown: 2, RadixUp: 2},
		{DownRate: 100e9, DownLatency: link.Microsecond, RadixDown: 4, RadixUp: 4},
		{DownRate: 100e9, DownLatency: link.Microsecond, RadixDown: 2},
	}}
	for _, c := range []struct {
		name string
		t    *fabric.Topology
		dst  int
	}{{"GPU 0 of the other node", segments, 1}, {"the other segment", segments, 4}, {"the other pod", superSpine, 8}} {
		r, err := fabric.Run(fabric.Config{Topology: c.t, Series: &fabric.SeriesConfig{Lines: 128}, Matrix: &fabric.Matrix{
			Nodes: c.t.Nodes, Flows: []fabric.Flow{{Src: 0, Dst: c.dst, Size: 1_000_000}},
		}})
		if err != nil {
			log.Fatal(err)
		}
		busy := map[string]bool{} // the kinds of switches that sent
		for _, l := range r.Series.Lines {
			if l.Kind == fabric.SeriesLink && slices.Max(l.Max) > 0 {
				busy[strings.Fields(l.Name)[0]] = true
			}
		}
		passed := slices.Sorted(maps.Keys(busy))
		fmt.Printf("to %s by way of %s\n", c.name, strings.Join(passed, ", "))
	}
	// Output:
	// to GPU 0 of the other node by way of leaf
	// to the other segment by way of leaf, spine
	// to the other pod by way of agg, core, leaf
}
