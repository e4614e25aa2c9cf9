// SPDX-License-Identifier: Apache-2.0

package fabric

import "cmp"

// A run of a large fabric is divided into parts that are simulated side by side: the switches
// and hosts of a pod, or of a leaf, with a share of the switches above. How it is divided
// depends on the fabric and the matrix alone, never on how many goroutines there are, so the
// result does not either. How a divided run carries out an Application is told at [foresight].

const (
	dividedFrom = 256 // hosts; smaller fabrics are in the caches as a whole
	maxParts    = 64
	hostsOfPart = 16   // fewer are not worth the windows
	groupsAhead = 8    // of events, which a window has at least
	wider       = 2    // buckets of events, since fewer come at a time
	worthWaking = 1000 // events of a window for which another goroutine is worth waking
)

// assign gives each node a part and returns the number of parts.
func (n *net) assign(c *Config) int {
	n.partOf = make([]uint16, int(n.hosts)+len(n.nodes))
	size := uint32(c.Topology.podSize())
	if len(c.Topology.Tiers) == 2 || c.Topology.pods() == 1 {
		size = uint32(c.Topology.Tiers[0].RadixDown)
	}
	units := n.hosts / size
	parts := min(units, maxParts, n.hosts/hostsOfPart)
	if n.hosts < dividedFrom {
		parts = 1
	}
	if parts = min(units, cmp.Or(c.parts, parts)); parts < 2 || c.Application != nil && !c.foresees() {
		return 1
	}
	for h := range n.hosts {
		n.partOf[h] = uint16(h / size * parts / units)
	}
	for i := range n.nodes {
		s, tier := &n.nodes[i], n.tierOf[i]
		if s.hi-s.lo <= size {
			n.partOf[n.hosts+uint32(i)] = n.partOf[s.lo]
			continue
		}
		first := n.tierFirst[tier]
		n.partOf[n.hosts+uint32(i)] = uint16((uint32(i) - first) * parts / (n.tierFirst[tier+1] - first))
	}
	return int(parts)
}

// crossing are the ports that lead from one part to another.
func (n *net) crossing(yield func(*port) bool) {
	for i := range n.nodes {
		s := &n.nodes[i]
		for p := s.first; p < s.first+s.down+s.up; p++ {
			port := &n.ports[p]
			if n.partOf[n.hosts+uint32(i)] != n.partOf[port.peer] && !yield(port) {
				return
			}
		}
	}
}

// ahead is the least time a packet, or a pause back, is under way between two parts, ps; for an
// application also between a switch and a host.
func (n *net) ahead(application bool) int64 {
	least := int64(never)
	for p := range n.crossing {
		least = min(least, n.kinds[p.kind].underway())
	}
	for i := range n.ports {
		if p := &n.ports[i]; application && p.peer < n.hosts {
			least = min(least, n.kinds[p.kind].underway())
		}
	}
	return least
}

// underway is the least time of a packet on the link, ps.
func (k *portKind) underway() int64 { return k.latency + k.serialization(1) }

// mark gives the ports that lead from one part to another separate kinds.
func (n *net) mark() {
	own := map[uint16]uint16{}
	for p := range n.crossing {
		kind, marked := own[p.kind]
		if !marked {
			k := n.kinds[p.kind]
			k.crosses = true
			kind = n.addKind(k)
			own[p.kind] = kind
		}
		p.kind = kind
	}
}

// triggersStay reports whether each trigger is pulled, and starts transfers, in one part only.
func (n *net) triggersStay(flows []Flow) bool {
	at := map[int64]uint16{}
	stays := func(id int64, host int) bool {
		part, again := at[id]
		at[id] = n.partOf[host]
		return id == 0 || !again || part == n.partOf[host]
	}
	for i := range flows {
		f := &flows[i]
		if !stays(f.Trigger, f.Src) || !stays(f.SendDone, f.Src) || !stays(f.RecvDone, f.Dst) {
			return false
		}
	}
	return true
}

// divide makes the parts of a run, which has no events yet. Part 0 is s.
func (s builder) divide() {
	s.parts = []*sim{s.sim}
	s.events = newEventQueue(s.horizon())
	n, ahead := s.assign(&s.cfg), s.ahead(s.cfg.Application != nil)
	events := newEventQueue(wider * s.horizon())
	if n == 1 || !s.triggersStay(s.cfg.Matrix.Flows) || ahead>>events.groupShift < groupsAhead {
		clear(s.partOf)
		return
	}
	s.events, s.crew = events, &crew{ahead: ahead, together: s.cfg.Workers < 2}
	s.mark()
	for range n - 1 {
		p := &sim{}
		p.events = newEventQueue(wider * s.horizon())
		s.parts = append(s.parts, p)
	}
}

// partAt is the part of a host.
func (s *sim) partAt(host uint32) *sim { return s.parts[s.partOf[host]] }

// separate gives a part a pool of its own, with room for so many packets, and what goes with them.
func (s builder) separate(packets int64) {
	s.pool = &pool{}
	s.pool.reserve(int(packets))
	if s.pfc != nil {
		own := *s.pfc
		s.pfc = &own
	}
	if s.ends != nil {
		s.ends = s.ends.forPart()
	}
}

// share gives a part the common data, and separate data.
func (p *sim) share(s *sim, number uint16) {
	events := p.events
	*p = *s
	if p.equipment = &p.light; p.world != nil {
		p.equipment = endpoints{p}
	}
	p.events, p.part = events, number
	p.trims, p.lost = map[uint32]int64{}, map[uint32]int64{}
	p.calls, p.called, p.news = nil, nil, nil
	if s.outages != nil {
		own := *s.outages
		own.forPart()
		p.outages = &own
	}
	p.random()
}

// equip prepares all parts, once nothing that they share moves any more.
func (s builder) equip() {
	records, words, all := make([]int64, len(s.parts)), make([]int64, len(s.parts)), int64(0)
	for i := range s.senders {
		records[s.partOf[s.hostOf[source(uint32(i))]]] += int64(s.senders[i].mask) + 1
		words[s.partOf[s.hostOf[destination(uint32(i))]]] += int64(s.bitmapWords(&s.receivers[i]))
		all += int64(s.senders[i].mask) + 1
	}
	if s.crew != nil && s.app != nil && s.app.cfg.Arrival {
		for i := range words {
			words[i] *= 2 // what is there, and what is about to be
		}
	}
	first := int64(firstRings / len(s.parts))
	for i, p := range s.parts {
		if i > 0 {
			p.share(s.sim, uint16(i))
		}
		p.records = makeRings[record](records[i], first)
		p.bitmaps = makeRings[uint64](words[i], first)
		if s.crew == nil {
			break
		}
		p.outs[0], p.outs[1] = make([]outbox, len(s.parts)), make([]outbox, len(s.parts))
		p.out, p.plain = p.outs[0], s.crew.together && s.pfc == nil
		if !s.crew.together {
			builder{p}.separate(min(records[i]/2, first))
		}
	}
	if s.crew == nil || s.crew.together {
		s.pool.reserve(int(min(all/2, firstRings)))
	}
	if s.world != nil {
		for _, h := range s.world.hosts {
			h.s = s.partAt(uint32(h.id))
			h.desk = &h.s.ends.desk
		}
	}
}
