// SPDX-License-Identifier: Apache-2.0

package ses

// Receive validates a request and describes the required action in d. A failing request
// changes only the own message: all later packets fail with the same code, and none of
// their bytes is placed.
//
// The payload must be placed, or the data read, before the answer goes to the PDS; if
// placing fails, call [Target.Fail] and use the new answer. Every call gives exactly one
// answer: a response, a NACK, or none for a datagram. Receive does not allocate.
// [Target.Follow] is quicker for most packets of long messages.
func (t *Target) Receive(r *Request, a Arrival, d *Decision) {
	*d = Decision{}
	d.Response.MessageID, d.Response.JobID, d.Response.Generation = r.MessageID, r.JobID, r.Generation
	switch {
	case !r.Form.IsRequest():
		d.refuse(checkOpcode, RCUnsupportedOp)
	case r.Version != 0:
		d.refuse(checkVersion, RCUncor)
	case r.Opcode.in(opsAside) && a.Mode <= ModeROD:
		t.aside(r, &a, d)
	case a.Mode <= ModeROD && !r.Flags.Has(flagsOnly) && r.Form == FormStandard:
		t.fragment(r, &a, d)
	default:
		t.whole(r, &a, d)
	}
	if d.Response.ReturnCode == RCOpViolation { // what packets may have, in case that theirs had more
		d.Response.ModifiedLength = t.mtu
	}
	if a.Mode == ModeUUD {
		d.Guaranteed = false
		d.Response.Verdict = Verdict{Opcode: ResponseNone}
	}
}

// opsAside are the requests without an operation on memory.
const opsAside = 1<<OpcodeDeferrableRTR | 1<<OpcodeMsgError

func (t *Target) aside(r *Request, a *Arrival, d *Decision) {
	switch {
	case r.Form != FormStandard:
		d.refuse(checkOpcode, RCUnsupportedOp)
	case r.Opcode == OpcodeMsgError:
		t.abandon(r, a, d)
	default:
		t.restart(r, d)
	}
}

// whole handles a packet without need of a record: a message of one packet, or a fragment
// of a mode without state.
func (t *Target) whole(r *Request, a *Arrival, d *Decision) {
	var p plan
	if why, code := t.check(r, a, nil, &p); why != CheckNone {
		d.refuse(why, code)
		t.refused(r, a, d, &p)
		return
	}
	t.commit(r, d, &p)
	if d.Complete = r.Flags.Has(flagsOnly); d.Complete {
		t.allow(r, &p)
	}
	if r.Flags.Has(FlagSOM | FlagHD) {
		d.HasData, d.HeaderData = true, r.HeaderData
	}
	if d.Complete && r.Opcode.IsRendezvous() {
		t.pull(r, a, d, &p)
	}
}

// fragment handles a packet of a message of several.
func (t *Target) fragment(r *Request, a *Arrival, d *Decision) {
	m := t.find(r, a.Peer)
	if m != nil && m.code != RCNull {
		d.refuse(CheckSticky, m.code)
		d.Response.Generation, d.Response.List = m.gen, m.list
		t.failed(r, a, m)
		return
	}
	var p plan
	why, code := t.check(r, a, m, &p)
	fresh := m == nil
	if fresh && why != CheckRecord {
		// A failure needs a record, too: without a record the message's remaining packets
		// would pass, and wait for the failed packet for ever.
		var ok bool
		if m, ok = t.open(headOf(r), r.carried(), a.Peer); !ok {
			*d = Decision{Check: CheckRecord, NACK: true}
			return
		}
		m.base, m.cookie, m.limit, m.region = p.base, p.cookie, p.limit, p.region
		m.at, m.entry, m.gen = atOf(r), p.entry, p.gen
	}
	if why != CheckNone {
		d.refuse(why, code)
		if t.refused(r, a, d, &p); d.NACK {
			return
		}
		if !fresh && (code != RCOpViolation || !t.giveBack(m)) {
			d.Action, d.Cookie = ActionAbort, m.cookie
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
	if r.Flags&FlagSOM != 0 {
		t.allow(r, &p)
	}
	m.seen += p.n
	if r.Flags.Has(FlagSOM | FlagHD) {
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
func (t *Target) commit(r *Request, d *Decision, p *plan) {
	d.accept(r)
	d.Offset, d.Length, d.Address, d.Cookie = p.off, p.n, p.base+uint64(p.off), p.cookie
	switch {
	case r.Opcode == OpcodeNoOp:
		d.Length = 0
	case r.Opcode == OpcodeRead:
		d.Action, d.Guaranteed = ActionRead, true
	case r.Opcode.IsAtomic():
		d.Action, d.Guaranteed = ActionAtomic, r.Opcode.IsFetch()
	default:
		at := min(p.off, p.limit) // the end of a buffer that is too short for any of them
		d.Action, d.Length, d.Address = ActionPlace, min(p.n, p.limit-at), p.base+uint64(at)
	}
	if p.recv != 0 {
		t.use(p)
	}
	if p.limit < r.RequestLength {
		d.Guaranteed = true
		d.Response.Opcode, d.Response.ModifiedLength = ResponseExplicit, p.limit
	}
}

// refused acts on the refusal in d. With ROD an unmatched send stops the queue, so no
// later message overtakes, unless the send's job is not admitted; a buffer without room is
// used up by the matching message.
func (t *Target) refused(r *Request, a *Arrival, d *Decision, p *plan) {
	if d.Check == CheckRecord { // the PDS refuses the packet, which comes again
		*d = Decision{Check: CheckRecord, NACK: true}
		return
	}
	code := d.Response.ReturnCode
	if code != RCBadGeneration && code != RCTooLong {
		// A repeated deferred send: the initiator will not use the token any more.
		if i, ok := t.restarted(r, p); ok {
			t.dropDeferred(i)
		}
	}
	switch {
	case code == RCBadGeneration:
		d.Response.Generation = p.gen
	case code == RCNoMatch && r.Opcode.IsDeferrable() && t.postpone(r, a, p):
		d.Response.List = listOverflow
	case code == RCNoMatch && a.Mode == ModeROD && t.entries[p.entry].admits(r.JobID):
		t.entries[p.entry].state = IndexGenDisabled
		t.changed()
	case code == RCTooLong:
		t.use(p)
		d.Action, d.Cookie = ActionAbort, p.cookie
	}
}

// failed counts a packet of a message that failed, also one that is too long for this side, and forgets the message when
// no more can come.
func (t *Target) failed(r *Request, a *Arrival, m *Record) {
	if x, ok := t.extentOf(r, a.Payload); (ok || x.n > t.mtu) && m.admits(r, x) {
		m.seen += x.n
	}
	if m.seen == m.length || a.Mode == ModeROD && r.Flags&FlagEOM != 0 {
		t.drop(m)
	}
}

// abandon ends a message given up by the initiator.
func (t *Target) abandon(r *Request, a *Arrival, d *Decision) {
	d.accept(r)
	m := t.find(r, a.Peer)
	if m == nil {
		return
	}
	if m.code == RCNull {
		d.Action, d.Cookie = ActionAbort, m.cookie
	}
	t.drop(m)
}

// Fail replaces the decision of [Target.Receive], [Target.Follow] or [Target.Take] about a
// request, when the host did not take or give the data: code is the reason, from
// [RCATInvalid] to [RCAMOFPInexact]. The whole message fails.
func (t *Target) Fail(r *Request, a Arrival, code ReturnCode, d *Decision) {
	*d = Decision{Cookie: d.Cookie}
	d.refuse(CheckHost, code)
	d.Response.MessageID, d.Response.JobID, d.Response.Generation = r.MessageID, r.JobID, r.Generation
	if a.Mode == ModeUUD {
		d.Guaranteed = false
		d.Response.Verdict = Verdict{Opcode: ResponseNone}
		return
	}
	d.Action = ActionAbort
	if m := t.find(r, a.Peer); m != nil && a.Mode <= ModeROD && !r.Flags.Has(flagsOnly) {
		m.code, m.gen, m.list, m.epoch = code, r.Generation, listExpected, 0
	}
	if r.Opcode.IsRendezvous() {
		t.dropPull(r, a.Peer)
	}
}
