// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"maps"
	"net/netip"

	"github.com/uetcc/uetcc/ccc"
)

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
