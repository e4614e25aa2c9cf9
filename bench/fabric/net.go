// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/hw/switchq"
)

// A port sends into one direction of a link. Ports 0 to hosts-1 belong to the hosts, in
// order, and have no queue. 256 bytes: most packets take three of four cache lines.
type port struct {
	queue switchq.Queue
	busy  int64  // ps: until then a packet is being sent
	data  int64  // packets sent, answers left out
	peer  uint32 // node at the other end
	kind  uint16 // index into net.kinds
	wake  bool   // an evPort is pending: the queue is not empty, or the link is paused
	fault uint8  // portDead, portLossy

	// Packets that found the port idle and never saw the queue.
	passed, passedBytes int64
}

// A portKind is the common part of many ports.
type portKind struct {
	wire
	params  switchq.Params
	crosses bool // the link leads to another part of the run
}

// A wire is a direction of a link.
type wire struct {
	latency int64 // ps: its own, and that of the switch at its end
	perByte int64 // ps for 1,024 bytes
}

// serialization of size bytes, ps.
func (w *wire) serialization(size uint16) int64 { return (int64(size)*w.perByte + 1023) >> 10 }

// A node is a switch; the first ports look down. Routing needs no table: hosts
// lo to hi-1 are below, span of them behind each bundle of links.
type node struct {
	lo, hi, span uint32
	first        uint32 // port
	down, up     uint32 // number of ports
	bundle       uint32
	salt         uint32
}

// A net is the wiring: hosts are nodes 0 to hosts-1, switches follow tier by
// tier from the leaves up.
type net struct {
	hosts     uint32
	ports     []port
	kinds     []portKind
	nodes     []node // switches, in the order of node numbers
	tierOf    []uint8
	tierFirst [4]uint32           // first switch of each tier, and one past the last
	alive     map[uint32][]uint32 // by node below dead links: its uplinks that are left
	hostOf    []uint32            // by end
	partOf    []uint16            // by node: the part of the run that simulates it
}

func newNet(c *Config) (*net, error) {
	n := &net{hosts: uint32(c.Topology.Nodes)}
	if err := n.build(c); err != nil {
		return nil, err
	}
	slow, err := n.slowPorts(c)
	if err != nil {
		return nil, err
	}
	for _, p := range slow {
		if err := n.slow(c, p); err != nil {
			return nil, err
		}
	}
	for _, f := range c.Matrix.Failures {
		if err := n.fail(f); err != nil {
			return nil, fmt.Errorf("%w: failure in line %d: %w", ErrConfig, f.Line, err)
		}
	}
	return n, nil
}

// next is the way of a packet on from a node: the port of the switch, or the host. Of a
// dead link of the matrix only the switch below knows.
func (n *net) next(node uint32, p *packet) uint32 {
	if node < n.hosts {
		return node
	}
	s := &n.nodes[node-n.hosts]
	if d := n.hostOf[p.to] - s.lo; d < s.hi-s.lo {
		if s.bundle == 1 {
			return s.first + d/s.span
		}
		return s.first + d/s.span*s.bundle + s.choose(p, s.bundle)
	}
	if n.alive != nil {
		if alive := n.alive[node]; len(alive) > 0 {
			return alive[s.choose(p, uint32(len(alive)))]
		}
	}
	return s.first + s.down + s.choose(p, s.up)
}

// choose is p's choice of the parallel links to a switch.
func (s *node) choose(p *packet, links uint32) uint32 {
	return uint32(switchq.Uplink(s.salt, p.to.conn(), p.ev, int(links)))
}

func (n *net) build(c *Config) error {
	t := c.Topology
	n.kinds = []portKind{{wire: newWire(&t.Tiers[0], c.NICLatency+t.Tiers[0].SwitchLatency)}}
	n.ports = make([]port, 0, int64(n.hosts)+t.ports())
	for h := range n.hosts {
		n.ports = append(n.ports, port{peer: n.hosts + h/uint32(t.Tiers[0].RadixDown)})
	}
	counts := [3]int{t.leaves(), t.pods() * t.middle(), t.cores()}
	salts := rand.New(rand.NewPCG(c.Seed, 0x5a17))
	for tier, count := range counts {
		n.tierFirst[tier+1] = n.tierFirst[tier] + uint32(count)
		for i := range uint32(count) {
			s := n.layout(t, tier, i)
			s.first, s.salt = uint32(len(n.ports)), salts.Uint32()
			n.nodes = append(n.nodes, s)
			n.tierOf = append(n.tierOf, uint8(tier))
			if err := n.addPorts(c, tier, i, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// layout is the range of hosts below switch i of a tier.
func (n *net) layout(t *Topology, tier int, i uint32) node {
	leaf := uint32(t.Tiers[0].RadixDown)
	pod := uint32(t.podSize())
	at := &t.Tiers[tier]
	s := node{down: uint32(at.RadixDown), up: uint32(at.RadixUp), bundle: uint32(at.bundle())}
	switch tier {
	case 0:
		s.lo, s.hi, s.span = i*leaf, (i+1)*leaf, 1
	case 1:
		p := i / uint32(t.middle())
		s.lo, s.hi, s.span = p*pod, (p+1)*pod, leaf
	default:
		s.lo, s.hi, s.span = 0, n.hosts, pod
	}
	return s
}

func (n *net) addPorts(c *Config, tier int, i uint32, s node) error {
	t := c.Topology
	for d := range s.down {
		inside := c.NICLatency
		if tier > 0 {
			inside = t.Tiers[tier-1].SwitchLatency
		}
		q := c.queueConfig(t.Tiers[tier].DownRate, tier == 0, t.Tiers[tier].QueueDown)
		if err := n.addPort(n.below(t, tier, i, d/s.bundle), newWire(&t.Tiers[tier], inside), q); err != nil {
			return err
		}
	}
	for u := range s.up {
		above := &t.Tiers[tier+1]
		q := c.queueConfig(above.DownRate, false, t.Tiers[tier].QueueUp)
		if err := n.addPort(n.above(t, tier, i, u), newWire(above, above.SwitchLatency), q); err != nil {
			return err
		}
	}
	return nil
}

// newWire is one direction of a link below a switch of tier; inside is the latency of the
// nodes at the ends.
func newWire(tier *Tier, inside link.Ps) wire {
	return wire{latency: int64(tier.DownLatency + inside), perByte: perByte(tier.DownRate)}
}

func perByte(rate int64) int64 { return int64(link.Serialization(1024, rate)) }

func (n *net) addPort(peer uint32, w wire, q switchq.Config) error {
	kind, err := n.kind(w, q)
	n.ports = append(n.ports, port{peer: peer, kind: kind})
	return err
}

// kind is the index of ports with a wire and a queue; there are few.
func (n *net) kind(w wire, q switchq.Config) (uint16, error) {
	p, err := switchq.NewParams(q)
	if err != nil {
		return 0, err
	}
	return n.addKind(portKind{wire: w, params: p}), nil
}

func (n *net) addKind(k portKind) uint16 {
	if i := slices.Index(n.kinds, k); i >= 0 {
		return uint16(i)
	}
	n.kinds = append(n.kinds, k)
	return uint16(len(n.kinds) - 1)
}

// below is the node behind bundle d of switch i, counted downwards.
func (n *net) below(t *Topology, tier int, i, d uint32) uint32 {
	switch tier {
	case 0:
		return i*uint32(t.Tiers[0].RadixDown) + d
	case 1:
		leaves := uint32(t.podSize() / t.Tiers[0].RadixDown)
		return n.hosts + i/uint32(t.middle())*leaves + d
	default: // core i serves the same aggregation switch of every pod
		perAgg := uint32(t.Tiers[1].RadixUp / t.Tiers[2].bundle())
		return n.hosts + n.tierFirst[1] + d*uint32(t.middle()) + i/perAgg
	}
}

// above is the node behind uplink u of switch i.
func (n *net) above(t *Topology, tier int, i, u uint32) uint32 {
	mid := uint32(t.middle())
	to := u / uint32(t.Tiers[tier+1].bundle())
	if tier == 0 {
		leaves := uint32(t.podSize() / t.Tiers[0].RadixDown)
		return n.hosts + uint32(t.leaves()) + i/leaves*mid + to
	}
	perAgg := uint32(t.Tiers[1].RadixUp / t.Tiers[2].bundle())
	return n.hosts + uint32(t.leaves()) + uint32(t.pods())*mid + i%mid*perAgg + to
}
