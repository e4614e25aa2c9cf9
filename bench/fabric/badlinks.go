// SPDX-License-Identifier: Apache-2.0

package fabric

import "fmt"

// Dead and slow links.

// uplink finds the two directions of an uplink.
func (n *net) uplink(f Failure) (up, down uint32, err error) {
	if f.Tier > 1 || uint32(f.Switch) >= n.tierFirst[f.Tier+1]-n.tierFirst[f.Tier] {
		return 0, 0, fmt.Errorf("no switch %d in tier %d that has uplinks", f.Switch, f.Tier)
	}
	id := n.tierFirst[f.Tier] + uint32(f.Switch)
	s := &n.nodes[id]
	if uint32(f.Link) >= s.up {
		return 0, 0, fmt.Errorf("switch %d of tier %d has %d uplinks, not link %d", f.Switch, f.Tier, s.up, f.Link)
	}
	up = s.first + s.down + uint32(f.Link)
	above := &n.nodes[n.ports[up].peer-n.hosts]
	nth := uint32(0) // of the parallel links
	for p := s.first + s.down; p < up; p++ {
		if n.ports[p].peer == n.ports[up].peer {
			nth++
		}
	}
	for p := above.first; p < above.first+above.down; p++ {
		if n.ports[p].peer == n.hosts+id {
			if nth == 0 {
				return up, p, nil
			}
			nth--
		}
	}
	return 0, 0, fmt.Errorf("link %d of switch %d ends nowhere", f.Link, f.Switch)
}

// fail kills both directions of an uplink. The switch below knows and avoids the link;
// packets coming down from above are lost, as before routing has converged.
func (n *net) fail(f Failure) error {
	up, down, err := n.uplink(f)
	if err != nil {
		return err
	}
	n.ports[up].fault, n.ports[down].fault = portDead, portDead
	s := &n.nodes[n.ports[down].peer-n.hosts]
	var alive []uint32
	for p := s.first + s.down; p < s.first+s.down+s.up; p++ {
		if n.ports[p].fault == 0 {
			alive = append(alive, p)
		}
	}
	if n.alive == nil {
		n.alive = map[uint32][]uint32{}
	}
	n.alive[n.ports[down].peer] = alive
	return nil
}

// slowPorts lists the ports made slow by c.SlowLinks.
func (n *net) slowPorts(c *Config) (ports []uint32, err error) {
	tier := len(c.Topology.Tiers) - 2
	up := c.Topology.Tiers[tier].RadixUp
	if c.Rules == RulesHTSim {
		return n.htsimSlowPorts(c, tier, up), nil
	}
	for i := range c.SlowLinks {
		up, down, err := n.uplink(Failure{Tier: tier, Switch: i / up, Link: i % up})
		if err != nil {
			return nil, fmt.Errorf("%w: SlowLinks: %w", ErrConfig, err)
		}
		ports = append(ports, up, down)
	}
	return ports, nil
}

// htsimSlowPorts are the ports of htsim's option -failed, in htsim's way of counting: a
// switch of tier 1 has as many links as the pod has such switches.
func (n *net) htsimSlowPorts(c *Config, tier, up int) (ports []uint32) {
	bundle := c.Topology.Tiers[tier+1].bundle()
	for sw := range int(n.tierFirst[tier+1] - n.tierFirst[tier]) {
		for l := range up {
			first := 0
			if tier == 1 {
				first = sw * c.Topology.middle()
			}
			if first+l/bundle >= c.SlowLinks {
				break
			}
			up, down, _ := n.uplink(Failure{Tier: tier, Switch: sw, Link: l})
			if ports = append(ports, down); tier == 0 {
				ports = append(ports, up)
			}
		}
	}
	return ports
}

// slow makes a port run at a quarter of the rate.
func (n *net) slow(c *Config, port uint32) (err error) {
	p := &n.ports[port]
	w := n.kinds[p.kind].wire
	rate := c.Topology.Tiers[len(c.Topology.Tiers)-1].DownRate / 4
	w.perByte = perByte(rate)
	p.kind, err = n.kind(w, c.slowQueue(rate))
	return err
}
