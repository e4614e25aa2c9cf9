// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"errors"
	"net/netip"
	"unsafe"

	"github.com/uetcc/uetcc/internal/msg"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/ses"
)

// Errors of starting a message, besides errors of packages ses and pdc.
var (
	// ErrAddress: the destination has no address.
	ErrAddress = errors.New("uetcc: destination without an address")

	// ErrEvents: as many completions wait for [Endpoint.Poll] as messages may be in
	// progress, including messages of peers. Poll, and start the message again.
	ErrEvents = errors.New("uetcc: completions not fetched")
)

// A Destination is the address of a message: a process on a fabric endpoint, and a resource
// of the process.
type Destination struct {
	Address    netip.Addr
	TC         uint8 // traffic class of the message's packets
	Job        ses.JobID
	PID        ses.PIDonFEP
	Index      ses.ResourceIndex
	Generation ses.Generation // as far as known: corrected by the target
	Absolute   bool           // PID is a number of the whole FEP, not within the job

	// Messages share PDCs only within the same Context, so ordered ones of
	// different contexts do not wait for each other. Reserved takes PDCs of the reserved
	// pool, here and at the peer. Where unordered reads and writes would hold each other up, and
	// without Reserved, reads and fetching atomics get one PDC, writes and sends a second.
	Context  uint16
	Reserved bool

	// PDC, if not 0, is the result of Endpoint.Connect for the same Destination, where only
	// PID, Index, Generation and Absolute do not count, in the same Mode: saves the search for
	// a PDC. Messages that the PDC does not take any more get another.
	PDC pdc.Handle
}

// A Message is an application's request to a peer.
type Message struct {
	To     Destination
	Mode   ses.Mode
	Key    uint64 // memory key; the tag of a tagged send
	Offset uint64 // from the start of the region; of a tagged atomic, of the receive buffer
	Length uint32 // bytes, up to ses.MaxMessage; for a compare and swap the bytes of one operand
	Cookie uint64 // comes back with the completion and in each [Payload]

	Tagged     bool // Send and Atomic: to the receive buffer whose tag is Key
	Fetch      bool // Atomic: bring back the previous value, placed like the data of a read
	HasData    bool // HeaderData goes to the target's completion
	HeaderData uint64
	Initiator  uint32 // the local rank, without meaning to the transport

	// Swap is the operation of an Atomic, the type, and the operands of a compare and swap.
	// Other operands are the message's payload, in a byte order agreed by both hosts: the
	// specification's headers are big-endian, and no public source shows operands.
	Swap ses.CompareSwap

	// DeliveryComplete asks the target to answer only when the data is in place. An Endpoint
	// always does so; other targets may answer before.
	DeliveryComplete bool

	// Rendezvous sends only the first Eager bytes, up to Length; the peer reads the rest out
	// of Source once a buffer is there. A Payload with Message 0, the message's Cookie,
	// therefore better no region's Cookie as well, and an Address in the numbers of Source
	// asks for the bytes; for a failed message possibly even after the end.
	Rendezvous bool
	Eager      uint32
	Source     Source

	// Deferrable: without a buffer, the send waits until the peer has a buffer and asks for
	// the send. Other sends, rendezvous included, are tried again after a while, and fail in
	// the end. Never combine with Rendezvous.
	Deferrable bool
}

// A Source is the place where the receiver of a rendezvous send reads the rest: a local
// region, open while the message is in progress.
type Source struct {
	Process ses.Handle        // of the local target: of the message's job, addressed in the same way
	Index   ses.ResourceIndex // of memory; the endpoint chooses the key
	Base    uint64            // address of the message's first byte
}

// opcode is the kind of send.
func (m *Message) opcode() ses.Opcode {
	switch {
	case m.Rendezvous && m.Tagged:
		return ses.OpcodeRendezvousTSend
	case m.Rendezvous:
		return ses.OpcodeRendezvousSend
	case m.Deferrable && m.Tagged:
		return ses.OpcodeDeferrableTSend
	case m.Deferrable:
		return ses.OpcodeDeferrableSend
	case m.Tagged:
		return ses.OpcodeTaggedSend
	case m.Mode == ses.ModeUUD:
		return ses.OpcodeDatagramSend
	}
	return ses.OpcodeSend
}

// Write starts to write to a region of a peer. The packets come out of
// [Endpoint.Transmit] and the completion out of [Endpoint.Poll].
//
// After an error nothing has begun. Some errors pass: [ErrEvents] with Poll; ses.ErrFull with
// the end of any local message; pdc.ErrPaused with an [Event], see Unpaused; pdc.ErrTableFull
// with the end of a PDC. Others do not: [ErrAddress], [ses.ErrOperation], [ses.ErrTooLong] and [ses.ErrRange]. A
// lack of a PDC, or of a congestion control context for the peer, is no error: the message
// waits, and fails with [pdc.CausePending] in the end.
func (e *Endpoint) Write(now int64, m *Message) (ses.Handle, error) {
	return e.source.startOne(e.clock.read(now), m, ses.OpcodeWrite)
}

// WriteBatch is [Endpoint.Write] for each of m, with the results in h, at least as long. The first
// error ends the batch, after n messages. With thousands of PDCs the memory for messages
// whose Destination has a PDC is loaded ahead.
//
//uetcc:hot
func (e *Endpoint) WriteBatch(now int64, m []Message, h []ses.Handle) (n int, err error) {
	now, h = e.clock.read(now), h[:len(m)]
	for loaded := 1; n < len(m); {
		loaded = e.loader.prefetchWrite(m, loaded, n+1+writeAhead)
		k := e.source.startRun(now, m[n:], h[n:], ses.OpcodeWrite)
		if k == 0 {
			if h[n], err = e.source.start(now, &m[n], ses.OpcodeWrite); err != nil {
				return n, err
			}
			k = 1
		}
		n += k
	}
	return n, nil
}

// Read starts to read from a region of a peer. The caller places the data, see [Received].
// Errors as with Write.
func (e *Endpoint) Read(now int64, m *Message) (ses.Handle, error) {
	return e.source.start(e.clock.read(now), m, ses.OpcodeRead)
}

// Send starts to send to a receive queue of a peer; with mode UUD one datagram, over once
// sent, whether received or not. A rendezvous send is over when the peer has read the rest.
// Errors as with Write, for a rendezvous send also errors of [Target.Register], where ErrFull
// means Target.Regions.
//
// A send with mode ROD, not deferrable and without a buffer, disables the queue for
// everybody, so nothing overtakes the send. The peer sees a Received with Code
// [ses.RCNoMatch]; with a new buffer the peer has to call [Target.SetIndexState] as well.
func (e *Endpoint) Send(now int64, m *Message) (ses.Handle, error) {
	if m.Rendezvous && m.Deferrable { // no opcode says both
		return 0, ses.ErrOperation
	}
	return e.source.startOne(e.clock.read(now), m, m.opcode())
}

// Atomic starts an atomic operation on the memory of a peer, or, if Tagged, on the receive
// buffer with the tag. Errors as with Write.
func (e *Endpoint) Atomic(now int64, m *Message) (ses.Handle, error) {
	switch {
	case m.Tagged && m.Fetch:
		return e.source.start(e.clock.read(now), m, ses.OpcodeTSendFetchingAtomic)
	case m.Tagged:
		return e.source.start(e.clock.read(now), m, ses.OpcodeTSendAtomic)
	case m.Fetch:
		return e.source.start(e.clock.read(now), m, ses.OpcodeFetchingAtomic)
	}
	return e.source.start(e.clock.read(now), m, ses.OpcodeAtomic)
}

// Cancel gives a message up. Packets in flight are still waited for; the completion
// tells the rest. Packets of the message that leave after Cancel say that it is given up (ses.FlagIE):
// the peer does not place their bytes, so any will do. The error is ses.ErrStale.
func (e *Endpoint) Cancel(now int64, h ses.Handle) error {
	return e.source.cancel(e.clock.read(now), h)
}

func (s *source) cancel(now int64, h ses.Handle) error { return s.deny(now, h, ses.RCCancelled) }

func (s *source) deny(now int64, h ses.Handle, code ses.ReturnCode) error {
	var ev msg.Event
	if err := s.sender.Cancel(now, h, code, &ev); err != nil {
		return err
	}
	p := s.message(h).pdc
	s.conclude(now, h, &ev)
	s.refill(now, p) // the room asked for is free for others
	return nil
}

// Connect opens a PDC, or finds one, for messages like m in advance: number, first PSN and
// context are known from then on. The errors are [ErrAddress] and errors of pdc.Manager.Open,
// but pdc.ErrNoPDC stands for ErrWaiting and ErrPaused.
func (e *Endpoint) Connect(now int64, m *Message) (pdc.Handle, error) {
	now = e.clock.read(now)
	if !m.To.Address.IsValid() {
		return 0, ErrAddress
	}
	h, err := e.pds.Open(now, e.source.keyTo(m), noTicket)
	if err == pdc.ErrWaiting || err == pdc.ErrPaused {
		err = pdc.ErrNoPDC
	}
	return h, err
}

// startOne starts a message that may be of one packet.
func (s *source) startOne(now int64, m *Message, op ses.Opcode) (ses.Handle, error) {
	var h [1]ses.Handle
	if s.startRun(now, unsafe.Slice(m, 1), h[:], op) == 1 {
		return h[0], nil
	}
	return s.start(now, m, op)
}

// opsWhole are the operations that a message of one packet has nearly always.
const opsWhole = 1<<ses.OpcodeWrite | 1<<ses.OpcodeSend | 1<<ses.OpcodeTaggedSend

// startRun starts the messages at the front of m, not empty, that are of one packet each, for one PDC
// that takes the packets at once. The result is how many; 0 leaves the first to start.
//
//uetcc:hot
func (s *source) startRun(now int64, m []Message, h []ses.Handle, op ses.Opcode) (n int) {
	first := &m[0]
	to, job, mode := first.To.PDC, first.To.Job, first.Mode
	if opsWhole>>op&1 == 0 || mode > ses.ModeROD || job>>24 != 0 || int64(first.Length) > s.mtu || !s.events.room() {
		return 0
	}
	if to == 0 {
		if !first.To.Address.IsValid() {
			return 0
		}
		to = s.pds.Fast().Usable(now, s.keyTo(first))
	}
	p, most := s.pds.Fast().Room(to)
	peer := pdc.AddrFrom(first.To.Address)
	if p == nil || !p.IsFor(peer, first.To.TC, mode == ses.ModeROD, first.To.Reserved) {
		return 0
	}
	f, l := &s.flows[to.ID()], &s.leads[to.ID()]
	if f.pdc != to || f.waiting() || f.mtu != 0 {
		return 0
	}
	h = h[:max(min(len(m), most, len(s.batch.Handles), int(s.submitAhead-l.ahead), s.spare()), 0)]
	s.batch.Bytes = 0
	m = m[:len(h)]
	for i := range h {
		q := &m[i]
		d, b := &q.To, &s.batch
		if i > 0 && (q.Mode != mode || !d.isLike(&first.To)) || (uint16(d.PID)|uint16(d.Index))>>12 != 0 || int64(q.Length) > s.mtu {
			break
		}
		w, data := s.sender.Whole(mode, q.Length, q.Cookie), q.HeaderData
		if w == nil {
			break
		}
		if !q.HasData {
			data = 0
		}
		w.Address(op, msg.FlagsOf(!d.Absolute, q.DeliveryComplete, q.HasData), d.Generation, job, d.PID, d.Index)
		w.Place(q.Offset, q.Key, data, q.Initiator)
		name, size := w.Handle(), s.overhead+ses.StandardLen+int64(q.Length)
		rec := s.message(name) // zero since the end of the message before
		rec.peer, rec.total, rec.handle, rec.pdc, rec.job, rec.mode, rec.tc = peer, size, name, to, job, mode, d.TC
		rec.to(d)
		b.Handles[i], b.Sizes[i] = uint64(msg.First(name)), uint16(size)
		b.Bytes += size
		h[i], n = name, i+1
	}
	if s.batch.N = n; n != 0 {
		s.pds.Fast().SubmitBatch(now, p, &s.batch)
		l.sends = uint16(h[n-1])
		l.ahead += int16(n)
	}
	return n
}

// isLike reports whether messages to both go to the same PDC.
func (d *Destination) isLike(o *Destination) bool {
	return d.PDC == o.PDC && d.Address == o.Address && d.Job == o.Job && d.Context == o.Context && d.TC == o.TC &&
		d.Reserved == o.Reserved
}

// spare is how many messages may begin.
func (s *source) spare() int {
	return len(s.messages) - s.errandRoom - (s.sender.Messages() - s.errands)
}

//uetcc:hot
func (s *source) start(now int64, m *Message, op ses.Opcode) (ses.Handle, error) {
	switch {
	case !m.To.Address.IsValid():
		return 0, ErrAddress
	case !s.events.room():
		return 0, ErrEvents
	case s.spare() <= 0:
		return 0, ses.ErrFull
	}
	o := &s.op
	*o = msg.Operation{} // and field by field: a literal would be built on the stack and copied
	o.Opcode, o.Mode, o.Relative, o.HasData, o.DeliveryComplete = op, m.Mode, !m.To.Absolute, m.HasData, m.DeliveryComplete
	o.Job, o.PID, o.Index, o.Generation = m.To.Job, m.To.PID, m.To.Index, m.To.Generation
	o.Initiator, o.Length, o.BufferOffset, o.Key = m.Initiator, m.Length, m.Offset, m.Key
	if o.HeaderData, o.Cookie = m.HeaderData, m.Cookie; op.IsAtomic() {
		o.Swap = m.Swap
	}
	if op.IsRendezvous() {
		o.Rendezvous.EagerLength = m.Eager
	}
	rec, err := s.begin(pdc.AddrFrom(m.To.Address), m.To.TC)
	if err != nil {
		return 0, err
	}
	rec.to(&m.To)
	if op.IsRendezvous() {
		err = s.lend(rec, m)
	}
	if err == nil {
		err = s.dispatch(now, rec, m.To.PDC)
	}
	if err != nil {
		if err == pdc.ErrPaused {
			s.pause = pauseOn
		}
		_ = s.sender.Cancel(now, rec.handle, ses.RCCancelled, &msg.Event{})
		if rec.lent != 0 {
			s.takeBack(rec)
		}
		*rec = message{}
		return 0, err
	}
	return rec.handle, nil
}

// to notes the PDCs to a destination open to a message.
func (rec *message) to(d *Destination) {
	if rec.group = d.Context; d.Reserved {
		rec.flags |= msgReserved
	}
}

// keyTo is keyOf for a message to begin.
func (s *source) keyTo(m *Message) *pdc.InitiatorKey {
	rec := message{peer: pdc.AddrFrom(m.To.Address), job: m.To.Job, tc: m.To.TC, mode: m.Mode}
	rec.to(&m.To)
	return s.keyOf(&rec)
}

// keyOf returns the key of the PDCs open to a message, valid until the next call.
func (s *source) keyOf(rec *message) *pdc.InitiatorKey {
	k := &s.key
	k.Destination, k.JobID, k.TC, k.Ordered = rec.peer.Netip(), uint32(rec.job), rec.tc, rec.mode == ses.ModeROD
	k.Context, k.Reserved = rec.group, rec.flags&msgReserved != 0
	return k
}
