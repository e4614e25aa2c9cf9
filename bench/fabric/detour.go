// SPDX-License-Identifier: Apache-2.0

package fabric

// detours are the ways around known dead links. Each part of a run finds separate detours.
type detours struct {
	net   *net
	known map[uint32]int      // by port: dead links known to routing
	ways  map[uint64][]uint32 // by node and leaf of the destination, at the leaf by host: ports on the way
}

// learn takes in that links are dead, or alive again.
func (s *wires) learn(ports []uint32, step int) {
	if s.detours == nil {
		s.detours = &detours{net: s.net, known: map[uint32]int{}}
	}
	for _, p := range ports {
		if s.detours.known[p] += step; s.detours.known[p] == 0 {
			delete(s.detours.known, p)
		}
	}
	if s.detours.ways = map[uint64][]uint32{}; len(s.detours.known) == 0 {
		s.detours = nil
	}
}

// next is net.next with known dead links: a port on a way to p's host, or any port without a way.
func (d *detours) next(node uint32, p *packet) uint32 {
	if node < d.net.hosts {
		return node
	}
	s, host := &d.net.nodes[node-d.net.hosts], d.net.hostOf[p.to]
	if ways := d.around(node, host); len(ways) > 0 {
		return ways[s.choose(p, uint32(len(ways)))]
	}
	first, links := s.towards(host)
	return first + s.choose(p, links)
}

// around lists the ports of a switch on the way to a host without known dead links.
func (d *detours) around(node, host uint32) []uint32 {
	leaf := d.net.ports[host].peer
	if leaf == node {
		leaf = host // a port to the host itself
	}
	key := uint64(node)<<32 | uint64(leaf)
	ways, ok := d.ways[key]
	if !ok {
		ways = d.waysTo(&d.net.nodes[node-d.net.hosts], host)
		d.ways[key] = ways
	}
	return ways
}

// towards is the first of the ports to a host when all is well, and the number of such ports.
func (s *node) towards(host uint32) (first, links uint32) {
	if d := host - s.lo; d < s.hi-s.lo {
		return s.first + d/s.span*s.bundle, s.bundle
	}
	return s.first + s.down, s.up
}

// waysTo lists the ports of a switch from which a host can be reached.
func (d *detours) waysTo(s *node, host uint32) (ways []uint32) {
	first, links := s.towards(host)
	for port := first; port < first+links; port++ {
		if d.known[port] != 0 {
			continue
		}
		if peer := d.net.ports[port].peer; peer < d.net.hosts || len(d.waysTo(&d.net.nodes[peer-d.net.hosts], host)) > 0 {
			ways = append(ways, port)
		}
	}
	return ways
}
