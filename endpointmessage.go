package uetcc

import (
	"errors"
	"net/netip"

	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// Errors of starting a message, beside those of packages ses and pdc.
var (
	// ErrAddress: the destination has no address.
	ErrAddress = errors.New("uetcc: destination without an address")

	// ErrEvents: as many completions wait to be fetched by [Endpoint.Poll] as
	// messages may be in progress, those of peers included.
	ErrEvents = errors.New("uetcc: completions not fetched")
)

// A Handle names a message of an [Endpoint]. The zero Handle is none.
type Handle = ses.Handle

// A Destination is where a message goes: a process on a fabric endpoint, and a
// resource of that process.
type Destination struct {
	Address    netip.Addr
	TC         uint8 // traffic class of the message's packets
	Job        ses.JobID
	PID        ses.PIDonFEP
	Index      ses.ResourceIndex
	Generation ses.Generation // as far as is known: the target corrects it
	Absolute   bool           // PID is a number of the whole FEP, not one within the job

	// Messages share PDCs only with those of the same Context, so ordered ones of
	// different contexts do not wait for each other. Reserved ones have PDCs of the reserved
	// pool, here and at the peer.
	Context  uint16
	Reserved bool
}

// A Message is what an application asks of a peer.
type Message struct {
	To     Destination
	Mode   ses.Mode
	Key    uint64 // memory key; the tag of a tagged send
	Offset uint64 // from the start of the region
	Length uint32 // bytes; up to ses.MaxMessage; of a compare and swap those of one operand
	Cookie uint64 // comes back with the completion and in each [Payload]

	Tagged     bool            // Send and Atomic: to the receive buffer with this tag, which is Key
	Fetch      bool            // Atomic: bring back the value before
	Swap       ses.CompareSwap // Atomic: operation, type, and the operands of a compare and swap
	HasData    bool            // HeaderData goes to the target's completion
	HeaderData uint64
	Initiator  uint32 // our rank, which means nothing to the transport

	// Rendezvous: of a send only Eager bytes go with it, up to Length; the peer reads
	// the others out of Source when it has a buffer for them. The bytes are asked for
	// by Payload with Message 0 and this Cookie, which should not be a region's, too; if the
	// message fails, maybe even later.
	Rendezvous bool
	Eager      uint32
	Source     Source

	// Deferrable: a send that finds no buffer waits until the peer has one and asks for
	// it, where others are tried again after a while, and then fail.
	Deferrable bool
}

// message is what the endpoint keeps of a message in progress, besides what the
// initiator does.
type message struct {
	peer   pdc.Addr
	total  int64 // nominal bytes of all its packets
	left   int64 // of these, announced and not submitted
	handle Handle
	pdc    pdc.Handle
	job    ses.JobID
	cause  pdc.Cause // first failure of the PDS
	next   uint16    // in the chain it is in
	mode   ses.Mode
	tc     uint8
	flags  msgFlags
	group  uint16     // Context of its Destination
	lent   ses.Handle // region that the peer reads the rest of a rendezvous send from
	reader pdc.Handle // PDC on which it does
}

type msgFlags uint8

const (
	msgFetch    msgFlags = 1 << iota // needs its peer beyond the answers to its packets: for data, or to go on
	msgWaiting                       // for a PDC
	msgQueued                        // in a chain
	msgLocked                        // keeps its PDC from closing
	msgErrand                        // for a send of the peer, see ses.Errand
	msgReserved                      // on a PDC of the reserved pool
)

// Write starts to write to a region of a peer. The packets come out of
// [Endpoint.Transmit] and the completion out of [Endpoint.Poll].
//
// Errors: [ErrAddress], [ErrEvents], ses.ErrFull, those of ses.Operation.Validate
// and of pdc.Manager.Open. Then nothing has begun. After pdc.ErrPaused an [Event] tells when
// it is worth another try.
func (e *Endpoint) Write(now int64, m *Message) (Handle, error) {
	return e.start(now, m, ses.OpcodeWrite)
}

// Read starts to read from a region of a peer. What comes is placed by the caller,
// see [Received]. Errors as with Write.
func (e *Endpoint) Read(now int64, m *Message) (Handle, error) {
	return e.start(now, m, ses.OpcodeRead)
}

// Send starts to send to a receive queue of a peer: with mode UUD one datagram. A
// rendezvous send is over when the peer has read what did not go with it. Errors as
// with Write, for a rendezvous send also those of ses.Target.Lend.
func (e *Endpoint) Send(now int64, m *Message) (Handle, error) {
	return e.start(now, m, m.opcode())
}

// Atomic starts an atomic operation on the memory of a peer, or with Tagged on the
// receive buffer that has its tag. Errors as with Write.
func (e *Endpoint) Atomic(now int64, m *Message) (Handle, error) {
	switch {
	case m.Tagged && m.Fetch:
		return e.start(now, m, ses.OpcodeTSendFetchingAtomic)
	case m.Tagged:
		return e.start(now, m, ses.OpcodeTSendAtomic)
	case m.Fetch:
		return e.start(now, m, ses.OpcodeFetchingAtomic)
	}
	return e.start(now, m, ses.OpcodeAtomic)
}

// Cancel gives a message up. What is in flight is still waited for; the completion
// tells the rest. The error is ses.ErrStale.
func (e *Endpoint) Cancel(now int64, h Handle) error {
	var ev ses.Event
	if err := e.sender.Cancel(now, h, &ev); err != nil {
		return err
	}
	e.conclude(now, h, &ev)
	return nil
}

// Connect opens a PDC for messages like m, or finds it, before there is one: its
// number and first PSN are known then. The errors are those of pdc.Manager.Open
// but for ErrWaiting and ErrPaused, which are pdc.ErrNoPDC here.
func (e *Endpoint) Connect(now int64, m *Message) (pdc.Handle, error) {
	if !m.To.Address.IsValid() {
		return 0, ErrAddress
	}
	rec := message{peer: pdc.AddrFrom(m.To.Address), job: m.To.Job, tc: m.To.TC, mode: m.Mode}
	rec.to(&m.To)
	h, err := e.pds.Open(now, e.keyOf(&rec), noTicket)
	if err == pdc.ErrWaiting || err == pdc.ErrPaused {
		err = pdc.ErrNoPDC
	}
	return h, err
}

// to notes on which PDCs of a destination a message may go.
func (rec *message) to(d *Destination) {
	if rec.group = d.Context; d.Reserved {
		rec.flags |= msgReserved
	}
}

// keyOf returns the key of the PDCs that a message may use. It is overwritten by
// the next call.
func (e *Endpoint) keyOf(rec *message) *pdc.InitiatorKey {
	k := &e.key
	k.Destination, k.JobID, k.TC, k.Ordered = rec.peer.Netip(), uint32(rec.job), rec.tc, rec.mode == ses.ModeROD
	k.Context, k.Reserved = rec.group, rec.flags&msgReserved != 0
	return k
}

func (e *Endpoint) start(now int64, m *Message, op ses.Opcode) (Handle, error) {
	switch {
	case !m.To.Address.IsValid():
		return 0, ErrAddress
	case !e.events.room():
		return 0, ErrEvents
	}
	e.op = ses.Operation{
		Opcode: op, Mode: m.Mode, Relative: !m.To.Absolute, HasData: m.HasData, Job: m.To.Job, PID: m.To.PID, Index: m.To.Index,
		Generation: m.To.Generation, Initiator: m.Initiator, Length: m.Length, BufferOffset: m.Offset, Key: m.Key,
		HeaderData: m.HeaderData, Swap: m.Swap, Cookie: m.Cookie,
	}
	if op.IsRendezvous() {
		e.op.Rendezvous.EagerLength = m.Eager
	}
	rec, err := e.begin(pdc.AddrFrom(m.To.Address), m.To.TC)
	if err != nil {
		return 0, err
	}
	rec.to(&m.To)
	if op.IsRendezvous() {
		err = e.lend(rec, m)
	}
	if err == nil {
		err = e.dispatch(now, rec)
	}
	if err != nil {
		if err == pdc.ErrPaused {
			e.pause = pauseOn
		}
		e.undo(now, rec)
		return 0, err
	}
	return rec.handle, nil
}

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
	rec.total = e.nominal(&e.op)
	return rec, nil
}

// undo forgets a message of which nothing was sent.
func (e *Endpoint) undo(now int64, rec *message) {
	_ = e.sender.Cancel(now, rec.handle, &ses.Event{})
	if rec.lent != 0 {
		e.takeBack(rec)
	}
	*rec = message{}
}

// message returns the record of a handle, live or not.
func (e *Endpoint) message(h Handle) *message { return &e.messages[h&0xffff] }

// nominal is what a message adds to the backlog.
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
	rec.left = rec.total
	if err := e.pds.Announce(now, h, rec.left); err != nil {
		_ = e.pds.EndMessage(now, h, 0)
		return err
	}
	rec.pdc = h
	f := &e.flows[h.ID()]
	f.belong(h)
	if rec.flags&msgFetch != 0 {
		e.fetching.enter(&f.fetches, rec.entry())
		if e.pds.Lock(h) == nil {
			rec.flags |= msgLocked
		}
	}
	e.enqueue(now, rec, f)
	return nil
}

// leave takes a message off its PDC, with what it will not send.
func (e *Endpoint) leave(now int64, rec *message) {
	if rec.flags&msgQueued != 0 {
		e.chainOf(rec).remove(e, rec)
		if rec.pdc != 0 {
			_ = e.pds.EndMessage(now, rec.pdc, rec.left)
		}
	}
	if rec.flags&msgFetch != 0 && rec.pdc != 0 {
		e.fetching.strike(&e.flowOf(rec).fetches, rec.entry())
	}
	if rec.flags&msgLocked != 0 {
		_ = e.pds.Unlock(now, rec.pdc)
	}
	rec.flags &^= msgQueued | msgLocked | msgWaiting
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

// A ticket names a message that waits for a PDC, in the events of the manager. It
// is no ses.PacketHandle: the attempts in those do not reach this bit.
const ticketBit = 1 << 31

// noTicket is one that no message has.
const noTicket = ticketBit

func ticketOf(h Handle) uint64 { return uint64(h)<<32 | ticketBit }
