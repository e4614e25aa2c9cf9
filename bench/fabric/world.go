// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"fmt"
	"math"
	"runtime"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/internal/slab"
	"github.com/uetcc/uetcc/ses"
)

// A World is a fabric with an [uetcc.Endpoint] at each host, and an application above each
// to do the work of [World.Post]. A World belongs to a single goroutine.
type World struct {
	s        *sim
	hosts    []*Host
	messages []*Message
	stopped  bool
}

// NewWorld makes a world of c, whose Matrix may be nil and whose Node has to be
// [NodeEndpoint].
func NewWorld(c Config) (*World, error) {
	if c.Node != NodeEndpoint {
		return nil, fmt.Errorf("%w: Node is %v, a World is of endpoints", ErrConfig, c.Node)
	}
	if c.Matrix == nil {
		c.Matrix = &Matrix{}
	}
	s, err := newSim(c)
	if err != nil {
		return nil, err
	}
	return s.world, nil
}

// sampled is how many hosts tell how much memory another takes.
const sampled = 8

// addHosts gives each host of a run its endpoint, most of them on huge pages: packets come for hosts
// in any order, so with small pages nearly each line of an endpoint would need an address translation
// that the processor has forgotten.
func (s builder) addHosts() error {
	w := &World{s: s.sim}
	s.world, s.ends, s.psnRange = w, newFrames(s.hosts), uint32(s.cfg.MaxPSNRange)
	s.equipment, s.cfg.Seen = endpoints(s), nil
	s.cfg.degree = s.cfg.degrees()
	n, least := int(s.hosts), math.MaxInt
	for range min(n, sampled) {
		before := allocated()
		if err := s.addHost(w); err != nil {
			return err
		}
		least = min(least, allocated()-before)
	}
	slab.Reserve(least * (n - len(w.hosts)))
	for len(w.hosts) < n {
		if err := s.addHost(w); err != nil {
			return err
		}
	}
	return nil
}

// addHost gives the next host its endpoint.
func (s builder) addHost(w *World) error {
	h := &Host{w: w, s: s.sim, id: len(w.hosts), desk: &s.ends.desk}
	if err := h.start(); err != nil {
		return fmt.Errorf("host %d: %w", h.id, err)
	}
	w.hosts = append(w.hosts, h)
	return nil
}

// allocated is the bytes ever allocated.
func allocated() int {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.TotalAlloc)
}

// Now is the time of the run.
func (w *World) Now() link.Ps { return link.Ps(w.s.now) }

// Host returns a host by number.
func (w *World) Host(i int) *Host { return w.hosts[i] }

// At has f called at a time, never in the past.
func (w *World) At(at link.Ps, f func()) { w.s.at(at, f) }

// at has f called at a present or future time.
func (s *sim) at(at link.Ps, f func()) {
	i := len(s.calls)
	if n := len(s.called); n > 0 {
		i, s.called = int(s.called[n-1]), s.called[:n-1]
		s.calls[i] = f
	} else {
		s.calls = append(s.calls, f)
	}
	s.events.push(max(int64(at), s.now), evCall, uint32(i))
}

// call makes a due call.
func (s *sim) call(i uint32) {
	f := s.calls[i]
	s.calls[i] = nil
	s.called = append(s.called, i)
	f()
}

// halted reports whether the world, never nil here, has been stopped or has carried the matrix. For
// a run in parts the crew finds out.
func (s *sim) halted() bool { return s.world.stopped || s.settled() }

// Stop ends [World.Run] with the event at hand.
func (w *World) Stop() { w.stopped = true }

// Run lets time pass until then. False if stopped before.
func (w *World) Run(until link.Ps) bool {
	w.stopped = false
	over := false
	w.At(until, func() { over, w.stopped = true, true })
	w.s.loop()
	return over
}

// Post has a message started now, as soon as the endpoint has room.
func (w *World) Post(m *Message) {
	w.messages = append(w.messages, m)
	w.start(m, uint32(len(w.messages)-1))
}

// start starts message id.
func (w *World) start(m *Message, id uint32) {
	h := w.hosts[m.Src]
	m.id = id
	m.Started, m.Arrived, m.Ended = link.Ps(h.s.now), -1, -1
	m.land.content = Content{Message: m.id, Length: uint32(m.Size)}
	m.lives = [2]int{w.hosts[m.Src].life, w.hosts[m.Dst].life}
	if m.Size < 1 || m.Size > ses.MaxMessage {
		m.Err = fmt.Errorf("%w: a message of %d bytes", ErrConfig, m.Size)
		h.end(m)
		return
	}
	w.hosts[m.Dst].expect(m)
	h.begin(m)
}

// end notes the end of a message at the source.
func (h *Host) end(m *Message) {
	m.Ended = link.Ps(h.s.now)
	if m.Done != nil {
		m.Done()
	}
}

// arrived notes the complete arrival of a message.
func (h *Host) arrived(m *Message) {
	if m.Arrived >= 0 {
		return
	}
	m.Arrived = link.Ps(h.s.now)
	if m.Here != nil {
		m.Here()
	}
}

// Usage lists the hosts whose endpoints have not given everything back, with the rest
// held.
func (w *World) Usage() (held []string) {
	for i, h := range w.hosts {
		if h.e == nil {
			continue
		}
		if u := h.e.Usage(); u != (uetcc.Usage{}) {
			held = append(held, fmt.Sprintf("host %d: %+v", i, u))
		}
	}
	return held
}

// Result is the result so far.
func (w *World) Result() *Result { return w.s.result() }

// Queued is the bytes of data waiting at the port of a switch, by number in [Result].
func (w *World) Queued(port uint32) int64 { return w.s.ports[port].queue.Bytes(0) }

// LastHop is the number of the port that leads to a host.
func (w *World) LastHop(host int) uint32 {
	leaf := &w.s.net.nodes[w.s.ports[host].peer-w.s.hosts]
	return leaf.first + uint32(host) - leaf.lo
}

// Events is how many events of the simulator there have been.
func (w *World) Events() int64 { return w.s.count.Events }
