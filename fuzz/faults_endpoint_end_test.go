// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"encoding/binary"
	"math"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/fuzz/internal/faultnet"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// endpointEnd is an endpoint and the host above it, which knows what ought to happen.
type endpointEnd struct {
	w      *endpointWorld
	place  int
	life   int16
	clock  faultClock
	e      *uetcc.Endpoint
	limits uetcc.Config

	budget int                            // messages still to begin
	open   int                            // messages that have not ended
	retry  int64                          // when to try to begin again, in the time of the network
	known  [endpointPlaces]ses.Generation // of the memory of others, as far as was heard
	live   []uint64                       // messages that have not ended

	process ses.Handle
	region  ses.Handle // 0: withdrawn
	cells   [endpointCellCount]uint64
	buffers []endpointBuffer
	stock   [1 + endpointTags]int // receive buffers that are posted, of each kind
	hungry  int64                 // none is posted before this time of the network
	owed    []endpointOwed
	kept    []uetcc.Datagram // by buffer: packets that wait for their turn
	keptOf  []endpointKept
	waits   int64           // until then, in the time of the network, they are not looked at
	order   []endpointOrder // by PDCID
	seen    []faultSeen     // by PDCID

	out, reply         uetcc.Datagram
	outRoom, replyRoom []byte
	outs               [3]uetcc.Datagram
	outsRoom           [3][256]byte
	held               int // acknowledgements that have arrived and are not received yet
	heldRoom           [3][64]byte
	batch, replies     [4]uetcc.Datagram
	repliesRoom        [3][512]byte
	buf                [8*endpointMTU + 256]byte
	data               [endpointMTU]byte // of an answer
}

// endpointPDCs is the most PDCs of an endpoint, second ones to a peer included.
func endpointPDCs(c uetcc.Config) int { return c.PDCs.General + min(c.PDCs.General, 64) }

// start gives e a new life without any memory.
func (e *endpointEnd) start() {
	c := e.config()
	e.limits = c
	e.e = must(uetcc.NewEndpoint(c))
	e.held = 0
	e.buffers, e.owed, e.live, e.cells, e.stock = nil, nil, nil, [endpointCellCount]uint64{}, [1 + endpointTags]int{}
	e.known = [endpointPlaces]ses.Generation{}
	e.order, e.seen = make([]endpointOrder, endpointPDCs(c)+1), make([]faultSeen, endpointPDCs(c)+1)
	e.forgetKept()
	e.openMemory()
	e.restock()
}

// restart takes all memory away from e.
func (e *endpointEnd) restart() {
	w := e.w
	w.net.Counts[faultnet.RestartPeer]++
	w.log.tell(w.net.Now, e.place, "restart after life", uint64(e.life))
	for _, n := range e.live {
		m := &w.messages[n]
		m.gone = true
		w.ops[m.kind][ses.StatusNone]++
	}
	e.life++
	e.open = 0
	e.start()
}

func (e *endpointEnd) deadline() int64 {
	at := int64(math.MaxInt64)
	if d, ok := e.e.NextDeadline(); ok {
		at = e.clock.when(d)
	}
	for i := range e.owed {
		at = min(at, e.owed[i].at)
	}
	if e.budget > 0 && e.open < e.w.openLimit() {
		at = min(at, e.retry)
	}
	if e.hungry > e.w.net.Now {
		at = min(at, e.hungry)
	}
	if e.waits != 0 {
		at = min(at, e.waits)
	}
	return at
}

func (e *endpointEnd) tick() { e.e.Tick(e.clock.read(e.w.net.Now)) }

// quiet reports whether nothing is left of all that was begun here.
func (e *endpointEnd) quiet() bool {
	return e.open == 0 && e.budget == 0 && len(e.owed) == 0 && e.e.Usage() == uetcc.Usage{}
}

// act is a turn of the host: what befalls it, new messages, answers, all packets that
// may go, completions, and a look at the invariants.
func (e *endpointEnd) act() {
	w := e.w
	e.clock.read(w.net.Now)
	e.faults()
	if e.hungry <= w.net.Now || w.net.Healed() {
		e.restock()
	}
	e.answerLate()
	e.replay()
	if e.retry <= w.net.Now {
		for e.budget > 0 && e.open < w.openLimit() && e.begin() {
			e.budget--
		}
		e.retry = w.net.Now + 50*us
	}
	e.out.Packet = e.outRoom[:0]
	for sent := 0; e.e.Transmit(e.clock.now, &e.out); sent++ {
		if sent > 100_000 {
			w.failf("Transmit does not end")
		}
		e.transmit(&e.out, int(e.out.Dst.Lo&0xff)-1)
		e.out.Packet = e.outRoom[:0]
	}
	for ev, ok := e.e.Poll(); ok; ev, ok = e.e.Poll() {
		if ev.Unpaused {
			e.retry = w.net.Now
			continue
		}
		e.ended(&ev)
	}
	e.check()
}

// transmit puts a packet on the wire, with the first bytes of what the endpoint asks
// to append.
func (e *endpointEnd) transmit(d *uetcc.Datagram, to int) {
	w, p := e.w, &d.Payload
	if p.Message == 0 && p.Length > 0 && p.Answer != 0 && p.Address < endpointCells && w.net.Chance(w.s.fail) {
		w.trouble[troubleFail]++
		w.messages[p.Address/endpointSlot].refused |= 1 << ses.RCHostPoisoned
		err := e.e.Refuse(e.clock.now, p.Answer, ses.RCHostPoisoned, d)
		// Of a packet sent again by a batch, a later acknowledgement in the batch may confirm the first copy.
		if err != nil && (err != ses.ErrStale || !d.Retx) {
			w.failf("Refuse of read data: %v", err)
		}
	}
	b := d.Packet
	length := len(b) + int(p.Length)
	switch {
	case p.Length == 0:
	case p.Message == 0 && p.Address < endpointCells:
		b = appendPattern(b, p.Address/endpointSlot, uint32(p.Address%endpointSlot), p.Length)
	case p.Message != 0 && w.messages[p.Cookie].op() == opAtomic, p.Message != 0 && w.messages[p.Cookie].op() == opFetch:
		b = binary.BigEndian.AppendUint64(b, p.Cookie+1)
	case p.Message != 0:
		b = appendPattern(b, p.Cookie, p.Offset, p.Length)
	}
	w.send(e.place, to, b, length, d.Size)
}

// faults are those that befall an end by itself.
func (e *endpointEnd) faults() {
	w := e.w
	if w.net.Healed() {
		return
	}
	s := w.s
	if s.restarts > int(e.life) && w.net.Chance(.002) {
		e.restart()
	}
	if c := &e.clock; s.jumps > 0 && s.back == 0 && w.net.Chance(.002) && c.offset == 0 && c.until <= w.net.Now {
		c.upset(w.net, 25_000*us, 2000*us)
	}
	if s.back > 0 && w.net.Chance(.005) {
		e.clock.goBack(w.net, s.back*us)
		e.tick()
	}
	if w.net.Chance(s.hungry) {
		e.hungry = w.net.Now + w.net.Rand.Int64N(1000*us)
		e.takeBack()
	}
	if w.net.Chance(s.renew) {
		_, _ = e.e.Target().Renew(e.clock.now, e.process, 0)
	}
	if w.net.Chance(s.withdraw) {
		e.withdraw()
	}
	if len(e.live) > 0 && w.net.Chance(s.cancel) {
		m := &w.messages[e.live[w.net.Rand.IntN(len(e.live))]]
		m.cancelled = true
		w.trouble[troubleCancel]++
		_ = e.e.Cancel(e.clock.now, m.handle)
	}
	if w.net.Chance(s.closing) {
		e.closeOne()
	}
}

// closeOne closes or aborts some PDC, of which this end may be either side.
func (e *endpointEnd) closeOne() {
	w := e.w
	i := w.net.Rand.IntN(len(e.order))
	for h := range e.e.PDS().All() {
		if i--; i >= 0 {
			continue
		}
		if w.net.Chance(w.s.abort) {
			w.trouble[troubleAbort]++
			_ = e.e.PDS().Abort(e.clock.now, h)
		} else {
			w.trouble[troubleClose]++
			_ = e.e.PDS().Close(e.clock.now, h)
		}
		e.e.Tick(e.clock.now)
		return
	}
}

// begin starts a message.
func (e *endpointEnd) begin() bool {
	w, r := e.w, e.w.net.Rand
	n := uint64(len(w.messages))
	m := endpointMessage{kind: e.draw(), from: int8(e.place), to: e.drawTarget(), life: e.life, begun: w.net.Now, data: r.IntN(2) == 0,
		length: e.drawLength(), cell: uint8(r.IntN(endpointCellCount)), rxLife: -1}
	if int(m.to) < len(w.ends) {
		m.toLife = w.ends[m.to].life
	}
	if w.s.unlikeMTU && m.op() == opRead {
		m.data = false // no room for both in the first packet
	}
	o, start := e.message(n, &m)
	if m.reliable() && w.net.Chance(w.s.connect+.1) {
		e.connect(&o)
	}
	h, err := start(e.clock.now, &o)
	switch err {
	case nil:
	case pdc.ErrPaused, pdc.ErrNoPDC:
		w.net.Counts[faultnet.NoPDC]++
		return false
	case ses.ErrFull:
		w.trouble[troubleNoMessage]++
		return false
	default:
		w.failf("begin %v of %d bytes: %v", endpointKinds[m.kind], m.length, err)
	}
	m.handle = h
	if m.fetches() && m.length > 0 {
		m.fetched = make([]uint8, m.fragments())
	}
	e.open++
	e.live = append(e.live, n)
	w.messages = append(w.messages, m)
	return true
}

// connect opens the PDC of a message before it, and in its first life has it begin
// where PSNs wrap.
func (e *endpointEnd) connect(o *uetcc.Message) {
	w := e.w
	h, err := e.e.Connect(e.clock.now, o)
	if err == nil {
		w.trouble[troubleEmptyPDC]++
	}
	if err != nil || e.life != 0 || h.Generation() != 1 {
		return
	}
	start := faultStarts[w.net.Rand.IntN(len(faultStarts))] + pds.PSN(w.net.Rand.IntN(16))
	if (*pdc.Manager)(e.e.PDS()).SetStartPSN(h, start) {
		w.net.Counts[faultnet.WrapStart]++
	}
}

// ended takes a completion.
func (e *endpointEnd) ended(ev *uetcc.Event) {
	w, n := e.w, ev.Cookie
	w.net.Note(n<<8 | uint64(ev.Outcome.Status))
	if ev.Message == 0 {
		w.trouble[troubleBroken]++
		e.dropBuffer(ev.Cookie)
		return
	}
	m := &w.messages[n]
	if m.ended || m.handle != ev.Message || int(m.from) != e.place || m.life != e.life {
		w.failf("E1: message %d ends again, or at another end: %+v", n, ev)
	}
	m.ended, m.status = true, ev.Outcome.Status
	w.ops[m.kind][m.status]++
	e.open--
	for i := range e.live {
		if e.live[i] == n {
			e.live = append(e.live[:i], e.live[i+1:]...)
			break
		}
	}
	w.judge(n, ev)
}
