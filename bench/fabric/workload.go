// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"fmt"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// A matrix on endpoints: each transfer is a write to the destination's memory. Transfers
// between the same hosts are on separate PDCs unless messages of the same connection.

// addTransfers makes the transfers of the matrix.
func (s builder) addTransfers() error {
	s.addTriggers()
	contexts, byID := map[[2]int]uint16{}, map[int64]uint16{}
	for i, f := range s.cfg.Matrix.Flows {
		if f.Size < 1 || f.Size > ses.MaxMessage {
			return fmt.Errorf("%w: the transfer of line %d has %d bytes, a message has 1 to %d", ErrConfig, f.Line, f.Size, int64(ses.MaxMessage))
		}
		context, again := byID[f.ID]
		if !f.Message || !again {
			pair := [2]int{f.Src, f.Dst}
			context = contexts[pair]
			contexts[pair]++
			if f.Message {
				byID[f.ID] = context
			}
		}
		conn := s.endBetween(uint32(f.Src), uint32(f.Dst)).conn()
		s.transfers = append(s.transfers, transfer{flow: f, conn: conn, context: context, arrived: -1, finished: -1})
		s.schedule(uint32(i))
	}
	if s.crew != nil {
		s.world.messages = make([]*Message, len(s.transfers))
	}
	return nil
}

// begin posts the message of a transfer of a host of this part.
func (s endpoints) begin(i uint32) {
	w := s.world
	t := &s.transfers[i]
	t.begun, t.started = true, s.now
	m := &Message{Src: t.flow.Src, Dst: t.flow.Dst, Size: t.flow.Size, Context: t.context}
	if s.app != nil {
		m.Context = s.app.takeContext(&t.flow)
	}
	there := w.hosts[m.Dst].s
	m.Here = func() { there.landed(i) }
	m.Done = func() {
		if !m.OK() {
			s.failed = append(s.failed, fmt.Sprintf("%d to %d: %v %v %v", m.Src, m.Dst, m.Err, m.Event.Outcome.Status, m.Event.Cause))
			return
		}
		if s.app != nil {
			s.app.giveContext(&t.flow, m.Context)
		}
		s.complete(i)
	}
	if s.crew == nil {
		w.Post(m)
		return
	}
	w.messages[i] = m
	w.start(m, i)
}

// settled reports whether all transfers are finished and no packet is under way, so further
// events would concern idle PDCs alone.
func (s *sim) settled() bool {
	if s.app != nil {
		return s.app.idle() && s.underway() == 0
	}
	return len(s.transfers) > 0 && s.finished() == len(s.transfers) && s.underway() == 0
}

// messageViolations checks that each successful message has the right bytes.
func (w *World) messageViolations() (v []string) {
	for _, m := range w.messages {
		if m == nil {
			continue // of a transfer that has not begun
		}
		if err := m.Check(w); err != nil {
			v = append(v, fmt.Sprintf("message from %d to %d: %v", m.Src, m.Dst, err))
		}
	}
	for _, p := range w.s.parts {
		v = append(v, p.failed...)
	}
	return v
}

// timeouts are the sum over all endpoints.
func (w *World) timeouts() (n int64) {
	for _, h := range w.hosts {
		if h.e != nil {
			n += int64(h.e.PDS().Stats().RTOs)
		}
	}
	return n
}

// watch tells Config.Context of the congestion control the packet at hand has changed.
func (h *Host) watch() {
	s := h.s
	if h.r.PDC == 0 {
		return
	}
	info, ok := h.e.PDS().PDC(h.r.PDC)
	if !ok || info.Context == 0 {
		return
	}
	c := h.e.CC().Context(info.Context)
	if c == nil {
		return
	}
	h.restored(h.r.PDC, c.Cwnd())
	to := uint32(hostAt(info.Peer))
	if s.cfg.Held || s.series != nil {
		h.remember(int(to), info.Context)
	}
	if s.cfg.Context == nil {
		return
	}
	s.tellContext(ContextState{
		Now: link.Ps(s.now), Conn: s.endBetween(uint32(h.id), to).conn(), Src: uint32(h.id), Dst: to,
		State: c.State(), Reason: c.Reason(), Waiting: c.Backlog() + c.RtxBacklog(), Credit: c.Credit(), Window: c.Window(),
	})
}

// restored counts the windows a slow memory gives back at once.
func (h *Host) restored(p pdc.Handle, cwnd int64) {
	s := h.s
	if s.mem == nil {
		return
	}
	if before, ok := h.cwnd[p]; ok && cwnd > before+s.cfg.PacketBytes {
		s.restored++
	}
	if h.cwnd == nil {
		h.cwnd = map[pdc.Handle]int64{}
	}
	h.cwnd[p] = cwnd
}

// algorithm gives each context of a host the algorithm of Config.Algorithm for the two hosts.
func (c *Config) algorithm(k ccc.Key) ccc.Algorithm {
	return c.Algorithm(hostAt(pdc.AddrFrom(k.Source)), hostAt(pdc.AddrFrom(k.Destination)))
}
