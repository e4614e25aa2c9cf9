// SPDX-License-Identifier: Apache-2.0

// Package meter is the common part of exporters of a node's counters: the list of metrics, and the
// present values.
package meter

import (
	"maps"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"unicode"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/node"
	"github.com/uetcc/uetcc/hw/port"
	"github.com/uetcc/uetcc/pds/pdc"
)

// A Metric is a number of a node over time.
type Metric struct {
	Group, Name string // in snake_case, as in pds and resent
	Unit        string // "By", "s" or "1", as UCUM has them
	Counter     bool   // the number never goes back; else a gauge
	Label       string // what several values of the metric differ by: "state", "reason"; "": there is one value
	Help        string
}

// A Point is a value of a metric.
type Point struct {
	Metric
	Value float64
	Is    string // the label's value
}

// Metrics are all metrics of [Meter.Read], in the same order each time.
func Metrics() (all []Metric) {
	for _, g := range groups {
		for f := range fields(reflect.TypeOf(g.of)) {
			all = append(all, g.metric(f))
		}
	}
	for i := range contextMetrics {
		all = append(all, contextMetrics[i].Metric)
	}
	return all
}

// A group is a structure of counters.
type group struct {
	of      any
	name    string
	counter bool
}

var groups = []group{
	{node.Stats{}, "node", true}, {port.Stats{}, "port", true}, {uetcc.Stats{}, "endpoint", true},
	{pdc.Stats{}, "pds", true}, {uetcc.Usage{}, "usage", false},
}

func (g *group) metric(f reflect.StructField) Metric {
	m := Metric{
		Group: g.name, Name: snake(f.Name), Unit: "1", Counter: g.counter,
		Help: "Field " + f.Name + " of " + reflect.TypeOf(g.of).String() + ", all shards together.",
	}
	if strings.HasSuffix(f.Name, "Bytes") {
		m.Unit = "By"
	}
	return m
}

// fields are the counting fields of a structure.
func fields(t reflect.Type) func(yield func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if f := t.Field(i); (f.Type.Kind() == reflect.Uint64 || f.Type.Kind() == reflect.Int) && !yield(f) {
				return
			}
		}
	}
}

// snake is a Go name in snake_case: SentBytes is sent_bytes, NACKs is nacks.
func snake(name string) string {
	var b strings.Builder
	before := 'A'
	for i, c := range name {
		if i > 0 && unicode.IsUpper(c) && unicode.IsLower(before) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
		before = c
	}
	return b.String()
}

// A Meter reads the metrics of a node. Any goroutine may call Read.
type Meter struct {
	node *node.Node

	mu    sync.Mutex // guards all below
	last  map[contextKey]ccc.Snapshot
	total ccc.Snapshot // counters of all contexts there have been
}

// A contextKey names a context for one life.
type contextKey struct {
	peer   netip.AddrPort
	handle ccc.Handle
}

// New makes the meter of a node.
func New(n *node.Node) *Meter { return &Meter{node: n, last: map[contextKey]ccc.Snapshot{}} }

// Read calls f with each value: for a metric with a label, a value for each value of the label.
// Counts of a context between the last Read and the context's end are lost.
func (m *Meter) Read(f func(Point)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.node.Stats()
	sums := [...]map[string]float64{{}, {}, {}, {}, {}}
	add(sums[0], all)
	add(sums[1], all.Port)
	for _, e := range all.Endpoints {
		add(sums[2], e.Endpoint)
		add(sums[3], e.PDS)
		add(sums[4], e.Usage)
	}
	for i := range groups {
		g := &groups[i]
		for x := range fields(reflect.TypeOf(g.of)) {
			f(Point{Metric: g.metric(x), Value: sums[i][x.Name]})
		}
	}
	now := m.look()
	for i := range contextMetrics {
		x := &contextMetrics[i]
		x.read(now, func(is string, v float64) { f(Point{x.Metric, v, is}) })
	}
}

// add adds the counting fields of a structure to sums.
func add(sums map[string]float64, of any) {
	v := reflect.ValueOf(of)
	for f := range fields(v.Type()) {
		if x := v.FieldByIndex(f.Index); x.CanUint() {
			sums[f.Name] += float64(x.Uint())
		} else {
			sums[f.Name] += float64(x.Int())
		}
	}
}

// contexts are congestion control as a whole: sums over present contexts, and counters over all
// lives. A single context has no metric, since a node may have thousands.
type contexts struct {
	sum    ccc.Snapshot // of sizes
	states [ccc.StateReady + 1]float64
	qdelay int64 // the longest, ns
	total  *ccc.Snapshot
}

// look takes all contexts in.
func (m *Meter) look() *contexts {
	c, live := &contexts{total: &m.total}, map[contextKey]bool{}
	m.node.Contexts(func(peer netip.AddrPort, s ccc.Snapshot) {
		k := contextKey{peer, s.Context}
		live[k] = true
		m.count(m.last[k], &s)
		m.last[k] = s
		c.sum.Cwnd += s.Cwnd
		c.sum.Inflight += s.Inflight
		c.sum.Waiting += s.Waiting
		c.sum.Credit += s.Credit
		c.states[min(s.State, ccc.StateReady)]++
		c.qdelay = max(c.qdelay, s.QDelay)
	})
	maps.DeleteFunc(m.last, func(k contextKey, _ ccc.Snapshot) bool { return !live[k] })
	return c
}

// count adds the counts of a context since before.
func (m *Meter) count(before ccc.Snapshot, s *ccc.Snapshot) {
	t := &m.total
	t.Sent += s.Sent - before.Sent
	t.Acks += s.Acks - before.Acks
	t.Marked += s.Marked - before.Marked
	t.Nacks += s.Nacks - before.Nacks
	t.Losses += s.Losses - before.Losses
	for r := range s.Held {
		t.Held[r] += max(s.Held[r]-before.Held[r], 0)
	}
}

// contextMetrics are the metrics of contexts.
var contextMetrics = []struct {
	Metric
	read func(*contexts, func(is string, v float64))
}{
	{Metric{"cc", "contexts", "1", false, "state", "Congestion control contexts, by state."}, func(c *contexts, f func(string, float64)) {
		for s, n := range c.states {
			f(ccc.State(s).String(), n)
		}
	}},
	{Metric{"cc", "cwnd", "By", false, "", "Sum of the congestion windows."}, bytes(func(s *ccc.Snapshot) int64 { return s.Cwnd })},
	{Metric{"cc", "inflight", "By", false, "", "Sum of what is in flight."}, bytes(func(s *ccc.Snapshot) int64 { return s.Inflight })},
	{Metric{"cc", "waiting", "By", false, "", "Sum of what waits to be sent."}, bytes(func(s *ccc.Snapshot) int64 { return s.Waiting })},
	{Metric{"cc", "credit", "By", false, "", "Sum of the receivers' credit that is left."}, bytes(func(s *ccc.Snapshot) int64 { return s.Credit })},
	{Metric{"cc", "qdelay_max", "s", false, "", "Longest queueing delay of the last samples."}, func(c *contexts, f func(string, float64)) {
		f("", float64(c.qdelay)/1e9)
	}},
	{Metric{"cc", "sent", "1", true, "", "Packets sent, first and again."}, counter(func(s *ccc.Snapshot) int64 { return s.Sent })},
	{Metric{"cc", "acks", "1", true, "", "Acknowledgements."}, counter(func(s *ccc.Snapshot) int64 { return s.Acks })},
	{Metric{"cc", "marked", "1", true, "", "Acknowledgements with an ECN echo."}, counter(func(s *ccc.Snapshot) int64 { return s.Marked })},
	{Metric{"cc", "nacks", "1", true, "", "Negative acknowledgements."}, counter(func(s *ccc.Snapshot) int64 { return s.Nacks })},
	{Metric{"cc", "losses", "1", true, "", "Packets taken for lost."}, counter(func(s *ccc.Snapshot) int64 { return s.Losses })},
	{Metric{"cc", "held", "s", true, "reason", "Time that data waited, by the reason that kept it, summed over contexts."}, func(c *contexts, f func(string, float64)) {
		for r, ns := range c.total.Held {
			f(ccc.Reason(r).String(), float64(ns)/1e9)
		}
	}},
}

func bytes(of func(*ccc.Snapshot) int64) func(*contexts, func(string, float64)) {
	return func(c *contexts, f func(string, float64)) { f("", float64(of(&c.sum))) }
}

func counter(of func(*ccc.Snapshot) int64) func(*contexts, func(string, float64)) {
	return func(c *contexts, f func(string, float64)) { f("", float64(of(c.total))) }
}
