package fabric

import "github.com/uetcc/uetcc/hw/link"

// A crossing is what one part tells another: a packet that is under way to it, or a frame of
// flow control; 64 bytes. It reaches its node no sooner than crew.ahead after it was sent, so
// in a later window.
type crossing struct {
	at     int64  // ps
	packet packet // at: the node that it is sent to
	detail detail
	port   uint32 // that it leaves by; of flow control: that it is for; of evStart: connection
	kind   eventKind
}

// An outbox holds what goes from one part to another in a window, in order.
type outbox struct {
	crossings []crossing
	flying    []flying // of endpoints, beside each packet
	long      [][]byte // of those that have no head
}

// post puts x into the box for a part.
func (s *sim) post(to uint16, x crossing) *outbox {
	b := &s.outs[s.crew.parity][to]
	if len(b.crossings) == 0 {
		s.wrote = append(s.wrote, to)
	}
	b.crossings = append(b.crossings, x)
	s.soonest = min(s.soonest, x.at)
	return b
}

// export sends a packet that leaves by port out to the part that it enters at some time.
func (s *sim) export(out, pkt uint32, at int64) {
	if s.pfc != nil {
		s.pfcLeave(out, pkt)
	}
	x := crossing{at: at, packet: s.pool.pkts[pkt], detail: s.pool.details[pkt], port: out, kind: evArrive}
	x.packet.at = s.ports[out].peer
	b := s.post(s.partOf[x.packet.at], x)
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
	for _, from := range s.inbound { // wait for all of the memory at once, not for each in turn
		for i := range s.parts[from].outs[s.crew.parity^1][s.part].crossings {
			s.touching.sum += uint64(s.parts[from].outs[s.crew.parity^1][s.part].crossings[i].port)
		}
	}
	for _, from := range s.inbound {
		b := &s.parts[from].outs[s.crew.parity^1][s.part]
		packets, long := 0, 0
		for i := range b.crossings {
			x := &b.crossings[i]
			switch x.kind {
			case evStart:
				s.expect(x.port)
				continue
			case evPause, evResume:
				s.events.push(x.at, x.kind, x.port)
				continue
			}
			pkt := s.enter(x)
			if s.ends != nil {
				s.ends.room(pkt)
				s.ends.flying[pkt] = b.flying[packets]
				if packets++; s.ends.flying[pkt].n == 0 {
					s.ends.long[pkt] = b.long[long]
					long++
				}
			}
		}
		clear(b.long)
		b.crossings, b.flying, b.long = b.crossings[:0], b.flying[:0], b.long[:0]
	}
	s.inbound = s.inbound[:0]
}

// enter gives a packet of another part a number here.
func (s *sim) enter(x *crossing) uint32 {
	pkt := s.pool.get()
	p := &s.pool.pkts[pkt]
	*p, s.pool.details[pkt] = x.packet, x.detail
	p.at = s.next(x.packet.at, p)
	if s.pfc != nil {
		s.pfc.room(pkt)
		s.pfc.via[pkt] = x.port
	}
	s.events.push(x.at, evArrive, pkt)
	return pkt
}

// A told is a call of the user's that waits for the end of the window.
type told struct {
	at   int64
	call func()
}

// later has a function of the user's called, by the goroutine of [Run] and in order of time.
func (s *sim) later(call func()) { s.told = append(s.told, told{s.now, call}) }

// see calls Config.Seen.
func (s *sim) see(seen *Seen) {
	if s.crew == nil {
		s.cfg.Seen(seen)
		return
	}
	kept := *seen
	s.later(func() { s.cfg.Seen(&kept) })
}

// tellContext calls Config.Context.
func (s *sim) tellContext(c ContextState) {
	if s.crew == nil {
		s.cfg.Context(&c)
		return
	}
	s.later(func() { s.cfg.Context(&c) })
}

// tellFrame calls Config.Frame.
func (s *sim) tellFrame(host uint32, f *Frame) {
	now := link.Ps(s.now)
	if s.crew == nil {
		s.cfg.Frame(now, int(host), f)
		return
	}
	kept := *f
	kept.Bytes = append([]byte(nil), f.Bytes...)
	s.later(func() { s.cfg.Frame(now, int(host), &kept) })
}
