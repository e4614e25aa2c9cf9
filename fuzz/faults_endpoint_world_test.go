// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"fmt"
	"strings"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/ses"
)

// endpointWorld is a run with whole endpoints.
type endpointWorld struct {
	faultWorld
	s        *endpointSetting
	messages []endpointMessage
	ends     []*endpointEnd
	healed   int64 // when the faults ended
	ops      opCounts
	trouble  [numTroubles]uint64
}

const (
	endpointFaulty   = 20_000_000 * us // the faults end after this time, or when all is done
	endpointTimeout  = 10_000_000 * us // MessageTimeout, where time-outs do not last for ever
	endpointPatience = 60_000_000 * us // each message ends within this time of its beginning, or of the end of the faults
)

func newEndpointWorld(s *endpointSetting, seed uint64) *endpointWorld {
	places := endpointPlaces
	if s.liar {
		places++
	}
	w := &endpointWorld{faultWorld: newFaultWorld(places, seed, s.plan), s: s}
	w.beginAnywhere()
	for i := range endpointPlaces {
		e := &endpointEnd{w: w, place: i, budget: s.budget, outRoom: make([]byte, 0, 256), replyRoom: make([]byte, 0, 256+endpointMTU)}
		e.clock.read(w.net.Now)
		e.start()
		w.ends = append(w.ends, e)
		w.parties = append(w.parties, e)
	}
	if s.liar {
		w.addLiar()
	}
	return w
}

// openLimit is how many messages an end has under way.
func (w *endpointWorld) openLimit() int {
	if w.s.open != 0 {
		return w.s.open
	}
	return 8
}

// run lets the ends work while everything goes wrong, heals the network, and holds
// that all comes to its end.
func (w *endpointWorld) run() {
	start := w.net.Now
	w.actAll()
	for steps := 0; w.working() || !w.quiet(); steps++ {
		if !w.net.Healed() && (!w.working() || w.net.Now-start > endpointFaulty) {
			w.net.Heal()
			w.healed = w.net.Now
			w.actAll()
		}
		if w.net.Healed() && w.net.Now-w.healed > 5*endpointPatience || steps > faultSteps {
			w.failf("E1: not over %d ms after the faults, %d steps", (w.net.Now-w.healed)/1e6, steps)
		}
		if !w.step() {
			w.failf("E1: nothing moves, and it is not over")
		}
	}
	w.finish()
}

// working reports whether there is a message to begin or to end.
func (w *endpointWorld) working() bool {
	for _, e := range w.ends {
		if e.budget+e.open > 0 {
			return true
		}
	}
	return false
}

// weak reports whether packets between two ends may be changed where nobody can notice.
func (w *endpointWorld) weak(a, b int) bool {
	return w.s.weak && (w.s.among == 0 || max(a, b) < w.s.among)
}

// judge holds what must be true when message n ends.
func (w *endpointWorld) judge(n uint64, ev *uetcc.Event) {
	m := &w.messages[n]
	w.inTime(n)
	if ev.Outcome.Length > m.length || (m.status == ses.StatusPDS) != (ev.Cause != pdc.CauseNone) {
		w.failf("message %d (%v) of %d bytes ended %+v", n, endpointKinds[m.kind], m.length, ev)
	}
	if w.weak(int(m.from), int(m.to)) || int(m.to) == w.drop {
		return
	}
	same := w.ends[m.to].life == m.toLife
	switch m.status {
	case ses.StatusOK, ses.StatusTruncated:
		if same {
			w.delivered(n, ev.Outcome)
		}
	case ses.StatusFailed:
		if !m.cancelled && m.refused>>ev.Outcome.Code&1 == 0 {
			w.failf("message %d (%v) failed: %+v, and its target said %#x", n, endpointKinds[m.kind], ev, m.refused)
		}
		if w.s.strict() {
			w.failf("message %d (%v) failed: %+v", n, endpointKinds[m.kind], ev)
		}
	case ses.StatusPDS:
		if w.s.strict() || ev.Cause == pdc.CauseNone {
			w.failf("message %d (%v) failed: %+v", n, endpointKinds[m.kind], ev)
		}
		if ev.Cause == pdc.CausePending && m.met && m.attempts <= 1 && ev.Outcome.Retries == 0 {
			w.failf("message %d (%v) found no PDC, and came to its target", n, endpointKinds[m.kind])
		}
	default:
		w.failf("message %d ended %+v", n, ev)
	}
}

// inTime holds that a message has not taken too long. As long as the faults last
// only those may that are tried for ever.
func (w *endpointWorld) inTime(n uint64) {
	m := &w.messages[n]
	since := m.begun
	if w.s.retries == 0 {
		if !w.net.Healed() {
			return
		}
		since = max(since, w.healed)
	}
	if w.net.Now-since > endpointPatience {
		w.failf("E1: message %d (%v) took %d ms", n, endpointKinds[m.kind], (w.net.Now-since)/1e6)
	}
}

// finish holds what must be true when all is over.
func (w *endpointWorld) finish() {
	for i := range w.messages {
		m := &w.messages[i]
		if !m.ended && !m.gone {
			w.failf("E1: message %d (%v) has not ended", i, endpointKinds[m.kind])
		}
	}
	for _, e := range w.ends {
		e.finish()
	}
}

// state tells people where a run stands.
func (w *endpointWorld) state() string {
	var s strings.Builder
	fmt.Fprintf(&s, "now %d, %d packets flying, healed %v, %+v\n", w.net.Now, w.net.Len(), w.net.Healed(), w.net.Plan)
	for _, e := range w.ends {
		at, ok := e.e.NextDeadline()
		fmt.Fprintf(&s, "end %d.%d: clock %d, deadline %d %v, %d to begin, %d open, %d owed, %+v\n  %+v\n  %+v\n",
			e.place, e.life, e.clock.now, at, ok, e.budget, e.open, len(e.owed), e.e.Usage(), e.e.Stats(), e.e.PDS().Stats())
		for h := range e.e.PDS().All() {
			info, _ := e.e.PDS().PDC(h)
			fmt.Fprintf(&s, "  %#x %+v\n", uint32(h), info)
			if c := e.e.CC().Context(info.Context); c != nil {
				fmt.Fprintf(&s, "    cwnd %d, in flight %d (%d), backlog %d, again %d, credit %d, %v\n",
					c.Cwnd(), c.Inflight(), c.InflightPackets(), c.Backlog(), c.RtxBacklog(), c.Credit(), c.State())
			}
		}
		for _, n := range e.live {
			fmt.Fprintf(&s, "  message %d (%v): %+v\n", n, endpointKinds[w.messages[n].kind], w.messages[n])
		}
	}
	return s.String()
}
