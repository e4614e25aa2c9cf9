// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/table"
)

// A life opens and closes PDCs, gives PDCs contexts of congestion control, and keeps the
// messages waiting for a PDC.
type life struct {
	p      *Params
	mem    *memory
	pdc    []PDC
	cc     *ccc.Manager
	ctxs   *ccc.Table
	table  *Table
	stats  *Stats
	sched  *scheduler
	timer  *timers
	reply  *answers
	start  *starts
	source *source
	target *target
	rudi   *rudiTable

	algof   func(ccc.Key) ccc.Algorithm
	awaits  func(Handle) bool // ManagerConfig.Awaited
	cccID   []uint8           // by context: the ccc_id known to the peer
	paths   knownPaths
	waiting [2]waitQueue // for the general pool, and for the reserved pool

	open     int    // PDCs in StateCreating to StateEstablished
	cursor   uint16 // where the search for a PDC to close goes on
	searchAt int64  // no makeRoom before
	spare    int    // ManagerConfig.Spare
	spareAt  int64  // no takeContext before
	deferred bool   // a target lacks a context, and takeContext had to pause
}

func (l *life) init(m *Manager, c *ManagerConfig, hasher table.Hasher) {
	_, contexts := c.Contexts.Stats()
	*l = life{
		p: m.p, mem: m.mem, pdc: m.pdc, cc: m.cc, ctxs: c.Contexts, table: m.table, stats: &m.stats, sched: &m.sched,
		timer: &m.timer, reply: &m.reply, start: &m.start, source: &m.source, target: &m.target, rudi: &m.rudi,
		algof: c.Algorithm, awaits: c.Awaited, cccID: make([]uint8, contexts+1),
		paths: newKnownPaths(len(m.pdc)-1, hasher), spare: c.Spare,
	}
	for i := range l.waiting {
		l.waiting[i].ring = make([]waiter, c.Waiting)
	}
}
