// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"github.com/uetcc/uetcc/internal/step"
	"github.com/uetcc/uetcc/ses"
)

// postpone remembers a deferrable send without a buffer. False means no room; then the
// initiator tries again unasked.
func (t *Target) postpone(r *ses.Request, a *Arrival, p *plan) bool {
	if !t.defers || !t.entries[p.entry].admits(r.JobID) || !t.hasPending(a.Peer) {
		return false
	}
	t.waits.Push(&t.deferred, 1+t.addPending(&pending{
		Pull:   Pull{Peer: a.Peer, Length: r.RequestLength},
		common: r.Common, id: r.Initiator, token: r.Token.Initiator, tag: r.Key, entry: p.entry,
	}))
	return true
}

// keep gives receive buffer i to the oldest deferred send that fits, and reports whether any
// does. All deferred sends of the queue are searched.
func (t *Target) keep(i uint32) bool {
	b := &t.receives[i]
	for at := t.deferred.Head; at != 0; at = t.waits.Next(at) {
		d := &t.pendings[at-1]
		if d.entry != b.entry || d.common.Opcode == ses.OpcodeDeferrableTSend && !b.takes(d.tag) {
			continue
		}
		t.waits.Remove(&t.deferred, at)
		d.state, d.recv, b.kept = pendingReady, i+1, true
		t.waits.Push(&t.due, at)
		return true
	}
	return false
}

// restarted returns the deferred send repeated as r.
func (t *Target) restarted(r *ses.Request, p *plan) (i uint32, ok bool) {
	if i, ok = t.pendSlots.at(ses.Handle(r.Token.Target)); !ok {
		return 0, false
	}
	d := &t.pendings[i]
	return i, d.state == pendingAsked && !d.gone && d.entry == p.entry && d.is(r)
}

// isRestarted reports whether r is a deferrable send asked for by the target.
func isRestarted(r *ses.Request) bool { return r.Opcode.IsDeferrable() && r.Token.Target != 0 }

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
			t.waits.Remove(&t.deferred, uint32(i)+1)
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
