// SPDX-License-Identifier: Apache-2.0

package fabric

import "github.com/uetcc/uetcc/ccc"

// heldReasons is how many a [ccc.Reason] can be.
const heldReasons = len(ccc.Snapshot{}.Held)

// A waited is the time the data of a connection waited, ns, by cause.
type waited struct {
	ns   [heldReasons]int64
	last int64      // time of the last event, ns
	by   ccc.Reason // what holds data since; ReasonBacklog: nothing
}

// note takes in a state after an event.
func (w *waited) note(now int64, state ccc.State, why ccc.Reason) {
	w.ns[w.by] += now - w.last
	w.last, w.by = now, ccc.ReasonBacklog
	if state == ccc.StateActive {
		w.by = why
	}
}

// heldOf is how long the data of a transfer's connection waited, us by reason, nil where nobody
// has asked for it.
func (s outcome) heldOf(t *transfer) map[string]float64 {
	if !s.cfg.Held {
		return nil
	}
	held := map[string]float64{}
	for why, n := range s.equipment.held(t) {
		if why != int(ccc.ReasonBacklog) && n > 0 {
			held[ccc.Reason(why).String()] = float64(n) / 1000
		}
	}
	return held
}

// held is for results.
func (s *light) held(t *transfer) [heldReasons]int64 {
	w := s.waited[t.conn]
	w.note(s.nowNs(), ccc.StateIdle, ccc.ReasonBacklog)
	return w.ns
}

// held is the endpoint's count for the context towards the destination.
func (s endpoints) held(t *transfer) (ns [heldReasons]int64) {
	var v ccc.View
	h := s.world.hosts[t.flow.Src]
	if c := h.contexts[t.flow.Dst]; h.e != nil && c != 0 && h.e.CC().Refresh(c, &v) {
		ns = v.Snapshot().Held
	}
	return ns
}

// remember keeps whose the context is.
func (h *Host) remember(to int, c ccc.Handle) {
	if h.contexts == nil {
		h.contexts = map[int]ccc.Handle{}
	}
	h.contexts[to] = c
}
