// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"math/rand/v2"
	"slices"

	"github.com/uetcc/uetcc/hw/switchq"
	"github.com/uetcc/uetcc/internal/enum"
)

// Routing is a switch's choice among several links to a host.
type Routing uint8

// The ways. Answers and trimmed packets go by entropy in each.
const (
	// RoutingEntropy is by a hash of connection, entropy and switch: ECMP.
	RoutingEntropy Routing = iota
	// RoutingAdaptive takes for each packet the link with the shortest queue.
	RoutingAdaptive
	// RoutingMixed goes by entropy, but half of the packets headed for one of the longest queues go
	// to the shortest.
	RoutingMixed
	// RoutingRoundRobin takes all uplinks in turn, in a new order each time.
	RoutingRoundRobin
)

var routingNames = [...]string{"entropy", "adaptive", "mixed", "round-robin"}

// String is entropy, adaptive, mixed or round-robin.
func (r Routing) String() string { return enum.Name(routingNames[:], r) }

// A chooser is a switch with more than entropy to go by.
type chooser struct {
	rnd   *rand.Rand
	turn  []uint32 // of RoutingRoundRobin: uplinks that are left of a round
	ports []uint32 // room for those to choose from
}

// addChoosers makes one for each switch.
func (s builder) addChoosers() {
	if s.cfg.Routing == RoutingEntropy {
		return
	}
	s.choosers = make([]chooser, len(s.nodes))
	for i := range s.choosers {
		s.choosers[i].rnd = rand.New(rand.NewPCG(s.cfg.Seed, 0xada<<32|uint64(i)))
		n := &s.nodes[i]
		for port := n.first; port < n.first+n.down+n.up; port++ {
			s.owner = append(s.owner, uint32(i))
		}
	}
}

// choose is the port that a packet leaves a switch by, which its entropy would have leave by out.
func (s *wires) choose(out, pkt uint32) uint32 {
	p := &s.pool.pkts[pkt]
	if p.flags&flagAnswer != 0 || p.dscp.Class() != switchq.ClassLow {
		return out
	}
	i := s.owner[out-s.hosts]
	c := &s.choosers[i]
	if c.ports = s.ways(c.ports[:0], i, s.hostOf[p.to]); len(c.ports) < 2 {
		return out
	}
	switch s.cfg.Routing {
	case RoutingAdaptive:
		out = s.shortest(c)
	case RoutingMixed:
		if s.isLongest(out, c) && c.rnd.Uint64()>>63 != 0 {
			out = s.shortest(c)
		}
	default:
		if n := &s.nodes[i]; out >= n.first+n.down {
			out = c.nextInTurn(n)
		}
	}
	return out
}

// nextInTurn is the next uplink of a round with the destination of c.ports.
func (c *chooser) nextInTurn(n *node) (out uint32) {
	for {
		if len(c.turn) == 0 {
			for port := n.first + n.down; port < n.first+n.down+n.up; port++ {
				c.turn = append(c.turn, port)
			}
			c.rnd.Shuffle(len(c.turn), func(a, b int) { c.turn[a], c.turn[b] = c.turn[b], c.turn[a] })
		}
		last := len(c.turn) - 1
		if out, c.turn = c.turn[last], c.turn[:last]; slices.Contains(c.ports, out) {
			return out
		}
	}
}

// ways lists the ports of switch i that lead to a host, as far as it knows.
func (s *wires) ways(to []uint32, i, host uint32) []uint32 {
	if s.detours != nil {
		return append(to, s.detours.around(s.hosts+i, host)...)
	}
	n := &s.nodes[i]
	first, links := n.towards(host)
	if first == n.first+n.down && len(s.alive[s.hosts+i]) > 0 {
		return append(to, s.alive[s.hosts+i]...)
	}
	for port := first; port < first+links; port++ {
		to = append(to, port)
	}
	return to
}

// shortest is a port with the emptiest queue, any one of several.
func (s *wires) shortest(c *chooser) (best uint32) {
	least, alike := 4, 0
	for _, port := range c.ports {
		level := s.level(port)
		switch {
		case level < least:
			best, least, alike = port, level, 1
		case level == least:
			if alike++; c.rnd.IntN(alike) == 0 {
				best = port
			}
		}
	}
	return best
}

// isLongest reports whether no port has a fuller queue than out.
func (s *wires) isLongest(out uint32, c *chooser) bool {
	level := s.level(out)
	for _, port := range c.ports {
		if s.level(port) > level {
			return false
		}
	}
	return true
}

// level says how full the queue of a port is, in the four steps of htsim: less than 5, 10 and 20 %,
// or more. Steps leave a choice where queues differ by a packet or two, and with it what the links
// behind them get is mixed.
func (s *wires) level(port uint32) int {
	p := &s.ports[port]
	limit := s.kinds[p.kind].params.Config().LowLimit
	switch waits := 100 * p.queue.Bytes(switchq.ClassLow); {
	case waits < 5*limit:
		return 0
	case waits < 10*limit:
		return 1
	case waits < 20*limit:
		return 2
	}
	return 3
}
