// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"testing"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/link"
)

// BenchmarkFabric simulates whole workloads. The scenarios and the goals are those
// of htsim's own runs: data packets a second of processor time, and time an event, which
// may not grow by more than half from 128 to 1,024 nodes. Run it beside
// BenchmarkHold of the timers peer, the stand-in for htsim's machine.
func BenchmarkFabric(b *testing.B) {
	for _, w := range []struct {
		name, file string
		paths      int
	}{
		{"scenario=permutation/nodes=128", "perm_128n_128c_2MB.cm", 128},
		{"scenario=permutation/nodes=1024", "perm_1024n_1024c_0u_2000000b.cm.gz", 128},
		{"scenario=incast/nodes=128", "incast_128.cm", 64},
	} {
		b.Run(w.name, func(b *testing.B) {
			b.ReportAllocs()
			c := fabric.Config{
				Matrix:  fabricMatrix(b, w.file),
				Entropy: ccc.EntropyConfig{Scheme: ccc.SchemeMixed, Values: w.paths},
				Rules:   fabric.RulesHTSim,
			}
			var packets, events int64
			start := cpuTime()
			for b.Loop() {
				r, err := fabric.Run(c)
				if err != nil || r.Unfinished > 0 || len(r.Violations) > 0 {
					b.Fatal(err, r)
				}
				packets += r.Totals.New + r.Totals.Retransmitted
				events += r.Totals.Events
			}
			cpu := cpuTime() - start
			b.ReportMetric(float64(packets)/cpu.Seconds(), "data-packets/cpu-s")
			b.ReportMetric(float64(cpu.Nanoseconds())/float64(packets), "cpu-ns/data-packet")
			b.ReportMetric(float64(cpu.Nanoseconds())/float64(events), "cpu-ns/event")
			b.ReportMetric(float64(events)/float64(packets), "events/data-packet")
			b.ReportMetric(peakMB(), "peak-MB")
		})
	}
}

// fabricMatrix loads a workload of bench/fabric's test data.
func fabricMatrix(tb testing.TB, name string) *fabric.Matrix {
	tb.Helper()
	m, err := fabric.ReadMatrix("fabric/testdata/" + name)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// The figures below are what the benchmark's fabrics must look like for its
// numbers to mean what they say.
func TestFabricBenchmarkIsThePermutation(t *testing.T) {
	m := fabricMatrix(t, "perm_1024n_1024c_0u_2000000b.cm.gz")
	if len(m.Flows) != 1024 || m.Nodes != 1024 {
		t.Fatal(len(m.Flows), m.Nodes)
	}
	if got := fabric.FatTree(m.Nodes, 100e9, link.Microsecond).Nodes; got != 1024 {
		t.Fatal(got)
	}
}
