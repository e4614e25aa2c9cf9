// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/nscc"
)

// ContextState is where the congestion control of a connection stands after an event.
type ContextState struct {
	Now      link.Ps
	Conn     uint32
	Src, Dst uint32 // hosts
	State    ccc.State
	Reason   ccc.Reason    // what keeps more from being sent
	Waiting  int64         // bytes unsent, or to be sent again
	Credit   int64         // receiver credit, bytes
	Window   nscc.Snapshot // as of the last event that moved it; times in ns
}

// An ownAlgorithm is a connection's algorithm from Config.Algorithm.
type ownAlgorithm struct {
	ccc.Algorithm
	waiting bool // an evAllow is pending
}

// plugIn gives a new connection its algorithm.
func (s *light) plugIn(src, dst int) {
	if s.cfg.Algorithm != nil {
		s.algorithms = append(s.algorithms, ownAlgorithm{Algorithm: s.cfg.Algorithm(src, dst)})
	}
}

// own returns the algorithm of a connection, nil if it has none.
func (s *light) own(conn uint32) ccc.Algorithm {
	if s.algorithms == nil {
		return nil
	}
	return s.algorithms[conn].Algorithm
}

// settle ends every event of a connection's congestion control.
func (s *light) settle(conn uint32, c *sender) {
	if s.algorithms != nil || s.cfg.Context != nil || s.waited != nil {
		s.settleOwn(conn, c)
	}
	s.watchCredit(conn, c)
}

// settleOwn is the part of settle that only the user's functions want.
func (s *light) settleOwn(conn uint32, c *sender) {
	if s.own(conn) != nil {
		s.consult(conn, c)
	}
	if s.waited != nil {
		s.waited[conn].note(s.nowNs(), c.ctx.State(), c.ctx.Reason())
	}
	if s.cfg.Context != nil {
		s.tellContext(ContextState{
			Now: link.Ps(s.now), Conn: conn, Src: s.hostOf[source(conn)], Dst: s.hostOf[destination(conn)],
			State: c.ctx.State(), Reason: c.ctx.Reason(), Waiting: c.ctx.Backlog() + c.ctx.RtxBacklog(),
			Credit: c.ctx.Credit(), Window: c.ctx.Window(),
		})
	}
}

// consult asks the algorithm of a connection, now and when it wants to be asked again.
func (s *light) consult(conn uint32, c *sender) {
	a := &s.algorithms[conn]
	c.ctx.Consult(&s.params, s.nowNs(), a)
	if d := c.ctx.Decide(&s.params, s.nowNs()); d.Reason == ccc.ReasonPacing && !a.waiting {
		a.waiting = true
		s.events.push(min(d.NotBefore, int64(s.cfg.End/1000)+1)*1000, evAllow, conn)
	}
}

// allow is the time that an algorithm has named.
func (s *light) allow(conn uint32) {
	s.algorithms[conn].waiting = false
	s.ready(conn)
}

// admits reports whether congestion control lets a whole packet go, or the last one, where
// an algorithm of the user's has a say.
func (s *light) admits(c *sender) bool {
	next := min(s.cfg.PacketBytes, c.ctx.Backlog()+c.ctx.RtxBacklog())
	return c.ctx.State() == ccc.StateReady && c.ctx.Decide(&s.params, s.nowNs()).Bytes >= next
}
