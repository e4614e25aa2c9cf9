// SPDX-License-Identifier: Apache-2.0

package rccc

import (
	"math"

	"github.com/uetcc/uetcc/internal/deadline"
)

// A source whose credit is spent depends on a message nothing
// retransmits. The request timer closes the gap: the timer runs while data waits and no credit
// is left, and on firing the source repeats the target in a Credit Request.

// Settle brings the request timer in line with the present state: call Settle at the end of
// every event, with the waiting bytes (new and for retransmission). The timer starts when data
// waits without credit, runs for an RTT, or twice the latest wait for credit if longer, and
// stops when nothing waits any more or credit has come. A running timer is left alone.
func (s *Source) Settle(p *Params, now, waiting int64) {
	starved := waiting > 0 && s.credit <= 0
	running := s.is.has(armed)
	if starved == running && !s.is.has(granted) {
		return
	}
	if !starved && !running {
		s.is.set(granted, false)
		return
	}
	if running && s.is.has(granted) {
		took := max(int32(uint32(now)-s.since), 0) / usualUnit
		s.usual = uint16(min(max(int32(s.usual)*7/8, took), math.MaxUint16))
	}
	s.is.set(granted, false)
	s.is.set(armed, starved)
	s.since = uint32(now)
	s.due = deadline.After(now, s.requestDelay(p))
}

// Deadline returns when [Source.RequestDue] is to be called, in nanoseconds, and
// false when no timer runs.
func (s *Source) Deadline() (int64, bool) { return s.due, s.is.has(armed) }

// RequestDue reports whether a Credit Request is to be sent now, with a freshly
// computed target, and restarts the timer with twice the delay. An early call
// changes nothing.
func (s *Source) RequestDue(p *Params, now int64) bool {
	now = min(now, deadline.End)
	if !s.is.has(armed) || now < s.due {
		return false
	}
	count := int64(1)
	if waited := s.requestDelay(p); waited >= p.requestCeiling {
		count += waited / longWait
	}
	s.backoff = uint8(min(int64(s.backoff)+count, maxBackoff))
	s.due = deadline.After(now, s.requestDelay(p))
	return true
}

// InVain reports whether so many requests in a row have brought nothing that more are in vain:
// the destination may not schedule credit at all. Requests go on all the same, at the lowest
// rate.
func (s *Source) InVain() bool { return s.backoff == maxBackoff }

// usualUnit is the unit of Source.usual, ns: 67 ms fit.
const usualUnit = 1024

// After hopeful requests without an answer the ceiling doubles with each further request: no
// destination takes so long to come back to a sender, and a destination with a different
// congestion control never will.
//
// Where requests cannot be more frequent, after all doublings, each counts once more for every longWait
// of its delay: 254 of them took 8 minutes at a round trip of 30 ms, now 9 take 8 seconds.
const (
	hopeful    = maxBackoff - 5
	maxBackoff = math.MaxUint8 - 1
	longWait   = 1 << 24 // ns
)

// requestDelay doubles with each unanswered request. A destination comes back to a sender
// after a round of all senders: an earlier repetition would only add to the destination's
// load.
func (s *Source) requestDelay(p *Params) int64 {
	ceiling := deadline.Backoff(p.requestCeiling, max(s.backoff, hopeful)-hopeful, math.MaxInt64)
	return deadline.Backoff(max(p.rtt, 2*usualUnit*int64(s.usual)), min(s.backoff, 62), ceiling)
}
