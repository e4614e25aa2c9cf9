// SPDX-License-Identifier: Apache-2.0

package msg

import "github.com/uetcc/uetcc/ses"

// failed notes a failure and stops sending.
func (m *message) failed(f failure, code ses.ReturnCode) {
	if f > m.fail && m.fail < failFatal {
		m.fail, m.code = f, code
	}
	if m.state == messageSending || m.state == messageDeferred {
		m.state = messageFailing
	}
}

// settle ends or repeats a message with nothing in flight, if due.
func (in *Initiator) settle(now int64, m *message, ev *Event) {
	if m.outstanding > 0 {
		return
	}
	switch m.state {
	case messageSending:
		switch {
		case m.sent < m.packets:
		case m.is(kindFetch) && m.received >= m.delivered && m.missing != 0: // some of it came twice
			m.failed(failFatal, ses.RCUncor)
			in.finish(m, ev)
		case !m.is(kindWaits) || m.received >= m.delivered:
			in.finish(m, ev)
		case m.mode == ses.ModeRUDI: // data comes with the answers or not at all
			m.failed(failFatal, ses.RCUncor)
			in.finish(m, ev)
		}
	case messageFailing:
		if m.begun() && m.fail != failPDS {
			m.state = messageGivingUp
			ev.Kind, ev.At, ev.Cookie = EventReady, now, m.cookie
			return
		}
		in.conclude(now, m, ev)
	case messageGivenUp:
		in.conclude(now, m, ev)
	}
}

// begun reports whether the target has heard of the message and waits for the
// rest.
func (m *message) begun() bool {
	return m.mode <= ses.ModeROD && m.sent > 0 && m.sent < m.packets
}

// conclude ends a failed message or begins the message again.
func (in *Initiator) conclude(now int64, m *message, ev *Event) {
	wait := int64(0)
	switch m.fail {
	case failRetryNow:
		m.stale++
		m.wire[atGeneration] = byte(m.nextGen)
	case failSmaller:
		m.cut(uint32(m.nextMTU))
		m.restart = 0
		m.bearToken(0)
	case failRetryLater:
		wait = min(in.backoff<<min(m.unmatched, 8), maxBackoff)
		m.unmatched++
		m.restart = 0
		m.bearToken(0)
	case failDeferred:
		if !m.ready {
			m.state, m.sent, m.restart = messageDeferred, 0, 0
			return
		}
	default:
		if m.keepsBuffer() {
			in.letGo(now, m, ev)
		} else {
			in.finish(m, ev)
		}
		return
	}
	if m.ready {
		m.ready = false
		m.bearToken(m.restart)
	}
	if m.is(kindNamed) { // a new one, since the target may still know the old one as failed
		in.unname(m)
		in.name(m)
	}
	m.attempt++
	m.state, m.fail, m.code = messageSending, failNone, ses.RCNull
	m.sent, m.received, m.delivered, m.missing = 0, 0, m.length+m.rest, 0
	if m.opcode().IsRendezvous() {
		m.received = m.length
	}
	m.notBefore, m.kind = now+wait, m.kind|kindLate
	ev.Kind, ev.At, ev.Cookie = EventReady, m.notBefore, m.cookie
}

// finish ends a message; only here the handle goes.
func (in *Initiator) finish(m *message, ev *Event) {
	arrived := uint32(0)
	if m.is(kindFetch) && m.received < m.length { // else something has come twice
		arrived = m.received
	}
	o := &ev.Outcome // zero
	o.Status, o.Length, o.Retries = ses.StatusOK, m.delivered, m.attempt
	switch {
	case m.fail >= failRefused:
		o.Status, o.Cause, o.Length = ses.StatusPDS, m.cause, arrived
	case m.fail != failNone:
		o.Status, o.Code, o.Length = ses.StatusFailed, m.code, arrived
	case m.delivered < m.length+m.rest:
		o.Status = ses.StatusTruncated
	}
	ev.Kind, ev.Cookie = EventDone, m.cookie
	if m.is(kindNamed) {
		in.unname(m)
	}
	m.link, in.free = in.free, uint16(m.handle)+1
	in.live--
	m.gen++
	m.handle = 0
}
