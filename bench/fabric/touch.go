package fabric

// touchAhead is how many events are looked at together, and touchWorth how few are not:
// their misses would hardly overlap.
const (
	touchAhead = 32
	touchWorth = 6
)

// touch reads a word of each cache line that the next events will need. The reads do not
// wait for each other, as they would one event after another: in a fabric that outgrows
// the cache this hides most of the misses. Each step finds in the lines of the one before
// where the next ones are.
func (s *sim) touch(next []slot) {
	var ports, packets, nics [touchAhead]uint32
	var sum uint64
	for _, e := range next {
		if e.kind() == evArrive {
			sum += uint64(s.pool.pkts[e.what()].at)
		}
	}
	i, j, k := 0, 0, 0
	for _, e := range next {
		what := e.what()
		switch e.kind() {
		case evArrive:
			if at := s.pool.pkts[what].at; at >= s.hosts {
				ports[i&(touchAhead-1)] = at
				i++
			} else {
				packets[j&(touchAhead-1)] = what
				j++
			}
		case evPort:
			if what >= s.hosts {
				ports[i&(touchAhead-1)] = what
				i++
			} else {
				nics[k&(touchAhead-1)] = what
				k++
			}
		}
	}
	for _, port := range ports[:i] {
		p := &s.ports[port]
		sum += uint64(p.busy) + uint64(p.queue.Len())
	}
	for _, pkt := range packets[:j] {
		sum += s.touchPacket(pkt)
	}
	for _, host := range nics[:k] {
		n := &s.nics[host]
		sum += uint64(s.ports[host].busy) + uint64(n.answers.head) + uint64(n.turn)
	}
	for _, port := range ports[:i] {
		if id, ok := s.ports[port].queue.Oldest(); ok {
			sum += uint64(s.pool.pkts[id].at)
		}
	}
	for _, host := range nics[:k] {
		sum += s.touchTurn(&s.nics[host])
	}
	for _, pkt := range packets[:j] {
		sum += s.touchRecords(pkt)
	}
	for _, host := range nics[:k] {
		if n := &s.nics[host]; n.ready.n > 0 {
			conn := n.ready.first()
			sum += uint64(s.record(conn, s.senders[conn].next).sent) + s.touchSide(conn)
		}
	}
	s.touched += sum
}

// touchPacket loads the connection of a packet that is at its host.
func (s *sim) touchPacket(pkt uint32) uint64 {
	p, d := &s.pool.pkts[pkt], &s.pool.details[pkt]
	sum := uint64(d.psn) + uint64(d.credit)
	if p.flags&flagAnswer != 0 {
		return sum + s.touchSender(p.to.conn())
	}
	return sum + uint64(s.receivers[p.to.conn()].cack)
}

func (s *sim) touchSender(conn uint32) uint64 {
	c := &s.senders[conn]
	return uint64(c.ctx.WaitingRtx()) + uint64(c.ctx.Cwnd()) + uint64(c.ctx.State()) + uint64(c.cack) + uint64(c.acked)
}

// touchRecords loads what the connection knows of the packet, once it is there.
func (s *sim) touchRecords(pkt uint32) uint64 {
	p, d := &s.pool.pkts[pkt], &s.pool.details[pkt]
	conn := p.to.conn()
	if p.flags&flagAnswer == 0 {
		return s.bitmap(conn)[d.psn&s.ringMask/64]
	}
	return uint64(s.record(conn, d.psn).sent) + uint64(s.record(conn, s.senders[conn].cack).sent) + s.touchSide(conn)
}

func (s *sim) touchSide(conn uint32) uint64 {
	if side := s.sideOf(conn); len(side) > 0 {
		return side[0]
	}
	return 0
}

// touchTurn loads who sends next at a host.
func (s *sim) touchTurn(n *nic) (sum uint64) {
	if n.answers.n > 0 {
		pkt := n.answers.first()
		sum += uint64(s.pool.pkts[pkt].at) + uint64(s.pool.details[pkt].service)
	}
	if n.ready.n > 0 {
		sum += s.touchSender(n.ready.first())
	}
	return sum
}
