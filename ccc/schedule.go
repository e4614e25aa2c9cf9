package ccc

// Grant is whose turn it is.
type Grant struct {
	PDC     Handle
	Context Handle
	Decision
}

// Next says who may send now: contexts in turn, of those that are READY, and of
// each context its PDCs in turn. Send packets of the PDC of at most Bytes in all,
// those marked for retransmission first, and count each with [Manager.OnSend]; one
// packet a call is fairest. Whoever gets a grant goes to the end of its queue, so
// a grant that is not used delays nobody else.
//
// The turns of a context's PDCs are equal in bytes: each turn adds one MTU, what
// is sent is taken off, and a PDC in debt is passed over (deficit round robin that
// needs no packet sizes in advance).
func (m *Manager) Next(now int64) (Grant, bool) {
	anchor := uint32(len(m.contexts))
	i, ok := m.ready.first(anchor)
	if !ok {
		return Grant{}, false
	}
	m.ready.rotate(anchor)
	b := m.nextMember(i)
	d := m.contexts[i].Decide(m.p, now)
	if waits := b.waiting(); waits < d.Bytes {
		d.Bytes, d.Reason = waits, ReasonBacklog
	}
	return Grant{PDC: b.handle, Context: b.context, Decision: d}, true
}

// nextMember is the PDC whose turn it is in context i, which has one with
// something to send. Two rounds suffice: a debt is less than an MTU after each
// packet, and every turn pays one MTU.
func (m *Manager) nextMember(i uint32) *member {
	anchor := uint32(len(m.pdcs)) + i
	for {
		j, _ := m.turns.first(anchor)
		b := &m.pdcs[j]
		if b.purse > 0 {
			return b
		}
		b.purse += int32(m.p.mtu)
		m.turns.rotate(anchor)
	}
}

// turn keeps a PDC in its context's round while it has something to send. What is
// in its purse, less than an MTU either way, stays there.
func (m *Manager) turn(b *member, i uint32) {
	j, waits := uint32(b.handle.Index()), b.waiting() > 0
	if waits == b.queued {
		return
	}
	b.queued = waits
	if waits {
		m.turns.append(uint32(len(m.pdcs))+i, j)
	} else {
		m.turns.remove(j)
	}
}

// settle brings everything around context i in line with it. Every event ends
// here.
func (m *Manager) settle(i uint32, now int64) {
	c, r := &m.contexts[i], &m.records[i]
	r.last = now
	if ready := c.state == StateReady; ready != r.ready {
		r.ready = ready
		if ready {
			m.ready.append(uint32(len(m.contexts)), i)
		} else {
			m.ready.remove(i)
		}
	}
	if busy := c.state >= StateActive; busy != r.busy {
		r.busy = busy
		m.busy += one(busy) - one(!busy)
	}
	if c.state == StateActive || r.held != ReasonBacklog {
		m.ledgers[i].account(r, c, now)
	}
	if m.p.credit || r.custom || r.armed {
		m.arm(i)
	}
	if m.gates != nil {
		m.ledgers[i].edge.publish(&m.gates[i], c.admission(m.p, now))
	}
}

// arm keeps the earliest time at which context i wants to be looked at.
func (m *Manager) arm(i uint32) {
	c, r := &m.contexts[i], &m.records[i]
	at, want := c.CreditDeadline()
	if c.why == ReasonPacing && c.waiting() > 0 && (!want || c.notBefore < at) {
		at, want = c.notBefore, true
	}
	switch {
	case want && (!r.armed || at != m.ledgers[i].due):
		m.ledgers[i].due = at
		m.due.Arm(i, at)
	case !want && r.armed:
		m.due.Cancel(i)
	}
	r.armed = want
}

// Touch loads a word of each cache line that an event of the PDCs needs, and
// returns their sum so that the loads stay. With more contexts than the caches
// hold, touching some tens ahead of their events lets the misses overlap; with
// few it costs a little. Call it, ignore the sum.
func (m *Manager) Touch(pdcs []Handle) int64 {
	var sum int64
	for _, h := range pdcs {
		b := m.member(h)
		if b == nil {
			continue
		}
		i := b.context.Index()
		sum += m.contexts[i].touch() + int64(m.records[i].handle) + int64(m.entropy[i].base) + int64(m.ready[i].next)
	}
	return sum
}

// NextDeadline returns when to call [Manager.Tick], ns, and false if nothing
// waits for time to pass.
func (m *Manager) NextDeadline() (int64, bool) { return m.due.Next() }

// Tick handles what has become due by now, and returns a context that is to send
// a Credit Request with [Context.CreditTarget], if there is one. Call it until
// it returns false.
func (m *Manager) Tick(now int64) (Handle, bool) {
	for {
		i, ok := m.due.Expire(now)
		if !ok {
			return 0, false
		}
		m.records[i].armed = false
		c := &m.contexts[i]
		request := c.CreditRequestDue(m.p, now)
		c.OnTick(m.p, now)
		if m.records[i].custom {
			m.consult(i, now)
		}
		m.settle(i, now)
		if request {
			return m.records[i].handle, true
		}
	}
}

func one(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
