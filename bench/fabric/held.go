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
	var ns [heldReasons]int64
	if s.world != nil {
		ns = s.world.hosts[t.flow.Src].heldTowards(t.flow.Dst)
	} else {
		w := s.waited[t.conn]
		w.note(s.nowNs(), ccc.StateIdle, ccc.ReasonBacklog)
		ns = w.ns
	}
	held := map[string]float64{}
	for why, n := range ns {
		if why != int(ccc.ReasonBacklog) && n > 0 {
			held[ccc.Reason(why).String()] = float64(n) / 1000
		}
	}
	return held
}

// heldTowards is the endpoint's count for the context towards a host.
func (h *Host) heldTowards(to int) (ns [heldReasons]int64) {
	var v ccc.View
	if c := h.contexts[to]; h.e != nil && c != 0 && h.e.CC().Refresh(c, &v) {
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
