package ses

// rendezvous handles a packet of a rendezvous send. The bytes that come with it are judged
// like a send of their own, except that the buffer is for the whole message: while they
// are, the two lengths in the header are exchanged.
func (t *Target) rendezvous(r *Request, a *Arrival, d *Decision) {
	eager, length := r.Rendezvous.EagerLength, r.RequestLength
	r.RequestLength, r.Rendezvous.EagerLength = eager, length
	if r.Flags.Has(flagsOnly) {
		t.whole(r, a, d)
	} else {
		t.fragment(r, a, d)
	}
	r.RequestLength, r.Rendezvous.EagerLength = length, eager
	if d.Check != CheckNone {
		return
	}
	if d.Response.Opcode == ResponseDefault {
		d.Response.ModifiedLength = length
	}
	if d.Complete && t.placed > eager {
		t.pull(r, a, d)
	}
}

// isEager reports whether r is a rendezvous send that brings no more bytes than it has. Only
// valid while it is judged, see rendezvous.
func (r *Request) isEager() bool {
	return r.Opcode.IsRendezvous() && r.RequestLength <= r.Rendezvous.EagerLength
}

// pullable reports whether the rest of the message of r, as far as the buffer takes it, is
// empty or there is room to remember that it has to be read.
func (t *Target) pullable(r *Request, a *Arrival, p *plan) bool {
	return p.limit <= r.RequestLength || t.hasPending(a.Peer)
}

// pull makes the target read the rest of a message whose first bytes have come.
func (t *Target) pull(r *Request, a *Arrival, d *Decision) {
	t.pushPending(&t.due, t.addPending(&pending{
		Pull: Pull{
			Peer: a.Peer, Address: d.Address - uint64(d.Offset) + uint64(r.Rendezvous.EagerLength),
			Cookie: d.Cookie, HeaderData: d.HeaderData, HasData: d.HasData,
			Length: r.RequestLength, Placed: t.placed, Eager: r.Rendezvous.EagerLength,
		},
		source: r.Rendezvous, common: r.Common, id: r.Initiator, entry: t.placedAt, state: pendingPull,
	}))
	d.Complete, d.HasData, d.HeaderData = false, false, 0
}

// dropPull gives up the read of the rest of a rendezvous send. If that has begun, what it
// brings goes nowhere.
func (t *Target) dropPull(r *Request, peer uint64) {
	for at := t.pendsOf(peer).youngest; at != 0; at = t.pendings[at-1].older {
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

// wholeLength is how many bytes the message of r has. Only valid while it is judged, see
// rendezvous.
func wholeLength(r *Request) uint32 {
	if r.Opcode.IsRendezvous() {
		return r.Rendezvous.EagerLength
	}
	return r.RequestLength
}

// Lend opens a region of a process for the read of a rendezvous send. x is what the send's
// header says about it, except for the length. absolute is how the send addresses its
// target; the read addresses in the same way. Errors as with [Target.Register]; [ErrRange]
// also when the process cannot be addressed so.
func (t *Target) Lend(process Handle, ri ResourceIndex, absolute bool, g Region) (x Rendezvous, h Handle, err error) {
	i, ok := t.processSlots.at(process)
	if !ok {
		return x, 0, ErrNotFound
	}
	if o := t.processOf[i]; o.Absolute != absolute || !absolute && o.Job != g.Job {
		return x, 0, ErrRange
	}
	if h, err = t.Register(process, ri, g); err != nil {
		return x, 0, err
	}
	e, _, _ := t.entryOf(process, ri)
	return Rendezvous{Generation: e.gen, PIDonFEP: t.processOf[i].PID, Index: ri, Key: g.Key}, h, nil
}
