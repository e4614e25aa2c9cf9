// SPDX-License-Identifier: Apache-2.0

package ccc

import "sync/atomic"

// cacheLine keeps words with different writers apart. Twice as much gains nothing
// on the machines measured.
const cacheLine = 64

// A Gate admits the bytes of many senders against the allowance of a context.
//
// Any goroutine may call TryReserve and GiveBack; neither waits. The owner of the
// context moves the gate's edge, with an atomic operation, in the events that
// change the allowance: an acknowledgement, not a transmission.
//
// Invariant: room = edge - reserved, where edge counts all bytes ever allowed, and
// reserved all bytes ever reserved and not given back. Both sides change the word
// room, so a reservation and a shrinking window have an order, and the sum of
// bytes reserved and in flight never exceeds the window or the credit at the
// moment of a reservation. If the window shrinks below the sum, reservations made
// stand, room is negative, and new reservations fail until enough has been
// acknowledged.
//
// The zero Gate admits nothing. Do not copy a Gate.
type Gate struct {
	room atomic.Int64 // bytes; written by senders and by the owner
	_    [cacheLine - 8]byte
}

// TryReserve reserves n bytes, more than 0, and reports whether the bytes fit,
// trying again only if a competing sender or the owner succeeded in the meantime.
// A reservation ends when the packet is counted as sent ([Manager.OnSend] with
// Reserved) or by GiveBack.
//
//uetcc:hot inlines nobounds
func (g *Gate) TryReserve(n int64) bool {
	if n <= 0 {
		return false
	}
	for {
		room := g.room.Load()
		if n > room {
			return false
		}
		if g.room.CompareAndSwap(room, room-n) {
			return true
		}
	}
}

// GiveBack ends a reservation, or a part, that will not be used.
//
//uetcc:hot inlines nobounds
func (g *Gate) GiveBack(n int64) { g.room.Add(n) }

// Room returns the bytes free for reservation at the moment; negative when the
// window has shrunk below the bytes reserved and in flight.
func (g *Gate) Room() int64 { return g.room.Load() }

// Gate returns the admission of context h for any goroutine to keep while the
// context lives; nil without [ManagerConfig.Admission]. Where senders reserve,
// all must, the owner too: [Context.Decide] takes no account of reservations.
func (m *Manager) Gate(h Handle) *Gate {
	if int(h.Index()) >= len(m.gates) {
		return nil
	}
	return &m.gates[h.Index()]
}

// An edge is the owner's half of a gate.
type edge struct {
	published int64 // bytes ever allowed, as known to the gate
	used      int64 // reservations that became packets, bytes
}

// publish moves the edge to where room more bytes are allowed than were used.
func (e *edge) publish(g *Gate, room int64) {
	if to := e.used + room; to != e.published {
		g.room.Add(to - e.published)
		e.published = to
	}
}

// unlimited is the room of a context without enforcement, and the most an
// algorithm can owe: after any reservations the room stays in range.
const unlimited = int64(1) << 60

// admission is the bytes that a gate may let through beyond the bytes in flight;
// negative if more is in flight than allowed. The gate is strict where [Decision]
// lets the last packet overdraw the credit: senders ignorant of each other cannot
// agree on the last.
func (c *Context) admission(p *Params, now int64) int64 {
	switch {
	case c.pdcs == 0:
		return 0
	case c.mode != ModeEnforce:
		return unlimited
	}
	room := c.allow
	if c.notBefore > now {
		room = 0
	}
	if p.window {
		left := c.window.Cwnd() - c.window.Inflight()
		if !c.window.CanSend(&p.nscc, p.mtu) {
			left = min(left, 0)
		}
		room = min(room, left)
	}
	if p.credit {
		room = min(room, c.credit.Credit())
	}
	return min(room, unlimited)
}
