// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"github.com/uetcc/uetcc/internal/list"
	"github.com/uetcc/uetcc/internal/step"
	"github.com/uetcc/uetcc/ses"
)

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
	came   uint32 // deferrable: counts up, modulo 2^32
	state  pendingState
	gone   bool // resource index closed, or send failed: forgotten at the end of the errand
	told   bool // ready to restart has arrived
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

// hasPending reports whether the table has room for one more send of a peer.
func (t *Target) hasPending(peer uint64) bool { return t.pends.of(peer).shares(&t.pendSlots) }

// addPending remembers one more send of d.Peer, with room checked before, and returns the
// slot.
func (t *Target) addPending(d *pending) uint32 {
	i, _ := t.pendSlots.take()
	t.pends.push(d.Peer, i)
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
		t.endWait(i)
	case pendingReady, pendingPull:
		t.waits.Remove(&t.due, i+1)
	}
	t.pends.remove(t.pendings[i].Peer, i)
	t.pendSlots.release(i)
}

// HasErrand reports whether [Target.Errand] has an errand.
func (t *Target) HasErrand() bool { return t.due.Head != 0 }

// Errand sets x to the next message to start on the target's behalf, or reports false. The
// errand goes to the FEP of the send's initiator. Call [Target.ErrandDone] at the end.
func (t *Target) Errand(x *Errand) bool {
	if t.due.Head == 0 {
		return false
	}
	i := t.due.Head - 1
	t.waits.Remove(&t.due, i+1)
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
		t.waits.Push(&t.due, i+1)
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

// swapBoth is the request_length of a compare and swap counting both operands, as in the
// reference provider. No public source decides.
const swapBoth = 2 * 16

// carried is the number of bytes in the packets of r's message: the eager bytes of a
// rendezvous send, the bytes of a single operand of a compare and swap, whatever
// request_length counts.
func carried(r *ses.Request) uint32 {
	if opsApart>>r.Opcode&1 != 0 {
		return carriedApart(r)
	}
	return r.RequestLength
}

// carriedApart is carried for the operations that may count otherwise. Out of line, so that carried is not.
//
//go:noinline
func carriedApart(r *ses.Request) uint32 {
	switch {
	case r.Opcode.IsRendezvous():
		return r.Rendezvous.EagerLength
	case r.RequestLength == swapBoth && r.Swap.Opcode.IsSwap():
		return uint32(r.Swap.Type.Size())
	default:
		return r.RequestLength
	}
}

// pullable reports whether the rest of the message of r, as far as the buffer fits, is
// empty or the table has room to remember the read.
func (t *Target) pullable(r *ses.Request, a *Arrival, p *plan) bool {
	return p.limit <= carried(r) || t.hasPending(a.Peer)
}

// pull makes the target read the rest of a rendezvous send whose first bytes have come, if
// the buffer has room for any. The message is not complete before.
func (t *Target) pull(r *ses.Request, a *Arrival, d *Decision, p *plan) {
	eager := r.Rendezvous.EagerLength
	if p.limit <= eager {
		return
	}
	t.waits.Push(&t.due, 1+t.addPending(&pending{
		Pull: Pull{
			Peer: a.Peer, Address: p.base + uint64(eager),
			Cookie: d.Cookie, HeaderData: d.HeaderData, HasData: d.HasData,
			Length: r.RequestLength, Placed: p.limit, Eager: eager,
		},
		source: r.Rendezvous, common: r.Common, id: r.Initiator, entry: p.entry, state: pendingPull,
	}))
	d.Complete, d.HasData, d.HeaderData = false, false, 0
}

// dropPull gives up the read of the rest of a rendezvous send. Data of a read already begun
// goes nowhere.
func (t *Target) dropPull(r *ses.Request, peer uint64) {
	for at := t.pends.of(peer).Head; at != 0; at = t.pends.links.Next(at) {
		d := &t.pendings[at-1]
		if d.Peer != peer || d.source != r.Rendezvous {
			continue
		}
		switch d.state {
		case pendingPull:
			t.freePending(at - 1)
			return
		case pendingPulling:
			d.gone = true
			return
		}
	}
}

// Lend opens a region of a process for the read of a rendezvous send. x is the region for
// the send's header, except for the length. absolute is the addressing of the send; the
// read addresses in the same way. Errors as with [Target.Register]; [ses.ErrRange] also when
// the process cannot be addressed in the given way.
func (t *Target) Lend(process ses.Handle, ri ses.ResourceIndex, absolute bool, g ses.Region) (x ses.Rendezvous, h ses.Handle, err error) {
	i, ok := t.processSlots.at(process)
	if !ok {
		return x, 0, ses.ErrNotFound
	}
	if o := t.processOf[i]; o.Absolute != absolute || !absolute && o.Job != g.Job {
		return x, 0, ses.ErrRange
	}
	if h, err = t.Register(process, ri, g); err != nil {
		return x, 0, err
	}
	e, _, _ := t.entryOf(process, ri)
	return ses.Rendezvous{Generation: e.gen, PIDonFEP: t.processOf[i].PID, Index: ri, Key: g.Key}, h, nil
}

// postpone remembers a deferrable send without a buffer. False means no room; then the
// initiator tries again unasked.
func (t *Target) postpone(r *ses.Request, a *Arrival, p *plan) bool {
	if !t.defers || !t.entries[p.entry].admits(r.JobID) || !t.hasPending(a.Peer) {
		return false
	}
	t.came++
	i := t.addPending(&pending{
		Pull:   Pull{Peer: a.Peer, Length: r.RequestLength},
		common: r.Common, id: r.Initiator, token: r.Token.Initiator, tag: r.Key, entry: p.entry, came: t.came,
	})
	t.waits.Push(&t.entries[p.entry].deferred, i+1)
	t.alike.Push(t.deferredOf(t.pendings[i].key()), i+1)
	return true
}

// endWait notes that deferred send i waits for a buffer no more.
func (t *Target) endWait(i uint32) {
	d := &t.pendings[i]
	t.waits.Remove(&t.entries[d.entry].deferred, i+1)
	t.alike.Remove(t.deferredOf(d.key()), i+1)
}

// deferredOf returns the deferred sends without a buffer whose key has the hash of k.
func (t *Target) deferredOf(k pair) *list.List[uint32] {
	return &t.deferred[t.messages.hash(k)&uint32(len(t.deferred)-1)]
}

// oldestOf returns the oldest deferred send with a key, by slot + 1, or 0.
func (t *Target) oldestOf(k pair) uint32 {
	at := t.deferredOf(k).Head
	for at != 0 && t.pendings[at-1].key() != k {
		at = t.alike.Next(at)
	}
	return at
}

// isTagged reports whether a deferred send fits the buffers for its tag alone.
func (d *pending) isTagged() bool { return d.common.Opcode == ses.OpcodeDeferrableTSend }

// key is the key of the deferred sends to a queue that the same buffers fit: those with the same tag, or without one.
func (d *pending) key() pair {
	if d.isTagged() {
		return taggedKey(d.entry, d.tag)
	}
	return untaggedKey(d.entry)
}

func taggedKey(entry uint32, tag uint64) pair { return pair{uint64(entry) << 1, tag} }
func untaggedKey(entry uint32) pair           { return pair{a: uint64(entry)<<1 | 1} }

// keep gives receive buffer i to the oldest deferred send that fits, and reports whether any
// does.
func (t *Target) keep(i uint32) bool {
	b := &t.receives[i]
	at := t.oldestFor(b)
	if at == 0 {
		return false
	}
	t.endWait(at - 1)
	d := &t.pendings[at-1]
	d.state, d.recv, b.kept = pendingReady, i+1, true
	t.waits.Push(&t.due, at)
	return true
}

// oldestFor returns the oldest deferred send that fits a buffer, by slot + 1, or 0. A buffer for several tags is compared
// with the deferred sends of the queue one by one, as far as the first that fits.
func (t *Target) oldestFor(b *receive) uint32 {
	if b.Ignore == 0 {
		tagged, other := t.oldestOf(taggedKey(b.entry, b.Match)), t.oldestOf(untaggedKey(b.entry))
		if tagged == 0 || other != 0 && int32(t.pendings[other-1].came-t.pendings[tagged-1].came) < 0 {
			return other
		}
		return tagged
	}
	at := t.entries[b.entry].deferred.Head
	for at != 0 && t.pendings[at-1].isTagged() && !b.takes(t.pendings[at-1].tag) {
		at = t.waits.Next(at)
	}
	return at
}

// restarted returns the deferred send repeated as r.
func (t *Target) restarted(r *ses.Request, p *plan) (i uint32, ok bool) {
	if i, ok = t.pendSlots.at(ses.Handle(r.Token.Target)); !ok {
		return 0, false
	}
	d := &t.pendings[i]
	return i, d.state == pendingAsked && !d.gone && d.entry == p.entry && d.is(r)
}

// is reports whether r repeats the deferred send d.
func (d *pending) is(r *ses.Request) bool {
	c := &d.common
	return d.token == r.Token.Initiator && d.tag == r.Key && c.Opcode == r.Opcode && c.JobID == r.JobID
}

// dropDeferred forgets a deferred send. The buffer kept for it goes to the next deferred
// send that fits, or back to the old place in the queue.
func (t *Target) dropDeferred(i uint32) {
	recv := t.pendings[i].recv
	t.freePending(i)
	if recv == 0 {
		return
	}
	t.receives[recv-1].kept = false
	t.offer(recv - 1)
}

// dropDeferredOf forgets the deferred sends of an ended PDC: nobody waits for ready to
// restart. Sends without a buffer go first, so no freed buffer goes to a send about to be
// dropped.
func (t *Target) dropDeferredOf(peer uint64) {
	for _, last := range [...]pendingState{pendingDeferred, pendingAsked} {
		for at := t.pends.of(peer).Head; at != 0; {
			i, d := at-1, &t.pendings[at-1]
			if at = t.pends.links.Next(at); d.Peer == peer && d.state <= last {
				t.dropDeferred(i)
			}
		}
	}
}

// dropPending forgets all sends to a closed resource index, and the buffers kept for the
// sends. A send whose initiator waits for word from the target goes when the errand ends.
func (t *Target) dropPending(entry uint32) {
	for i := range t.pendings {
		d := &t.pendings[i]
		if t.pendSlots.gen[i]&1 == 0 || d.entry != entry {
			continue
		}
		if d.recv != 0 {
			t.recvSlots.release(d.recv - 1)
			d.recv = 0
		}
		switch d.gone = true; d.state {
		case pendingAsked:
			if d.told {
				t.freePending(uint32(i))
			}
		case pendingDeferred:
			t.endWait(uint32(i))
			d.state = pendingReady
			t.waits.Push(&t.due, uint32(i)+1)
		}
	}
}

// use takes the receive buffer of a plan out of the queue, or from the deferred send owning
// the buffer.
func (t *Target) use(p *plan) {
	if p.pending == 0 {
		t.consume(p.recv - 1)
		return
	}
	t.freePending(slotOf(p.pending))
	t.recvSlots.release(p.recv - 1)
}

// restart is the initiator's side of ready to restart: [Initiator.Restart] decides whether
// the token names a send of the initiator.
func (t *Target) restart(r *ses.Request, d *Decision) {
	switch {
	case !r.Flags.Has(flagsOnly):
		d.refuse(step.Lengths, ses.RCOpViolation)
	case r.Flags&ses.FlagIE != 0:
		d.refuse(step.Initiator, ses.RCInitiatorError)
	default:
		d.accept(r)
		d.Action = ses.ActionRestart
	}
}
