package fabric

import (
	"encoding/json"
	"fmt"
	"hash"
	"hash/fnv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
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
func dividedRuns() map[string]Config {
	trees := shuffled(432, 12_000)
	leaves := &Topology{Nodes: 256, Tiers: []Tier{
		{DownRate: 100e9, DownLatency: 500_000, RadixDown: 16, RadixUp: 8},
		{DownRate: 100e9, DownLatency: 500_000, SwitchLatency: 100_000, RadixDown: 16},
	}}
	dead := *trees
	dead.Failures = []Failure{{Tier: 1, Switch: 3, Link: 2}, {Tier: 0, Switch: 1, Link: 0}}
	return map[string]Config{
		"tree":     {Matrix: trees},
		"leaves":   {Matrix: shuffled(256, 12_000), Topology: leaves, Control: ccc.ControlBoth},
		"credit":   {Matrix: shuffled(256, 12_000), Topology: leaves, Control: ccc.ControlRCCC},
		"htsim":    {Matrix: trees, Rules: RulesHTSim},
		"dropping": {Matrix: trees, NoTrim: true},
		"requests": {Matrix: crowd(256, 40_000), Topology: leaves, Control: ccc.ControlRCCC, NoTrim: true, Rules: RulesHTSim, Queue: &Queue{Limit: Packets(4)}},
		"faults":   {Matrix: trees, Loss: 0.01, Reorder: 0.02},
		"dead":     {Matrix: &dead, SlowLinks: 5, NoTrim: true},
		"pauses":   {Matrix: shuffled(256, 12_000), Topology: leaves, PFC: &switchq.PFCConfig{XOff: 8 * 4150, XOn: 4 * 4150, Pause: 3000}, Mode: ccc.ModeOff},
		"sampled":  {Matrix: trees, Series: &SeriesConfig{Interval: 700_000, Points: 8}, Held: true},
		"endpoint": {Matrix: shuffled(256, 10_000), Topology: leaves, Node: NodeEndpoint, Held: true},
	}
}

// observed has all functions of the user's write down what they are told.
func observed(c Config, to hash.Hash) Config {
	last := link.Ps(0)
	in := func(now link.Ps) {
		if now < last {
			panic("time runs back")
		}
		last = now
	}
	c.Context = func(s *ContextState) { in(s.Now); fmt.Fprintln(to, s.Now, s.Conn, s.Window.Cwnd, s.Waiting) }
	if c.Node == NodeLight {
		c.Seen = func(s *Seen) { in(s.Now); fmt.Fprintln(to, s.Now, s.Conn, s.PSN, s.CACK, s.Marked) }
	} else {
		c.Frame = func(now link.Ps, host int, f *Frame) {
			in(now)
			fmt.Fprintln(to, now, host)
			to.Write(f.Bytes)
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
	for name, c := range dividedRuns() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want string
			for _, n := range workers {
				seen := fnv.New64a()
				c := observed(c, seen)
				c.Workers = n
				s, err := newSim(c)
				require.NoError(t, err)
				require.GreaterOrEqual(t, len(s.parts), 8)
				s.loop()
				r := s.result()
				require.Empty(t, r.Violations)
				require.Zero(t, r.Unfinished)
				b, err := json.Marshal(r)
				require.NoError(t, err)
				got := fmt.Sprintf("%s%x", b, seen.Sum64())
				if want == "" {
					want = got
				}
				require.Equal(t, want, got, "%d workers", n)
			}
		})
	}
}

// In parts a run is another one only where chance has a part in it.
func TestPartsAreTheWhole(t *testing.T) {
	for name, c := range dividedRuns() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parts, err := Run(c)
			require.NoError(t, err)
			c.whole = true
			whole, err := Run(c)
			require.NoError(t, err)
			require.Equal(t, whole.Parameters, parts.Parameters)
			mean, p99 := 0.03, 0.05
			if c.Loss > 0 { // other packets are lost
				mean, p99 = 0.1, 0.2
			}
			require.InEpsilon(t, whole.FCT.Mean, parts.FCT.Mean, mean)
			require.InEpsilon(t, whole.FCT.P99, parts.FCT.P99, p99)
			require.InEpsilon(t, float64(whole.Totals.Events), float64(parts.Totals.Events), 0.02)
			require.InDelta(t, float64(whole.Totals.Trimmed), float64(parts.Totals.Trimmed), 50+0.1*float64(whole.Totals.Trimmed))
		})
	}
}
