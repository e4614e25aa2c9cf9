// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash"
	"hash/fnv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/hbm"
	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/hw/switchq"
)

// shuffled is a matrix in which each host sends to two others; every seventh connection has
// messages that follow one another by a trigger.
func shuffled(hosts int, size int64) *Matrix {
	m := &Matrix{Nodes: hosts}
	for i := range hosts {
		f := Flow{Src: i, Dst: (i*29 + 7) % hosts, Size: size + int64(i)*100, Start: link.Ps(i%5) * 300_000}
		if f.Dst == f.Src {
			continue
		}
		if i%7 == 0 {
			f.Message, f.ID, f.SendDone = true, int64(i+1), int64(i+1)
			m.Triggers = append(m.Triggers, Trigger{ID: int64(i + 1), Kind: TriggerOneshot})
			m.Flows = append(m.Flows, f)
			f.SendDone, f.Trigger, f.Start = 0, int64(i+1), 0
		}
		m.Flows = append(m.Flows, f)
		m.Flows = append(m.Flows, Flow{Src: i, Dst: (f.Dst + 1 + i%2) % hosts, Size: size / 2})
		if last := &m.Flows[len(m.Flows)-1]; last.Dst == i {
			last.Dst = (i + 3) % hosts
		}
	}
	return m
}

// crowd is a matrix in which all other hosts send to each of the first four at once.
func crowd(hosts int, size int64) *Matrix {
	m := &Matrix{Nodes: hosts}
	for i := 4; i < hosts; i++ {
		m.Flows = append(m.Flows, Flow{Src: i, Dst: i % 4, Size: size})
	}
	return m
}

// dividedRuns are fabrics that are simulated in parts.
func dividedRuns(t *testing.T) map[string]Config {
	trees := shuffled(432, 12_000)
	leaves := &Topology{Nodes: 256, Tiers: []Tier{
		{DownRate: 100e9, DownLatency: 500_000, RadixDown: 16, RadixUp: 8},
		{DownRate: 100e9, DownLatency: 500_000, SwitchLatency: 100_000, RadixDown: 16},
	}}
	small, dead := shuffled(256, 6_000), *trees
	dead.Failures = []Failure{{Tier: 1, Switch: 3, Link: 2}, {Tier: 0, Switch: 1, Link: 0}}
	return map[string]Config{
		"tree":             {Matrix: trees},
		"leaves":           {Matrix: shuffled(256, 12_000), Topology: leaves, Control: ccc.ControlBoth},
		"credit":           {Matrix: shuffled(256, 12_000), Topology: leaves, Control: ccc.ControlRCCC},
		"htsim":            {Matrix: trees, Rules: RulesHTSim},
		"dropping":         {Matrix: trees, NoTrim: true},
		"requests":         {Matrix: crowd(256, 40_000), Topology: leaves, Control: ccc.ControlRCCC, NoTrim: true, Rules: RulesHTSim, Queue: &Queue{Limit: Packets(4)}},
		"faults":           {Matrix: trees, Loss: 0.01, Reorder: 0.02},
		"dead":             {Matrix: &dead, SlowLinks: 5, NoTrim: true},
		"pauses":           {Matrix: shuffled(256, 12_000), Topology: leaves, PFC: &switchq.PFCConfig{XOff: 8 * 4150, XOn: 4 * 4150, Pause: 3000}, Mode: ccc.ModeOff},
		"sampled":          {Matrix: trees, Series: &SeriesConfig{Interval: 700_000, Points: 8}, Held: true},
		"adaptive":         {Matrix: small, Topology: leaves, Routing: RoutingAdaptive},
		"mixed":            {Matrix: small, Topology: leaves, Routing: RoutingMixed},
		"turns":            {Matrix: small, Topology: leaves, Routing: RoutingRoundRobin},
		"broken":           {Matrix: trees, NoTrim: true, Faults: brokenLinks(t), Reroute: 30 * link.Microsecond},
		"detours":          {Matrix: small, Topology: leaves, Routing: RoutingAdaptive, Faults: brokenLinks(t), Reroute: 5 * link.Microsecond},
		"sleek":            {Matrix: crowd(256, 20_000), Topology: leaves, NoTrim: true, InferLoss: true, Rules: RulesHTSim},
		"memory":           {Matrix: crowd(256, 20_000), Topology: leaves, Memory: slowMemory},
		"endpoint, broken": {Matrix: shuffled(256, 10_000), Topology: leaves, Node: NodeEndpoint, Faults: brokenLinks(t), Reroute: 20 * link.Microsecond},
		"endpoint, memory": {Matrix: crowd(256, 8_000), Topology: leaves, Node: NodeEndpoint, Memory: slowMemory},
		"endpoint":         {Matrix: shuffled(256, 10_000), Topology: leaves, Node: NodeEndpoint, Held: true},
	}
}

// brokenLinks go down, come back, slow down and lose packets; two of them meet at one link.
func brokenLinks(t *testing.T) (list []Fault) {
	for _, text := range []string{"leaf0.1:down@3-40", "leaf3.2:rate=0.25@2-30", "leaf3.2:rate=0.5@10-20", "spine1:down@5-25", "leaf7.0:loss=0.2@0", "host9:down@4-9"} {
		f, err := ParseFault(text)
		require.NoError(t, err)
		list = append(list, f)
	}
	return list
}

// slowMemory is that of a host in the middle.
var slowMemory = &Memory{
	Host: 2, Controller: hbm.Config{Channels: 2, Banks: 4, Depth: 64, Rate: 4e9, Interleave: 4096},
	Internal: 2, InternalEnd: 50 * link.Microsecond,
}

// A diary writes down what functions of the user's are told, in order of time.
type diary struct {
	hash.Hash64
	last link.Ps
	room []byte
}

func (d *diary) note(now link.Ps, v ...int64) {
	if now < d.last {
		panic("time runs back")
	}
	d.last = now
	d.room = binary.LittleEndian.AppendUint64(d.room[:0], uint64(now))
	for _, x := range v {
		d.room = binary.LittleEndian.AppendUint64(d.room, uint64(x))
	}
	d.Write(d.room)
}

func (d *diary) Packet(p *PacketState) {
	d.note(p.Now, int64(p.ID), int64(p.Event), int64(p.Kind), int64(p.Src), int64(p.Dst), int64(p.PSN), int64(p.Next), p.Size, p.Payload)
}

func (d *diary) Port(p *PortState) {
	d.note(p.Now, int64(p.Port), p.Sent, p.Waiting, p.Marked, p.Trimmed, p.Dropped)
}

// observed has all functions of the user's write down what they are told.
func observed(c Config, d *diary) Config {
	c.Watch = d
	c.Context = func(s *ContextState) { d.note(s.Now, int64(s.Conn), s.Window.Cwnd, s.Waiting) }
	if c.Node == NodeLight {
		c.Seen = func(s *Seen) { d.note(s.Now, int64(s.Conn), int64(s.PSN), int64(s.CACK)) }
	} else {
		c.Frame = func(now link.Ps, host int, f *Frame) {
			d.note(now, int64(host))
			d.Write(f.Bytes)
		}
	}
	return c
}

// The result of a run, and what its functions are told, is the same byte by byte on any number
// of goroutines.
func TestPartsOnAnyNumberOfWorkers(t *testing.T) {
	workers := []int{1, 2, 3, 8}
	if testing.Short() {
		workers = []int{1, 3}
	}
	for name, c := range dividedRuns(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parts, r := onWorkers(t, c, workers)
			require.GreaterOrEqual(t, parts, 8)
			require.Zero(t, r.Unfinished)
		})
	}
}

// onWorkers runs c with each number of workers, and looks for any difference.
func onWorkers(t *testing.T, c Config, workers []int) (parts int, r *Result) {
	t.Helper()
	var want string
	for _, n := range workers {
		seen := &diary{Hash64: fnv.New64a()}
		c := observed(c, seen)
		c.Workers = n
		s, err := newSim(c)
		require.NoError(t, err)
		s.loop()
		parts, r = len(s.parts), s.result()
		require.Empty(t, r.Violations)
		b, err := json.Marshal(r)
		require.NoError(t, err)
		got := fmt.Sprintf("%s%x", b, seen.Sum64())
		if want == "" {
			want = got
		}
		require.True(t, want == got, "%d workers", n)
	}
	return parts, r
}

// The matrices of htsim, with at most 40 KB in each transfer, in as many parts as there are
// leaves or pods, though the fabrics are small.
func TestWorkloadsInParts(t *testing.T) {
	workers := []int{1, 2, 3, 8}
	if testing.Short() {
		workers = []int{1, 3}
	}
	for _, tc := range []struct {
		matrix, topology string
	}{
		{"alltoall_serial_16n.cm", ""}, {"bidir.cm", ""}, {"incast.cm", ""}, {"incast_128.cm", ""}, {"incast_3-1_overlapped.tm", ""},
		{"one.cm", ""}, {"outcast_incast.cm", ""}, {"perm_1024n_1024c_0u_2000000b.cm.gz", "leaf_spine_1024.topo"},
		{"perm_128n_128c_2MB.cm", "fat_tree_128_4os.topo"}, {"perm_16n_16c_2MB.cm", ""},
		{"perm_32n_32c_2MB.cm", "leaf_spine_tiny.topo"}, {"test_cr_1f10m10p.cm", ""},
	} {
		t.Run(tc.matrix, func(t *testing.T) {
			for _, c := range []Config{
				{}, {Rules: RulesHTSim, Control: ccc.ControlRCCC, NoTrim: true}, {Node: NodeEndpoint, Control: ccc.ControlBoth},
			} {
				var err error
				c.Matrix, err = ReadMatrix("testdata/" + tc.matrix)
				require.NoError(t, err)
				for i := range c.Matrix.Flows {
					c.Matrix.Flows[i].Size = min(c.Matrix.Flows[i].Size, 40_000)
				}
				if tc.topology != "" {
					c.Topology, err = ReadTopology("testdata/" + tc.topology)
					require.NoError(t, err)
				}
				c.parts = maxParts
				parts, r := onWorkers(t, c, workers)
				require.Zero(t, r.Unfinished)
				require.Greater(t, parts, 1)
			}
		})
	}
}

// In parts a run is another one only where chance has a part in it.
func TestPartsAreTheWhole(t *testing.T) {
	for name, c := range dividedRuns(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seeds := uint64(1)
			if c.InferLoss { // the slowest wait for a probe more or less
				seeds = 16
			}
			var parts, whole *Result
			var err error
			var ofParts, ofWhole struct{ mean, p99 float64 }
			for c.Seed = range seeds {
				c.parts = 0
				parts, err = Run(c)
				require.NoError(t, err)
				c.parts = 1
				whole, err = Run(c)
				require.NoError(t, err)
				ofParts.mean, ofParts.p99 = ofParts.mean+parts.FCT.Mean, ofParts.p99+parts.FCT.P99
				ofWhole.mean, ofWhole.p99 = ofWhole.mean+whole.FCT.Mean, ofWhole.p99+whole.FCT.P99
			}
			require.Equal(t, whole.Parameters, parts.Parameters)
			mean, p99 := 0.03, 0.05
			if c.Loss > 0 { // other packets are lost
				mean, p99 = 0.1, 0.2
			}
			require.InEpsilon(t, ofWhole.mean, ofParts.mean, mean)
			require.InEpsilon(t, ofWhole.p99, ofParts.p99, p99)
			require.InEpsilon(t, float64(whole.Totals.Events), float64(parts.Totals.Events), 0.02)
			require.Equal(t, whole.Totals.Inferred > 0, parts.Totals.Inferred > 0)
			lost := int64(0)
			for _, f := range parts.Faults {
				lost += f.Lost
			}
			require.Equal(t, c.Faults != nil, lost > 0)
			if c.Memory != nil {
				require.InDelta(t, whole.Memory.Internal, parts.Memory.Internal, 4096)
				require.Positive(t, parts.Memory.MeanWait)
			}
			require.InDelta(t, float64(whole.Totals.Trimmed), float64(parts.Totals.Trimmed), 50+0.1*float64(whole.Totals.Trimmed))
		})
	}
}
