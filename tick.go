// SPDX-License-Identifier: Apache-2.0

package uetcc

// NextDeadline returns the time to call [Endpoint.Tick], and then [Endpoint.Transmit], ns; false if
// nothing waits for time to pass. The time may be too early; then Tick has nothing to do.
func (e *Endpoint) NextDeadline() (int64, bool) {
	if e.pds.HasEvents() || e.source.mayRunErrand() {
		return 0, true
	}
	at, ok := e.source.nextDeadline()
	return e.clock.when(at), ok
}

// nextDeadline is NextDeadline by the clock of the endpoint, except for work due at once.
func (s *source) nextDeadline() (int64, bool) {
	at, ok := s.pds.NextDeadline()
	if s.credit != nil {
		if c, has := s.credit.deadline(); has && (!ok || c < at) {
			at, ok = c, true
		}
	}
	if r, has := s.retries.Next(); has && (!ok || r < at) {
		at, ok = r, true
	}
	if s.sender.Messages() != 0 && (!ok || s.hand.at < at) {
		return s.hand.at, true
	}
	return at, ok
}

// Tick does the work due by now: time-outs, retries, messages that wait for a PDC or for too long. An
// early or repeated call does no harm.
func (e *Endpoint) Tick(now int64) {
	now = e.clock.read(now)
	for done := false; !done; {
		done = e.pds.Tick(now)
		e.source.drain(now)
	}
	if e.credit != nil {
		e.credit.expire(now)
	}
	e.source.look(now)
	now = e.source.retries.Now(now)
	for {
		i, ok := e.source.retries.Expire(now)
		if !ok {
			return
		}
		if rec := &e.source.messages[i]; rec.handle != 0 {
			e.source.again(now, rec)
		}
	}
}
