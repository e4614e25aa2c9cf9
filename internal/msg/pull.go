// SPDX-License-Identifier: Apache-2.0

package msg

import "github.com/uetcc/uetcc/ses"

// swapBoth is the request_length of a compare and swap counting both operands, as in the
// reference provider. No public source decides.
const swapBoth = 2 * 16

// carried is the number of bytes in the packets of r's message: the eager bytes of a
// rendezvous send, the bytes of a single operand of a compare and swap, whatever
// request_length counts.
func carried(r *ses.Request) uint32 {
	if among(r.Opcode, opsApart) {
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
	t.pushPending(&t.due, t.addPending(&pending{
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
	for at := t.pends.of(peer).head; at != 0; at = t.pendings[at-1].older {
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
// read addresses in the same way. Errors as with [Target.Register]; [ErrRange] also when
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
