// SPDX-License-Identifier: Apache-2.0

package fabric

import "github.com/uetcc/uetcc/hw/link"

// A crossing is what one part tells another: a packet under way to it, or a frame of
// flow control. It reaches its node no sooner than crew.ahead after it was sent, so in a later
// window.
type crossing struct {
	at   int64  // ps
	what uint32 // packet; of flow control: the port that it is for; of evStart: the connection
	port uint32 // that a packet leaves by
	kind eventKind
}

// A load is a packet that changes from one pool to another.
type load struct {
	packet packet
	detail detail
}

// An outbox holds what goes from one part to another in a window, in order.
type outbox struct {
	crossings []crossing
	loads     []load   // of packets, where each part has a pool of its own
	numbers   []uint64 // of packets with Config.Watch, beside each load
	flying    []flying // of endpoints, the same
	long      [][]byte // of those that have no head
}

// post puts x into the box for a part.
func (s *wires) post(to uint16, x crossing) *outbox {
	b := &s.out[to]
	if len(b.crossings) == 0 {
		s.wrote = append(s.wrote, to)
	}
	b.crossings = append(b.crossings, x)
	s.soonest = min(s.soonest, x.at)
	return b
}

// export sends a packet that leaves by port out to the part of node peer, where the packet arrives
// at time at. One goroutine has one pool of packets for all parts, so the packet stays in place; the
// number makes no difference.
func (s *wires) export(peer, out, pkt uint32, at int64) {
	b := s.post(s.partOf[peer], crossing{at: at, what: pkt, port: out, kind: evArrive})
	if s.crew.together {
		return
	}
	b.loads = append(b.loads, load{s.pool.pkts[pkt], s.pool.details[pkt]})
	if s.cfg.Watch != nil {
		b.numbers = append(b.numbers, s.pool.numbers[pkt])
	}
	if n := s.ends; n != nil {
		b.flying = append(b.flying, n.flying[pkt])
		if n.flying[pkt].n == 0 {
			b.long = append(b.long, n.long[pkt])
			delete(n.long, pkt)
		}
	}
	s.pool.put(pkt)
}

// collect takes in what other parts have sent in the last window: in the order of their
// numbers, which is that of events at one time.
func (s *sim) collect() {
	s.out = s.outs[s.crew.parity]
	for _, from := range s.inbound {
		b := &s.parts[from].outs[s.crew.parity^1][s.part]
		if s.plain {
			s.enter(b)
			continue
		}
		loads, long := 0, 0
		for i := range b.crossings {
			x := &b.crossings[i]
			switch {
			case x.kind == evStart:
				s.expect(x.what)
				continue
			case x.kind == evArrive && !s.crew.together:
				x.what = s.unload(b, loads, &long)
				loads++
			}
			if s.pfc != nil && x.kind == evArrive {
				s.pfc.room(x.what)
				s.pfc.via[x.what] = x.port
			}
			s.events.push(x.at, x.kind, x.what)
		}
		clear(b.long)
		b.crossings, b.loads, b.numbers, b.flying, b.long = b.crossings[:0], b.loads[:0], b.numbers[:0], b.flying[:0], b.long[:0]
	}
	s.inbound = s.inbound[:0]
}

// enter is collect where packets stay in one pool and no link pauses.
func (s *sim) enter(b *outbox) {
	for i := range b.crossings {
		x := &b.crossings[i]
		if x.kind == evStart {
			s.expect(x.what)
		} else {
			s.events.push(x.at, x.kind, x.what)
		}
	}
	b.crossings = b.crossings[:0]
}

// unload gives a packet of another pool a number here.
func (s *wires) unload(b *outbox, i int, long *int) uint32 {
	pkt := s.pool.get()
	s.pool.pkts[pkt], s.pool.details[pkt] = b.loads[i].packet, b.loads[i].detail
	if s.cfg.Watch != nil {
		s.pool.renumber(pkt, b.numbers[i])
	}
	if s.ends != nil {
		s.ends.room(pkt)
		s.ends.flying[pkt] = b.flying[i]
		if b.flying[i].n == 0 {
			s.ends.long[pkt] = b.long[*long]
			*long++
		}
	}
	return pkt
}

// A told is a call of the user's, or of Config.Watch, due at the end of the window.
type told struct {
	at     int64
	call   func()
	packet *PacketState
	port   *PortState
}

// later has a function of the user's called, by the goroutine of [Run] and in order of time.
func (s *wires) later(call func()) { s.told = append(s.told, told{at: s.now, call: call}) }

// see calls Config.Seen.
func (s *wires) see(seen *Seen) {
	if s.crew == nil {
		s.cfg.Seen(seen)
		return
	}
	kept := *seen
	s.later(func() { s.cfg.Seen(&kept) })
}

// tellContext calls Config.Context.
func (s *wires) tellContext(c ContextState) {
	if s.crew == nil {
		s.cfg.Context(&c)
		return
	}
	s.later(func() { s.cfg.Context(&c) })
}

// tellFrame calls Config.Frame.
func (s *wires) tellFrame(host uint32, f *Frame) {
	now := link.Ps(s.now)
	if s.crew == nil {
		s.cfg.Frame(now, int(host), f)
		return
	}
	kept := *f
	kept.Bytes = append([]byte(nil), f.Bytes...)
	s.later(func() { s.cfg.Frame(now, int(host), &kept) })
}
