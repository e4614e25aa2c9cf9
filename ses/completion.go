package ses

// RxRsp takes the answer to a packet (pds_ses_rx_rsp): y is the response, or nil
// when the PDS only knows that it was acknowledged, which is success.
//
// Errors: [ErrStale]; then nothing has changed.
func (in *Initiator) RxRsp(now int64, p PacketHandle, y *Reply) (Event, error) {
	m := in.answered(p)
	if m == nil {
		return Event{}, ErrStale
	}
	var ev Event
	if y != nil && m.state != messageGivenUp {
		in.classify(m, p, y, &ev)
	}
	in.settle(now, m, p.Message(), &ev)
	return ev, nil
}

// Error takes the news that the PDS could not deliver a packet (pds_ses_error);
// cause is the PDS's own number for the reason. The message fails with it; the
// application may start it again on another PDC unless it is an atomic or a
// send, which could then happen twice.
//
// Errors: [ErrStale]; then nothing has changed.
func (in *Initiator) Error(now int64, p PacketHandle, cause uint8) (Event, error) {
	m := in.answered(p)
	if m == nil {
		return Event{}, ErrStale
	}
	if m.fail < failFatal {
		m.cause = cause
	}
	m.failed(failPDS, RCNull)
	var ev Event
	in.settle(now, m, p.Message(), &ev)
	return ev, nil
}

// Cancel gives a message up. What is in flight is still waited for; the message
// ends with [RCCancelled], unless it failed before.
//
// Errors: [ErrStale].
func (in *Initiator) Cancel(now int64, h Handle) (Event, error) {
	i, ok := in.slots.at(h)
	if !ok {
		return Event{}, ErrStale
	}
	m := &in.messages[i]
	m.failed(failFatal, RCCancelled)
	var ev Event
	in.settle(now, m, h, &ev)
	return ev, nil
}

// RxData takes data of a read or fetching atomic that came on the return
// direction, not in the answer to a packet, and says where it belongs.
//
// Errors: [ErrStale] when no such message waits for data, [ErrRange] when the
// data lies outside of it or is more than was asked for. Then nothing has
// changed and the data must not be placed.
func (in *Initiator) RxData(now int64, y *Reply) (Event, error) {
	i, ok := in.ids.find(pair{b: uint64(y.ReadRequestID)})
	if !ok || y.Form != FormResponseData || y.Validate() != nil {
		return Event{}, ErrStale
	}
	m := &in.messages[i]
	if !m.op.isFetch() || m.op.Job != y.JobID {
		return Event{}, ErrStale
	}
	var ev Event
	if !m.take(y.MessageOffset, uint32(y.PayloadLength), &ev) {
		return Event{}, ErrRange
	}
	in.settle(now, m, in.slots.handle(i), &ev)
	return ev, nil
}

// take counts n bytes of data at off.
func (m *message) take(off, n uint32, ev *Event) bool {
	if uint64(off)+uint64(n) > uint64(m.op.Length) || n > m.op.Length-m.received {
		return false
	}
	m.received += n
	ev.Cookie, ev.DataOffset, ev.DataLength = m.op.Cookie, off, n
	return true
}

// answered returns the message of a packet in flight and counts the packet as
// answered. It returns nil for any other handle.
func (in *Initiator) answered(p PacketHandle) *message {
	i, ok := in.slots.at(p.Message())
	if !ok {
		return nil
	}
	m := &in.messages[i]
	inFlight := p.packet() < m.sent
	if m.state == messageGivenUp {
		inFlight = p.packet() == m.packets
	}
	if m.attempt != p.attempt() || m.outstanding == 0 || !inFlight {
		return nil
	}
	m.outstanding--
	return m
}

// classify makes of a response what it means for the message.
func (in *Initiator) classify(m *message, p PacketHandle, y *Reply, ev *Event) {
	if y.JobID != m.op.Job && y.JobID != 0 || y.Form == FormResponse && y.MessageID != 0 && y.MessageID != m.id {
		in.Mismatched++
	}
	switch {
	case y.Validate() != nil:
		m.failed(failFatal, RCUncor)
	case y.ReturnCode == RCNull || y.ReturnCode == RCOK:
		in.delivered(m, p, y, ev)
	case y.ReturnCode == RCBadGeneration && y.Form == FormResponse && y.Generation != m.op.Generation && m.stale < in.retries:
		m.failed(failRetryNow, y.ReturnCode)
		m.nextGen = y.Generation
	case (y.ReturnCode == RCNoMatch || y.ReturnCode == RCDisabledGen) && m.unmatched < in.retries:
		m.failed(failRetryLater, y.ReturnCode)
	default:
		m.failed(failFatal, y.ReturnCode)
	}
}

// delivered handles a response without error. Only an explicit one can say that
// less was delivered: the default response may be the PDS's own, and its length
// means nothing.
func (in *Initiator) delivered(m *message, p PacketHandle, y *Reply, ev *Event) {
	off := y.MessageOffset
	switch y.Form {
	case FormResponse:
		if y.Opcode == ResponseExplicit && y.ModifiedLength != 0 {
			m.delivered = min(m.delivered, y.ModifiedLength)
		}
		return
	case FormResponseDataSmall:
		off = p.packet() * in.mtu
	}
	if !m.op.isFetch() || !m.take(off, uint32(y.PayloadLength), ev) {
		m.failed(failFatal, RCUncor)
	}
}

// failed notes a failure and stops sending.
func (m *message) failed(f failure, code ReturnCode) {
	if f > m.fail && m.fail < failFatal {
		m.fail, m.code = f, code
	}
	if m.state == messageSending {
		m.state = messageFailing
	}
}

// settle concludes what can be concluded once nothing is in flight.
func (in *Initiator) settle(now int64, m *message, h Handle, ev *Event) {
	if m.outstanding > 0 {
		return
	}
	switch m.state {
	case messageSending:
		if m.sent == m.packets && (!m.op.isFetch() || m.received >= m.delivered) {
			in.finish(m, h, ev)
		}
	case messageFailing:
		if m.begun() && m.fail != failPDS {
			m.state = messageGivingUp
			ev.Kind, ev.At, ev.Cookie = EventReady, now, m.op.Cookie
			return
		}
		in.conclude(now, m, h, ev)
	case messageGivenUp:
		in.conclude(now, m, h, ev)
	}
}

// begun reports whether the target has heard of the message and waits for the
// rest of it.
func (m *message) begun() bool {
	return m.op.Mode <= ModeROD && m.sent > 0 && m.sent < m.packets
}

// conclude ends a failed message or begins it again.
func (in *Initiator) conclude(now int64, m *message, h Handle, ev *Event) {
	wait := int64(0)
	switch m.fail {
	case failRetryNow:
		m.stale++
		m.op.Generation = m.nextGen
	case failRetryLater:
		wait = min(in.backoff<<min(m.unmatched, 8), maxBackoff)
		m.unmatched++
	default:
		in.finish(m, h, ev)
		return
	}
	// A new message_id, since the target may still know the old one as failed.
	in.unname(m)
	in.name(m, h.slot())
	m.attempt++
	m.state, m.fail, m.code = messageSending, failNone, RCNull
	m.sent, m.received, m.delivered = 0, 0, m.op.Length
	m.notBefore = now + wait
	ev.Kind, ev.At, ev.Cookie = EventReady, m.notBefore, m.op.Cookie
}

// finish ends a message; only here its handle goes.
func (in *Initiator) finish(m *message, h Handle, ev *Event) {
	o := Outcome{Status: StatusOK, Length: m.delivered, Retries: m.attempt}
	switch {
	case m.fail == failPDS:
		o.Status, o.Cause, o.Length = StatusPDS, m.cause, 0
	case m.fail != failNone:
		o.Status, o.Code, o.Length = StatusFailed, m.code, 0
	case m.delivered < m.op.Length:
		o.Status = StatusTruncated
	}
	ev.Kind, ev.Cookie, ev.Outcome = EventDone, m.op.Cookie, o
	in.unname(m)
	in.slots.release(h.slot())
}
