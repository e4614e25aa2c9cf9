// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/pds/pdc"
)

// A hand goes round over all messages, as over the face of a clock, and ends messages standing
// where they stood rounds before. Sending and receiving know nothing of the hand.
type hand struct {
	seen  []standing // by slot of the message
	at    int64      // the next look, ns, while there are messages
	every int64      // from one look to the next
	next  int        // slot
}

// standing is where a message stood at the last looks.
type standing struct {
	at    uint64 // a number for it
	looks uint8  // with the same finding
}

const (
	handLooks  = 64                      // in MessageTimeout
	handRound  = handLooks / 4           // looks that see all messages
	handRounds = handLooks/handRound + 1 // looks at a message standing still: MessageTimeout is between the first and the last
)

// look is a step of the hand, if due. After a long stop of the host no message is older by
// more than one round: packets arrived meanwhile come first.
func (s *source) look(now int64) {
	x := &s.hand
	if s.sender.Messages() == 0 {
		x.at = deadline.After(now, x.every)
		return
	}
	if now < x.at {
		return
	}
	x.at = deadline.After(now, x.every)
	for range len(x.seen)/handRound + 1 {
		if x.next++; x.next >= len(x.seen) {
			x.next = 0
		}
		if rec := &s.messages[x.next]; rec.handle != 0 {
			s.lookAt(now, rec, &x.seen[x.next])
		}
	}
}

// lookAt ends a message without progress for long enough.
func (s *source) lookAt(now int64, rec *message, last *standing) {
	at := s.sender.Standing(rec.handle)
	if rec.flags&msgQueued != 0 { // progress is with the message in turn
		at += 3 * s.sender.Standing(s.messages[s.listOf(rec).Head-1].handle)
	}
	if info, ok := s.pds.PDC(rec.pdc); ok && (rec.flags&msgQueued != 0 || s.sender.InFlight(rec.handle)) {
		at ^= uint64(info.Contiguous) // and with earlier messages on the same PDC
		if info.Owed {                // not with the NOOPs of a message waiting for the peer
			at ^= uint64(info.Base) << 32
		}
	}
	if at != last.at {
		*last = standing{at: at}
		return
	}
	if last.looks++; last.looks < handRounds {
		return
	}
	last.looks-- // once more in the next round, unless over
	s.expire(now, rec)
}

// expire ends a message waiting in vain. Packets in flight are given up with the PDC, without
// progress for as long.
func (s *source) expire(now int64, rec *message) {
	h, p := rec.handle, rec.pdc
	if rec.cause == pdc.CauseNone {
		rec.cause = pdc.CauseMessageTimeout
		if s.pds.Lacks(now, p) {
			rec.cause = pdc.CauseNoCredit
		}
	}
	c := rec.cause
	if c == pdc.CauseNack { // of its own packets: those of others that stand still have not been refused so often
		c = pdc.CauseMessageTimeout
	}
	_ = s.cancel(now, h)
	if rec.handle != h {
		return
	}
	if p != 0 {
		_ = s.pds.Fail(now, p, c)
	} else {
		s.lead(s.flowOf(rec)).sent(s.pds.FailRUDI(uint64(h)<<32, c))
	}
	s.drain(now)
}

// NextDeadline returns the time to call [Endpoint.Tick], and then [Endpoint.Transmit], ns; false if
// nothing waits for time to pass. The time may be too early; then Tick has nothing to do. A time that
// is still over after Tick waits for Transmit, once the link is free: a grant of credit is a packet.
func (e *Endpoint) NextDeadline() (int64, bool) {
	if e.pds.HasEvents() || e.source.mayRunErrand() {
		return 0, true
	}
	at, ok := e.source.nextDeadline()
	return at - e.clock.skew, ok // by the caller's clock
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
	e.source.runErrands(now) // here too: while a link is busy nobody calls Transmit until it says false
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
