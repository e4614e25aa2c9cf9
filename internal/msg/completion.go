// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"encoding/binary"

	"github.com/uetcc/uetcc/internal/splitmix"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// RxRsp takes the response to a packet (pds_ses_rx_rsp): b begins with the header, of n
// bytes and form f, and ends with the data, if any. With an unreadable response the message
// fails. The consequences are in ev.
//
// Errors: [ses.ErrStale]; then nothing has changed.
//
//uetcc:hot
func (in *Initiator) RxRsp(now int64, p PacketHandle, f pds.NextHdr, b []byte, ev *Event) (n int, err error) {
	m := in.answered(p, 1)
	if m == nil {
		return 0, ses.ErrStale
	}
	*ev = Event{}
	if f == pds.NextResponse && len(b) >= ses.ResponseLen && m.expected(binary.BigEndian.Uint64(b)) {
		n = ses.ResponseLen
	} else {
		n = in.respond(m, p, f, b, ev)
	}
	if m.outstanding == 0 {
		in.settle(now, m, ev)
	}
	return n, nil
}

// Confirm is [Initiator.RxRsp] for the packet last, to which the response begins with b, and
// [Initiator.RxAck] for the n - 1 packets before last. Confirm is only for a response that says
// all is well, to a message that goes on or ends well with the response; ev has to be zero.
// Otherwise Confirm reports false and has changed nothing.
//
//uetcc:hot
func (in *Initiator) Confirm(last PacketHandle, n uint32, b uint64, ev *Event) bool {
	i := int(slotOf(last.Message()))
	if i >= len(in.messages) {
		return false
	}
	m := &in.messages[i]
	left := m.outstanding - n
	if m.outstanding < n || !m.sending(last) || !m.expected(b) ||
		left == 0 && (m.state != messageSending || m.is(kindWaits)) {
		return false
	}
	if m.outstanding = left; left == 0 && m.sent == m.packets {
		in.finish(m, ev)
	}
	return true
}

// sending reports whether packet p of m has been sent in the current attempt.
func (m *message) sending(p PacketHandle) bool {
	return p-packetHandle(m.handle, m.attempt, 0) < PacketHandle(m.sent)
}

// expected reports whether a response that begins with w is the successful default response
// to m, as most are: the remaining fields do not count then.
func (m *message) expected(w uint64) bool {
	const (
		names = 0xffff<<32 | 0xff_ffff                                  // message_id and job_id
		fixed = 0xffff&^(3<<14|uint64(ses.RCNull|ses.RCOK))<<48 | names // all but the list and the code
	)
	return (w^binary.BigEndian.Uint64(m.wire[:])&names)&fixed == 0
}

// RxAck takes the news that n packets, with handles counting up from p, have been
// acknowledged without a response, meaning success. The consequences are in ev.
//
// Errors: [ses.ErrStale]; then nothing has changed.
//
//uetcc:hot
func (in *Initiator) RxAck(now int64, p PacketHandle, n uint32, ev *Event) error {
	m := in.answered(p, n)
	if m == nil {
		return ses.ErrStale
	}
	*ev = Event{}
	if m.outstanding == 0 {
		in.settle(now, m, ev)
	}
	return nil
}

// RxData takes data of a read or fetching atomic that came on the return
// direction, not in the answer to a packet. ev tells the place of the data. A return code of
// failure fails the message.
//
// Errors: [ses.ErrStale] when no such message waits for data, [ses.ErrRange] when the data is not
// exactly the range asked for by a packet; then nothing has changed, and the data must not
// be placed.
func (in *Initiator) RxData(now int64, y *ses.Reply, ev *Event) error {
	m := in.named(y.ReadRequestID)
	if m == nil || y.Validate() != nil || !m.is(kindFetch) || m.job() != y.JobID {
		return ses.ErrStale
	}
	*ev = Event{}
	if !m.isSuccess(y) {
		m.failed(failFatal, y.ReturnCode)
	} else if n := uint32(y.PayloadLength); y.MessageOffset == 0 && n > m.mtu() && isMTU(n) {
		m.failed(failFatal, ses.RCOpViolation) // of a target with a larger MTU, see askLength
	} else if !m.take(y.MessageOffset, uint32(y.PayloadLength), ev) {
		return ses.ErrRange
	}
	in.settle(now, m, ev)
	return nil
}

// Error takes the news of the PDS's failure to deliver a packet (pds_ses_error);
// cause is the PDS's own number for the reason. The message fails; the
// application may start the message again on a new PDC, except for atomics and sends, which
// could happen twice. A read with complete data does not fail: only the acknowledgement was
// lost. Where the PDC goes on, the target can be told that no more of the message comes. The consequences are in ev.
//
// Errors: [ses.ErrStale]; then nothing has changed.
func (in *Initiator) Error(now int64, p PacketHandle, cause uint8, goesOn bool, ev *Event) error {
	m := in.answered(p, 1)
	if m == nil {
		return ses.ErrStale
	}
	f := failPDS
	if goesOn {
		f = failRefused
	}
	if !m.is(kindFetch) || m.length == 0 || m.received != m.length {
		if m.fail < failFatal {
			m.cause = cause
		}
		m.failed(f, ses.RCNull)
	}
	*ev = Event{}
	in.settle(now, m, ev)
	return nil
}

// Cancel gives a message up. Packets in flight are still waited for, and sent again only with the initiator's error
// flag; the message ends with code, unless failed before: [RCCancelled], or the code of the host, whose memory has the
// data that the peer was to read. The consequences are in ev.
//
// Source: the ie flag, UE Specification 1.0.x section 3.4.
//
// Errors: [ses.ErrStale]; then nothing has changed.
func (in *Initiator) Cancel(now int64, h ses.Handle, code ses.ReturnCode, ev *Event) error {
	m := in.of(h)
	if m == nil {
		return ses.ErrStale
	}
	m.wire[1] |= byte(ses.FlagIE)
	m.failed(failFatal, code)
	*ev = Event{}
	in.settle(now, m, ev)
	return nil
}

// answered counts n packets in flight, from p on, as answered, and returns the message, nil
// without such packets.
//
//uetcc:hot
func (in *Initiator) answered(p PacketHandle, n uint32) *message {
	m := in.of(p.Message())
	if m == nil || m.outstanding < n || !m.inFlight(p) || n > 1 && p.packet()+n > m.sent {
		return nil
	}
	m.outstanding -= n
	return m
}

// respond takes a response of any kind and returns the header's length.
func (in *Initiator) respond(m *message, p PacketHandle, f pds.NextHdr, b []byte, ev *Event) int {
	y := &in.reply
	n, err := y.Decode(f, b)
	switch {
	case m.state == messageGivenUp:
	case err != nil || int(y.PayloadLength) > len(b)-n:
		m.failed(failFatal, ses.RCUncor)
	default:
		in.classify(m, p, y, ev)
	}
	return n
}

// classify applies a response's meaning to the message.
func (in *Initiator) classify(m *message, p PacketHandle, y *ses.Reply, ev *Event) {
	id := y.MessageID
	if y.Form != pds.NextResponse {
		id = 0 // one of the response's own
	}
	if y.JobID != m.job() && y.JobID != 0 || id != m.id() && id != 0 {
		in.mismatched++
	}
	switch {
	case y.Validate() != nil:
		m.failed(failFatal, ses.RCUncor)
	case m.isSuccess(y):
		in.delivered(m, p, y, ev)
	default:
		m.failed(in.failureOf(m, y), y.ReturnCode)
	}
}

// failureOf returns whether and how the failure reported by y can be repaired.
func (in *Initiator) failureOf(m *message, y *ses.Reply) failure {
	switch y.ReturnCode {
	case ses.RCBadGeneration:
		if y.Form == pds.NextResponse && y.Generation != ses.Generation(m.wire[atGeneration]) && m.stale < in.retries {
			m.nextGen = y.Generation
			return failRetryNow
		}
	case ses.RCOpViolation:
		n := y.ModifiedLength
		if y.Form == pds.NextResponse && n < m.length && m.takes(n) {
			m.nextMTU = uint16(n)
			return failSmaller
		}
	case ses.RCNoMatch, ses.RCDisabledGen:
		switch {
		case y.ReturnCode != ses.RCNoMatch:
		case y.List == ses.ListOverflow && m.opcode().IsDeferrable():
			return failDeferred
		case m.opcode() == ses.OpcodeDeferrableRTR: // the send is over
			return failFatal
		}
		if m.unmatched < in.retries {
			return failRetryLater
		}
	}
	return failFatal
}

// isSuccess reports whether y reports the packet's bytes placed. So does RC_TOO_LONG for a
// send whose first bytes fit the buffer.
func (m *message) isSuccess(y *ses.Reply) bool {
	switch y.ReturnCode {
	case ses.RCNull, ses.RCOK:
		return true
	case ses.RCTooLong:
		return y.Opcode == ses.ResponseExplicit && among(m.opcode(), kindQueueOps) &&
			y.ModifiedLength != 0 && y.ModifiedLength < m.length+m.rest
	}
	return false
}

// delivered handles a response without error. Only an explicit response can report a shorter
// delivery: the default response may be the PDS's own, with a meaningless length.
func (in *Initiator) delivered(m *message, p PacketHandle, y *ses.Reply, ev *Event) {
	off := y.MessageOffset
	switch y.Form {
	case pds.NextResponse:
		if y.Opcode == ses.ResponseExplicit && y.ModifiedLength != 0 {
			m.delivered = min(m.delivered, y.ModifiedLength)
		}
		return
	case pds.NextResponseDataSmall:
		off = p.packet() * m.mtu()
	}
	if !m.is(kindFetch) || off != p.packet()*m.mtu() || !m.take(off, uint32(y.PayloadLength), ev) {
		m.failed(failFatal, ses.RCUncor)
	}
}

// placeSum is packet i's part of message.missing. The sum is 0 when each packet's data has come
// once, and otherwise with a probability of 2^-64: data received twice does not make up for
// missing data. A target forging a right sum by the choice of packets gains nothing, since
// the target chooses the bytes too.
func placeSum(i uint32) uint64 { return splitmix.Mix(uint64(i) + 1) }

// take counts n bytes of data at off, which have to be exactly the range asked for by a
// packet.
func (m *message) take(off, n uint32, ev *Event) bool {
	i := off / m.mtu()
	if i >= m.sent || n > m.length-m.received {
		return false
	}
	if at, want := m.place(i); off != at || n != want {
		return false
	}
	m.received += n
	m.missing -= placeSum(i)
	ev.Cookie, ev.DataOffset, ev.DataLength = m.cookie, off, n
	return true
}

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
		if m.mode <= ses.ModeROD && m.sent > 0 && m.sent < m.packets && m.fail != failPDS { // the target waits for the rest
			m.state = messageGivingUp
			ev.Kind, ev.At, ev.Cookie = EventReady, now, m.cookie
			return
		}
		in.conclude(now, m, ev)
	case messageGivenUp:
		in.conclude(now, m, ev)
	}
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
	o := &ev.Outcome // zero
	switch {
	case m.fail == failNone:
		if o.Status, o.Length = ses.StatusOK, m.delivered; m.delivered < m.length+m.rest {
			o.Status = ses.StatusTruncated
		}
	case m.fail >= failRefused:
		o.Status, o.Cause, o.Length = ses.StatusPDS, m.cause, m.arrived()
	default:
		o.Status, o.Code, o.Length = ses.StatusFailed, m.code, m.arrived()
	}
	o.Retries = m.attempt
	ev.Kind, ev.Cookie = EventDone, m.cookie
	if m.is(kindNamed) {
		in.unname(m)
	}
	m.link, in.free = in.free, uint16(m.handle)+1
	in.live--
	m.gen++
	m.handle = 0
}

// arrived is how many bytes of a failed read have come: none where something has come twice.
func (m *message) arrived() uint32 {
	if !m.is(kindFetch) || m.received >= m.length {
		return 0
	}
	return m.received
}
