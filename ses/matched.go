package ses

import "encoding/binary"

// The initiator's side of the sends that a target comes back to, see [Errand].

// atTarget is the place of target_restart_token in a deferrable send.
const atTarget = 16

func (m *message) opcode() Opcode { return Opcode(m.head[0] & opcodeMask) }

// beginMatched sets what only a rendezvous or deferrable send has.
func (m *message) beginMatched(o *Operation, r *Request) {
	if o.Opcode.IsDeferrable() {
		r.Token = RestartToken{Initiator: uint32(m.handle)}
		return
	}
	m.length = o.carried()
	m.rest, m.received = o.Length-m.length, m.length
	m.kind |= kindWaits
}

// keepsBuffer reports whether the target of a deferrable send that is given up keeps a
// receive buffer for it: it has said that it is ready, and has not seen the send since.
func (m *message) keepsBuffer() bool {
	return m.restart != 0 && (m.ready || m.sent == 0) && m.fail != failPDS
}

// letGo makes a send that is given up begin again as a notice that lets its target use the
// buffer for another one: a packet without data that carries the tokens and says that its
// initiator has met an error. The answer to it changes nothing.
//
// Source: the ie flag, UE Specification 1.0.x section 3.4; that it lets a buffer go
// follows from what it is said to do, to close the message. No public source names a
// notice for this case.
func (in *Initiator) letGo(now int64, m *message, ev *Event) {
	m.bearToken(m.restart)
	m.ready, m.restart = false, 0
	m.state = messageSending
	m.sent, m.packets, m.length, m.rest, m.received, m.delivered = 0, 1, 0, 0, 0, 0
	m.head[1] |= byte(FlagIE)
	m.notBefore, m.kind = now, m.kind|kindLate
	ev.Kind, ev.At, ev.Cookie = EventReady, now, m.cookie
}

// bearToken makes the packets of a deferrable send carry the token of its target.
func (m *message) bearToken(target uint32) {
	if m.opcode().IsDeferrable() {
		binary.BigEndian.PutUint32(m.head[atTarget:], target)
	}
}

// SetSource says where the target can read the rest of a rendezvous send. It has to come
// before the first packet is handed over. x.EagerLength is ignored.
//
// Errors: [ErrStale], also when the message is not a rendezvous send or has begun;
// [ErrRange] for a field wider than on the wire.
func (in *Initiator) SetSource(h Handle, x Rendezvous) error {
	m := in.live(h)
	switch {
	case m == nil || !m.opcode().IsRendezvous() || m.sent > 0:
		return ErrStale
	case x.isWide():
		return ErrRange
	}
	x.EagerLength = m.length
	x.AppendTo(m.wire[StandardLen:StandardLen])
	return nil
}

// Lent says that n bytes of a rendezvous send have been read by its target and have arrived
// there. The message is over when all have arrived that the target wants. What follows is
// in ev.
//
// Errors: [ErrStale], also when the message is no rendezvous send; [ErrRange] when n
// is more than what is left. Then nothing has changed.
func (in *Initiator) Lent(now int64, h Handle, n uint32, ev *Event) error {
	m := in.live(h)
	switch {
	case m == nil || !m.opcode().IsRendezvous():
		return ErrStale
	case n > m.length+m.rest-m.received:
		return ErrRange
	}
	m.received += n
	*ev = Event{}
	in.settle(now, m, ev)
	return nil
}

// Reread says that the target of a rendezvous send has begun to read its rest, maybe not for
// the first time: what it has got of an earlier read, which was refused half way, it has to
// get again. Of any other message it changes nothing.
func (in *Initiator) Reread(h Handle) {
	if m := in.live(h); m != nil && m.opcode().IsRendezvous() {
		m.received = m.length
	}
}

// Restart takes ready to restart: the target that has deferred a send has a buffer
// for it now, and the send begins again as soon as nothing of it is in flight. What
// follows is in ev. It may come before the refusal that it is about. The caller has to
// check that the message went to where r comes from.
//
// Errors: [ErrStale] when r names no deferrable send of this side that is in progress, or
// has a buffer_offset: the target has a part of the send, and what that means for the
// restart is not in any public source. Then nothing has changed.
func (in *Initiator) Restart(now int64, r *Request, ev *Event) error {
	m := in.live(Handle(r.Token.Initiator))
	if m == nil || !m.opcode().IsDeferrable() || m.job() != r.JobID || m.ready || m.fail > failDeferred ||
		r.BufferOffset != 0 {
		return ErrStale
	}
	m.ready, m.restart = true, r.Token.Target
	*ev = Event{}
	if m.state == messageDeferred {
		in.conclude(now, m, ev)
	}
	return nil
}
