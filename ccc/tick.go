// SPDX-License-Identifier: Apache-2.0

package ccc

import "github.com/uetcc/uetcc/internal/timerwheel"

// An extra is what a manager has for its contexts where more than windows has a say: a window
// waits for no time to pass.
type extra struct {
	algs   []Algorithm
	at     []int64           // the armed deadlines, ns
	due    *timerwheel.Wheel // nil: nothing of an extra is there
	waited [][reasons]int64  // see Manager.waitedFor
}

func (x *extra) init(contexts int, now int64) {
	*x = extra{
		algs: make([]Algorithm, contexts), at: make([]int64, contexts),
		due: timerwheel.New(contexts, 1, now), waited: make([][reasons]int64, contexts),
	}
}

// arm keeps the earliest time for a look at context c.
func (m *Manager) arm(c *Context) {
	r, i := &c.rec, uint32(c.rec.handle.Index())
	at, want := c.CreditDeadline()
	if c.why == ReasonPacing && (!want || c.notBefore < at) {
		at, want = c.notBefore, true
	}
	switch {
	case want && (!r.armed || at != m.extra.at[i]):
		m.extra.at[i] = at
		m.extra.due.Arm(i, at)
	case !want && r.armed:
		m.extra.due.Cancel(i)
	}
	r.armed = want
}

// NextDeadline returns when to call [Manager.Tick], ns, and false if nothing
// waits for time to pass.
func (m *Manager) NextDeadline() (int64, bool) {
	if m.extra.due == nil {
		return 0, false
	}
	return m.extra.due.Next()
}

// Tick handles everything due by now, and returns a context and the reason of the context's
// wait: with [ReasonCredit] send a Credit Request with [Context.CreditTarget], with
// [ReasonPacing] the next packet may go. Call Tick until the zero Handle. A time before an
// earlier Tick's counts as the earlier Tick's.
//
//uetcc:hot
func (m *Manager) Tick(now int64) (Handle, Reason) {
	due := m.extra.due
	if due == nil {
		return 0, ReasonBacklog
	}
	now = due.Now(now)
	for {
		i, ok := due.Expire(now)
		if !ok {
			return 0, ReasonBacklog
		}
		c := &m.seats[i].context
		c.rec.armed = false
		paced := c.why == ReasonPacing
		asks := c.CreditRequestDue(m.p, now)
		c.evaluate(m.p, now)
		m.settle(c, now)
		switch {
		case asks:
			return c.rec.handle, ReasonCredit
		case paced && c.state == StateReady:
			return c.rec.handle, ReasonPacing
		}
	}
}
