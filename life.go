package uetcc

import (
	"math"

	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// message is what the endpoint keeps of a message in progress, beside what its initiator
// keeps.
type message struct {
	peer   pdc.Addr
	total  int64 // nominal bytes of all its packets
	left   int64 // of these, announced to the manager and not submitted
	handle Handle
	pdc    pdc.Handle
	job    ses.JobID
	cause  pdc.Cause // first failure of the PDS
	next   uint16    // in the chain it is in
	mode   ses.Mode
	tc     uint8
	flags  msgFlags
	nack   pds.NackCode  // with cause
	group  uint16        // Context of its Destination
	readID ses.MessageID // of the read of the rest of a rendezvous send
	lent   ses.Handle    // region that the peer reads the rest of a rendezvous send from
	reader pdc.Handle    // PDC on which it does
}

type msgFlags uint8

const (
	// msgFetch: beyond responses to its packets it waits for something of its peer, data or
	// ready to restart, and keeps its PDC from closing until then.
	msgFetch    msgFlags = 1 << iota
	msgWaiting           // for a PDC
	msgQueued            // in a chain
	msgErrand            // for a send of the peer, see ses.Errand
	msgReserved          // on a PDC of the reserved pool
	msgAsks              // its packets ask for data, which an asking bounds
)

// message returns the record of a handle, live or not.
func (e *Endpoint) message(h Handle) *message { return &e.messages[h&0xffff] }

// begin makes a message of the operation in hand.
func (e *Endpoint) begin(peer pdc.Addr, tc uint8) (*message, error) {
	op := e.op.Opcode
	h, err := e.sender.Start(&e.op)
	if err != nil {
		return nil, err
	}
	rec := e.message(h)
	*rec = message{peer: peer, handle: h, job: e.op.Job, mode: e.op.Mode, tc: tc}
	if op.IsFetch() || op.IsRendezvous() || op.IsDeferrable() {
		rec.flags |= msgFetch
	}
	if op.IsFetch() && rec.mode <= ses.ModeROD {
		rec.flags |= msgAsks
	}
	rec.total = e.nominal(&e.op)
	return rec, nil
}

// nominal is what a message adds to the backlog: the nominal bytes of all its packets.
func (e *Endpoint) nominal(o *ses.Operation) int64 {
	n := int64(o.Packets(uint32(e.mtu))) * (e.overhead + ses.StandardLen)
	switch {
	case o.Opcode == ses.OpcodeRead, o.Opcode == ses.OpcodeDeferrableRTR:
	case o.Opcode.IsRendezvous():
		n += int64(o.Packets(uint32(e.mtu)))*ses.RendezvousLen + int64(o.Rendezvous.EagerLength)
	case o.Opcode.IsAtomic():
		n += ses.AtomicLen
	default:
		n += int64(o.Length)
	}
	return n
}

// dispatch puts a message in the chain that its packets are taken from. A message
// that waits for a PDC has none yet.
func (e *Endpoint) dispatch(now int64, rec *message) error {
	switch rec.mode {
	case ses.ModeUUD:
		rec.flags |= msgQueued
		e.unsent.push(e, rec)
		return nil
	case ses.ModeRUDI:
		e.enqueue(now, rec, &e.flows[0])
		return nil
	}
	h, err := e.pds.Open(now, e.keyOf(rec), ticketOf(rec.handle))
	if err == pdc.ErrWaiting {
		rec.flags |= msgWaiting
		return nil
	}
	if err != nil {
		return err
	}
	return e.attach(now, rec, h)
}

// attach puts a message on a PDC.
func (e *Endpoint) attach(now int64, rec *message, h pdc.Handle) error {
	rec.flags &^= msgWaiting
	if err := e.pds.Begin(h); err != nil {
		return err
	}
	rec.left, rec.pdc = rec.total, h
	_ = e.pds.Announce(now, h, rec.left)
	f := &e.flows[h.ID()]
	if f.pdc != h {
		e.asking[h.ID()] = asking{}
	}
	f.belong(h)
	if mtu := f.mtu &^ flowLate; mtu != 0 {
		_ = e.sender.Cut(rec.handle, uint32(mtu)<<10)
	}
	if rec.flags&msgFetch != 0 {
		e.fetching.enter(&f.fetches, rec.entry())
		_ = e.pds.Lock(h)
	}
	e.enqueue(now, rec, f)
	return nil
}

// A ticket names a message that waits for a PDC in the events of the manager. It differs
// from any ses.PacketHandle by this bit, which the attempts in those do not reach.
const ticketBit = 1 << 31

// noTicket is one that no message has.
const noTicket = ticketBit

func ticketOf(h Handle) uint64 { return uint64(h)<<32 | ticketBit }

// leave takes a message off its PDC, and takes back what it has announced and not sent. well says
// that all has come that it has asked for.
func (e *Endpoint) leave(now int64, rec *message, well bool) {
	if rec.flags&msgQueued != 0 {
		e.chainOf(rec).remove(e, rec)
		if rec.pdc != 0 {
			_ = e.pds.EndMessage(now, rec.pdc, rec.left)
		}
	}
	if rec.flags&msgFetch != 0 && rec.pdc != 0 {
		f := e.flowOf(rec)
		if e.fetching.strike(&f.fetches, rec.entry()); !well {
			f.mtu |= flowLate
		}
		_ = e.pds.Unlock(now, rec.pdc)
	}
	if n := e.asks(rec); *n != 0 {
		e.asking[rec.pdc.ID()].drop(*n)
		*n = 0
	}
	rec.flags &^= msgQueued | msgWaiting
	rec.pdc, rec.left = 0, 0
}

// flowOf returns the flow of a message that has a PDC, or of RUDI packets.
func (e *Endpoint) flowOf(rec *message) *flow { return &e.flows[rec.pdc.ID()] }

// chainOf returns the chain of a message that is queued.
func (e *Endpoint) chainOf(rec *message) *chain {
	if rec.mode == ses.ModeUUD {
		return &e.unsent
	}
	return &e.flowOf(rec).messages
}

// conclude does what follows from news about a message.
func (e *Endpoint) conclude(now int64, h Handle, ev *ses.Event) {
	switch ev.Kind {
	case ses.EventDone:
		e.finish(now, h, ev)
	case ses.EventReady:
		rec := e.message(h)
		if mtu := e.sender.Cut(h, math.MaxUint32); rec.pdc != 0 && int64(mtu) < e.mtu {
			f := e.flowOf(rec)
			f.mtu = f.mtu&flowLate | uint8(mtu>>10)
		}
		switch {
		case rec.flags&msgQueued != 0 && rec.mode != ses.ModeRUDI: // it has to say that no more packets come
			e.pump(now, e.flowOf(rec))
		case ev.At > now:
			e.leave(now, rec, false)
			e.retries.Arm(uint32(h&0xffff), ev.At)
		default:
			e.again(now, rec)
		}
	}
}

// again starts another attempt of a message.
func (e *Endpoint) again(now int64, rec *message) {
	e.leave(now, rec, false)
	if e.dispatch(now, rec) != nil {
		e.retryLater(now, rec)
	}
}

// retryPause is how long a message waits that found no PDC, ns.
const retryPause = 1_000_000

// retryLater has a message tried again after a pause.
func (e *Endpoint) retryLater(now int64, rec *message) {
	e.retries.Arm(uint32(rec.handle&0xffff), deadline.After(now, retryPause))
}

// finish ends a message.
func (e *Endpoint) finish(now int64, h Handle, ev *ses.Event) {
	rec := e.message(h)
	out := completion{message: h, cookie: ev.Cookie, peer: rec.peer, outcome: ev.Outcome}
	if o := &out.outcome; rec.cause != pdc.CauseNone && o.Status != ses.StatusOK {
		o.Status, o.Code, out.cause, out.nack = ses.StatusPDS, ses.RCNull, rec.cause, rec.nack
	}
	e.leave(now, rec, ev.Outcome.Status == ses.StatusOK)
	e.retries.Cancel(uint32(h & 0xffff))
	if rec.lent != 0 {
		e.takeBack(rec)
	}
	errand := rec.flags&msgErrand != 0
	*rec = message{}
	if errand {
		e.errands--
		e.errandDone(now, ses.Handle(out.cookie), &out)
		return
	}
	e.events.push(out)
}

// blame notes why a message fails, unless that is known.
func (rec *message) blame(c pdc.Cause, n pds.NackCode) {
	if rec.cause == pdc.CauseNone {
		rec.cause, rec.nack = c, n
	}
}

// undo forgets a message of which nothing was sent.
func (e *Endpoint) undo(now int64, rec *message) {
	_ = e.sender.Cancel(now, rec.handle, &ses.Event{})
	if rec.lent != 0 {
		e.takeBack(rec)
	}
	*rec = message{}
}
