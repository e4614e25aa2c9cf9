package fabric

// detours are the ways around links that switches know to be dead.
type detours struct {
	known map[uint32]int      // by port: dead links that routing has learned of
	ways  map[uint64][]uint32 // by node and leaf of the destination, at that leaf the host: ports that lead there
}

// learn takes in that links are dead, or alive again.
func (s *sim) learn(ports []uint32, step int) {
	if s.detours == nil {
		s.detours = &detours{known: map[uint32]int{}}
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

// detour is next where links are known to be dead: of the ports that lead to p's host it is one,
// and any if there is none.
func (n *net) detour(node uint32, p *packet) uint32 {
	s, host := &n.nodes[node-n.hosts], n.hostOf[p.to]
	if ways := n.around(node, host); len(ways) > 0 {
		return ways[s.choose(p, uint32(len(ways)))]
	}
	first, links := s.towards(host)
	return first + s.choose(p, links)
}

// around lists the ports of a switch that lead to a host without links that are known to be dead.
func (n *net) around(node, host uint32) []uint32 {
	leaf := n.ports[host].peer
	if leaf == node {
		leaf = host // a port of its own
	}
	key := uint64(node)<<32 | uint64(leaf)
	ways, ok := n.detours.ways[key]
	if !ok {
		ways = n.waysTo(&n.nodes[node-n.hosts], host)
		n.detours.ways[key] = ways
	}
	return ways
}

// towards is the first of the ports that lead to a host when all is well, and how many they are.
func (s *node) towards(host uint32) (first, links uint32) {
	if d := host - s.lo; d < s.hi-s.lo {
		return s.first + d/s.span*s.bundle, s.bundle
	}
	return s.first + s.down, s.up
}

// waysTo lists the ports of a switch from which a host can be reached.
func (n *net) waysTo(s *node, host uint32) (ways []uint32) {
	first, links := s.towards(host)
	for port := first; port < first+links; port++ {
		if n.detours.known[port] != 0 {
			continue
		}
		if peer := n.ports[port].peer; peer < n.hosts || len(n.waysTo(&n.nodes[peer-n.hosts], host)) > 0 {
			ways = append(ways, port)
		}
	}
	return ways
}
