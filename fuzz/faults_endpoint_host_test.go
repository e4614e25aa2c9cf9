// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// What the host of an endpoint opens to others, and what it asks of them.

const (
	endpointMTU       = 1024
	endpointSlot      = 1 << 21 // bytes of address space that each message has to itself
	endpointBuffers   = 1 << 44 // address of the first receive buffer
	endpointCells     = 1 << 45 // address of the cells that atomics work on
	endpointCellCount = 16      // of which the upper half is for compare and swap
	endpointTags      = 3

	indexMemory = ses.ResourceIndex(0) // key 1: one slot for each message; key 2: the cells
	indexQueue  = ses.ResourceIndex(1)
	indexTagged = ses.ResourceIndex(2)
)

// pdcID lets settings count in ints.
type pdcID = pds.PDCID

// openMemory lets peers at the memory. The engine never touches it, so there is
// none but the cells.
func (e *endpointEnd) openMemory() {
	t := e.e.Target()
	e.process = must(t.AddProcess(ses.Process{Job: 1}))
	must(t.OpenIndex(e.clock.now, e.process, indexMemory, ses.Index{}))
	for _, q := range []ses.ResourceIndex{indexQueue, indexTagged} {
		must(t.OpenIndex(e.clock.now, e.process, q, ses.Index{Kind: ses.IndexQueue, Job: ses.AnyJob}))
	}
	must(t.Register(e.process, indexMemory, ses.Region{Base: endpointCells, Length: 8 * endpointCellCount, Key: 2, Job: ses.AnyJob, Rights: ses.RightAtomic}))
	e.region = 0
	e.expose()
}

func (e *endpointEnd) expose() {
	if e.region == 0 {
		e.region = must(e.e.Target().Register(e.process, indexMemory,
			ses.Region{Length: 1 << 43, Key: 1, Job: 1, Rights: ses.RightRead | ses.RightWrite, Idempotent: true}))
	}
}

// withdraw closes the memory, or opens it again.
func (e *endpointEnd) withdraw() {
	if e.region == 0 {
		e.expose()
		return
	}
	if err := e.e.Target().Withdraw(e.region); err != nil {
		e.w.failf("Withdraw: %v", err)
	}
	e.region = 0
}

// endpointBuffer is a receive buffer.
type endpointBuffer struct {
	handle ses.Handle
	length uint32
	kind   uint8  // 0 for any message, else for those with this tag
	user   uint64 // message that it serves, plus 1
	posted bool   // and not matched
	done   bool   // back with the host
}

func (e *endpointEnd) base(b uint64) uint64 { return endpointBuffers + b*endpointSlot }

// restock posts receive buffers, so that there are some of each kind.
func (e *endpointEnd) restock() {
	w := e.w
	if w.net.Healed() {
		e.expose()
	}
	for kind := range e.stock {
		for e.stock[kind] < 3 {
			e.post(uint8(kind))
		}
	}
	// A queue that an ordered send found empty waits for this.
	for _, q := range []ses.ResourceIndex{indexQueue, indexTagged} {
		if err := e.e.Target().SetIndexState(e.process, q, ses.IndexEnabled); err != nil {
			w.failf("SetIndexState: %v", err)
		}
	}
}

func (e *endpointEnd) post(kind uint8) {
	w := e.w
	b := uint64(len(e.buffers))
	x := endpointBuffer{length: endpointSlot, kind: kind, posted: true}
	if w.net.Chance(w.s.short) {
		x.length = 1 + uint32(w.net.Rand.IntN(5000))
	}
	q, r := indexQueue, ses.Receive{Base: e.base(b), Length: x.length, Ignore: ^uint64(0), Cookie: b + 1}
	if kind > 0 {
		q, r.Ignore, r.Match = indexTagged, 0, uint64(kind)
	}
	x.handle = must(e.e.Target().PostReceive(e.process, q, r))
	e.stock[kind]++
	e.buffers = append(e.buffers, x)
}

// takeBack cancels all receive buffers that no message has matched.
func (e *endpointEnd) takeBack() {
	for i := range e.buffers {
		b := &e.buffers[i]
		if !b.posted {
			continue
		}
		if err := e.e.Target().CancelReceive(b.handle); err != nil {
			e.w.failf("CancelReceive: %v", err)
		}
		b.posted, b.done = false, true
		e.stock[b.kind]--
	}
}

// match follows a packet of message n into the buffer that the endpoint chose.
func (e *endpointEnd) match(n uint64, r *uetcc.Received) *endpointBuffer {
	w := e.w
	m := &w.messages[n]
	if r.Cookie == 0 || r.Cookie > uint64(len(e.buffers)) {
		w.failf("E6: message %d in buffer %d, which there is not", n, r.Cookie)
	}
	b := &e.buffers[r.Cookie-1]
	// What nothing is known about may have taken a buffer, and given it back when a length was mangled.
	if b.posted || b.user == 0 && w.weak(e.place, e.place) {
		if b.user = n + 1; b.posted {
			b.posted = false
			e.stock[b.kind]--
		}
		if m.reliable() && m.buffer != 0 {
			w.failf("message %d in buffers %d and %d", n, m.buffer, r.Cookie)
		}
		m.buffer = int32(r.Cookie)
	}
	tag := uint8(0)
	if m.op() == opTagged {
		tag = m.tag()
	}
	if b.user != n+1 || b.done || b.kind != tag || r.Address != e.base(r.Cookie-1)+min(uint64(r.Offset), uint64(b.length)) {
		w.failf("message %d (%v) at %#x, in buffer %d: %+v", n, endpointKinds[m.kind], r.Address, r.Cookie, b)
	}
	return b
}

// takes reports whether what nothing is known about goes to a receive buffer that the endpoint has, which
// serves it from then on.
func (e *endpointEnd) takes(r *uetcc.Received) bool {
	if r.Cookie == 0 || r.Cookie > uint64(len(e.buffers)) {
		return false
	}
	b, base := &e.buffers[r.Cookie-1], e.base(r.Cookie-1)
	if b.posted {
		b.posted = false
		e.stock[b.kind]--
	}
	return b.user == 0 && !b.done && r.Address >= base && r.Address+uint64(r.Length) <= base+uint64(b.length)
}

func (m *endpointMessage) tag() uint8 { return 1 + m.cell%endpointTags }

// finishBuffer gives the buffer of a message that is whole back to the host.
func (e *endpointEnd) finishBuffer(m *endpointMessage) {
	if !m.queued() {
		return
	}
	b := &e.buffers[m.buffer-1]
	b.done = true
	if b.length < m.length {
		e.w.trouble[troubleShort]++
	}
}

// dropBuffer gives the buffer of a message that was given up, or lost its PDC, back
// to the host. The cookie of memory is 0.
func (e *endpointEnd) dropBuffer(cookie uint64) {
	if cookie == 0 || e.w.weak(e.place, e.place) {
		return
	}
	b := &e.buffers[cookie-1]
	if b.posted || b.done {
		e.w.failf("buffer %d comes back, and was %+v", cookie, b)
	}
	b.done = true
	if b.user != 0 { // else it was too short for a byte
		e.w.messages[b.user-1].buffer = 0
	}
}

// draw chooses what to do next.
func (e *endpointEnd) draw() uint8 {
	w, r := e.w, e.w.net.Rand
	for {
		k := uint8(r.IntN(len(endpointKinds)))
		switch endpointKinds[k].mode {
		case ses.ModeRUD:
			if !w.net.Chance(w.s.ordered) {
				return k
			}
		case ses.ModeROD:
			if w.net.Chance(w.s.ordered) {
				return k
			}
		default:
			if w.s.ordered < 1 || r.IntN(8) == 0 {
				return k
			}
		}
	}
}

// drawTarget chooses whom to do it to; sometimes the peer that lies.
func (e *endpointEnd) drawTarget() int8 {
	w, r := e.w, e.w.net.Rand
	if w.s.liar && r.IntN(8) == 0 {
		return int8(w.drop)
	}
	to := r.IntN(len(w.ends) - 1)
	if to >= e.place {
		to++
	}
	return int8(to)
}

func (e *endpointEnd) drawLength() uint32 {
	w, r := e.w, e.w.net.Rand
	if w.s.large && r.IntN(16) == 0 {
		return 1 << 20
	}
	return [...]uint32{0, 1, endpointMTU - 1, endpointMTU, endpointMTU + 1, 4000, 16 << 10, 50_000}[r.IntN(8)]
}

// message is message n as an application asks for it.
func (e *endpointEnd) message(n uint64, m *endpointMessage) (o uetcc.Message, start func(int64, *uetcc.Message) (ses.Handle, error)) {
	o = uetcc.Message{To: uetcc.Destination{Address: faultAddr(int(m.to)), Job: 1}, Mode: m.mode(), Key: 1, Offset: n * endpointSlot, Cookie: n,
		Initiator: uint32(n), HasData: m.data, HeaderData: headerData(n)}
	start = e.e.Write
	switch m.op() {
	case opRead:
		start = e.e.Read
	case opSend, opDatagram:
		o.To.Index, o.Key, o.Offset, start = indexQueue, 0, 0, e.e.Send
	case opTagged:
		o.To.Index, o.Key, o.Offset, o.Tagged, start = indexTagged, uint64(m.tag()), 0, true, e.e.Send
	case opAtomic, opFetch, opSwap:
		e.atomic(n, m, &o)
		start = e.e.Atomic
	}
	if m.op() == opDatagram {
		m.length = min(m.length, endpointMTU)
	}
	o.Length = m.length
	return o, start
}

func (e *endpointEnd) atomic(n uint64, m *endpointMessage, o *uetcc.Message) {
	m.length, m.cell = 8, m.cell%(endpointCellCount/2)
	o.Fetch = m.op() != opAtomic
	o.Swap.Atomic = ses.Atomic{Opcode: ses.AtomicSum, Type: ses.TypeUint64}
	if m.op() == opSwap {
		m.cell += endpointCellCount / 2
		o.Swap.Opcode, o.Swap.Swap.Lo = ses.AtomicSwapEqual, n+1
		if int(m.to) < len(e.w.ends) { // half of them find what they expect, as things stand now
			o.Swap.Compare.Lo = e.w.ends[m.to].cells[m.cell] + uint64(e.w.net.Rand.IntN(2))
		}
	}
	o.Key, o.Offset = 2, 8*uint64(m.cell)
}
