// SPDX-License-Identifier: Apache-2.0

package msg

import "github.com/uetcc/uetcc/ses"

// A target comes back to two kinds of sends, becoming an initiator then (see
// [Target.Errand]):
//
//   - A rendezvous send brings only the first bytes, as many as the initiator likes; the
//     header names the place for the target's later read of the rest.
//   - A deferrable send that finds no receive buffer is remembered and refused with
//     NO_MATCH and list OVERFLOW. When a fitting buffer is posted, the target keeps the
//     buffer for the send and asks the initiator to send again: ready to restart, with the
//     tokens of both sides, repeated in the new send.
//
// Sources: UE Specification 1.0.x section 3.4, tables 3-8 ff. and figures 3-11, 3-12
// and 3-15 for the headers. The mark of a remembered send in a refusal,
// and the meaning of a rendezvous's buffer_offset, the place of the message's first byte,
// are not in any public source: see [Rendezvous] and [ListOverflow] for the choice.

// pendingState names the event that a pending send waits for.
type pendingState uint8

const (
	pendingDeferred pendingState = iota // a buffer
	pendingReady                        // ready to restart to be sent
	pendingAsked                        // the send, again
	pendingPull                         // the read to be started
	pendingPulling                      // the read
)

// A pending is a send the target comes back to.
type pending struct {
	Pull                  // rendezvous; a deferred send has only Peer and Length
	source ses.Rendezvous // rendezvous: where to read
	common ses.Common
	id     uint32 // initiator's rank
	token  uint32 // deferrable: initiator_restart_token
	tag    uint64
	entry  uint32
	recv   uint32 // the buffer kept for the send, slot + 1
	state  pendingState
	gone   bool // resource index closed, or send failed: forgotten at the end of the errand
	told   bool // ready to restart has arrived

	prev, next     uint32 // in deferred or due, slot + 1
	older, younger uint32 // in the peer's list, likewise
}

// A Pull is the part of a rendezvous send read by the target, and the message.
type Pull struct {
	Peer       uint64 // of the send, as in [Arrival]
	Address    uint64 // where the read's first byte goes
	Cookie     uint64 // of the receive buffer
	HeaderData uint64
	Length     uint32 // bytes of the message
	Placed     uint32 // bytes with a place: fewer in a shorter buffer
	Eager      uint32 // bytes sent eagerly
	HasData    bool
}

// An Errand is a message that the target asks the local initiator to start for a pending
// send: a read, or ready to restart.
type Errand struct {
	Handle    ses.Handle // for [Target.ErrandDone]
	Peer      uint64     // of the send, as in [Arrival]
	Operation Operation
}

// pendingList is a queue of pending sends by slot + 1.
type pendingList struct{ head, tail uint32 }

func (t *Target) pushPending(l *pendingList, i uint32) {
	d := &t.pendings[i]
	if d.prev, d.next = l.tail, 0; l.head == 0 {
		l.head = i + 1
	} else {
		t.pendings[l.tail-1].next = i + 1
	}
	l.tail = i + 1
}

func (t *Target) removePending(l *pendingList, i uint32) {
	d := &t.pendings[i]
	if d.prev == 0 {
		l.head = d.next
	} else {
		t.pendings[d.prev-1].next = d.next
	}
	if d.next == 0 {
		l.tail = d.prev
	} else {
		t.pendings[d.next-1].prev = d.prev
	}
}

// hasPending reports whether the table has room for one more send of a peer.
func (t *Target) hasPending(peer uint64) bool { return t.pends.of(peer).shares(&t.pendSlots) }

// addPending remembers one more send of d.Peer, with room checked before, and returns the
// slot.
func (t *Target) addPending(d *pending) uint32 {
	i, _ := t.pendSlots.take()
	l := t.pends.of(d.Peer)
	if d.older = l.head; d.older != 0 {
		t.pendings[d.older-1].younger = i + 1
	}
	l.head = i + 1
	l.n++
	t.pendings[i] = *d
	return i
}

// Awaited reports whether the target is to come back to a send of a peer, or of a second
// peer with the same low bits.
func (t *Target) Awaited(peer uint64) bool { return t.pends.of(peer).n != 0 }

// freePending forgets a pending send.
func (t *Target) freePending(i uint32) {
	switch t.pendings[i].state {
	case pendingDeferred:
		t.removePending(&t.deferred, i)
	case pendingReady, pendingPull:
		t.removePending(&t.due, i)
	}
	d := &t.pendings[i]
	l := t.pends.of(d.Peer)
	if l.n--; d.younger == 0 {
		l.head = d.older
	} else {
		t.pendings[d.younger-1].older = d.older
	}
	if d.older != 0 {
		t.pendings[d.older-1].younger = d.younger
	}
	t.pendSlots.release(i)
}

// HasErrand reports whether [Target.Errand] has an errand.
func (t *Target) HasErrand() bool { return t.due.head != 0 }

// Errand sets x to the next message to start on the target's behalf, or reports false. The
// errand goes to the FEP of the send's initiator. Call [Target.ErrandDone] at the end.
func (t *Target) Errand(x *Errand) bool {
	if t.due.head == 0 {
		return false
	}
	i := t.due.head - 1
	t.removePending(&t.due, i)
	d := &t.pendings[i]
	h := t.pendSlots.handle(i)
	*x = Errand{Handle: h, Peer: d.Peer, Operation: Operation{
		Relative: d.common.Flags&ses.FlagRel != 0, Job: d.common.JobID, Initiator: d.id, Cookie: uint64(h),
	}}
	o := &x.Operation
	if d.state == pendingPull {
		d.state = pendingPulling
		o.Opcode, o.PID, o.Index, o.Generation = ses.OpcodeRead, d.source.PIDonFEP, d.source.Index, d.source.Generation
		o.Key, o.BufferOffset, o.Length = d.source.Key, d.source.BufferOffset+uint64(d.Eager), d.Placed-d.Eager
	} else {
		d.state = pendingAsked
		c := &d.common
		o.Opcode, o.PID, o.Index, o.Generation = ses.OpcodeDeferrableRTR, c.PIDonFEP, c.Index, c.Generation
		o.Length, o.Token = d.Length, ses.RestartToken{Initiator: d.token, Target: uint32(h)}
	}
	return true
}

// ErrandDone reports the end of an errand. A read is then done with. An undeliverable ready
// to restart becomes due again; after a refusal by the initiator the buffer goes back to
// the queue.
func (t *Target) ErrandDone(h ses.Handle, s ses.Status) {
	i, ok := t.pendSlots.at(h)
	if !ok {
		return
	}
	switch d := &t.pendings[i]; {
	case d.state == pendingPulling, d.gone && s == ses.StatusOK:
		t.freePending(i)
	case s == ses.StatusOK:
		d.told = true
	case s == ses.StatusPDS:
		d.state = pendingReady
		t.pushPending(&t.due, i)
	default:
		t.dropDeferred(i)
	}
}

// PullOf returns the purpose of an errand's read, false if nothing may be placed: the
// buffer's resource index was closed, or the host has failed the send ([Target.Fail]). p is
// zero without such an errand.
func (t *Target) PullOf(h ses.Handle) (p Pull, ok bool) {
	i, ok := t.pendSlots.at(h)
	if !ok || t.pendings[i].state != pendingPulling {
		return p, false
	}
	return t.pendings[i].Pull, !t.pendings[i].gone
}

// Pending returns how many sends the target has to come back to.
func (t *Target) Pending() int { return t.pendSlots.live }
