// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"fmt"
	"io"
	"strings"

	"github.com/uetcc/uetcc/hw/link"
)

// A Topology is a tree of two (leaf and spine) or three tiers with equal-cost
// links upwards, as in a *.topo file of the simulator htsim.
type Topology struct {
	Nodes   int    // hosts
	PodSize int    // hosts of one pod; two tiers: all
	Tiers   []Tier // from the leaves up
}

// A Tier describes the switches of one level and the links below.
type Tier struct {
	DownRate      int64   `json:"down_bits_per_second"` // of the links below, both directions
	DownLatency   link.Ps `json:"down_latency_ps"`      // of those links
	SwitchLatency link.Ps `json:"switch_latency_ps"`    // head in to head out
	RadixDown     int     `json:"radix_down"`           // links below each switch
	RadixUp       int     `json:"radix_up"`             // links above; 0 in the last tier
	Bundle        int     `json:"bundle"`               // parallel links to each neighbour below; 0: 1
	QueueDown     int64   `json:"queue_down_bytes"`     // of the ports that look down; 0: by the switches' own rule
	QueueUp       int64   `json:"queue_up_bytes"`       // of the ports that look up; 0: the same
}

// ParseTopology reads a topology; file is the name in errors of type [*ParseError]; errors
// of the reader are returned unchanged. The format is htsim's: Nodes, Tiers (2 or 3) and
// Podsize, and a block for each tier, from the hosts up,
//
//	Tier 0
//	Downlink_speed_Gbps 100
//	Radix_Down 4
//	Radix_Up 4
//	Downlink_Latency_ns 1000
//
// with Switch_Latency_ns, Bundle, Queue_Down and Queue_Up where not 0, see [Tier]. The last
// of three tiers has no Radix_Up; of a file for three tiers, two tiers leave out the rest.
// Capitals do not matter, # begins a comment.
func ParseTopology(file string, r io.Reader) (*Topology, error) {
	p := topologyParser{lines: newLines(file, r), t: &Topology{}, given: map[string]int{}, tier: -1}
	if err := p.each(p.item); err != nil {
		return nil, err
	}
	last := max(p.line, 1)
	for i := range p.tiers {
		if p.tierLine[i] == 0 {
			return nil, p.errorAt(last, "the header says Tiers %d, Tier %d is missing", p.tiers, i)
		}
	}
	p.t.Tiers = p.all[:p.tiers]
	if p.tiers == 2 {
		p.all[1].RadixUp = 0 // of a file for three tiers
	}
	if err := p.t.Validate(); err != nil {
		return nil, p.errorAt(last, "%v", err)
	}
	return p.t, nil
}

type topologyParser struct {
	*lines
	t        *Topology
	given    map[string]int // field of the current block to its line
	tier     int            // of the current block, -1: header
	tiers    int            // announced
	tierLine [3]int
	all      [3]Tier
}

func (p *topologyParser) item() error {
	field, _ := p.word()
	n, err := p.number(field, 0)
	if err != nil {
		return err
	}
	if err := p.end(); err != nil {
		return err
	}
	name := strings.ToLower(field) // as the simulator compares it
	if name == "tier" {
		return p.block(n)
	}
	if first := p.given[name]; first != 0 {
		return p.errorf("%s is given twice, first in line %d", field, first)
	}
	p.given[name] = p.line
	if p.tier < 0 {
		return p.headerField(field, n)
	}
	return p.tierField(&p.all[p.tier], field, n)
}

func (p *topologyParser) headerField(field string, n int64) error {
	switch strings.ToLower(field) {
	case "nodes":
		p.t.Nodes = int(min(n, maxNodes+1))
	case "podsize":
		p.t.PodSize = int(min(n, maxNodes+1))
	case "tiers":
		if n != 2 && n != 3 {
			return p.errorf("Tiers %d, want 2 or 3", n)
		}
		p.tiers = int(n)
	default:
		return p.errorf("unknown field %q before the first Tier", field)
	}
	return nil
}

func (p *topologyParser) block(n int64) error {
	switch {
	case p.tiers == 0:
		return p.errorf("Tier before Tiers")
	case n >= int64(len(p.all)):
		return p.errorf("Tier %d, want 0 to %d", n, len(p.all)-1)
	case p.tierLine[n] != 0:
		return p.errorf("Tier %d is given twice, first in line %d", n, p.tierLine[n])
	}
	p.tier, p.tierLine[n] = int(n), p.line
	clear(p.given)
	return nil
}

func (p *topologyParser) tierField(t *Tier, field string, n int64) error {
	count := int(min(n, maxNodes+1))
	switch strings.ToLower(field) {
	case "downlink_speed_gbps":
		t.DownRate = min(n, 1e6) * 1e9
	case "radix_down":
		t.RadixDown = count
	case "radix_up":
		t.RadixUp = count
	case "downlink_latency_ns":
		t.DownLatency = link.Ps(min(n, 1e12)) * link.Nanosecond
	case "switch_latency_ns":
		t.SwitchLatency = link.Ps(min(n, 1e12)) * link.Nanosecond
	case "bundle":
		t.Bundle = count
	case "queue_down":
		t.QueueDown = n
	case "queue_up":
		t.QueueUp = n
	case "oversubscribed": // what the radix fields amount to, in words
	default:
		return p.errorf("unknown field %q of a tier", field)
	}
	return nil
}

// FatTree is htsim's default: three tiers of equal switches with exactly k*k*k/4 hosts for
// the smallest even k giving at least nodes hosts.
func FatTree(nodes int, bitsPerSecond int64, hop link.Ps) *Topology {
	k := 2
	for k*k*k/4 < nodes {
		k += 2
	}
	tier := Tier{DownRate: bitsPerSecond, DownLatency: hop, RadixDown: k / 2, RadixUp: k / 2}
	top := tier
	top.RadixDown, top.RadixUp = k, 0
	return &Topology{Nodes: k * k * k / 4, PodSize: k * k / 4, Tiers: []Tier{tier, tier, top}}
}

// LeafSpine is htsim's default with two tiers: k/2 hosts below each of k leaves, and k/2 spines,
// with exactly k*k/2 hosts for the smallest even k giving at least nodes hosts.
func LeafSpine(nodes int, bitsPerSecond int64, hop link.Ps) *Topology {
	k := 2
	for k*k/2 < nodes {
		k += 2
	}
	leaf := Tier{DownRate: bitsPerSecond, DownLatency: hop, RadixDown: k / 2, RadixUp: k / 2}
	spine := Tier{DownRate: bitsPerSecond, DownLatency: hop, RadixDown: k}
	return &Topology{Nodes: k * k / 2, PodSize: k * k / 2, Tiers: []Tier{leaf, spine}}
}

func (t *Tier) bundle() int { return max(t.Bundle, 1) }

// leaves is how many leaf switches there are, once t is valid.
func (t *Topology) leaves() int { return t.Nodes / t.Tiers[0].RadixDown }

// pods is how many pods there are: 1 with two tiers.
func (t *Topology) pods() int { return t.Nodes / t.podSize() }

func (t *Topology) podSize() int {
	if len(t.Tiers) == 2 {
		return t.Nodes
	}
	return t.PodSize
}

// middle is how many switches of tier 1 a pod has.
func (t *Topology) middle() int { return t.Tiers[0].RadixUp / t.Tiers[1].bundle() }

// cores is how many switches tier 2 has.
func (t *Topology) cores() int {
	if len(t.Tiers) == 2 {
		return 0
	}
	return t.middle() * (t.Tiers[1].RadixUp / t.Tiers[2].bundle())
}

// oversubscription is the capacity into the fabric over the capacity onwards, at the
// narrowest; 1 if everything can pass.
func (t *Topology) oversubscription() float64 {
	over, worst := 1.0, 1.0
	for i := range len(t.Tiers) - 1 {
		low, high := &t.Tiers[i], &t.Tiers[i+1]
		over *= float64(low.RadixDown) * float64(low.DownRate) / (float64(low.RadixUp) * float64(high.DownRate))
		worst = max(worst, over)
	}
	return worst
}

// Validate reports the first number at odds with the rest.
func (t *Topology) Validate() error {
	if t.Nodes < 1 || t.Nodes > maxNodes {
		return fmt.Errorf("field Nodes %d, want 1 to %d", t.Nodes, maxNodes)
	}
	if len(t.Tiers) != 2 && len(t.Tiers) != 3 {
		return fmt.Errorf("%d tiers, want 2 or 3", len(t.Tiers))
	}
	for i := range t.Tiers {
		if err := t.validateTier(i); err != nil {
			return fmt.Errorf("tier %d: %w", i, err)
		}
	}
	if err := t.validateWiring(); err != nil {
		return err
	}
	if n := t.ports(); n > maxPorts {
		return fmt.Errorf("%d switch ports, want at most %d", n, maxPorts)
	}
	return nil
}

// maxPorts bounds the memory a topology file can ask for.
const maxPorts = 1 << 22

// ports is the number of ports of all switches together.
func (t *Topology) ports() int64 {
	n := int64(t.leaves())*int64(t.Tiers[0].RadixDown+t.Tiers[0].RadixUp) +
		int64(t.pods())*int64(t.middle())*int64(t.Tiers[1].RadixDown+t.Tiers[1].RadixUp)
	if len(t.Tiers) == 3 {
		n += int64(t.cores()) * int64(t.Tiers[2].RadixDown)
	}
	return n
}

func (t *Topology) validateTier(i int) error {
	tier, top := &t.Tiers[i], i == len(t.Tiers)-1
	switch {
	case tier.DownRate < 1:
		return fmt.Errorf("field Downlink_speed_Gbps is missing or 0")
	case tier.RadixDown < 1 || tier.RadixDown > maxNodes:
		return fmt.Errorf("field Radix_Down %d, want 1 to %d", tier.RadixDown, maxNodes)
	case top && tier.RadixUp != 0:
		return fmt.Errorf("field Radix_Up %d in the last tier", tier.RadixUp)
	case !top && (tier.RadixUp < 1 || tier.RadixUp > maxNodes):
		return fmt.Errorf("field Radix_Up %d, want 1 to %d", tier.RadixUp, maxNodes)
	case tier.Bundle < 0 || tier.DownLatency < 0 || tier.SwitchLatency < 0 || tier.QueueDown < 0 || tier.QueueUp < 0:
		return fmt.Errorf("a number below 0")
	}
	return nil
}

// validateWiring checks that every link of a tier ends at a port of the next.
func (t *Topology) validateWiring() error {
	leaf, mid := &t.Tiers[0], &t.Tiers[1]
	if leaf.bundle() != 1 {
		return fmt.Errorf("tier 0: Bundle %d, hosts have one link", leaf.Bundle)
	}
	if pod := t.podSize(); pod < 1 || t.Nodes%pod != 0 || pod%leaf.RadixDown != 0 {
		return fmt.Errorf("field Podsize %d must divide Nodes %d and be a multiple of Tier 0 Radix_Down %d",
			pod, t.Nodes, leaf.RadixDown)
	}
	if err := match("tier 1", leaf.RadixUp, mid, t.podSize()/leaf.RadixDown, "leaves of a pod"); err != nil {
		return err
	}
	if len(t.Tiers) == 2 {
		return nil
	}
	return match("tier 2", mid.RadixUp, &t.Tiers[2], t.pods(), "pods")
}

// match checks one tier against the uplinks of the switches below: each switch of the tier
// has a bundle to each of the n neighbours.
func match(name string, radixUp int, above *Tier, n int, what string) error {
	b := above.bundle()
	if radixUp%b != 0 {
		return fmt.Errorf("%s: Bundle %d does not divide the Radix_Up %d below", name, b, radixUp)
	}
	if above.RadixDown != n*b {
		return fmt.Errorf("%s: Radix_Down %d, want %d (%d %s with %d links each)", name, above.RadixDown, n*b, n, what, b)
	}
	return nil
}

// hop is a link on the way between two hosts.
type hop struct {
	rate    int64
	latency link.Ps
}

// tiersBetween is the number of tiers of links climbed from a host to another.
func (t *Topology) tiersBetween(src, dst int) int {
	leaf := t.Tiers[0].RadixDown
	switch {
	case src/leaf == dst/leaf:
		return 1
	case src/t.podSize() == dst/t.podSize():
		return 2
	}
	return len(t.Tiers)
}

// path lists the links from a host up over some tiers, and down to a host.
func (t *Topology) path(tiers int) []hop {
	up := make([]hop, 0, 2*tiers)
	for i := range tiers {
		up = append(up, hop{t.Tiers[i].DownRate, t.Tiers[i].DownLatency})
	}
	for i := tiers - 1; i >= 0; i-- {
		up = append(up, up[i])
	}
	return up
}

// BaseRTT is the round trip of a packet of mtu bytes and an acknowledgement of
// ack bytes over the longest path of the idle fabric, every switch storing and
// forwarding: config_base_rtt.
func (t *Topology) BaseRTT(mtu, ack int64) link.Ps { return t.RTT(0, t.Nodes-1, mtu, ack) }

// RTT is the idle round trip between two hosts.
func (t *Topology) RTT(src, dst int, mtu, ack int64) link.Ps {
	path := t.path(t.tiersBetween(src, dst))
	var d link.Ps
	for _, h := range path {
		d += 2*h.latency + link.Serialization(mtu, h.rate) + link.Serialization(ack, h.rate)
	}
	for i := range len(path) / 2 {
		switches := link.Ps(2) // on the way up and on the way down
		if i == len(path)/2-1 {
			switches = 1
		}
		d += 2 * switches * t.Tiers[i].SwitchLatency
	}
	return d
}
