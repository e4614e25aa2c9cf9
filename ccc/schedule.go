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
// packet a call is fairest. A context goes to the end of its queue with each grant. A PDC
// does when its turn is used up, or when it has not used a grant at all, so that it delays
// nobody else. A time before the context's last event counts as that one.
//
// Where an [Algorithm] allows less than the packet, do not send it and stop asking: the
// context stays READY, and gets the same grant again until an event or the time changes it.
//
// The turns of a context's PDCs are equal in bytes: each turn adds one MTU, what
// is sent is taken off, and a PDC in debt is passed over (deficit round robin that
// needs no packet sizes in advance).
func (m *Manager) Next(now int64) (Grant, bool) {
	c := m.nextReady()
	if c == nil {
		return Grant{}, false
	}
	b := m.nextMember(uint32(c.rec.handle.Index()))
	d := c.Decide(m.p, max(now, c.rec.last))
	if waits := b.waiting(); waits < d.Bytes {
		d.Bytes, d.Reason = waits, ReasonBacklog
	}
	return Grant{PDC: b.handle, Context: b.context, Decision: d}, true
}

// nextReady is the context whose turn it is. One that is not READY any more leaves
// the list only now: with every packet it sends and every acknowledgement a full
// window would go and come back, and lose its turn.
func (m *Manager) nextReady() *Context {
	anchor := uint32(len(m.seats))
	for {
		i, ok := m.ready.first(anchor)
		if !ok {
			return nil
		}
		c := &m.seats[i].context
		if c.state == StateReady {
			m.ready.rotate(anchor)
			return c
		}
		m.ready.remove(i)
		c.rec.listed = false
	}
}

// nextMember is the PDC whose turn it is in context i, which has one with
// something to send. Three rounds suffice: a debt is less than an MTU after each
// packet, every turn pays one MTU, and a grant goes unused once.
func (m *Manager) nextMember(i uint32) *member {
	anchor := uint32(len(m.pdcs)) + i
	for {
		j, _ := m.turns.first(anchor)
		b := &m.pdcs[j]
		switch {
		case !b.solvent():
			b.pay(m.p.mtu)
		case b.idled():
			b.granted = false
		default:
			b.granted, b.grantedAt = true, uint32(b.sent)
			return b
		}
		m.turns.rotate(anchor)
	}
}

// turn puts a PDC that has something to send into its context's round, and takes
// it out when it has not. What it is ahead or behind, less than an MTU either way,
// stays so.
func (m *Manager) turn(b *member, waits bool) {
	j := uint32(b.handle.Index())
	b.queued = waits
	if waits {
		m.turns.append(uint32(len(m.pdcs))+uint32(b.context.Index()), j)
	} else {
		m.turns.remove(j)
	}
}
