// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"encoding/binary"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// The initiator's side of the sends a target comes back to, see [Errand].

// atTarget is the place of target_restart_token in a deferrable send.
const atTarget = 16

func (m *message) opcode() ses.Opcode { return ses.Opcode(m.wire[0] & opcodeMask) }

// keepsBuffer reports whether the target of a deferrable send given up keeps a
// receive buffer for it: the target has reported ready, and has not seen the send since.
func (m *message) keepsBuffer() bool {
	return m.restart != 0 && (m.ready || m.sent == 0) && m.fail != failPDS
}

// letGo makes a send given up begin again as a notice freeing the target's buffer: a packet
// without data, with the tokens and the initiator's error flag. The answer to the notice
// changes nothing.
//
// Source: the ie flag, UE Specification 1.0.x section 3.4; the release of a buffer follows
// from the flag's purpose, closing the message. No public source names a notice for the
// case.
func (in *Initiator) letGo(now int64, m *message, ev *Event) {
	m.bearToken(m.restart)
	m.ready, m.restart = false, 0
	m.state = messageSending
	m.sent, m.packets, m.length, m.rest, m.received, m.delivered = 0, 1, 0, 0, 0, 0
	m.wire[1] |= byte(ses.FlagIE)
	m.notBefore, m.kind = now, m.kind|kindLate
	ev.Kind, ev.At, ev.Cookie = EventReady, now, m.cookie
}

// bearToken makes the packets of a deferrable send carry the token of its target.
func (m *message) bearToken(target uint32) {
	if m.opcode().IsDeferrable() {
		binary.BigEndian.PutUint32(m.wire[atTarget:], target)
	}
}

// SetSource sets the place for the target's read of the rest of a rendezvous send. Call
// SetSource before the first packet is handed over. x.EagerLength is ignored.
//
// Errors: [ses.ErrStale], also when the message is not a rendezvous send or has begun;
// [ses.ErrRange] for a field wider than on the wire.
func (in *Initiator) SetSource(h ses.Handle, x ses.Rendezvous) error {
	m := in.of(h)
	switch {
	case m == nil || !m.opcode().IsRendezvous() || m.sent > 0:
		return ses.ErrStale
	case isWide(&x):
		return ses.ErrRange
	}
	x.EagerLength = m.length
	r := ses.Request{Form: pds.NextRequestStd, Standard: ses.Standard{Common: ses.Common{Opcode: m.opcode()}}, Rendezvous: x}
	var b [ses.StandardLen + ses.RendezvousLen]byte
	copy(m.wire[ses.StandardLen:], r.AppendTo(b[:0])[ses.StandardLen:])
	return nil
}

// Lent reports n bytes of a rendezvous send read by the target and arrived. The message is
// over when all bytes wanted by the target have arrived. The consequences are in ev.
//
// Errors: [ses.ErrStale], also when the message is no rendezvous send; [ses.ErrRange] when n is
// more than the rest. Then nothing has changed.
func (in *Initiator) Lent(now int64, h ses.Handle, n uint32, ev *Event) error {
	m := in.of(h)
	switch {
	case m == nil || !m.opcode().IsRendezvous():
		return ses.ErrStale
	case n > m.length+m.rest-m.received:
		return ses.ErrRange
	}
	m.received += n
	*ev = Event{}
	in.settle(now, m, ev)
	return nil
}

// Reread reports the target's begin of reading the rest of a rendezvous send, maybe not for
// the first time: after a read refused half way, the target reads from the start again. For
// any other message Reread changes nothing.
func (in *Initiator) Reread(h ses.Handle) {
	if m := in.of(h); m != nil && m.opcode().IsRendezvous() {
		m.received = m.length
	}
}

// Restart takes ready to restart: the target has a buffer for the deferred send now, and
// the send begins again as soon as none of the send's packets is in flight. The
// consequences are in ev. Ready to restart may overtake the refusal of the send. The caller
// has to check that r comes from the message's destination.
//
// Errors: [ses.ErrStale] when r names no deferrable send in progress, or has a buffer_offset:
// the target has a part of the send, and no public source defines the restart then. Nothing
// has changed.
func (in *Initiator) Restart(now int64, r *ses.Request, ev *Event) error {
	m := in.of(ses.Handle(r.Token.Initiator))
	if m == nil || !m.opcode().IsDeferrable() || m.job() != r.JobID || m.ready || m.fail > failDeferred ||
		r.BufferOffset != 0 {
		return ses.ErrStale
	}
	m.ready, m.restart = true, r.Token.Target
	*ev = Event{}
	if m.state == messageDeferred {
		in.conclude(now, m, ev)
	}
	return nil
}
