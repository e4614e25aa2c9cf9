// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"math"

	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/internal/list"
	"github.com/uetcc/uetcc/internal/msg"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// message is the endpoint's state of a message in progress, beside the initiator's.
type message struct {
	peer   pdc.Addr
	total  int64 // nominal bytes of all packets
	left   int64 // part of total announced to the manager and not submitted
	handle ses.Handle
	pdc    pdc.Handle
	job    ses.JobID
	cause  pdc.Cause // first failure of the PDS
	mode   ses.Mode
	tc     uint8
	flags  msgFlags
	nack   pds.NackCode  // with cause
	group  uint16        // Context of the Destination
	readID ses.MessageID // of the read of the rest of a rendezvous send
	lent   ses.Handle    // region from which the peer reads the rest of a rendezvous send
	reader pdc.Handle    // PDC of the peer's read
}

type msgFlags uint8

const (
	// msgFetch: beyond responses to packets the message waits for the peer's data or ready
	// to restart, and keeps the PDC from closing until then.
	msgFetch    msgFlags = 1 << iota
	msgWaiting           // for a PDC
	msgQueued            // in a list of source.queued
	msgErrand            // for a send of the peer, see msg.Errand
	msgReserved          // on a PDC of the reserved pool
	msgAsks              // the packets ask for data, bounded by an asking
	msgRetried           // in source.retries, or was
	msgHolds             // in flow.holds
)

// message returns the record of a handle, live or not.
func (s *source) message(h ses.Handle) *message { return &s.messages[h&0xffff] }

// begin makes a message of the operation in hand.
//
//uetcc:hot
func (s *source) begin(peer pdc.Addr, tc uint8) (*message, error) {
	op := s.op.Opcode
	h, err := s.sender.Start(&s.op)
	if err != nil {
		return nil, err
	}
	rec := s.message(h) // zero since the end of the message before
	rec.peer, rec.handle, rec.job, rec.mode, rec.tc = peer, h, s.op.Job, s.op.Mode, tc
	if op.IsFetch() || op.IsRendezvous() || op.IsDeferrable() {
		rec.flags |= msgFetch
	}
	if op.IsFetch() && rec.mode <= ses.ModeROD {
		rec.flags |= msgAsks
	}
	rec.total = s.nominal(&s.op)
	return rec, nil
}

// nominal is a message's part of the backlog: the nominal bytes of all packets.
func (s *source) nominal(o *msg.Operation) int64 {
	packets := int64(o.Packets(uint32(s.mtu)))
	n := packets * (s.overhead + ses.StandardLen)
	switch {
	case o.Opcode == ses.OpcodeRead, o.Opcode == ses.OpcodeDeferrableRTR:
	case o.Opcode.IsRendezvous():
		n += packets*ses.RendezvousLen + int64(o.Rendezvous.EagerLength)
	case o.Opcode.IsAtomic():
		n += ses.AtomicLen
	default:
		n += int64(o.Length)
	}
	return n
}

// dispatch puts a message in the list from which packets are taken. A message waiting for a
// PDC has none yet. h is the PDC, if known.
//
//uetcc:hot
func (s *source) dispatch(now int64, rec *message, h pdc.Handle) error {
	switch rec.mode {
	case ses.ModeUUD:
		rec.flags |= msgQueued
		s.queued.Push(&s.unsent, rec.entry())
		s.pds.Aside()
		return nil
	case ses.ModeRUDI:
		s.enqueue(now, rec, &s.flows[0])
		return nil
	}
	if h != 0 && s.pds.Fast().Joins(now, h, rec.peer, rec.tc, rec.mode == ses.ModeROD, rec.flags&msgReserved != 0) {
		return s.attach(now, rec, h)
	}
	h, err := s.pds.Open(now, s.keyOf(rec), ticketOf(rec.handle))
	if err == pdc.ErrWaiting {
		rec.flags |= msgWaiting
		return nil
	}
	if err != nil {
		return err
	}
	return s.attach(now, rec, h)
}

// attach puts a message on a PDC.
//
//uetcc:hot
func (s *source) attach(now int64, rec *message, h pdc.Handle) error {
	rec.flags &^= msgWaiting
	f := &s.flows[h.ID()]
	if (f.messages.Head|uint16(f.parts) != 0 || rec.flags&msgErrand != 0) && f.pdc == h && rec.mode == ses.ModeRUD {
		h = s.side(now, f, rec)
		f = &s.flows[h.ID()]
	}
	if err := s.pds.Begin(h); err != nil {
		return err
	}
	rec.pdc = h
	rec.left = rec.total
	_ = s.pds.Announce(now, h, rec.left)
	if f.pdc != h {
		s.asking[h.ID()] = asking{}
	}
	s.belong(h.ID(), h)
	if rec.flags&msgFetch != 0 {
		s.fetching.Push(&f.fetches, rec.entry())
		_ = s.pds.Lock(h)
	}
	s.enqueue(now, rec, f)
	return nil
}

// A ticket names a message waiting for a PDC in the events of the manager. The ticketBit
// marks tickets, beyond the attempts in any msg.PacketHandle.
const ticketBit = 1 << 31

// noTicket is a ticket of no message.
const noTicket = ticketBit

func ticketOf(h ses.Handle) uint64 { return uint64(h)<<32 | ticketBit }

// leave takes a message off the PDC, and takes back the bytes announced and not sent. well
// reports the arrival of all data asked for.
func (s *source) leave(now int64, rec *message, well bool) {
	if rec.flags&msgQueued != 0 {
		s.queued.Remove(s.listOf(rec), rec.entry())
		if rec.pdc != 0 {
			_ = s.pds.EndMessage(now, rec.pdc, rec.left)
		}
	}
	if rec.flags&msgFetch != 0 && rec.pdc != 0 {
		f := s.flowOf(rec)
		if s.fetching.Remove(&f.fetches, rec.entry()); !well {
			f.mtu |= flowLate
		}
		_ = s.pds.Unlock(now, rec.pdc)
		if rec.flags&msgHolds != 0 && f.pdc == rec.pdc {
			f.holds--
		}
	}
	if n := s.asks(rec); *n != (asked{}) {
		s.asking[rec.pdc.ID()].drop(*n)
		*n = asked{}
	}
	rec.flags &^= msgQueued | msgWaiting | msgHolds
	rec.pdc, rec.left = 0, 0
}

// flowOf returns the flow of a message with a PDC, or of RUDI packets.
func (s *source) flowOf(rec *message) *flow { return &s.flows[rec.pdc.ID()] }

// listOf returns the list of a message queued.
func (s *source) listOf(rec *message) *list.List[uint16] {
	if rec.mode == ses.ModeUUD {
		return &s.unsent
	}
	return &s.flowOf(rec).messages
}

// conclude acts on news about a message.
func (s *source) conclude(now int64, h ses.Handle, ev *msg.Event) {
	switch ev.Kind {
	case msg.EventDone:
		s.finish(now, h, ev)
	case msg.EventReady:
		rec := s.message(h)
		if mtu := s.sender.Cut(h, math.MaxUint32); rec.pdc != 0 && int64(mtu) < s.mtu {
			f := s.flowOf(rec)
			f.mtu = f.mtu&flowLate | uint8(mtu>>10)
		}
		switch {
		case rec.flags&msgQueued != 0 && rec.mode != ses.ModeRUDI: // the message has to announce the end of packets
			s.pump(now, s.flowOf(rec))
		case ev.At > now:
			s.leave(now, rec, false)
			s.retryAt(rec, ev.At)
		default:
			s.again(now, rec)
		}
	}
}

// again starts the next attempt of a message.
func (s *source) again(now int64, rec *message) {
	s.leave(now, rec, false)
	if s.dispatch(now, rec, 0) != nil {
		s.retryLater(now, rec)
	}
}

// retryPause is the wait of a message that found no PDC, ns.
const retryPause = 1_000_000

// retryLater has a message tried again after a pause.
func (s *source) retryLater(now int64, rec *message) {
	s.retryAt(rec, deadline.After(now, retryPause))
}

func (s *source) retryAt(rec *message, at int64) {
	rec.flags |= msgRetried
	s.retries.Arm(uint32(rec.handle&0xffff), at)
}

// finish ends a message.
//
//uetcc:hot
func (s *source) finish(now int64, h ses.Handle, ev *msg.Event) {
	rec := s.message(h)
	if rec.flags&^msgReserved != 0 {
		if rec.flags&(msgFetch|msgQueued|msgWaiting|msgAsks|msgRetried) != 0 {
			s.leave(now, rec, ev.Outcome.Status == ses.StatusOK)
			s.retries.Cancel(uint32(h & 0xffff))
		}
		if rec.lent != 0 {
			s.takeBack(rec)
		}
		if rec.flags&msgErrand != 0 {
			s.finishErrand(now, rec, ev)
			return
		}
	}
	rec.complete(s.events.Push(), ev)
	*rec = message{}
}

// finishErrand ends the message of an errand.
func (s *source) finishErrand(now int64, rec *message, ev *msg.Event) {
	var out completion
	rec.complete(&out, ev)
	*rec = message{}
	s.errands--
	s.errandDone(now, ses.Handle(out.cookie), &out)
}

// complete writes how a message has ended to out.
func (rec *message) complete(out *completion, ev *msg.Event) {
	// Field by field: a literal would be built on the stack and copied.
	out.message, out.cookie, out.peer, out.outcome = rec.handle, ev.Cookie, rec.peer, ev.Outcome
	out.cause, out.nack, out.received, out.hasData, out.headerData = pdc.CauseNone, 0, false, false, 0
	if o := &out.outcome; rec.cause != pdc.CauseNone && o.Status != ses.StatusOK {
		o.Status, o.Code, out.cause, out.nack = ses.StatusPDS, ses.RCNull, rec.cause, rec.nack
	}
}

// blame notes why a message fails, unless known.
func (rec *message) blame(c pdc.Cause, n pds.NackCode) {
	if rec.cause == pdc.CauseNone {
		rec.cause, rec.nack = c, n
	}
}
