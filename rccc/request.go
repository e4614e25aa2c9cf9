package rccc

// A source whose credit is spent depends on a message that nothing
// retransmits. The request timer closes that gap: while data waits and no
// credit is left it runs, and when it fires the source repeats its target in a
// Credit Request.

// Settle brings the request timer in line with what is true now: call it at the
// end of every event, with the bytes that wait (new and for retransmission).
// The timer starts when data waits without credit and stops when either ends.
// A running timer is left alone.
func (s *Source) Settle(p *Params, now, waiting int64) {
	starved := waiting > 0 && s.credit <= 0
	if starved == s.armed {
		return
	}
	s.armed = starved
	s.due = now + p.requestDelay(s.backoff)
}

// Deadline returns when [Source.RequestDue] is to be called, in nanoseconds, and
// false when no timer runs.
func (s *Source) Deadline() (int64, bool) { return s.due, s.armed }

// RequestDue reports whether a Credit Request is to be sent now, with a freshly
// computed target, and restarts the timer with twice the delay. An early call
// changes nothing.
func (s *Source) RequestDue(p *Params, now int64) bool {
	if !s.armed || now < s.due {
		return false
	}
	s.backoff = min(s.backoff+1, maxBackoff)
	s.due = now + p.requestDelay(s.backoff)
	return true
}

// maxBackoff is enough for any ceiling and keeps the shift in range.
const maxBackoff = 62

// requestDelay is one RTT, doubled for each request that went unanswered.
func (p *Params) requestDelay(backoff uint8) int64 {
	if d := p.rtt << backoff; d>>backoff == p.rtt && d > 0 {
		return min(d, p.requestCeiling)
	}
	return p.requestCeiling
}
