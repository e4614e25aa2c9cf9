// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/fuzz/internal/faultnet"
	"github.com/uetcc/uetcc/internal/pdc"
)

// check holds the step invariants of an endpoint: those of each PDC and congestion
// control context, and that it uses no more than it was given.
func (e *endpointEnd) check() {
	w := e.w
	m := e.e.PDS()
	var load [16]faultLoad
	for h := range m.All() {
		now, ok := m.PDC(h)
		if !ok {
			w.failf("I9: PDC %#x is in the table and not in the manager", uint32(h))
		}
		was := &e.seen[h.ID()]
		if was.h != h {
			if was.h != 0 && !w.net.Healed() {
				w.net.Counts[faultnet.ReuseID]++
			}
			*was = faultSeen{h, now}
		}
		checkPDC(w.failf, &e.limits.PDS, &was.info, &now)
		was.info = now
		if now.Context != 0 {
			load[now.Context.Index()&15].add(&now)
		}
	}
	for i := range load {
		if load[i].used {
			w.checkContext(e.e.CC(), &load[i])
			e.checkTimeout(&load[i])
		}
	}
	e.checkUsage()
}

// checkTimeout holds that no packet is out without a timeout. Answers may have taught one of a quarter of
// IdleTime.
func (e *endpointEnd) checkTimeout(l *faultLoad) {
	longest := int64(8_000_000 * us)
	if n := e.w.s.retries; n != 0 {
		longest = max(200*us<<n, e.limits.PDS.IdleTime/4)
	}
	at, ok := e.e.NextDeadline()
	if out := e.e.CC().Context(l.h).InflightPackets(); out != 0 && (!ok || at > e.clock.now+longest+us) {
		e.w.failf("E1: %d packets are out, and nobody looks after them before %d", out, at)
	}
}

// checkUsage holds that memory is bounded: everything that grows has the limit that
// it was made with.
func (e *endpointEnd) checkUsage() {
	w := e.w
	if (*pdc.Manager)(e.e.PDS()).FreeChunks() == 0 {
		w.net.Counts[faultnet.NoMemory]++
	}
	u, c := e.e.Usage(), &e.limits
	if u.Messages > c.Messages || u.Messages != e.open || u.Events != 0 || u.Arriving > c.Target.Messages || u.Answers > c.Answers || u.Buffered >= len(e.kept) ||
		u.PDCs > endpointPDCs(*c) || u.Waiting > c.Waiting || u.RUDI > c.RUDI || u.Contexts > c.Contexts+1 || u.Senders > c.Contexts {
		w.failf("memory: %+v of %+v; %d messages open", u, c, e.open)
	}
}

// finish holds that an end has given everything back.
func (e *endpointEnd) finish() {
	w := e.w
	if u := e.e.Usage(); u != (uetcc.Usage{}) {
		w.failf("E4: %+v", u)
	}
	if n := (*pdc.Manager)(e.e.PDS()).FreeChunks(); n != e.limits.Memory.Chunks {
		w.failf("E4: %d of %d chunks free", n, e.limits.Memory.Chunks)
	}
	if n := e.e.CC().Stale(); n != 0 {
		w.failf("E4: %d events for PDCs that had gone", n)
	}
	if w.weak(e.place, e.place) {
		return
	}
	e.finishBuffers()
	e.finishCells()
}

// finishBuffers holds that every receive buffer is posted or back with the host.
func (e *endpointEnd) finishBuffers() {
	for i := range e.buffers {
		if b := &e.buffers[i]; !b.posted && !b.done {
			e.w.failf("receive buffer %d was taken by message %d and never given back", i, b.user-1)
		}
	}
}

// finishCells holds that each cell has what the atomics that were executed make of
// it, those that ended well among them.
func (e *endpointEnd) finishCells() {
	w := e.w
	var sums [endpointCellCount]uint64
	for i := range w.messages {
		m := &w.messages[i]
		if int(m.to) == e.place && (m.op() == opAtomic || m.op() == opFetch) && m.rxLife == e.life && len(m.got) > 0 {
			sums[m.cell] += uint64(m.got[0]) * uint64(i+1)
		}
	}
	for i, sum := range sums[:endpointCellCount/2] {
		if e.cells[i] != sum {
			w.failf("cell %d of end %d has %d, want %d", i, e.place, e.cells[i], sum)
		}
	}
}
