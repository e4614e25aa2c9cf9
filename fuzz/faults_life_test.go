// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/fuzz/internal/faultnet"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
)

// The lives of an end: what it begins with, and what befalls it by itself.

// start gives e a new life without any memory.
func (e *pdcEnd) start() {
	s, r := e.w.s, e.w.net.Rand
	idle := int64(20_000_000)
	if s.retries != 0 {
		idle = 2_000_000
	}
	cfg := pdc.Config{Range: s.window, RTOInit: faultRTO, NackRetxTime: faultNackRetx, ClearTime: 60 * us, CloseReqTime: 2000 * us,
		MaxRTORetx: s.retries, MaxNackRetx: 31, BufferROD: s.buffer, InferLoss: s.infer, NoAckCC: s.plain, IdleTime: idle * us, PendTimeout: 50_000 * us,
		Start: s.start}
	if s.retries == 0 {
		cfg.MaxRTORetx = 15
	} else {
		cfg.MaxNackRetx = faultNacks
	}
	p := must(pdc.NewParams(cfg))
	cp := must(ccc.NewParams(ccc.Config{NSCC: nscc.Config{LinkRate: 12_500_000_000, BaseRTT: 40 * us, MTU: faultMTU, Trimming: s.trim > 0,
		InitialCwnd: []int64{0, 8400, 100_000}[r.IntN(3)]}, Control: s.control}))
	ids := 8
	if s.pdcs != 0 {
		ids = s.pdcs
	}
	e.clock.read(e.w.net.Now)
	e.chunks = 16 * ids
	if s.chunks != 0 {
		e.chunks = s.chunks + 4*r.IntN(2)
	} else if s.window > 256 {
		e.chunks = 80 * ids
	}
	// Ids of an earlier life come late in this one, as with a large pool and a random
	// first id: a target that restarts and gives out the same id for the same SYN
	// packet cannot be told from the one before.
	first := pds.PDCID(1 + r.IntN(ids))
	if s.restarts > 0 {
		first = pds.PDCID(1 + int(e.life)*ids/(s.restarts+1))
	}
	quota := 0
	if s.liar {
		quota = 3
	}
	cfgCC := ccc.ManagerConfig{Params: &cp, Contexts: 9, PDCs: ids + 1, Seed: r.Uint64(), Now: e.clock.now}
	cfgTable := pdc.TableConfig{General: ids, Quarantine: e.w.quarantine(), FirstID: first, Seed: 1, PerSource: quota}
	cfgM := pdc.ManagerConfig{Params: &p, Seed: r.Uint64(), Waiting: 2, Now: e.clock.now,
		Memory: pdc.MemoryConfig{Responses: s.responses, Chunks: e.chunks}}
	parts := func() pdc.ManagerConfig {
		c := cfgM
		c.CC, c.Contexts, c.Table = must(ccc.NewManager(cfgCC)), must(ccc.NewTable(8, true, 1)), must(pdc.NewTable(cfgTable))
		return c
	}
	c := parts()
	e.cc, e.ctxs, e.table, e.m = c.CC, c.Contexts, c.Table, &tapedManager{Manager: must(pdc.NewManager(c))}
	e.build = func() *pdc.Manager { return must(pdc.NewManager(parts())) }
	e.tx, e.rx, e.seen, e.used = make([]faultLink, ids+1), make([]faultLink, ids+1), make([]faultSeen, ids+1), make([]bool, ids+1)
	e.answers, e.delayed, e.asked = 0, 0, 0
	e.shadow, e.limits, e.grants = newFaultShadow(e, ids), newFaultLimits(e, ids), make([]faultGrant, len(e.w.parties)+3)
}

// quarantine is longer than a packet lives, by as much as a clock may jump.
func (w *pdcWorld) quarantine() int64 {
	q := 2*w.net.Plan.Life() + 500*us
	return q + 2*int64(w.s.jumps)*w.s.leap*us
}

// restart takes all memory away from e.
func (e *pdcEnd) restart() {
	e.w.net.Counts[faultnet.RestartPeer]++
	e.w.log.tell(e.w.net.Now, e.place, "restart after life", uint64(e.life))
	for i := range e.w.recs {
		if r := &e.w.recs[i]; int(r.src) == e.place && r.life == e.life {
			r.gone = true
		}
	}
	e.messages, e.late, e.held, e.returns, e.waits = nil, nil, nil, nil, 0
	e.loseRUDI()
	e.life++
	e.start()
}

// faults are those that befall an end by itself.
func (e *pdcEnd) faults() {
	w := e.w
	if w.net.Healed() {
		return
	}
	if w.s.restarts > int(e.life) && w.net.Chance(.002) {
		e.restart()
	}
	if e.leaps < w.s.jumps && w.net.Chance(.005) && e.clock.until <= w.net.Now {
		e.leaps++
		e.clock.upset(w.net, w.s.leap*us, 5000*us)
	}
}
