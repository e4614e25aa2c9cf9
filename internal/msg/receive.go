// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"github.com/uetcc/uetcc/internal/step"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// Receive validates a request and describes the required action in d. A failing request
// changes only the own message: all later packets fail with the same code, and none of
// their bytes is placed.
//
// The payload must be placed, or the data read, before the answer goes to the PDS; if
// placing fails, call [Target.Fail] and use the new answer. Every call gives exactly one
// answer: a response, a NACK, or none for a datagram. Receive does not allocate.
// [Target.Recent] is quicker for most packets of long messages.
//
//uetcc:hot nobounds
func (t *Target) Receive(r *ses.Request, a Arrival, d *Decision) {
	*d = Decision{}
	d.Response.MessageID, d.Response.JobID, d.Response.Generation = r.MessageID, r.JobID, r.Generation
	switch {
	case !r.Form.IsRequest():
		d.refuse(step.Opcode, ses.RCUnsupportedOp)
	case r.Version != 0:
		d.refuse(step.Version, ses.RCUncor)
	case among(r.Opcode, opsAside) && a.Mode <= ses.ModeROD:
		t.aside(r, &a, d)
	case a.Mode <= ses.ModeROD && !r.Flags.Has(flagsOnly) && r.Form == pds.NextRequestStd:
		t.fragment(r, &a, d)
	default:
		t.whole(r, &a, d)
	}
	if d.Response.ReturnCode == ses.RCOpViolation { // what packets may have, in case that theirs had more
		d.Response.ModifiedLength = t.mtu
	}
	if a.Mode == ses.ModeUUD {
		d.Guaranteed = false
		d.Response.Verdict = ses.Verdict{Opcode: ses.ResponseNone}
	}
}

// opsAside are the requests without an operation on memory.
const opsAside = 1<<ses.OpcodeDeferrableRTR | 1<<ses.OpcodeMsgError

func (t *Target) aside(r *ses.Request, a *Arrival, d *Decision) {
	switch {
	case r.Form != pds.NextRequestStd:
		d.refuse(step.Opcode, ses.RCUnsupportedOp)
	case r.Opcode == ses.OpcodeMsgError:
		t.abandon(r, a, d)
	default:
		t.restart(r, d)
	}
}

// whole handles a packet without need of a record: a message of one packet, or a fragment
// of a mode without state.
//
//uetcc:hot nobounds
func (t *Target) whole(r *ses.Request, a *Arrival, d *Decision) {
	var p plan
	if why, code := t.check(r, a, nil, &p); code != ses.RCOK {
		d.refuse(why, code)
		t.refused(r, a, d, &p)
		return
	}
	t.commit(r, d, &p)
	if d.Complete = r.Flags.Has(flagsOnly); d.Complete {
		t.allow(r, &p)
	}
	if r.Flags.Has(ses.FlagSOM | ses.FlagHD) {
		d.HasData, d.HeaderData = true, r.HeaderData
	}
	if d.Complete && r.Opcode.IsRendezvous() {
		t.pull(r, a, d, &p)
	}
}

// fragment handles a packet of a message of several.
//
//uetcc:hot nobounds
func (t *Target) fragment(r *ses.Request, a *Arrival, d *Decision) {
	m := t.find(r, a.Peer)
	if m != nil && m.code != ses.RCNull {
		d.refuse(step.Sticky, m.code)
		d.Response.Generation, d.Response.List = m.gen, m.list
		t.failed(r, a, m)
		return
	}
	var p plan
	why, code := t.check(r, a, m, &p)
	fresh := m == nil
	if fresh && why != step.Record {
		// A failure needs a record, too: without a record the message's remaining packets
		// would pass, and wait for the failed packet for ever.
		var ok bool
		if m, ok = t.open(headOf(r), carried(r), a.Peer); !ok {
			*d = Decision{Check: step.Record, NACK: true}
			return
		}
		m.base, m.cookie, m.limit, m.region = p.base, p.cookie, p.limit, p.region
		m.at, m.entry, m.gen = atOf(r), p.entry, p.gen
	}
	if code != ses.RCOK {
		d.refuse(why, code)
		if t.refused(r, a, d, &p); d.NACK {
			return
		}
		if !fresh && (code != ses.RCOpViolation || !t.giveBack(m)) {
			d.Action, d.Cookie = ses.ActionAbort, m.cookie
		}
		m.code, m.gen, m.list, m.epoch = code, d.Response.Generation, d.Response.List, 0
		t.failed(r, a, m)
		return
	}
	t.commit(r, d, &p)
	if p.recv != 0 {
		t.took(m, p.recv-1)
	}
	t.lead(r, m)
	if r.Flags&ses.FlagSOM != 0 {
		t.allow(r, &p)
	}
	m.seen += p.n
	if r.Flags.Has(ses.FlagSOM | ses.FlagHD) {
		m.hasData, m.headerData = true, r.HeaderData
	}
	if m.seen == m.length {
		d.Complete, d.HasData, d.HeaderData = true, m.hasData, m.headerData
		t.drop(m)
		if r.Opcode.IsRendezvous() {
			t.pull(r, a, d, &p)
		}
	}
}

// commit turns a plan into a decision and takes the receive buffer.
//
//uetcc:hot
func (t *Target) commit(r *ses.Request, d *Decision, p *plan) {
	d.accept(r)
	d.Offset, d.Length, d.Address, d.Cookie = p.off, p.n, p.base+uint64(p.off), p.cookie
	switch {
	case r.Opcode == ses.OpcodeNoOp:
		d.Length = 0
	case r.Opcode == ses.OpcodeRead:
		d.Action, d.Guaranteed = ses.ActionRead, true
	case r.Opcode.IsAtomic():
		d.Action, d.Guaranteed = ses.ActionAtomic, r.Opcode.IsFetch()
	default:
		at := min(p.off, p.limit) // the end of a buffer that is too short for any of them
		d.Action, d.Length, d.Address = ses.ActionPlace, min(p.n, p.limit-at), p.base+uint64(at)
	}
	if p.recv != 0 {
		t.use(p)
	}
	if p.limit < r.RequestLength {
		d.Guaranteed = true
		d.Response.Opcode, d.Response.ModifiedLength = ses.ResponseExplicit, p.limit
	}
}

// refused acts on the refusal in d. With ROD an unmatched send stops the queue, so no
// later message overtakes, unless the send's job is not admitted; a buffer without room is
// used up by the matching message.
func (t *Target) refused(r *ses.Request, a *Arrival, d *Decision, p *plan) {
	if d.Check == step.Record { // the PDS refuses the packet, which comes again
		*d = Decision{Check: step.Record, NACK: true}
		return
	}
	code := d.Response.ReturnCode
	if code != ses.RCBadGeneration && code != ses.RCTooLong {
		// A repeated deferred send: the initiator will not use the token any more.
		if i, ok := t.restarted(r, p); ok {
			t.dropDeferred(i)
		}
	}
	switch {
	case code == ses.RCBadGeneration:
		d.Response.Generation = p.gen
	case code == ses.RCNoMatch && r.Opcode.IsDeferrable() && t.postpone(r, a, p):
		d.Response.List = ses.ListOverflow
	case code == ses.RCNoMatch && a.Mode == ses.ModeROD && t.entries[p.entry].admits(r.JobID):
		t.entries[p.entry].state = ses.IndexGenDisabled
		t.changed()
	case code == ses.RCTooLong:
		t.use(p)
		d.Action, d.Cookie = ses.ActionAbort, p.cookie
	}
}

// failed counts a packet of a message that failed, also one that is too long for this side, and forgets the message when
// no more can come.
func (t *Target) failed(r *ses.Request, a *Arrival, m *Record) {
	if x, ok := t.extentOf(r, a.Payload); (ok || x.n > t.mtu) && m.admits(x) {
		m.seen += x.n
	}
	if m.seen == m.length || a.Mode == ses.ModeROD && r.Flags&ses.FlagEOM != 0 {
		t.drop(m)
	}
}

// abandon ends a message given up by the initiator.
func (t *Target) abandon(r *ses.Request, a *Arrival, d *Decision) {
	d.accept(r)
	m := t.find(r, a.Peer)
	if m == nil {
		return
	}
	if m.code == ses.RCNull {
		d.Action, d.Cookie = ses.ActionAbort, m.cookie
	}
	t.drop(m)
}

// Fail replaces the decision of [Target.Receive] or [Target.Take] about a
// request, when the host did not take or give the data: code is the reason, from
// [RCATInvalid] to [RCAMOFPInexact]. The whole message fails.
func (t *Target) Fail(r *ses.Request, a Arrival, code ses.ReturnCode, d *Decision) {
	*d = Decision{Cookie: d.Cookie}
	d.refuse(step.Host, code)
	d.Response.MessageID, d.Response.JobID, d.Response.Generation = r.MessageID, r.JobID, r.Generation
	if a.Mode == ses.ModeUUD {
		d.Guaranteed = false
		d.Response.Verdict = ses.Verdict{Opcode: ses.ResponseNone}
		return
	}
	d.Action = ses.ActionAbort
	if m := t.find(r, a.Peer); m != nil && a.Mode <= ses.ModeROD && !r.Flags.Has(flagsOnly) {
		m.code, m.gen, m.list, m.epoch = code, r.Generation, ses.ListExpected, 0
	}
	if r.Opcode.IsRendezvous() {
		t.dropPull(r, a.Peer)
	}
}

// An Arrival is the context of a request besides the header: the pds_ses_rx_req
// of specification table 3-27.
type Arrival struct {
	// Peer names the PDC the packet came on; together with the message_id, Peer names a
	// message. Every PDC must have a different value. Address and PDCID are used again, so
	// add a generation.
	Peer    uint64
	Mode    ses.Mode
	Payload int // bytes behind the SES header, without trailer
}

// A Decision is the target's verdict on one request: the action in memory and the message
// to the PDS, ses_pds_tx_rsp of specification table 3-27.
type Decision struct {
	Action   ses.Action
	Check    ses.Check // the failed check, 0 for success
	Complete bool      // the packet completes the message
	// Guaranteed asks the PDS to keep the response until seen by the initiator (gtd_del).
	Guaranteed bool
	// NACK asks the PDS to refuse the packet with NO_SES_MSG_AVAIL instead of an answer
	// (ses_nack); the target is unchanged.
	NACK       bool
	HasData    bool         // HeaderData is the initiator's completion data
	Length     uint32       // bytes of Action; may be 0
	Offset     uint32       // place of the bytes in the message
	Address    uint64       // place of the bytes in memory: region base + offsets; the end of the buffer if none fits
	Cookie     uint64       // of the region or receive buffer
	HeaderData uint64       // with Complete and HasData
	Response   ses.Response // the answer; [ResponseNone] for a datagram
}

// DataReply returns the header for all the bytes asked for by an ActionRead, as sent in an
// ACK. The response's own message_id repeats the read's: the specification gives the field
// no meaning, and the reference provider looks for the read nowhere else.
func (d *Decision) DataReply() ses.Reply {
	return ses.Reply{
		Form: pds.NextResponseData,
		Response: ses.Response{
			Verdict:   ses.Verdict{Opcode: ses.ResponseWithData, ReturnCode: ses.RCOK},
			MessageID: d.Response.MessageID, JobID: d.Response.JobID, ModifiedLength: d.Response.ModifiedLength,
		},
		ReadRequestID: d.Response.MessageID, PayloadLength: uint16(d.Length), MessageOffset: d.Offset,
	}
}

// SmallDataReply is DataReply with the short header, for a request without a message_id;
// psn is the request's.
func (d *Decision) SmallDataReply(psn uint32) ses.Reply {
	return ses.Reply{
		Form: pds.NextResponseDataSmall,
		Response: ses.Response{
			Verdict: ses.Verdict{Opcode: ses.ResponseWithData, ReturnCode: ses.RCOK}, JobID: d.Response.JobID,
		},
		PayloadLength: uint16(d.Length), OriginalRequestPSN: psn,
	}
}

// accept fills in the answer of success. The length is the message's, even for a fragment.
func (d *Decision) accept(r *ses.Request) {
	d.Response.Verdict = ses.Verdict{Opcode: ses.ResponseDefault, ReturnCode: ses.RCOK}
	d.Response.ModifiedLength = r.RequestLength
}

// refuse fills in the answer with the reason.
func (d *Decision) refuse(why ses.Check, code ses.ReturnCode) {
	d.Check, d.Guaranteed = why, true
	d.Response.Verdict = ses.Verdict{Opcode: ses.ResponseExplicit, ReturnCode: code}
}
