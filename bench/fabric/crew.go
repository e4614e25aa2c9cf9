// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
)

// A crew simulates the parts of a run in windows of time: effects on other parts come after
// the window, so all parts can be simulated at once, in any order.
type crew struct {
	ahead    int64 // ps, length of a window
	together bool  // the parts have one pool of packets: one goroutine simulates them all
	parity   uint8 // of the window: which of the outboxes is written
	group    int64 // of events, at which the window ends

	active  []*sim       // parts that have something to do in the window
	taken   atomic.Int32 // of them, those that somebody has begun
	events  int64        // so far
	last    int64        // of them, in the last window
	helpers []chan struct{}
	busy    sync.WaitGroup
	told    []told
}

// run simulates a divided run to the end. s is part 0.
func (c *crew) run(s *sim) {
	for range min(s.cfg.Workers, len(s.parts)) - 1 {
		wake := make(chan struct{}, 1)
		c.helpers = append(c.helpers, wake)
		go func() {
			for range wake {
				c.work()
				c.busy.Done()
			}
		}()
	}
	for _, p := range s.parts {
		p.soonest = never
		p.nextDue()
	}
	for !s.over() && c.open(s) {
		c.simulate()
		c.close(s)
	}
	for _, wake := range c.helpers {
		close(wake)
	}
}

// open finds the next window, and who has something to do in it; false if nobody has.
func (c *crew) open(s *sim) bool {
	from := int64(never)
	for _, p := range s.parts {
		from = min(from, p.due, p.soonest)
	}
	if s.app != nil {
		from = min(from, s.app.next())
	}
	if from == never {
		if s.app != nil && s.app.due.Len() > 0 {
			s.stopped = int64(s.cfg.End)
		}
		return false
	}
	shift := s.events.groupShift
	c.group = (from>>shift<<shift + c.ahead) >> shift
	if s.series != nil {
		s.series.sample(s, from>>shift<<shift)
		c.group = min(c.group, (s.series.next-1)>>shift+1)
	}
	if s.app != nil {
		s.app.advance(c.group << shift)
	}
	c.active, c.parity = c.active[:0], c.parity^1
	for _, p := range s.parts {
		p.soonest = never
		if p.due < c.group<<shift || len(p.inbound) > 0 {
			c.active = append(c.active, p)
		}
	}
	return true
}

// simulate lets the parts at hand pass the window, with as many goroutines as are worth it.
func (c *crew) simulate() {
	c.taken.Store(0)
	n := max(min(len(c.helpers), len(c.active)-1, int(c.last/worthWaking)), 0)
	c.busy.Add(n)
	for _, wake := range c.helpers[:n] {
		wake <- struct{}{}
	}
	c.work()
	c.busy.Wait()
}

// work simulates parts until all are taken.
func (c *crew) work() {
	for {
		i := int(c.taken.Add(1)) - 1
		if i >= len(c.active) {
			return
		}
		p := c.active[i]
		p.collect()
		p.simulate()
		p.nextDue()
	}
}

// nextDue notes when the next event is.
func (s *sim) nextDue() {
	q := s.events
	group, ok := q.group, true
	if q.drained() {
		group, ok = q.next()
	}
	if s.due = never; ok {
		s.due = group << q.groupShift
	}
}

// close passes on what the parts have sent, calls the user's functions and reports progress.
func (c *crew) close(s *sim) {
	before := c.events
	for _, p := range c.active {
		c.events += p.count.Events - p.reported
		p.reported = p.count.Events
		for _, to := range p.wrote {
			s.parts[to].inbound = append(s.parts[to].inbound, p.part)
		}
		p.wrote = p.wrote[:0]
		if s.app != nil {
			s.app.hear(p.news)
			p.news = p.news[:0]
		}
		c.told = append(c.told, p.told...)
		clear(p.told)
		p.told, p.keptPackets, p.keptPorts = p.told[:0], p.keptPackets[:0], p.keptPorts[:0]
	}
	c.tell(s.cfg.Watch)
	if c.last = c.events - before; c.events/progressEvery != before/progressEvery && s.report() {
		s.stopped = s.latest()
	}
}

// tell calls the user's functions in order of time.
func (c *crew) tell(w Watcher) {
	slices.SortStableFunc(c.told, func(a, b told) int { return cmp.Compare(a.at, b.at) })
	for i := range c.told {
		switch t := &c.told[i]; {
		case t.packet != nil:
			w.Packet(t.packet)
		case t.port != nil:
			w.Port(t.port)
		default:
			t.call()
		}
	}
	clear(c.told)
	c.told = c.told[:0]
}

// over reports whether nothing else is to be simulated.
func (s *sim) over() bool {
	for _, p := range s.parts {
		if p.stopped != 0 {
			s.stopped = p.stopped
			return true
		}
	}
	return s.world != nil && s.settled()
}
