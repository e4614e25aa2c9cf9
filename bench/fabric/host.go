// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/hw/switchq"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// A Host has an [uetcc.Endpoint]: a Host sends and receives the endpoint's own
// packets, moves payloads from memory to memory, and starts messages.
type Host struct {
	w       *World
	s       *sim // the part of the run that it is in
	id      int
	life    int // how often it was started
	e       *uetcc.Endpoint
	process ses.Handle
	mtu     int64
	addr    pdc.Addr

	*desk
	replies []answer // what the endpoint answers, in order, and waits for the link
	first   int      // of replies
	turn    uint8    // replies sent ahead of waiting data

	waiting []*Message        // that found no room
	buffer  map[uint32]uint32 // message by the receive buffer that it is in
	counter map[uint32]uint64 // values that atomics add to, by source

	contexts map[int]ccc.Handle   // by peer, with Config.Held
	cwnd     map[pdc.Handle]int64 // with a Memory: windows as they were
}

// A desk has the packets at hand, of one host at a time: hosts of a part share a desk, which
// stays in the cache.
type desk struct {
	in, reply uetcc.Datagram
	out       [1]uetcc.Datagram
	r         uetcc.Received
	request   ses.Request
	owed      []owedBytes
}

// An answer is a packet waiting for the link.
type answer struct {
	head    []byte
	to      int
	end     end
	entropy uint16
	known   bool // end is where the packet goes
	content Content
}

// owedBytes are the bytes asked for by the endpoint.
type owedBytes struct {
	id   uetcc.AnswerID
	data []byte
}

// The indices and the job of every host.
const (
	hostJob    = 1
	memoryAt   = 0       // resource index of its memory, all of it one region with key 1
	anyAt      = 1       // of the queue of sends
	taggedAt   = 2       // of the queue of tagged and rendezvous sends
	controlTC  = 1       // traffic class of control packets; that of data is 0
	bufferBase = 1 << 60 // addresses of receive buffers begin there
)

// AddressOf is the address of a host, from 10.0.0.1 on.
func AddressOf(host int) netip.Addr {
	n := host + 1
	return netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
}

// start makes the endpoint of a host and opens the memory.
func (h *Host) start() error {
	c := h.s.cfg.endpointConfig(h.id)
	c.Now = h.s.nowNs()
	c.Seed += uint64(h.life) << 32
	e, err := uetcc.NewEndpoint(c)
	if err != nil {
		return err
	}
	h.life++
	h.e, h.mtu = e, int64(c.MTU)
	if h.mtu == 0 {
		h.mtu = 4096
	}
	h.replies, h.first, h.waiting = nil, 0, nil
	h.buffer, h.counter = map[uint32]uint32{}, map[uint32]uint64{}
	h.addr = pdc.AddrFrom(c.Address)
	h.reply.Packet = slices.Grow(h.reply.Packet[:0], e.ReplyMax())
	return h.open()
}

func (h *Host) open() (err error) {
	t := h.e.Target()
	if h.process, err = t.AddProcess(ses.Process{Job: hostJob}); err != nil {
		return err
	}
	if _, err = t.OpenIndex(0, h.process, memoryAt, ses.Index{Kind: ses.IndexMemory}); err != nil {
		return err
	}
	for _, i := range []ses.ResourceIndex{anyAt, taggedAt} {
		if _, err = t.OpenIndex(0, h.process, i, ses.Index{Kind: ses.IndexQueue, Job: ses.AnyJob}); err != nil {
			return err
		}
	}
	_, err = t.Register(h.process, memoryAt, ses.Region{
		Length: 1 << 62, Key: 1, Job: ses.AnyJob, Rights: ses.RightRead | ses.RightWrite | ses.RightAtomic, Idempotent: true,
	})
	return err
}

// Endpoint is the endpoint at work; nil while the host is dead.
func (h *Host) Endpoint() *uetcc.Endpoint { return h.e }

// Kill takes the endpoint away without a word, with the memory and the messages in progress.
func (h *Host) Kill() {
	h.e, h.replies, h.first, h.waiting = nil, nil, 0, nil
	for _, m := range h.w.messages {
		if m.Src == h.id && m.Ended < 0 {
			h.giveUp(m, errDead)
		}
	}
}

var errDead = errors.New("fabric: its host is dead")

// Restart puts a new endpoint with the same address in the place of the killed endpoint.
// Unfinished messages posted to the host find their buffers again.
func (h *Host) Restart() error {
	if err := h.start(); err != nil {
		return err
	}
	for _, m := range h.w.messages {
		if m.Dst == h.id && m.Ended < 0 {
			h.expect(m)
		}
	}
	endpoints{h.s}.watch(uint32(h.id))
	return nil
}

func (h *Host) now() int64 { return h.s.nowNs() }

// expect posts the buffer for a message to come.
func (h *Host) expect(m *Message) {
	if h.e == nil {
		return
	}
	at, buf := ses.ResourceIndex(anyAt), ses.Receive{
		Base: bufferBase | uint64(m.id)<<32, Length: uint32(m.Size), Cookie: uint64(m.id) + 1, Match: uint64(m.id),
	}
	switch m.Op {
	case OpSend:
		buf.Ignore, buf.Length = ^uint64(0), ses.MaxMessage // whichever comes
	case OpTagged, OpRendezvous:
		at = taggedAt
	default:
		return
	}
	if _, err := h.e.Target().PostReceive(h.process, at, buf); err != nil {
		m.Err = fmt.Errorf("receive buffer at host %d: %w", h.id, err)
	}
}

// begin starts a message of the host.
func (h *Host) begin(m *Message) {
	if h.e == nil || m.Err != nil {
		h.giveUp(m, errDead)
		return
	}
	var err error
	m.Handle, err = h.submit(m)
	switch {
	case err == nil:
	case errors.Is(err, uetcc.ErrEvents), errors.Is(err, ses.ErrFull), errors.Is(err, pdc.ErrPaused), errors.Is(err, pdc.ErrTableFull):
		h.waiting = append(h.waiting, m)
	default:
		h.giveUp(m, err)
	}
	h.stir()
}

// giveUp ends a message impossible to start.
func (h *Host) giveUp(m *Message, err error) {
	if m.Err == nil {
		m.Err = err
	}
	h.end(m)
}

// submit hands a message to the endpoint.
func (h *Host) submit(m *Message) (ses.Handle, error) {
	u := uetcc.Message{
		To:     uetcc.Destination{Address: AddressOf(m.Dst), Job: hostJob, Context: m.Context},
		Length: uint32(m.Size), Cookie: uint64(m.id) + 1, Initiator: m.id, Key: 1, Offset: uint64(m.id) << 32,
	}
	if m.Ordered {
		u.Mode = ses.ModeROD
	}
	switch m.Op {
	case OpRead:
		return h.e.Read(h.now(), &u)
	case OpSend:
		u.To.Index, u.Key, u.Offset = anyAt, 0, 0
		return h.e.Send(h.now(), &u)
	case OpTagged, OpRendezvous:
		u.To.Index, u.Key, u.Offset, u.Tagged = taggedAt, uint64(m.id), 0, true
		if m.Op == OpRendezvous {
			u.Rendezvous, u.Eager = true, uint32(min(m.Size, h.mtu))
			u.Source = uetcc.Source{Process: h.process, Index: memoryAt, Base: uint64(m.id) << 32}
		}
		return h.e.Send(h.now(), &u)
	case OpAtomic:
		u.Length, u.Fetch, u.Offset = 8, true, uint64(h.id)<<32
		u.Swap.Opcode, u.Swap.Type = ses.AtomicSum, ses.TypeUint64
		return h.e.Atomic(h.now(), &u)
	}
	return h.e.Write(h.now(), &u)
}

// stir sends packets that may go now.
func (h *Host) stir() {
	h.s.kick(uint32(h.id))
}

// receive takes in a packet. Frame and bytes are the caller's again afterwards.
func (h *Host) receive(f *Frame) {
	if h.e == nil {
		return
	}
	// An endpoint reads headers alone: the room of the payload keeps its old bytes.
	h.in.Packet = f.Bytes[:len(f.Bytes)+int(f.Content.Length)]
	h.in.Src, h.in.CE, h.in.State = pdc.AddrFrom(AddressOf(f.Host)), f.CE, f.State
	h.in.Dst, h.in.Trimmed = h.addr, trimmedBy(f.DSCP)
	h.e.Receive(h.now(), &h.in, &h.reply, &h.r)
	if h.r.Err == pdc.ErrDuplicate {
		h.s.count.Duplicates++
	}
	h.obey(f)
	h.queue(f)
	for _, o := range h.owed {
		if h.e.Answer(h.now(), o.id, o.data, &h.reply) == nil {
			h.queue(f)
		}
	}
	h.owed = h.owed[:0]
	h.poll()
	if s := h.s; s.cfg.Context != nil || s.cfg.Held || s.series != nil || s.mem != nil {
		h.watch()
	}
}

// trimmedBy is the place where a packet was trimmed, 0 for a whole packet.
func trimmedBy(d switchq.DSCP) pds.NackCode {
	switch d {
	case switchq.DSCPTrimmed:
		return pds.NackTrimmed
	case switchq.DSCPTrimmedLastHop:
		return pds.NackTrimmedLastHop
	}
	return 0
}

// queue has a reply to f wait for the link.
func (h *Host) queue(f *Frame) {
	if len(h.reply.Packet) == 0 {
		return
	}
	if h.first == len(h.replies) {
		h.replies, h.first = h.replies[:0], 0
	}
	if len(h.replies) < cap(h.replies) {
		h.replies = h.replies[:len(h.replies)+1]
	} else {
		h.replies = append(h.replies, answer{})
	}
	a := &h.replies[len(h.replies)-1]
	a.head, a.to, a.entropy, a.content = append(a.head[:0], h.reply.Packet...), hostAt(h.reply.Dst), f.Entropy, contentOf(&h.reply.Payload)
	a.end, a.known = f.back, a.to == f.Host
}

// hostAt is the host with an address.
func hostAt(a pdc.Addr) int { return int(a.Lo&0xffffff) - 1 }

// contentOf is the content of a payload: of the payload's message, or of the message that
// reads the payload. The operands of atomics are treated elsewhere.
func contentOf(p *uetcc.Payload) Content {
	if p.Length == 0 {
		return Content{}
	}
	if p.Message != 0 {
		return Content{uint32(p.Cookie - 1), p.Offset, p.Length}
	}
	return Content{uint32(p.Address >> 32), uint32(p.Address), p.Length}
}

// transmit describes the next packet to send in f, whose Bytes are empty and have room for 256;
// false: none. Replies go first, but not for long while data waits.
func (h *Host) transmit(paused bool, f *Frame) bool {
	if h.e == nil {
		return false
	}
	if h.first < len(h.replies) && h.w.s.cfg.HostQueue.mayAnswer(h.turn) {
		h.turn = min(h.turn+1, answersPerData)
		return h.sendReply(f)
	}
	h.turn = 0
	h.out[0].Packet = f.Bytes
	if !paused && h.e.TransmitBatch(h.now(), h.out[:]) == 1 {
		h.describe(f)
		return true
	}
	return h.first < len(h.replies) && h.sendReply(f)
}

func (h *Host) sendReply(f *Frame) bool {
	a := &h.replies[h.first]
	h.first++
	f.Host, f.Bytes, f.Content, f.Entropy, f.DSCP = a.to, append(f.Bytes, a.head...), a.content, a.entropy, switchq.DSCPControl
	f.Size, f.back, f.answer = int64(overhead+len(f.Bytes)+int(a.content.Length)), a.end, a.known
	return true
}

// describe makes a frame of the endpoint's next packet.
func (h *Host) describe(f *Frame) {
	o := &h.out[0]
	f.Host, f.Bytes, f.Content, f.Entropy, f.Retx = hostAt(o.Dst), o.Packet, contentOf(&o.Payload), o.Entropy, o.Retx
	if o.Payload.Message != 0 && o.Payload.Length == uint32(len(atomicOne)) && h.w.messages[o.Payload.Cookie-1].Op == OpAtomic {
		f.Content.Message |= atomicContent
	}
	f.Size = int64(overhead + len(f.Bytes) + int(o.Payload.Length))
	switch {
	case o.TC == controlTC:
		f.DSCP = switchq.DSCPControl
	case h.s.cfg.NoTrim || pds.Type(o.Packet[0]>>3) == pds.TypeCP:
		f.DSCP = switchq.DSCPNoTrim
	case o.Retx:
		f.DSCP = switchq.DSCPTrimmableRTX
	default:
		f.DSCP = switchq.DSCPTrimmable
	}
}

// deadline is when to call tick, ps; never: nothing waits for time to pass.
func (h *Host) deadline() int64 {
	if h.e == nil {
		return never
	}
	at, ok := h.e.NextDeadline()
	if !ok {
		return never
	}
	return at * int64(link.Nanosecond)
}

// tick does the work due. An early call does no harm.
func (h *Host) tick() {
	if h.e != nil {
		h.e.Tick(h.now())
		h.poll()
	}
}

// obey does the endpoint's wishes for the packet received.
func (h *Host) obey(f *Frame) {
	r := &h.r
	switch r.Action {
	case ses.ActionPlace:
		h.place(f, f.payload(r.Payload, r.Length))
	case ses.ActionAtomic:
		source := uint32(r.Address >> 32)
		before := h.counter[source]
		h.counter[source] = before + binary.BigEndian.Uint64(f.payload(r.Payload, 8))
		if r.Answer != 0 {
			h.owed = append(h.owed, owedBytes{r.Answer, binary.BigEndian.AppendUint64(nil, before)})
		}
		if _, err := h.request.Decode(r.Form, f.Bytes[r.Header:]); err == nil && int(h.request.Initiator) < len(h.w.messages) {
			h.arrived(h.w.messages[h.request.Initiator])
		}
	case ses.ActionRead:
		if r.Answer != 0 {
			h.owed = append(h.owed, owedBytes{r.Answer, Content{uint32(r.Address >> 32), uint32(r.Address), r.Length}.bytes()})
		}
	}
}

// place puts bytes where the endpoint says.
func (h *Host) place(f *Frame, data []byte) {
	r, w := &h.r, h.w
	if r.Message != 0 {
		m := w.messages[r.Cookie-1]
		if m.Op == OpAtomic {
			m.Before = binary.BigEndian.Uint64(data)
			return
		}
		m.land.store(r.Offset, data)
		return
	}
	id, at := uint32(r.Address>>32)&^(bufferBase>>32), uint32(r.Address)
	if r.Address&bufferBase != 0 {
		id = h.owner(f, id)
	}
	if int(id) >= len(w.messages) {
		return
	}
	m := w.messages[id]
	m.land.store(at, data)
	if r.Complete && (m.Op != OpRendezvous || m.land.placed == m.Size) {
		h.arrived(m)
	}
}

// owner is the message in a receive buffer, as the last packet with a header says: a send that begins anew with smaller
// packets gives its buffer back, for another send.
func (h *Host) owner(f *Frame, buf uint32) uint32 {
	if h.r.Form == pds.NextNone {
		return h.buffer[buf]
	}
	if _, err := h.request.Decode(h.r.Form, f.Bytes[h.r.Header:]); err != nil {
		return ^uint32(0)
	}
	h.buffer[buf] = h.request.Initiator
	return h.request.Initiator
}

// poll takes the ends of messages, and starts messages that waited for room.
func (h *Host) poll() {
	any := false
	for ev, ok := h.e.Poll(); ok; ev, ok = h.e.Poll() {
		any = true
		switch {
		case ev.Received:
			h.received(&ev)
		case !ev.Unpaused:
			m := h.w.messages[ev.Cookie-1]
			m.Event = ev
			if m.Op == OpRead && ev.Outcome.Status == ses.StatusOK {
				h.arrived(m)
			}
			h.end(m)
		}
	}
	if any && len(h.waiting) > 0 {
		again := h.waiting
		h.waiting = nil
		for i, m := range again {
			if h.begin(m); len(h.waiting) > 0 { // the others would not find room either
				h.waiting = append(h.waiting, again[i+1:]...)
				return
			}
		}
	}
}

// received takes the end of a message of a peer.
func (h *Host) received(ev *uetcc.Event) {
	if id, ok := h.buffer[uint32(ev.Cookie-1)]; ok && ev.Outcome.Status == ses.StatusOK {
		h.arrived(h.w.messages[id])
	}
}
