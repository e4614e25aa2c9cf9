// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/msg"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/internal/prefetch"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/rccc"
)

// batchMost is for how many packets at a time lines are prefetched.
const batchMost = 32

// scattered is the least number of PDCs worth prefetching for a single acknowledgement: a
// second-level cache does not hold the state of so many.
const scattered = 1 << 12

// writeAhead is how many messages ahead WriteBatch loads.
const writeAhead = 3

// Prefetch begins to load the memory for a batch of received packets, so the cache misses
// overlap; call [Endpoint.Receive] for each afterwards. Worth it with a thousand PDCs and
// more, on amd64 and arm64: elsewhere, and with the build tag purego, Prefetch does nothing.
//
//uetcc:hot
func (e *Endpoint) Prefetch(in []Datagram) {
	if prefetch.Enabled {
		e.loader.load(in)
	}
}

// load is Prefetch where the processor can prefetch.
func (l *loader) load(in []Datagram) {
	all, n := 0, len(in)
	if n == 1 {
		all, in = l.prefetchSingle(in[0].Packet), nil
	}
	for ; len(in) > 0; in = in[min(len(in), batchMost):] {
		all += l.prefetchBatch(in[:min(len(in), batchMost)])
	}
	l.prefetched, l.requested = max(l.prefetched, all), max(l.requested, n-all)
}

// prefetchBatch is Prefetch of up to batchMost packets. The result is the number of packets
// other than requests.
//
//uetcc:hot
func (l *loader) prefetchBatch(in []Datagram) int {
	var ids [batchMost]pds.PDCID // of PDCs that send, and from the end on those that ask for credit
	k, known, asks := 0, 0, batchMost
	for i := range in {
		id, request := l.named(in[i].Packet)
		if request {
			if l.prefetchRequest(id); l.credit != nil {
				asks--
				ids[asks%batchMost] = id
			}
		} else if k++; id != 0 {
			ids[known%batchMost] = id
			known++
		}
	}
	for _, id := range ids[asks:] {
		l.prefetchDemand(id)
	}
	l.prefetchSenders(ids[:known])
	l.prefetchSenders(l.pds.Fast().Upcoming(k))
	return k
}

// prefetchSingle is prefetchBatch of a single packet.
func (l *loader) prefetchSingle(b []byte) int {
	id, request := l.named(b)
	if request {
		if l.prefetchRequest(id); l.credit != nil {
			l.prefetchDemand(id)
		}
		return 0
	}
	if id != 0 {
		l.prefetchPDC(id)
		l.prefetchRest(id)
	}
	for _, next := range l.pds.Fast().Upcoming(1) {
		if next != id {
			l.prefetchPDC(next)
			l.prefetchRest(next)
		}
	}
	return 1
}

// prefetchRequest begins to load what the number of a PDC leads to on the way of a request.
func (l *loader) prefetchRequest(id pds.PDCID) {
	_, peer := l.pds.Fast().Lines(uint16(id))
	message := l.target.Line(uint16(id))
	asker := message
	if l.credit != nil {
		asker = uintptr(unsafe.Pointer(&l.credit.askers[id]))
	}
	prefetch.Lines(peer, peer, message, asker)
}

// prefetchDemand begins to load the sender that a request on a PDC asks for credit for. The asker
// of the PDC is read.
func (l *loader) prefetchDemand(id pds.PDCID) {
	line := l.credit.recv.Senders().Line(l.credit.askers[id].sender.Slot())
	prefetch.Lines(line, line, line, line)
}

// prefetchOne begins to load the memory for a request outside a batch that asks for credit.
func (l *loader) prefetchOne(id pds.PDCID) {
	l.requested++
	if int(id) < len(l.flows) {
		l.prefetchRequest(id)
		l.prefetchDemand(id)
	}
}

// prefetchGrants begins to load what the next grant needs, and the sender of the grant after.
func (l *loader) prefetchGrants() {
	t := l.credit.recv.Senders()
	next, ok := t.Head(rccc.ListActive)
	if !ok || l.prefetched > math.MaxInt/2 {
		return
	}
	later := t.Line(t.After(next))
	peer, local := l.pds.Fast().EndLines(uint16(l.credit.pdcs[next].ID()))
	prefetch.Lines(peer, local, later, later)
}

// prefetchACK begins to load the memory for an acknowledgement outside a batch. The cache
// misses overlap then; otherwise each is met only when the work before is done.
//
//uetcc:hot
func (l *loader) prefetchACK(b []byte) {
	l.prefetched++
	id, _ := l.named(b)
	l.prefetchPDC(id)
	l.prefetchRest(id)
}

// prefetchSenders begins to load the memory for acknowledgements for the given PDCs, and for
// the packets released; or for PDCs next in line to send.
//
//uetcc:hot
func (l *loader) prefetchSenders(ids []pds.PDCID) {
	for _, id := range ids {
		l.prefetchPDC(id)
	}
	for _, id := range ids {
		l.prefetchRest(id)
	}
}

// prefetchPDC begins to load what the number of a PDC leads to: the PDC, its context, and the
// message that the flow handed over last, to which nearly always the packets sent and
// acknowledged belong. The flow has a line to itself, for the case that others are to follow.
//
//uetcc:hot
func (l *loader) prefetchPDC(id pds.PDCID) {
	send, peer := l.pds.Fast().Lines(uint16(id))
	lead := l.source.leads[id]
	message := l.source.sender.Line(lead.sends)
	flow := message
	if lead.ahead <= submitLow+few {
		flow = uintptr(unsafe.Pointer(&l.flows[id]))
	}
	prefetch.Lines(send, peer, message, flow)
	prefetch.Lines(l.cc.ContextLines(uint16(id)))
}

// prefetchWrite begins to load the memory for m[from:end], as far as there are so many, and returns
// where to go on.
//
//uetcc:hot
func (l *loader) prefetchWrite(m []Message, from, end int) int {
	if l.prefetched > math.MaxInt/2 { // few PDCs
		return from
	}
	for ; from < min(end, len(m)); from++ {
		id := uint16(m[from].To.PDC.ID())
		if id == 0 || int(id) >= len(l.flows) {
			continue
		}
		send, peer := l.pds.Fast().Lines(id)
		unsubmitted, ring := l.pds.Fast().SubmitLines(id)
		prefetch.Lines(send, peer, unsubmitted, ring)
		prefetch.Lines(l.cc.ContextLines(id))
		prefetch.Lines(ring+prefetch.Line, ring+prefetch.Line, ring+prefetch.Line, uintptr(unsafe.Pointer(&l.flows[id])))
	}
	return from
}

// prefetchRest begins to load the records that the PDC's lines lead to, those of the packet
// acknowledged next and of the packet sent next, and the memory for packets handed over then.
//
//uetcc:hot
func (l *loader) prefetchRest(id pds.PDCID) {
	prefetch.Lines(l.pds.Fast().PacketLines(uint16(id)))
	if lead := l.source.leads[id]; lead.ahead <= submitLow+few {
		if i := l.flows[id].messages.Head; i != 0 {
			unsubmitted, _ := l.pds.Fast().SubmitLines(uint16(id))
			prefetch.Lines(unsubmitted, l.pds.Fast().RowLine(uint16(id)), uintptr(unsafe.Pointer(&l.source.messages[i-1].left)), l.source.sender.Line(lead.sends)+prefetch.Line)
		}
	}
}

// named reads the dpdcid of a request or an acknowledgement, and whether b is a request. A
// PDCID out of range becomes 0, nobody's.
func (l *loader) named(b []byte) (id pds.PDCID, request bool) {
	if len(b) < pds.RequestLen {
		return 0, false
	}
	if id = pds.PDCID(binary.BigEndian.Uint16(b[10:])); int(id) >= len(l.flows) {
		id = 0
	}
	return id, pds.Type(b[0] >> 3).IsRequest()
}

// A loader has the cache lines for coming packets under way.
type loader struct {
	pds    *pdc.Manager
	cc     *ccc.Manager
	target *msg.Target
	flows  []flow
	source *source
	credit *creditor

	prefetched int // number of next acknowledgements without need of prefetchACK; with few PDCs all
	requested  int // likewise of requests and prefetchOne
	ahead      ahead
}

// aheadBy is the distance in packets from the first stage of an ahead to the second, and
// from the second to the packet. 3 was fastest; 2 and 4 took 3 % more.
const aheadBy = 3

// aheadLeast is the least number of packets worth an ahead.
const aheadLeast = 4

// An ahead is a software pipeline over the acknowledgements of a batch: while a packet is
// taken in, the cache lines for later packets are under way, so computing overlaps with
// waiting for memory. ([Endpoint.Prefetch] overlaps only the waits with each other.) The
// lines of a packet are found in two stages: the lines of prefetchPDC have the addresses
// for prefetchRest, aheadBy packets later. All lines have to be covered: a single missing
// line costs nearly as much as all.
type ahead struct {
	ids  [batchMost + 2*aheadBy]pds.PDCID // PDCs, from aheadBy on; the others are 0, nobody's
	next int                              // next step: the first stage of one packet, the second of an earlier one
	end  int                              // steps in all
}

// lookAhead begins to load the lines for the first packets of in, at most batchMost, and
// returns the number of packets covered. Meanwhile up to room packets may be sent.
//
//uetcc:hot
func (l *loader) lookAhead(in []Datagram, room int) int {
	in = in[:min(len(in), batchMost)]
	if l.prefetched >= len(in) {
		return len(in)
	}
	if len(in) < aheadLeast || !l.setAhead(in) {
		l.load(in)
		return len(in)
	}
	l.prefetched = len(in)
	l.prefetchSenders(l.pds.Fast().Upcoming(min(len(in), room)))
	l.loadAhead(2 * aheadBy)
	return len(in)
}

// setAhead begins an ahead for the packets; false if any is a request.
//
//uetcc:hot
func (l *loader) setAhead(in []Datagram) bool {
	a := &l.ahead
	a.ids = [len(a.ids)]pds.PDCID{}
	for i := range in {
		id, request := l.named(in[i].Packet)
		if request {
			return false
		}
		a.ids[(aheadBy+i)%len(a.ids)] = id
	}
	a.next, a.end = 0, len(in)+aheadBy
	return true
}

// loadAhead makes n steps, or as many as are left.
//
//uetcc:hot
func (l *loader) loadAhead(n int) {
	a := &l.ahead
	for n = min(n, a.end-a.next); n > 0; n-- {
		ids := (*[aheadBy + 1]pds.PDCID)(a.ids[a.next:])
		l.prefetchPDC(ids[aheadBy])
		l.prefetchRest(ids[0])
		a.next++
	}
}
