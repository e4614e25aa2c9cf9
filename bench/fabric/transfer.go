// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"cmp"

	"github.com/uetcc/uetcc/hw/link"
)

// A transfer is a line of the matrix under way.
type transfer struct {
	flow     Flow
	conn     uint32
	first    uint32 // PSN, less the requests before
	packets  uint32
	context  uint16 // of an endpoint's message
	begun    bool
	started  int64 // ps
	arrived  int64 // ps, at the destination; -1: not yet
	finished int64 // ps, acknowledged at the source; -1: not yet
}

// A triggerState counts the pulls of a trigger.
type triggerState struct {
	Trigger
	pulls   int64
	targets []uint32 // transfers
}

// connect makes a connection for each transfer, or for all messages with the same ID,
// and schedules the starts.
func (s builder) connect() error {
	s.addTriggers()
	byID := map[int64]uint32{}
	for i, f := range s.cfg.Matrix.Flows {
		conn, again := byID[f.ID]
		if !f.Message || !again {
			conn = s.newConnection(f)
			if f.Message {
				byID[f.ID] = conn
			}
		}
		packets := uint32(f.packets(s.cfg.payload()))
		s.transfers = append(s.transfers, transfer{flow: f, conn: conn, packets: packets, arrived: -1, finished: -1})
		s.schedule(uint32(i))
	}
	if s.cfg.Held {
		s.waited = make([]waited, len(s.senders))
	}
	if s.cfg.InferLoss {
		s.infer = make([]inference, len(s.senders))
		for i := range s.infer {
			s.infer[i].due, s.infer[i].at = never, never
		}
	}
	return cmp.Or(s.layOut(recordLimit()), s.makeCreditPorts())
}

func (s builder) addTriggers() {
	s.triggers = make(map[int64]*triggerState, len(s.cfg.Matrix.Triggers))
	for _, t := range s.cfg.Matrix.Triggers {
		s.triggers[t.ID] = &triggerState{Trigger: t}
	}
}

// schedule has a transfer start at its time, or when its trigger fires; an application starts
// its own.
func (s builder) schedule(i uint32) {
	f := &s.transfers[i].flow
	if s.app != nil {
		return
	}
	if f.Trigger == 0 {
		s.partAt(uint32(f.Src)).events.push(int64(f.Start), evStart, i)
		return
	}
	t := s.triggers[f.Trigger]
	t.targets = append(t.targets, i)
}

func (s builder) newConnection(f Flow) uint32 {
	conn := uint32(len(s.senders))
	var c sender
	c.ctx.Init(&s.params, 0, s.cfg.pairRTT(f.Src, f.Dst))
	c.ctx.Bind(&s.params, 0)
	c.ent.Init(s.params.Entropy(), s.cfg.Seed*0x9e3779b97f4a7c15+uint64(conn))
	s.senders = append(s.senders, c)
	s.plugIn(f.Src, f.Dst)
	s.hostOf = append(s.hostOf, uint32(f.Dst), uint32(f.Src))
	s.receivers = append(s.receivers, receiver{})
	return conn
}

// begin begins a transfer: its bytes become backlog of its connection.
func (s *light) begin(i uint32) {
	t := &s.transfers[i]
	c := &s.senders[t.conn]
	if c.started == 0 {
		c.base = s.records.take(c.mask + 1)
	}
	t.begun, t.started, t.first = true, s.now, c.end-c.requests
	c.end += t.packets
	s.order[c.order+c.started] = i
	if c.acked == c.started {
		c.until = t.first + t.packets
	}
	if c.sending == c.started {
		c.short = c.end - 1
	}
	c.started++
	s.announce(t.conn)
	c.ctx.OnNewData(&s.params, s.nowNs(), t.flow.Size+int64(t.packets)*HeaderBytes)
	s.ready(t.conn)
}

// announce tells the destination of a connection that another transfer has begun. Its packets
// come later than the news.
func (s *light) announce(conn uint32) {
	if to := s.partOf[s.hostOf[destination(conn)]]; to != s.part {
		s.post(to, crossing{at: s.now + s.crew.ahead, what: conn, kind: evStart})
		return
	}
	s.expect(conn)
}

// expect is the other side of announce.
func (s *light) expect(conn uint32) {
	c, r := &s.senders[conn], &s.receivers[conn]
	if r.known == 0 {
		r.base = s.bitmaps.take(s.bitmapWords(r))
	}
	r.known++
	if r.arrived == r.known-1 {
		r.until = s.endOf(c, r.arrived)
	}
}

// finishTransfers completes what is acknowledged to the end.
func (s *light) finishTransfers(c *sender) {
	for int32(c.dataAcked()-c.until) >= 0 && c.acked < c.started {
		i := s.order[c.order+c.acked]
		if c.acked++; c.acked < c.started {
			c.until = s.endOf(c, c.acked)
		}
		s.complete(i)
		if c.acked == c.transfers {
			s.records.give(c.base, c.mask+1)
		}
	}
}

// complete takes in that all of a transfer is acknowledged at its source.
func (s *light) complete(i uint32) {
	t := &s.transfers[i]
	t.finished = s.now
	s.done++
	s.pull(t.flow.SendDone)
	if s.app != nil && s.crew == nil {
		s.app.finished(i)
	}
}

// landed takes in that all of a transfer is at its destination.
func (s *light) landed(i uint32) {
	t := &s.transfers[i]
	t.arrived = s.now
	s.pull(t.flow.RecvDone)
	if s.app != nil && s.crew == nil {
		s.app.arrived(i)
	}
}

// arrivedTransfers notes what is there to the end. The bitmap of a connection whose last packet
// is there is given back: whatever comes still is before cack, so nothing of it is looked up,
// and no bit is set. Requests with PSNs may come later.
func (s *light) arrivedTransfers(conn uint32, r *receiver) {
	for int32(s.dataArrived(conn, r)-r.until) >= 0 && r.arrived < r.known {
		c := &s.senders[conn]
		i := s.order[c.order+r.arrived]
		if r.arrived++; r.arrived < r.known {
			r.until = s.endOf(c, r.arrived)
		}
		if r.arrived == c.transfers && s.asked == nil {
			s.bitmaps.give(r.base, (r.mask+1)/64)
		}
		s.landed(i)
	}
}

// endOf is the first PSN behind a connection's started transfer i, where no request takes one.
func (s *light) endOf(c *sender, i uint32) uint32 {
	t := &s.transfers[s.order[c.order+i]]
	return t.first + t.packets
}

// pull pulls a trigger, which starts its transfers when it fires.
func (s *light) pull(id int64) {
	if id == 0 {
		return
	}
	t := s.triggers[id]
	t.pulls++
	for _, i := range t.fired() {
		s.events.push(s.now, evStart, i)
	}
}

// fired are the transfers the last pull starts. Each is started once.
func (t *triggerState) fired() []uint32 {
	switch {
	case t.Kind == TriggerMultishot && t.pulls <= int64(len(t.targets)):
		return t.targets[t.pulls-1 : t.pulls]
	case t.Kind == TriggerOneshot && t.pulls == 1, t.Kind == TriggerBarrier && t.pulls == t.Count:
		return t.targets
	}
	return nil
}

// fct is how long a finished transfer took.
func (t *transfer) fct() link.Ps { return link.Ps(t.finished - t.started) }
