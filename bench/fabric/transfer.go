package fabric

import "github.com/uetcc/uetcc/hw/link"

// A transfer is one line of the matrix on its way.
type transfer struct {
	flow     Flow
	conn     uint32
	first    uint32 // PSN
	packets  uint32
	context  uint16 // of an endpoint's message
	begun    bool
	started  int64 // ps
	arrived  int64 // ps, at the destination; -1: not yet
	finished int64 // ps, acknowledged at the source; -1: not yet
}

// A triggerState counts the pulls of one trigger.
type triggerState struct {
	Trigger
	pulls   int64
	targets []uint32 // transfers
}

// connect makes a connection for each transfer, or for all messages with one ID,
// and schedules the starts.
func (s *sim) connect() error {
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
			s.infer[i].due = never
		}
	}
	return s.layOut(recordLimit())
}

func (s *sim) addTriggers() {
	s.triggers = make(map[int64]*triggerState, len(s.cfg.Matrix.Triggers))
	for _, t := range s.cfg.Matrix.Triggers {
		s.triggers[t.ID] = &triggerState{Trigger: t}
	}
}

// schedule has a transfer start at its time, or when its trigger fires; an application starts
// its own.
func (s *sim) schedule(i uint32) {
	f := &s.transfers[i].flow
	if s.app != nil {
		return
	}
	if f.Trigger == 0 {
		s.events.push(int64(f.Start), evStart, i)
		return
	}
	t := s.triggers[f.Trigger]
	t.targets = append(t.targets, i)
}

func (s *sim) newConnection(f Flow) uint32 {
	conn := uint32(len(s.senders))
	var c sender
	c.ctx.InitCached(&s.params, 0, s.cfg.pairRTT(f.Src, f.Dst))
	c.ctx.Bind(&s.params, 0)
	c.ent.Init(s.params.Entropy(), s.cfg.Seed*0x9e3779b97f4a7c15+uint64(conn))
	s.senders = append(s.senders, c)
	s.plugIn(f.Src, f.Dst)
	s.hostOf = append(s.hostOf, uint32(f.Dst), uint32(f.Src))
	s.receivers = append(s.receivers, receiver{})
	return conn
}

// start begins a transfer: its bytes become backlog of its connection.
func (s *sim) start(i uint32) {
	if s.world != nil {
		s.world.begin(i)
		return
	}
	t := &s.transfers[i]
	c := &s.senders[t.conn]
	if len(c.started) == 0 {
		s.takeRings(c, &s.receivers[t.conn])
	}
	t.begun, t.started, t.first = true, s.now, c.end
	c.end += t.packets
	c.started = append(c.started, i)
	if r := &s.receivers[t.conn]; int(r.arrived) == len(c.started)-1 {
		r.until = c.end
	}
	if int(c.acked) == len(c.started)-1 {
		c.until = c.end
	}
	if int(c.sending) == len(c.started)-1 {
		c.short = c.end - 1
	}
	c.ctx.OnNewData(&s.params, s.nowNs(), t.flow.Size+int64(t.packets)*HeaderBytes)
	s.ready(t.conn)
}

// finishTransfers completes what is acknowledged to the end.
func (s *sim) finishTransfers(conn uint32, c *sender) {
	for int32(c.cack-c.until) >= 0 && int(c.acked) < len(c.started) {
		i := c.started[c.acked]
		c.acked++
		c.until = s.endOf(c, c.acked, c.until)
		s.complete(i)
		if int(c.acked) == cap(c.started) {
			s.giveRings(c, &s.receivers[conn])
		}
	}
}

// complete takes in that all of a transfer is acknowledged at its source.
func (s *sim) complete(i uint32) {
	t := &s.transfers[i]
	t.finished = s.now
	s.done++
	s.pull(t.flow.SendDone)
	if s.app != nil {
		s.app.finished(i)
	}
}

// landed takes in that all of a transfer is at its destination.
func (s *sim) landed(i uint32) {
	t := &s.transfers[i]
	t.arrived = s.now
	s.pull(t.flow.RecvDone)
	if s.app != nil {
		s.app.arrived(i)
	}
}

// arrivedTransfers notes what is there to the end.
func (s *sim) arrivedTransfers(conn uint32, r *receiver) {
	for int32(r.cack-r.until) >= 0 {
		c := &s.senders[conn]
		if int(r.arrived) == len(c.started) {
			return
		}
		i := c.started[r.arrived]
		r.arrived++
		r.until = s.endOf(c, r.arrived, r.until)
		s.landed(i)
	}
}

// endOf is the first PSN behind a connection's started transfer i, or until if there is
// none yet.
func (s *sim) endOf(c *sender, i, until uint32) uint32 {
	if int(i) == len(c.started) {
		return until
	}
	t := &s.transfers[c.started[i]]
	return t.first + t.packets
}

// pull pulls a trigger, which starts its transfers when it fires.
func (s *sim) pull(id int64) {
	if id == 0 {
		return
	}
	t := s.triggers[id]
	t.pulls++
	for _, i := range t.fired() {
		s.events.push(s.now, evStart, i)
	}
}

// fired are the transfers that the last pull starts. Each is started once.
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
