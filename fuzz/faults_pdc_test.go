// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"encoding/binary"
	"errors"
	"math"
	"net/netip"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/fuzz/internal/faultnet"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
)

// faultRecord is the truth about one packet of the layer above, requests and return
// data alike. Handles are places in the world's list, plus one.
type faultRecord struct {
	stream, index int32 // of its direction of a PDC, from 0
	src, to       int8
	life, rxLife  int16 // of the sender, and of the receiver that executed it last
	msg           *faultMessage
	size          uint16
	execs         uint16 // in rxLife
	ever          uint16 // in any life
	outcome       pdc.EventKind
	read          bool // asks for data
	data          bool // is that data
	guaranteed    bool // answered so
	seen          bool // the answer arrived
	gone          bool // its sender has lost its memory
}

// faultStream is one direction of one PDC.
type faultStream struct {
	sent   int32 // packets submitted
	rx     pdc.Handle
	rxLife int16
	rxNext int32 // of an ordered one: the index that is to be delivered next
}

// faultMessage is a message under way at its initiator.
type faultMessage struct {
	ticket  uint64
	to      int
	job     uint32
	packets int
	next    int
	pdc     pdc.Handle
	waiting bool // for a PDC
	again   bool // it has lost one before it began
	begun   bool
	read    bool
	locked  bool
	got     int   // packets of read data
	until   int64 // when a read is given up
	left    int64 // announced and not submitted
}

// faultAnswer is an answer that takes time.
type faultAnswer struct {
	at     int64
	id     pdc.RxID
	handle uint64
}

// faultKept is a request that was buffered.
type faultKept struct {
	id   pdc.RxID
	body [faultHeaderBytes]byte
}

// faultReturn is a packet of read data that waits for room on its PDC.
type faultReturn struct {
	pdc    pdc.Handle
	handle uint64
}

// pdcWorld is a run with PDS managers.
type pdcWorld struct {
	faultWorld
	s       *faultSetting
	seed    uint64
	ends    []*pdcEnd
	recs    []faultRecord
	streams []faultStream
	rudi    []faultRUDI
}

// pdcEnd is a PDS manager with a layer above that knows what ought to happen.
type pdcEnd struct {
	w     *pdcWorld
	place int
	life  int16
	addr  netip.Addr
	self  pdc.Addr
	m     *tapedManager
	build func() *pdc.Manager // makes another one like m
	cc    *ccc.Manager
	ctxs  *ccc.Table
	table *pdc.Table
	clock faultClock

	budget   int // packets still to begin
	tickets  uint64
	messages []*faultMessage
	late     []faultAnswer
	held     []faultKept // by buffer: requests that wait for their turn
	waits    int64       // until then the layer above does not look at them
	returns  []faultReturn
	tx, rx   []faultLink // by PDCID
	seen     []faultSeen // by PDCID
	used     []bool      // by PDCID, in this life
	answers  uint64      // sent to what came
	delayed  uint64      // answers given later
	asked    uint64      // credit sent to who asked
	rudiOpen int         // RUDI packets without an outcome
	leaps    int         // of its clock
	shadow   *faultShadow
	limits   *faultLimits
	grants   []faultGrant // by place
	buf      [10_000]byte
	chunks   int
}

// faultLink ties a PDC to a stream, as long as its handle is the same.
type faultLink struct {
	h      pdc.Handle
	stream int32
}

type faultSeen struct {
	h    pdc.Handle
	info pdc.Info
}

const (
	faultRTO      = 200 * us
	faultNackRetx = 60 * us
	faultNacks    = 12 // Max_NACK_Retx_Cnt where there is one
	faultMTU      = 4200
)

const faultHeaderBytes = 16 // what stands for the semantic header: the handle, and a check of it

var errFaultGarbage = errors.New("handle and check do not fit")

func faultCheck(h uint64) uint64 { return h*0x9e3779b97f4a7c15 ^ 0x55 }

func newPDCWorld(s *faultSetting, seed uint64, places int) *pdcWorld {
	n := places
	if s.liar || s.hoarder {
		n++
	}
	w := &pdcWorld{faultWorld: newFaultWorld(n, seed, s.plan), s: s, seed: seed}
	w.beginAnywhere()
	for i := range places {
		e := &pdcEnd{w: w, place: i, addr: faultAddr(i), budget: s.budget}
		e.self = pdc.AddrFrom(e.addr)
		e.start()
		w.ends = append(w.ends, e)
		w.parties = append(w.parties, e)
	}
	switch {
	case s.liar:
		w.addLiar()
	case s.hoarder:
		w.drop = places
		w.parties = append(w.parties, newFaultHoarder(&w.faultWorld, places))
	}
	return w
}

func faultAddr(place int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, byte(place + 1)}) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (e *pdcEnd) deadline() int64 {
	at := int64(math.MaxInt64)
	if d, ok := e.m.NextDeadline(); ok {
		at = d
	}
	if e.waits != 0 {
		at = min(at, e.waits)
	}
	for i := range e.late {
		if at = min(at, e.late[i].at); e.w.s.ordered {
			break // the others wait for the first
		}
	}
	for _, m := range e.messages {
		if m.locked && m.next == m.packets {
			at = min(at, m.until)
		}
		if m.again && m.pdc == 0 && !m.waiting {
			at = min(at, e.clock.now+50*us)
		}
	}
	if at == math.MaxInt64 {
		return at
	}
	return e.clock.when(at)
}

func (e *pdcEnd) tick() {
	e.clock.read(e.w.net.Now)
	for !e.m.Tick(e.clock.now) {
		e.drain()
	}
	if !e.w.s.blind {
		e.shadow.lost(0)
	}
	e.drain()
	e.answerLate()
	e.replay()
}

func (e *pdcEnd) quiet() bool {
	if len(e.messages)+len(e.late)+len(e.returns)+e.rudiOpen > 0 {
		return false
	}
	for range e.table.All() {
		return false
	}
	return true
}

// arrive gives a packet to the manager.
func (e *pdcEnd) arrive(p *faultnet.Packet) {
	w := e.w
	e.clock.read(e.w.net.Now)
	copy(e.buf[:], p.Head)
	in := pdc.In{Packet: e.buf[:p.Len], Src: pdc.AddrFrom(faultAddr(p.From)), Dst: e.self, Size: p.Size, CE: p.CE, Trimmed: p.Trim,
		State: e.creditState(p.From)}
	if p.Trim != 0 {
		typ, _ := pds.PeekType(p.Head)
		in.Packet = e.buf[:max(len(p.Head)-faultHeaderBytes, typ.HeaderLen())] // a default response is shorter than those
	}
	var out [pdc.ReplyMax]byte
	var r pdc.Result
	again := p.Trim == 0 && !w.s.blind && e.limits.remembered(p.From, in.Packet)
	e.m.Receive(e.clock.now, &in, out[:], &r)
	if !w.s.blind {
		e.shadow.received(in.Packet, &r)
		e.limits.received(in.Packet, &r)
		e.limits.closing(p.From, in.Packet, &r, out[:r.Reply])
	}
	if t, _ := pds.PeekType(out[:r.Reply]); again && t != pds.TypeACK && t != pds.TypeACKCC {
		w.failf("a CLOSE_CMD that was acknowledged comes again, and %d bytes are the answer: %s", r.Reply, headText(out[:r.Reply]))
	}
	if r.Err == pdc.ErrEvents {
		w.failf("events were not drained")
	}
	if r.Err == pdc.ErrNoStore {
		w.net.Counts[faultnet.NoStore]++
	}
	n := r.Reply
	if n > 0 && !p.Fabled && (p.Class == faultnet.ACK || p.Class == faultnet.ACKData || p.Class == faultnet.NACK) {
		w.failf("I10: an answer to an ACK or NACK: %s", headText(out[:n]))
	}
	body := e.buf[min(r.Header, len(e.buf)-64):]
	switch r.Verdict {
	case pdc.VerdictRequest:
		n = e.judge(p, r.ID, body, out[:])
	case pdc.VerdictBuffered:
		e.keep(r.ID, r.Buffer, body)
	case pdc.VerdictResponse:
		kind := pdc.EventResponse
		if answer := in.Packet[min(r.Header, len(in.Packet)):]; !p.Fabled && isNullResponse(answer) {
			kind = pdc.EventImplicit // it says no more than an acknowledgement without one
		} else {
			e.response(r.Handle, answer, p.Fabled)
		}
		e.outcome(pdc.Event{Kind: kind, PDC: r.ID.PDC, PSN: r.ID.PSN, Handle: r.Handle})
	case pdc.VerdictRUDIRequest:
		n = e.rudiRequest(p, body, out[:])
	case pdc.VerdictRUDIResponse:
		e.rudiResponse(p, &r, body)
	case pdc.VerdictDatagram:
		e.datagram(p, body, n)
	}
	w.net.Note(uint64(r.Verdict)<<8 | uint64(n))
	from, class, honest := p.From, p.Class, !p.Fabled // p goes with the next packet
	if n > 0 {
		e.reply(from, out[:n])
	}
	if honest {
		e.demand(from, class, &r)
	}
	e.drain()
	e.replay()
}

// reply sends an answer.
func (e *pdcEnd) reply(to int, b []byte) {
	e.answers++
	if !e.w.s.blind {
		e.limits.answered(to, b)
	}
	e.w.send(e.place, to, b, len(b), 64)
}

func (w *faultWorld) send(from, to int, head []byte, length int, size int64) {
	w.log.add(w.net.Now, from, logSend, head)
	w.net.Send(&faultnet.Packet{From: from, To: to, Head: head, Len: length, Size: size})
}

// place returns whom an address belongs to.
func (e *pdcEnd) placeOf(a pdc.Addr) int {
	if a.Hi != 0 || a.Lo>>8 != 0xffff<<24|0x0a0000 {
		return len(e.w.parties)
	}
	return int(a.Lo&0xff) - 1
}

// act begins messages, hands packets down, sends all that may go, and checks.
func (e *pdcEnd) act() {
	e.clock.read(e.w.net.Now)
	e.faults()
	e.begin()
	e.beginRUDI()
	for _, m := range e.messages {
		e.push(m)
	}
	e.giveReturns()
	e.settle()
	e.drain()
	e.transmit()
	e.check()
}

func (e *pdcEnd) transmit() {
	var out pdc.Out
	if !e.w.s.blind {
		e.shadow.attach()
	}
	for sent := 0; e.m.Transmit(e.clock.now, e.buf[:256], &out); sent++ {
		if sent > 200_000 {
			e.w.failf("Transmit does not end")
		}
		if out.PDC != 0 && !e.w.s.blind {
			e.shadow.sent(&out, e.buf[:out.Header])
			e.limits.sent(&out, e.buf[:out.Header])
		}
		n, length, size := out.Header, out.Header, int64(64)
		if !out.Control {
			binary.BigEndian.PutUint64(e.buf[n:], out.Handle)
			binary.BigEndian.PutUint64(e.buf[n+8:], faultCheck(out.Handle))
			n += faultHeaderBytes
			length = out.Header + 44 + int(out.Size)
			size = out.Size
		}
		e.w.send(e.place, e.placeOf(out.Peer), e.buf[:n], length, size)
	}
}

// drain takes the events in.
func (e *pdcEnd) drain() {
	var ev pdc.Event
	for e.m.Event(&ev) {
		e.w.net.Note(uint64(ev.Kind)<<32 ^ ev.Handle ^ uint64(ev.PSN)<<8)
		switch ev.Kind {
		case pdc.EventResponse, pdc.EventImplicit, pdc.EventError:
			for n := ev.More; ; n-- {
				e.outcome(ev)
				if n == 0 {
					break
				}
				ev.Handle, ev.PSN = ev.Handle+1, ev.PSN+1
			}
		case pdc.EventMessage:
			e.placed(ev.Handle, ev.PDC)
		case pdc.EventClosed:
			e.w.log.tell(e.w.net.Now, e.place, "closed, cause", uint64(ev.Cause))
		}
	}
}

// outcome takes what became of a packet, or of a message that waited for a PDC.
func (e *pdcEnd) outcome(ev pdc.Event) {
	w := e.w
	if ev.Cause == pdc.CausePending && ev.PDC == 0 {
		e.dropTicket(ev.Handle)
		return
	}
	if ev.Handle >= rudiHandles {
		e.rudiEnds(ev.Handle, ev.Cause)
		return
	}
	r := &w.recs[ev.Handle-1]
	if r.outcome != pdc.EventNone {
		w.failf("I8: packet %d has outcome %v and then %v", ev.Handle, r.outcome, ev.Kind)
	}
	if int(r.src) != e.place || r.life != e.life {
		w.failf("E6: packet %d of %d.%d has its outcome at %d.%d", ev.Handle, r.src, r.life, e.place, e.life)
	}
	r.outcome = ev.Kind
	if w.s.weak || int(r.to) == w.drop {
		return
	}
	if ev.Kind == pdc.EventError {
		// That read data arrived, a target may not have heard when its initiator closes.
		if w.s.retries == 0 && !(r.data && ev.Cause == pdc.Cause(pds.NackClosingInErr)) {
			w.failf("packet %d failed: %v", ev.Handle, ev.Cause)
		}
		return
	}
	if r.ever == 0 {
		w.failf("E2: packet %d acknowledged and never executed", ev.Handle)
	}
	if r.guaranteed && ev.Kind == pdc.EventImplicit && r.ever == 1 {
		w.failf("I4: packet %d has a guaranteed response and was released without it", ev.Handle)
	}
}

// end of the world: what must hold when all is over.
func (w *pdcWorld) finish() {
	for i := range w.recs {
		w.finishRecord(i)
	}
	w.finishRUDI()
	for _, e := range w.ends {
		e.finish()
	}
}
