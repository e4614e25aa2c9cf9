package uetcc

// NextDeadline returns when to call [Endpoint.Tick], and then [Endpoint.Transmit], ns;
// false if nothing waits for time to pass. It may be too early; then there is nothing to
// do.
func (e *Endpoint) NextDeadline() (int64, bool) {
	if e.pds.HasEvents() || e.mayRunErrand() {
		return 0, true
	}
	at, ok := e.nextDeadline()
	return at - e.clock.skew, ok
}

// nextDeadline is NextDeadline by the clock of the endpoint, but for what is due at once.
func (e *Endpoint) nextDeadline() (int64, bool) {
	at, ok := e.pds.NextDeadline()
	if e.credit != nil {
		if c, has := e.credit.recv.Deadline(); has && (!ok || c < at) {
			at, ok = c, true
		}
	}
	if r, has := e.retries.Next(); has && (!ok || r < at) {
		at, ok = r, true
	}
	if e.sender.Messages() != 0 && (!ok || e.hand.at < at) {
		return e.hand.at, true
	}
	return at, ok
}

// Tick does what is due by now: time-outs, retries, messages that wait for a PDC or for too long. An early
// or repeated call does no harm.
func (e *Endpoint) Tick(now int64) {
	now = e.clock.read(now)
	for done := false; !done; {
		done = e.pds.Tick(now)
		e.drain(now)
	}
	if e.credit != nil {
		e.credit.expire(now)
	}
	e.look(now)
	now = e.retries.Now(now)
	for {
		i, ok := e.retries.Expire(now)
		if !ok {
			return
		}
		if rec := &e.messages[i]; rec.handle != 0 {
			e.again(now, rec)
		}
	}
}
