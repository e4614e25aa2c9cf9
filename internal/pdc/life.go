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

// live reports whether the PDC is a context on which packets can be sent.
func live(s State) bool { return s > StateClosed && s < StateQuarantine }

// takesMessages reports whether a new message may begin on the PDC.
func takesMessages(s State) bool {
	return (1<<StateCreating|1<<StateEstablished|1<<StateCloseWait)>>s&1 != 0
}

// sendsData reports whether packets of open messages may still be queued.
func sendsData(s State) bool { return takesMessages(s) || s == StateQuiesce }

// nextCloseState is the way of an initiator asked to close, dependent only on
// the open work. The rest of the life is decided by the packet or timer that
// ends a state.
func nextCloseState(s State, inUse, unreleased bool) State {
	switch {
	case s != StateQuiesce && s != StateAckWait:
		return s
	case inUse:
		return StateQuiesce
	case unreleased:
		return StateAckWait
	default:
		return StateCloseAckWait
	}
}

// With Limit_PSN_Range a PDC closes before the PSN reaches Start_PSN + 2^31, so no
// PSN comes twice in the life of a key. New messages go to a new PDC from psnClose
// on: the rest is room for the messages open then, each of up to 2^22 packets. The
// return direction needs no limit: each packet answers a packet of the forward
// direction.
//
// Source: UE Specification 1.0.x section 3.5, Limit_PSN_Range.
const (
	psnEnd   = 1 << 31
	psnClose = psnEnd - 1<<26
)

// worn reports whether p has used all allowed PSNs, and then starts to close p.
func (l *life) worn(now int64, p *PDC) bool {
	if p.tx.tail < psnClose || !l.p.c.LimitPSNRange || l.mem.events.free() < l.mem.reserve {
		return false
	}
	l.startClose(now, p)
	return true
}
