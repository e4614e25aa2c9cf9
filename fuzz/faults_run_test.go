// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"fmt"
	"strings"
)

// run lets the ends work while everything goes wrong, heals the network, and holds
// that all comes to its end.
func (w *pdcWorld) run() {
	start := w.net.Now
	for steps := 0; !w.done() && w.net.Now-start < 20_000_000*us; steps++ {
		if steps == 0 {
			w.actAll()
		}
		if steps > faultSteps {
			w.failf("E1: no end of the faults")
		}
		if !w.step() {
			w.failf("E1: nothing moves, and there is work")
		}
	}
	w.net.Heal()
	w.log.tell(w.net.Now, -1, "healed after packets", w.net.Sent)
	healed := w.net.Now
	w.actAll()
	for steps := 0; !w.quiet(); steps++ {
		if steps > faultSteps || w.net.Now-healed > 300_000_000*us {
			w.failf("E1: not over %d ms after the faults", (w.net.Now-healed)/1e6)
		}
		if !w.step() {
			w.failf("E1: nothing moves, and it is not over")
		}
	}
	w.finish()
}

// done reports whether all messages have been sent and settled.
func (w *pdcWorld) done() bool {
	for _, e := range w.ends {
		if e.budget > 0 || len(e.messages) > 0 {
			return false
		}
	}
	return true
}

// state tells people where a run stands.
func (w *pdcWorld) state() string {
	var s strings.Builder
	fmt.Fprintf(&s, "now %d, %d packets flying, healed %v, %+v\n", w.net.Now, w.net.Len(), w.net.Healed(), w.net.Plan)
	for _, e := range w.ends {
		at, ok := e.m.NextDeadline()
		fmt.Fprintf(&s, "end %d: deadline %d %v, offset %d, %d to begin, %d messages, %d late, %d returns, %+v\n",
			e.place, at, ok, e.clock.offset, e.budget, len(e.messages), len(e.late), len(e.returns), e.m.Stats())
		for h := range e.table.All() {
			info, _ := e.m.PDC(h)
			fmt.Fprintf(&s, "  %+v\n", info)
			if c := e.cc.Context(info.Context); c != nil {
				fmt.Fprintf(&s, "    cwnd %d, in flight %d (%d), backlog %d, again %d, %v\n",
					c.Cwnd(), c.Inflight(), c.InflightPackets(), c.Backlog(), c.RtxBacklog(), c.State())
			}
		}
		for _, m := range e.messages {
			fmt.Fprintf(&s, "  %+v\n", *m)
		}
	}
	return s.String()
}
