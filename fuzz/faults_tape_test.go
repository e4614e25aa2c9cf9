// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
)

// What a manager does under faults it does without allocating (I11). The simulation
// around it allocates, so the calls of one end are put on a tape and played to
// another manager alone, which must give the same answers.

// A tapedManager is a manager whose calls can be put on tape.
type tapedManager struct {
	*pdc.Manager
	tape *faultTape // nil: none
}

// faultTape is the calls of a manager's life.
type faultTape struct {
	build  func() *pdc.Manager // makes one more like it
	calls  []func(p *tapePlayer)
	player tapePlayer
}

// tapePlayer makes the calls, and sums up what came of them.
type tapePlayer struct {
	m    *pdc.Manager
	hash uint64
	buf  [512]byte
	n    int
	h    pdc.Handle
	psn  pds.PSN
	id   uint32
	ok   bool
	err  error
	in   pdc.In
	out  pdc.Out
	res  pdc.Result
	ev   pdc.Event
}

// note adds what a call came to.
func (p *tapePlayer) note(x, y, z uint64) {
	e := 0
	if p.err != nil {
		e = len(p.err.Error())
	}
	for _, v := range [...]uint64{x, y, z, uint64(p.n), uint64(e)} {
		p.hash = (p.hash ^ v) * 0x100000001b3
		p.hash ^= p.hash >> 31
	}
	for _, b := range p.buf[:p.n] {
		p.hash = (p.hash ^ uint64(b)) * 0x100000001b3
	}
	p.n = 0
}

// do makes a call and records it.
func (t *faultTape) do(f func(p *tapePlayer)) {
	f(&t.player)
	t.calls = append(t.calls, f)
}

func (m *tapedManager) Open(now int64, k *pdc.InitiatorKey, ticket uint64) (pdc.Handle, error) {
	if m.tape == nil {
		return m.Manager.Open(now, k, ticket)
	}
	key := *k
	m.tape.do(func(p *tapePlayer) {
		p.h, p.err = p.m.Open(now, &key, ticket)
		p.note(uint64(p.h), 0, 0)
	})
	return m.tape.player.h, m.tape.player.err
}

// plain is a call that only has an error.
func (m *tapedManager) plain(f func(m *pdc.Manager) error) error {
	if m.tape == nil {
		return f(m.Manager)
	}
	m.tape.do(func(p *tapePlayer) {
		p.err = f(p.m)
		p.note(0, 0, 0)
	})
	return m.tape.player.err
}

func (m *tapedManager) Begin(h pdc.Handle) error {
	return m.plain(func(m *pdc.Manager) error { return m.Begin(h) })
}

func (m *tapedManager) Lock(h pdc.Handle) error {
	return m.plain(func(m *pdc.Manager) error { return m.Lock(h) })
}

func (m *tapedManager) Unlock(now int64, h pdc.Handle) error {
	return m.plain(func(m *pdc.Manager) error { return m.Unlock(now, h) })
}

func (m *tapedManager) Close(now int64, h pdc.Handle) error {
	return m.plain(func(m *pdc.Manager) error { return m.Close(now, h) })
}

func (m *tapedManager) Announce(now int64, h pdc.Handle, bytes int64) error {
	return m.plain(func(m *pdc.Manager) error { return m.Announce(now, h, bytes) })
}

func (m *tapedManager) EndMessage(now int64, h pdc.Handle, unsent int64) error {
	return m.plain(func(m *pdc.Manager) error { return m.EndMessage(now, h, unsent) })
}

func (m *tapedManager) SetStartPSN(h pdc.Handle, start pds.PSN) (ok bool) {
	m.plain(func(m *pdc.Manager) error {
		ok = m.SetStartPSN(h, start)
		return nil
	})
	return ok
}

func (m *tapedManager) Submit(now int64, h pdc.Handle, pkt pdc.Packet) (pds.PSN, error) {
	if m.tape == nil {
		return m.Manager.Submit(now, h, pkt)
	}
	m.tape.do(func(p *tapePlayer) {
		p.psn, p.err = p.m.Submit(now, h, pkt)
		p.note(uint64(p.psn), 0, 0)
	})
	return m.tape.player.psn, m.tape.player.err
}

func (m *tapedManager) SubmitRUDI(now int64, local, peer pdc.Addr, pkt pdc.Packet) (uint32, error) {
	if m.tape == nil {
		return m.Manager.SubmitRUDI(now, local, peer, pkt)
	}
	m.tape.do(func(p *tapePlayer) {
		p.id, p.err = p.m.SubmitRUDI(now, local, peer, pkt)
		p.note(uint64(p.id), 0, 0)
	})
	return m.tape.player.id, m.tape.player.err
}

// writes is a call that writes a packet to the caller's buffer.
func (m *tapedManager) writes(buf []byte, f func(m *pdc.Manager, buf []byte) (int, error)) (int, error) {
	if m.tape == nil {
		return f(m.Manager, buf)
	}
	n := 0
	m.tape.do(func(p *tapePlayer) {
		p.n, p.err = f(p.m, p.buf[:])
		n = p.n
		p.note(0, 0, 0)
	})
	copy(buf, m.tape.player.buf[:n])
	return n, m.tape.player.err
}

func (m *tapedManager) Replay() (id pdc.RxID, buffer uint16) {
	if m.tape == nil {
		return m.Manager.Replay()
	}
	m.tape.do(func(p *tapePlayer) {
		p.err = nil
		id, buffer = p.m.Replay()
		p.note(uint64(id.PDC), uint64(id.PSN), uint64(buffer))
	})
	return id, buffer
}

func (m *tapedManager) Respond(now int64, id pdc.RxID, a *pdc.Response, out []byte) (int, error) {
	c := *a
	if m.tape != nil {
		c.Bytes = slices.Clone(a.Bytes)
	}
	return m.writes(out, func(m *pdc.Manager, buf []byte) (int, error) { return m.Respond(now, id, &c, buf) })
}

func (m *tapedManager) RespondRUDI(q *pds.RUDI, a *pdc.Response, out []byte) (int, error) {
	h, c := *q, *a
	if m.tape != nil {
		c.Bytes = slices.Clone(a.Bytes)
	}
	return m.writes(out, func(m *pdc.Manager, buf []byte) (int, error) { return m.RespondRUDI(&h, &c, buf) })
}

func (m *tapedManager) PutCredit(h pdc.Handle, credit uint32, out []byte) (int, error) {
	return m.writes(out, func(m *pdc.Manager, buf []byte) (int, error) { return m.PutCredit(h, credit, buf) })
}

func (m *tapedManager) Receive(now int64, in *pdc.In, out []byte, r *pdc.Result) {
	if m.tape == nil {
		m.Manager.Receive(now, in, out, r)
		return
	}
	c := *in
	c.Packet = slices.Clone(in.Packet)
	m.tape.do(func(p *tapePlayer) {
		p.in = c
		p.m.Receive(now, &p.in, p.buf[:], &p.res)
		p.n, p.err = p.res.Reply, p.res.Err
		p.note(uint64(p.res.Verdict)<<32|uint64(p.res.ID.PDC), uint64(p.res.ID.PSN)<<32, p.res.Handle)
	})
	*r = m.tape.player.res
	copy(out, m.tape.player.buf[:r.Reply])
}

func (m *tapedManager) Transmit(now int64, buf []byte, out *pdc.Out) bool {
	if m.tape == nil {
		return m.Manager.Transmit(now, buf, out)
	}
	m.tape.do(func(p *tapePlayer) {
		p.err = nil
		if p.ok = p.m.Transmit(now, p.buf[:256], &p.out); p.ok {
			p.n = p.out.Header
		}
		p.note(p.out.Handle, uint64(p.out.Size), uint64(p.out.PSN))
	})
	p := &m.tape.player
	*out = p.out
	if p.ok {
		copy(buf, p.buf[:p.out.Header])
	}
	return p.ok
}

func (m *tapedManager) Tick(now int64) bool {
	if m.tape == nil {
		return m.Manager.Tick(now)
	}
	m.tape.do(func(p *tapePlayer) { p.ok = p.m.Tick(now) })
	return m.tape.player.ok
}

func (m *tapedManager) Event(ev *pdc.Event) bool {
	if m.tape == nil {
		return m.Manager.Event(ev)
	}
	m.tape.do(func(p *tapePlayer) {
		p.err = nil
		if p.ok = p.m.Event(&p.ev); p.ok {
			p.note(p.ev.Handle, uint64(p.ev.PDC), uint64(p.ev.Kind)<<48|uint64(p.ev.Cause)<<32|uint64(p.ev.More))
		}
	})
	*ev = m.tape.player.ev
	return m.tape.player.ok
}

// play makes all calls again.
func (t *faultTape) play(p *tapePlayer) {
	for _, f := range t.calls {
		f(p)
	}
}

// Every kind of run, played to managers alone.
func testFaultsAllocate(t *testing.T) {
	calls := 0
	for i := range faultSettings {
		t.Run(faultSettings[i].name, func(t *testing.T) {
			tape := recordFaults(t, i)
			calls += len(tape.calls)
			var players []tapePlayer
			for range 4 {
				players = append(players, tapePlayer{m: tape.build()})
			}
			next := 0
			least := 1e9
			for range len(players) / 2 { // each plays two: the first to warm up
				least = min(least, testing.AllocsPerRun(1, func() {
					tape.play(&players[next])
					next++
				}))
			}
			require.Zero(t, least, "allocations in %d calls", len(tape.calls))
			for k := range players {
				require.Equal(t, tape.player.hash, players[k].hash, "the same calls, other answers")
			}
		})
	}
	t.Logf("%d calls without an allocation", calls)
}

// recordFaults runs a seed of a kind with a tape for the first life of its first end.
func recordFaults(t *testing.T, kind int) *faultTape {
	w := newPDCWorld(&faultSettings[kind], uint64(kind), 2)
	tape := w.ends[0].record()
	require.NotPanics(t, w.run)
	require.NotEmpty(t, tape.calls)
	return tape
}

// record puts the manager of e, which has not been called yet, on tape.
func (e *pdcEnd) record() *faultTape {
	t := &faultTape{build: e.build, player: tapePlayer{m: e.m.Manager}}
	e.m.tape = t
	return t
}
