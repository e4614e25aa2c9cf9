// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"cmp"
	"math"
	"slices"

	"github.com/uetcc/uetcc/bench/fabric"
)

// wholeHeader is what a packet has on the wire beyond its payload.
const wholeHeader = 104

// A wholePair is two hosts and what one asks of the other.
type wholePair struct {
	src, dst int
	start    float64 // ns
}

// pairs lists who talks to whom, pair k from k x stagger on.
func (c *wholeCell) pairs() (p []wholePair) {
	add := func(src, dst int) { p = append(p, wholePair{src, dst, float64(len(p)) * c.Stagger}) }
	n := c.Hosts
	switch c.Pattern {
	case "pair":
		add(0, 1)
	case "both":
		add(0, 1)
		add(1, 0)
	case "incast", "readers":
		for i := 1; i < n; i++ {
			add(i, 0)
		}
	case "outcast":
		for i := 1; i < n; i++ {
			add(0, i)
		}
	case "permutation":
		for i := range n {
			add(i, (i+n/2)%n)
		}
	case "alltoall":
		for d := 1; d < n; d++ {
			for i := range n {
				add(i, (i+d)%n)
			}
		}
	case "ring":
		for i := range n {
			add(i, (i+1)%n)
		}
	}
	return p
}

// op is the operation of message j of pair k.
func (c *wholeCell) op(k, j int) fabric.Op {
	if c.Op == "mixed" {
		return []fabric.Op{fabric.OpWrite, fabric.OpRead, fabric.OpSend, fabric.OpAtomic}[(k+j)%4]
	}
	return map[string]fabric.Op{
		"write": fabric.OpWrite, "read": fabric.OpRead, "send": fabric.OpSend, "tagged": fabric.OpTagged,
		"atomic": fabric.OpAtomic, "rendezvous": fabric.OpRendezvous,
	}[c.Op]
}

// steps is how many messages of a pair depend on each other.
func (c *wholeCell) steps() int {
	if c.Pattern == "ring" {
		return c.Hosts - 1
	}
	return 1
}

// wireBytes is what a message of an operation takes on the wire, headers included.
func (c *wholeCell) wireBytes(op fabric.Op) float64 {
	if op == fabric.OpAtomic {
		return 8 + wholeHeader
	}
	return c.Size + math.Ceil(c.Size/c.MTU)*wholeHeader
}

// A wholeLoad is bytes that a link has to carry, and from when on.
type wholeLoad struct{ start, bytes float64 }

// ideal is when the last message could have ended at the earliest, ns: when the busiest link
// would be done if it never idled while there is something to send, and a round trip.
func (c *wholeCell) ideal() float64 {
	links := map[[2]int][]wholeLoad{} // {0, host}: out; {1, host}: in; {2, leaf}: up; {3, leaf}: down
	rate := map[int]float64{0: c.Rate, 1: c.Rate, 2: 8 * c.Rate / c.Oversubscription, 3: 8 * c.Rate / c.Oversubscription}
	trips := 1.0
	for k, p := range c.pairs() {
		for j := range int(c.Count) {
			from, to, op := p.src, p.dst, c.op(k, j)
			if op == fabric.OpRead || op == fabric.OpRendezvous {
				trips = 1.5
			}
			if op == fabric.OpRead {
				from, to = to, from
			}
			l := wholeLoad{p.start, c.wireBytes(op)}
			links[[2]int{0, from}] = append(links[[2]int{0, from}], l)
			links[[2]int{1, to}] = append(links[[2]int{1, to}], l)
			if c.Topology == "leafspine" && from/8 != to/8 {
				links[[2]int{2, from / 8}] = append(links[[2]int{2, from / 8}], l)
				links[[2]int{3, to / 8}] = append(links[[2]int{3, to / 8}], l)
			}
		}
	}
	last := 0.0
	for link, loads := range links {
		slices.SortFunc(loads, func(a, b wholeLoad) int { return cmp.Compare(a.start, b.start) })
		at := 0.0
		for _, l := range loads {
			at = max(at, l.start) + l.bytes*8e9/rate[link[0]]
		}
		last = max(last, at)
	}
	steps := float64(c.steps())
	return (last*steps + steps*trips*c.RTT) / (1 - 1.2*c.Loss)
}
