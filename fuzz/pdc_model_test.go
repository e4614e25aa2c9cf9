// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/agenda"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
)

// The model run: two PDS managers, one that sends messages and one that answers,
// over a network that loses, copies, delays, reorders, marks and trims. Everything
// is drawn from one seed. Beside the managers runs a shadow that knows what was
// sent, executed and answered; after every step the invariants I1 to I11 of the
// package are checked against it.

// modelSetting is one kind of run.
type modelSetting struct {
	name       string
	loss       float64
	dup        float64
	trim       float64
	mark       float64
	delay      int64 // up to, us; at least 5
	tail       float64
	window     int
	packets    int
	perMessage int
	guaranteed float64
	late       float64 // answers that take time
	refuse     float64
	ordered    bool
	buffer     bool
	infer      bool
	responses  int // shared slots of the response store; 0 the default
}

var modelSettings = []modelSetting{
	{name: "standard", loss: .1, dup: .05, delay: 40, window: 8, packets: 60, perMessage: 7, guaranteed: .3},
	{name: "all guaranteed", loss: .1, dup: .05, delay: 40, window: 8, packets: 60, perMessage: 60, guaranteed: 1},
	{name: "none guaranteed", loss: .1, dup: .05, delay: 40, window: 8, packets: 60, perMessage: 5},
	{name: "short and late", loss: .1, dup: .2, delay: 900, tail: .2, window: 8, packets: 4, perMessage: 2, guaranteed: .3},
	{name: "wide window", loss: .1, dup: .05, delay: 40, window: 64, packets: 150, perMessage: 50, guaranteed: .2},
	{name: "full window", loss: .02, dup: .02, delay: 40, window: 1024, packets: 1500, perMessage: 1500, guaranteed: .02, mark: .2},
	{name: "one at a time", loss: .1, dup: .1, delay: 40, window: 1, packets: 20, perMessage: 3, guaranteed: .5},
	{name: "trimming", loss: .02, dup: .05, trim: .15, mark: .3, delay: 40, window: 64, packets: 150, perMessage: 30, guaranteed: .1},
	{name: "slow answers", loss: .1, dup: .1, delay: 40, window: 16, packets: 60, perMessage: 7, guaranteed: .3, late: .4, refuse: .1},
	{name: "tiny response store", loss: .1, dup: .05, delay: 40, window: 16, packets: 60, perMessage: 60, guaranteed: .8, responses: 1},
	{name: "ordered", loss: .05, dup: .05, delay: 6, window: 16, packets: 80, perMessage: 9, guaranteed: .2, ordered: true},
	{name: "ordered over reordering", loss: .02, dup: .05, delay: 30, window: 8, packets: 30, perMessage: 9, guaranteed: .2, ordered: true},
	{name: "ordered, buffering", loss: .1, dup: .05, delay: 40, window: 16, packets: 80, perMessage: 9, guaranteed: .2, ordered: true, buffer: true},
	{name: "inferring", loss: .05, dup: .02, delay: 30, window: 256, packets: 400, perMessage: 100, guaranteed: .05, infer: true},
}

const us = int64(1000)

// modelStarts are first PSNs at which comparing without wrap-around shows.
var modelStarts = []pds.PSN{0xfffffff0, 0xffffffff, 0x7ffffff0, 0, 0x12000, 0xfffffc10}

// flying is a packet on its way.
type flying struct {
	to   int
	data []byte
	size int64
	ce   bool
	trim pds.NackCode
}

// modelEnd is one endpoint with the layer above.
type modelEnd struct {
	addr  netip.Addr
	m     *pdc.Manager
	cc    *ccc.Manager
	table *pdc.Table

	late     []pdc.RxID
	held     map[pdc.RxID]uint64 // buffered requests, by what they carry
	executed map[uint64]int      // by handle
	answer   map[uint64]bool     // guaranteed
	order    []uint64
	outcome  map[uint64]pdc.EventKind
	response map[uint64]uint64 // what the response said
	failed   map[uint64]bool
	seen     map[pdc.Handle]pdc.Info
}

type model struct {
	t    testing.TB
	s    modelSetting
	r    *rand.Rand
	now  int64
	q    agenda.Agenda[flying]
	end  [2]*modelEnd
	hash uint64
	sent int
	live bool // faults are on

	next int // packets submitted

	hostile bool // somebody forges packets: the ends need not agree
	forged  uint64
	begun   bool
	ended   []string
}

func newModelEnd(t testing.TB, s modelSetting, i int, seed uint64) *modelEnd {
	p, err := pdc.NewParams(pdc.Config{Range: s.window, RTOInit: 200 * us, NackRetxTime: 60 * us, ClearTime: 60 * us, MaxRTORetx: 15, MaxNackRetx: 31,
		BufferROD: s.buffer, InferLoss: s.infer, IdleTime: 20_000_000 * us})
	require.NoError(t, err)
	cp, err := ccc.NewParams(ccc.Config{NSCC: nscc.Config{LinkRate: 12_500_000_000, BaseRTT: 40 * us, MTU: 4096, Trimming: s.trim > 0}})
	require.NoError(t, err)
	cc, err := ccc.NewManager(ccc.ManagerConfig{Params: &cp, Contexts: 9, PDCs: 9, Seed: seed})
	require.NoError(t, err)
	ctxs, err := ccc.NewTable(8, true, 1)
	require.NoError(t, err)
	tab, err := pdc.NewTable(pdc.TableConfig{General: 8, Quarantine: 3000 * us, FirstID: 1, Seed: 1})
	require.NoError(t, err)
	m, err := pdc.NewManager(pdc.ManagerConfig{Params: &p, Table: tab, CC: cc, Contexts: ctxs, Seed: seed,
		Memory: pdc.MemoryConfig{Responses: s.responses, Chunks: 64}})
	require.NoError(t, err)
	return &modelEnd{addr: netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}), m: m, cc: cc, table: tab,
		held: map[pdc.RxID]uint64{}, executed: map[uint64]int{}, answer: map[uint64]bool{}, outcome: map[uint64]pdc.EventKind{},
		response: map[uint64]uint64{}, failed: map[uint64]bool{}, seen: map[pdc.Handle]pdc.Info{}}
}

func newModel(t testing.TB, s modelSetting, seed uint64) *model {
	g := &model{t: t, s: s, r: rand.New(rand.NewPCG(seed, 3)), live: true}
	for i := range g.end {
		g.end[i] = newModelEnd(t, s, i, seed*2+uint64(i)+1) // 0 would draw one
	}
	return g
}

// carry puts a packet on its way to an end.
func (g *model) carry(to int, b []byte, size int64, trimmable bool) {
	g.sent++
	for _, x := range b {
		g.hash = (g.hash ^ uint64(x)) * 0x100000001b3
	}
	copies := 1
	if g.live {
		if g.r.Float64() < g.s.loss {
			copies = 0
		}
		if g.r.Float64() < g.s.dup {
			copies += 1 + g.r.IntN(2)
		}
	}
	for range copies {
		d := 5*us + g.r.Int64N((g.s.delay-5)*us+1)
		if g.live && g.r.Float64() < g.s.tail {
			d *= 4
		}
		f := flying{to: to, data: append([]byte(nil), b...), size: size, ce: g.r.Float64() < g.s.mark}
		if g.live && trimmable && g.r.Float64() < g.s.trim {
			f.data, f.trim = f.data[:pds.RequestLen], pds.NackTrimmed
		}
		g.q.Push(g.now+d, f)
	}
}

// transmit sends all that an end may send now.
func (g *model) transmit(i int) {
	e := g.end[i]
	var buf [128]byte
	var out pdc.Out
	for e.m.Transmit(g.now, buf[:], &out) {
		n := out.Header
		if !out.Control {
			binary.BigEndian.PutUint64(buf[n:], out.Handle)
			n += 8
		}
		g.carry(1-i, buf[:n], max(out.Size, 64), !out.Control)
	}
}

// arrive gives a packet to an end.
func (g *model) arrive(f flying) {
	e := g.end[f.to]
	in := pdc.In{Packet: f.data, Src: pdc.AddrFrom(g.end[1-f.to].addr), Dst: pdc.AddrFrom(e.addr), Size: f.size, CE: f.ce, Trimmed: f.trim}
	var out [pdc.ReplyMax]byte
	var r pdc.Result
	e.m.Receive(g.now, &in, out[:], &r)
	require.NotErrorIs(g.t, r.Err, pdc.ErrEvents)
	n := r.Reply
	switch r.Verdict {
	case pdc.VerdictRequest:
		n = g.judge(e, r.ID, carried(f.data[r.Header:]), out[:])
	case pdc.VerdictBuffered:
		e.held[r.ID] = carried(f.data[r.Header:])
	case pdc.VerdictResponse:
		e.response[r.Handle] = carried(f.data[r.Header:])
		g.outcome(e, r.Handle, pdc.EventResponse)
	}
	if n > 0 {
		g.carry(1-f.to, out[:n], 64, false)
	}
	g.drain(f.to)
}

// carried is the handle that a packet carries, or what its response says.
func carried(b []byte) uint64 {
	if len(b) < 8 {
		return 0
	}
	return binary.BigEndian.Uint64(b)
}

// judge is the layer above at the target.
func (g *model) judge(e *modelEnd, id pdc.RxID, handle uint64, out []byte) int {
	a := pdc.Response{Kind: pdc.RespondDefault}
	switch x := g.r.Float64(); {
	case x < g.s.refuse:
		a.Kind, a.Code = pdc.RespondRefuse, pds.NackNoSESMsgAvail
	case x < g.s.refuse+g.s.late:
		a.Kind = pdc.RespondLater
		e.late = append(e.late, id)
		e.held[id] = handle
	default:
		g.execute(e, handle, &a)
	}
	n, err := e.m.Respond(g.now, id, &a, out)
	require.NoError(g.t, err)
	return n
}

func (g *model) execute(e *modelEnd, handle uint64, a *pdc.Response) {
	e.executed[handle]++
	e.order = append(e.order, handle)
	if g.r.Float64() < g.s.guaranteed {
		e.answer[handle] = true
		a.Kind, a.Next, a.Bytes = pdc.RespondGuaranteed, pds.NextResponse, binary.BigEndian.AppendUint64(nil, handle^0xffff)
	}
}

// answerLate gives one of the answers that took time, under ROD the oldest.
func (g *model) answerLate(i int) {
	e := g.end[i]
	if len(e.late) == 0 {
		return
	}
	k := 0
	if !g.s.ordered {
		k = g.r.IntN(len(e.late))
	}
	id := e.late[k]
	e.late = append(e.late[:k], e.late[k+1:]...)
	var a pdc.Response
	g.execute(e, e.held[id], &a)
	var out [pdc.ReplyMax]byte
	n, err := e.m.Respond(g.now, id, &a, out[:])
	if !g.hostile {
		require.NoError(g.t, err)
	}
	if n > 0 {
		g.carry(1-i, out[:n], 64, false)
	}
}

// drain takes the events of an end.
func (g *model) drain(i int) {
	e := g.end[i]
	var ev pdc.Event
	for e.m.Event(&ev) {
		switch ev.Kind {
		case pdc.EventResponse, pdc.EventImplicit, pdc.EventError:
			for i := range uint64(ev.More) + 1 {
				g.outcome(e, ev.Handle+i, ev.Kind)
			}
		case pdc.EventClosed:
			g.ended = append(g.ended, fmt.Sprintf("end %d at %d: %v", i, g.now, ev.Cause))
		}
	}
	g.replay(i)
}

// replay hands up the buffered requests whose turn has come.
func (g *model) replay(i int) {
	e := g.end[i]
	var out [pdc.ReplyMax]byte
	for id, buffer := e.m.Replay(); buffer != 0; id, buffer = e.m.Replay() {
		require.Contains(g.t, e.held, id)
		if n := g.judge(e, id, e.held[id], out[:]); n > 0 {
			g.carry(1-i, out[:n], 64, false)
		}
	}
}

// outcome takes what became of a packet.
func (g *model) outcome(e *modelEnd, h uint64, k pdc.EventKind) {
	require.Zero(g.t, e.outcome[h], "I8: second outcome for %d", h)
	e.outcome[h] = k
	e.failed[h] = k == pdc.EventError
}

// check holds the step invariants against what was seen before.
func (g *model) check() {
	for i, e := range g.end {
		for id := pds.PDCID(1); id <= 8; id++ {
			h := e.table.ByID(id)
			if h == 0 {
				continue
			}
			now, ok := e.m.PDC(h)
			require.True(g.t, ok)
			was, before := e.seen[h]
			if !before {
				was = now
			}
			checkPDC(g.t.Fatalf, int32(g.s.window), &was, &now)
			e.seen[h] = now
			if peer := g.peerOf(i, &now); peer != nil && !g.hostile {
				checkPair(g.t.Fatalf, &now, peer)
			}
			if c := e.cc.Context(now.Context); c != nil {
				require.GreaterOrEqual(g.t, c.Inflight(), int64(0), "I7")
				require.GreaterOrEqual(g.t, c.InflightPackets(), 0, "I7")
			}
		}
	}
}

// peerOf returns the other end of a PDC, if it is live too.
func (g *model) peerOf(i int, now *pdc.Info) *pdc.Info {
	if now.PeerID == 0 {
		return nil
	}
	o := g.end[1-i]
	info, ok := o.m.PDC(o.table.ByID(now.PeerID))
	if !ok || info.PeerID != now.ID || info.Initiator == now.Initiator {
		return nil
	}
	return &info
}

// run sends the messages and returns when everything is over.
func (g *model) run(start pds.PSN) {
	e := g.end[0]
	k := pdc.InitiatorKey{Source: e.addr, Destination: g.end[1].addr, JobID: 101, Ordered: g.s.ordered}
	h, err := e.m.Open(g.now, &k, 0)
	require.NoError(g.t, err)
	require.True(g.t, e.m.SetStartPSN(h, start))
	closed := false
	for step := 0; ; step++ {
		if step == 20_000 {
			g.t.Fatalf("E1: no end: %s", g.state())
		}
		g.submit(h)
		g.transmit(0)
		g.transmit(1)
		g.check()
		if len(e.outcome) == g.s.packets && !closed {
			require.NoError(g.t, e.m.Close(g.now, h))
			closed = true
		}
		if closed && g.idle() {
			break
		}
		g.advance()
	}
	g.finish()
}

// state tells for people where a run stands.
func (g *model) state() string {
	s := fmt.Sprintf("%v; now %d, %d submitted, %d of %d settled, %d flying", g.ended, g.now, g.next, len(g.end[0].outcome), g.s.packets, g.q.Len())
	for i, e := range g.end {
		for h := range e.table.All() {
			info, _ := e.m.PDC(h)
			s += fmt.Sprintf("\nend %d: %+v", i, info)
		}
		at, ok := e.m.NextDeadline()
		s += fmt.Sprintf("\nend %d: deadline %d %v, %+v", i, at, ok, e.m.Stats())
	}
	return s
}

// submit hands down as many packets as the PDC takes.
func (g *model) submit(h pdc.Handle) {
	e := g.end[0]
	for ; g.next < g.s.packets; g.next++ {
		if g.next%g.s.perMessage == 0 && !g.begun {
			require.NoError(g.t, e.m.Begin(h))
			g.begun = true
		}
		eom := (g.next+1)%g.s.perMessage == 0 || g.next+1 == g.s.packets
		_, err := e.m.Submit(g.now, h, pdc.Packet{Handle: uint64(g.next + 1), Size: uint16(200 + g.r.IntN(3900)), Next: pds.NextRequestStd, EOM: eom})
		if err == pdc.ErrWindowFull {
			return
		}
		require.NoError(g.t, err, "%s", g.state())
		if eom {
			g.begun = false
		}
	}
}

// idle reports whether both ends have left the PDC and nothing is on its way.
func (g *model) idle() bool {
	for _, e := range g.end {
		for range e.table.All() {
			return false
		}
	}
	return g.q.Len() == 0
}

// advance moves the clock to what comes next: a packet, a timer or an answer.
func (g *model) advance() {
	at, ok := g.q.Next()
	if !ok {
		at = g.now + 20_000*us
	}
	for _, e := range g.end {
		if d, ok := e.m.NextDeadline(); ok {
			at = min(at, d)
		}
	}
	g.now = max(g.now, at)
	for i := range g.end {
		if len(g.end[i].late) > 0 && g.r.IntN(4) == 0 {
			g.answerLate(i)
		}
	}
	for at, ok := g.q.Next(); ok && at <= g.now; at, ok = g.q.Next() {
		_, f := g.q.Pop()
		g.arrive(f)
		g.check()
	}
	for i, e := range g.end {
		require.True(g.t, e.m.Tick(g.now))
		g.drain(i)
	}
}

// finish checks what must hold when all is over.
func (g *model) finish() {
	src, dst := g.end[0], g.end[1]
	for x := uint64(1); x <= uint64(g.s.packets); x++ {
		require.Equal(g.t, 1, dst.executed[x], "E2: packet %d", x)
		require.Contains(g.t, []pdc.EventKind{pdc.EventResponse, pdc.EventImplicit}, src.outcome[x], "packet %d", x)
		if dst.answer[x] {
			require.Equal(g.t, x^0xffff, src.response[x], "E3: packet %d", x)
		}
	}
	if g.s.ordered {
		require.IsIncreasing(g.t, dst.order, "E2: ROD order")
	}
	for i, e := range g.end {
		s := e.table.Stats().General
		require.Zero(g.t, s.Live, "E4")
		require.Equal(g.t, s.Capacity, s.Free+s.Resting, "I9")
		require.Equal(g.t, 64, e.m.FreeChunks(), "I11: end %d", i)
		require.Zero(g.t, e.cc.Stale(), "no event for a PDC that has gone")
		st := e.m.Stats()
		require.Zero(g.t, st.BadClear+st.BadACK+st.Malformed, "an honest peer: %+v", st)
	}
}

func runModel(t testing.TB, s modelSetting, seed uint64) *model {
	g := newModel(t, s, seed)
	g.run(modelStarts[seed%uint64(len(modelStarts))])
	return g
}

func TestPDCModel(t *testing.T) {
	for _, s := range modelSettings {
		t.Run(s.name, func(t *testing.T) {
			n := max(3, 1200/s.packets)
			for seed := range uint64(n) {
				if !t.Run(fmt.Sprint(seed), func(t *testing.T) { runModel(t, s, seed) }) {
					t.FailNow()
				}
			}
		})
	}
}

func TestPDCModelIsDeterministic(t *testing.T) {
	for seed := range uint64(5) {
		a, b := runModel(t, modelSettings[0], seed), runModel(t, modelSettings[0], seed)
		require.Equal(t, a.hash, b.hash)
		require.Equal(t, a.sent, b.sent)
	}
}
