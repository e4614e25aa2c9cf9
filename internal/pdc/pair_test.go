// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
)

// pair is two managers and a wire that a test holds in its hand: it says which
// packet arrives, when, and how often.
type pair struct {
	t    testing.TB
	now  int64
	a, b *pairEnd
	h    Handle // a's PDC
}

type pairEnd struct {
	t      testing.TB
	addr   netip.Addr
	m      *Manager
	events []Event
	got    []pds.PSN // requests handed up
	reply  Response  // the answer to them
	later  bool
}

// wire is a packet on the wire.
type wire struct {
	from *pairEnd
	b    []byte
	ce   bool
	trim pds.NackCode
	dst  netip.Addr
}

type pairConfig struct {
	Config
	memory  MemoryConfig
	ids     [2]int
	own     int // TableConfig.Initiators (default: all ids)
	beside  [2]int
	first   [2]pds.PDCID
	ordered bool
	start   pds.PSN
	manager func(*ManagerConfig)
	control ccc.Control
	cwnd    int64
}

func newPairEnd(t testing.TB, c *pairConfig, i int) *pairEnd {
	p, err := NewParams(c.Config)
	require.NoError(t, err)
	cp, err := ccc.NewParams(ccc.Config{NSCC: nscc.Config{LinkRate: 100_000_000_000, BaseRTT: 12_000, MTU: 4200, InitialCwnd: c.cwnd}, Control: c.control})
	require.NoError(t, err)
	ids := max(c.ids[i], 8)
	cc, err := ccc.NewManager(ccc.ManagerConfig{Params: &cp, Contexts: 9, PDCs: ids + c.beside[i] + 1})
	require.NoError(t, err)
	ctxs, err := ccc.NewTable(8, true, 1)
	require.NoError(t, err)
	first := max(c.first[i], 1)
	own := c.own
	if own == 0 {
		own = ids
	}
	tab, err := NewTableBeside(TableConfig{General: ids, Initiators: own, Quarantine: 1_000_000, FirstID: first, Seed: 1}, c.beside[i])
	require.NoError(t, err)
	mc := ManagerConfig{Params: &p, Table: tab, CC: cc, Contexts: ctxs, Seed: uint64(i), Memory: c.memory}
	if mc.Memory.Chunks == 0 {
		mc.Memory.Chunks = 160
	}
	if c.manager != nil {
		c.manager(&mc)
	}
	m, err := NewManager(mc)
	require.NoError(t, err)
	return &pairEnd{t: t, m: m, addr: netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)})}
}

func newPair(t testing.TB, c pairConfig) *pair {
	g := &pair{t: t, a: newPairEnd(t, &c, 0), b: newPairEnd(t, &c, 1)}
	g.h = g.open(c.ordered)
	require.True(t, g.a.m.SetStartPSN(g.h, c.start))
	return g
}

func (g *pair) open(ordered bool) Handle {
	h, err := g.a.m.Open(g.now, &InitiatorKey{Source: g.a.addr, Destination: g.b.addr, JobID: 101, TC: 1, Ordered: ordered}, 0)
	require.NoError(g.t, err)
	return h
}

// submit queues n packets as one message; handles are counted from first.
func (g *pair) submit(first uint64, n int) { g.submitOn(g.h, first, n) }

// submitOn is submit for another of a's PDCs.
func (g *pair) submitOn(h Handle, first uint64, n int) {
	require.NoError(g.t, g.a.m.Begin(h))
	for i := range n {
		_, err := g.a.m.Submit(g.now, h, Packet{Handle: first + uint64(i), Size: 4160, Next: pds.NextRequestStd, EOM: i == n-1})
		require.NoError(g.t, err)
	}
}

// send takes all that an end wants to send.
func (g *pair) send(e *pairEnd) (out []wire) {
	var buf [ReplyMax]byte
	var o Out
	for e.m.Transmit(g.now, buf[:], &o) {
		b := append([]byte(nil), buf[:o.Header]...)
		if !o.Control {
			b = append(b, make([]byte, 44+4096)...)
		}
		out = append(out, wire{from: e, b: b})
	}
	return out
}

// control is a control packet from the PDC of an end.
func (g *pair) control(e *pairEnd, c pds.Control) wire {
	info := g.info(e)
	c.SPDCID, c.DPDCID = info.ID, info.PeerID
	return wire{from: e, b: c.AppendTo(nil)}
}

// rudi queues a RUDI packet to b.
func (g *pair) rudi(handle uint64) (id uint32) {
	p := Packet{Handle: handle, Size: 200, Next: pds.NextRequestSmall}
	id, err := g.a.m.SubmitRUDI(g.now, AddrFrom(g.a.addr), AddrFrom(g.b.addr), p)
	require.NoError(g.t, err)
	return id
}

func (g *pair) other(e *pairEnd) *pairEnd {
	if e == g.a {
		return g.b
	}
	return g.a
}

// replay has b answer the buffered requests whose turn has come, and returns their PSNs
// and the answers.
func (g *pair) replay() (order []pds.PSN, answers []wire) {
	var out [ReplyMax]byte
	for id, buffer := g.b.m.Replay(); buffer != 0; id, buffer = g.b.m.Replay() {
		order = append(order, id.PSN)
		n, err := g.b.m.Respond(g.now, id, &g.b.reply, out[:])
		require.NoError(g.t, err)
		if n > 0 {
			answers = append(answers, wire{from: g.b, b: append([]byte(nil), out[:n]...)})
		}
	}
	return order, answers
}

// give has a packet arrive and returns the result and the answer, if any.
func (g *pair) give(w wire) (Result, []wire) {
	e := g.other(w.from)
	in := In{Packet: w.b, Src: AddrFrom(w.from.addr), Dst: AddrFrom(e.addr), Size: int64(len(w.b)) + 8, CE: w.ce, Trimmed: w.trim}
	if w.dst.IsValid() {
		in.Src = AddrFrom(w.dst)
	}
	out := make([]byte, e.m.p.ReplyMax())
	var r Result
	e.m.Receive(g.now, &in, out, &r)
	n := r.Reply
	if r.Verdict == VerdictRequest {
		e.got = append(e.got, r.ID.PSN)
		if !e.later {
			var err error
			n, err = e.m.Respond(g.now, r.ID, &e.reply, out)
			require.NoError(g.t, err)
		}
	}
	if r.Verdict == VerdictResponse { // which is its event
		e.events = append(e.events, Event{Kind: EventResponse, PDC: r.ID.PDC, PSN: r.ID.PSN, Handle: r.Handle})
	}
	e.drain()
	if n == 0 {
		return r, nil
	}
	return r, []wire{{from: e, b: append([]byte(nil), out[:n]...)}}
}

// giveAll has packets arrive in order and returns all answers.
func (g *pair) giveAll(ws []wire) (answers []wire) {
	g.now += 6_000
	for _, w := range ws {
		_, a := g.give(w)
		answers = append(answers, a...)
	}
	return answers
}

// settle carries everything to and fro until nothing is left to send.
func (g *pair) settle() {
	for range 1000 {
		ws := append(g.send(g.a), g.send(g.b)...)
		if len(ws) == 0 {
			return
		}
		for len(ws) > 0 {
			ws = g.giveAll(ws)
		}
	}
	g.t.Fatal("never settles")
}

// wait moves the clock and lets timers run.
func (g *pair) wait(d int64) {
	g.now += d
	for _, e := range []*pairEnd{g.a, g.b} {
		require.True(g.t, e.m.Tick(g.now))
		e.drain()
	}
}

func (e *pairEnd) drain() {
	for i := range e.m.pdc { // Exchange relies on that
		if p := &e.m.pdc[i]; live(p.state) && p.tx.outstanding() && p.tx.rtoAt < p.timerAt {
			panic("a time-out has no timer")
		}
	}
	var ev Event
	for e.m.Event(&ev) {
		for n := ev.More; ; n-- {
			one := ev
			one.More = 0
			e.events = append(e.events, one)
			if n == 0 {
				break
			}
			ev.Handle, ev.PSN = ev.Handle+1, ev.PSN+1
		}
	}
}

// take returns the events so far of the given kinds, by handle, and forgets all.
func (e *pairEnd) take(kinds ...EventKind) (handles []uint64) {
	for _, ev := range e.events {
		for _, k := range kinds {
			if ev.Kind == k {
				handles = append(handles, ev.Handle)
			}
		}
	}
	e.events = nil
	return handles
}

func (e *pairEnd) has(k EventKind, c Cause) bool {
	for _, ev := range e.events {
		if ev.Kind == k && ev.Cause == c {
			return true
		}
	}
	return false
}

func (g *pair) info(e *pairEnd) Info {
	var h Handle
	for x := range e.m.table.All() {
		h = x
	}
	info, _ := e.m.PDC(h)
	return info
}

// header decodes that of w.
func header[H any, P interface {
	*H
	Decode([]byte) (int, error)
}](t testing.TB, w wire) *H {
	h := new(H)
	_, err := P(h).Decode(w.b)
	require.NoError(t, err)
	return h
}

func request(t testing.TB, w wire) *pds.Request   { return header[pds.Request](t, w) }
func ackCC(t testing.TB, w wire) *pds.AckCC       { return header[pds.AckCC](t, w) }
func nackOf(t testing.TB, w wire) *pds.Nack       { return header[pds.Nack](t, w) }
func controlOf(t testing.TB, w wire) *pds.Control { return header[pds.Control](t, w) }

// guaranteed is an answer that the initiator has to see.
var guaranteed = Response{Kind: RespondGuaranteed, Next: pds.NextResponse, Bytes: []byte("twelve bytes")}

// setFlag sets a flag of a PDS header on the wire.
func setFlag(b []byte, f pds.Flags) { b[1] |= byte(f) }
