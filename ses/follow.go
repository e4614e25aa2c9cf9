package ses

// Most packets of a long message repeat the header of the one before but for the offset.
// Such a packet need not be checked again while nothing that the first was checked against
// has changed. Each such change begins a new epoch of the target.

// Follow returns the record of the message that a request of [ModeRUD] or [ModeROD] is in
// the middle of, if an earlier request of that message has answered every question about
// it. Otherwise it returns nil, and the request is for [Target.Receive]. Nothing has
// changed: once the packet counts as arrived [Record.Place] does what Receive would, and
// the answer is the default response, which [PutDefault] writes.
//
// near is the low 16 bits of a.Peer as the packet gives them. They find the message before
// anything else is known about the peer; if they are wrong, Follow returns nil.
func (t *Target) Follow(v *StandardView, near uint16, a Arrival) *Record {
	m := &t.records[t.recent[uint64(near)&uint64(len(t.recent)-1)]]
	if m.differs(v, v.head(), a.Peer) != 0 || m.epoch != t.epoch || m.length != v.RequestLength() {
		return nil
	}
	off, n := uint64(v.MessageOffset()), uint64(v.PayloadLength())
	if n-1 >= uint64(t.mtu) || int(n) > a.Payload {
		return nil
	}
	// It neither ends the message nor makes it whole.
	if off+n >= uint64(m.length) || n >= uint64(m.length-m.seen) {
		return nil
	}
	return m
}

// Place counts n bytes from offset off as arrived: PayloadLength and MessageOffset of the
// request for which [Target.Follow] has just returned m. They belong at address.
func (m *Record) Place(off, n uint32) (address, cookie uint64) {
	m.seen += n
	return m.base + uint64(off), m.cookie
}

// differs returns 0 if a packet with this head repeats the packet before it of m, but for
// the lengths. It compares everything in one expression, without branches.
func (m *Record) differs(v *StandardView, h head, peer uint64) uint64 {
	return (m.peer ^ peer) | (m.key ^ v.Key()) | (m.offset ^ v.BufferOffset()) | uint64(m.head^h) | uint64(m.at^v.at())
}

// lead lets later packets of m follow r, which has passed.
func (t *Target) lead(r *Request, m *Record) {
	if r.Opcode.in(opsFollow) && m.limit == m.length {
		m.key, m.offset, m.head, m.at, m.epoch = r.Key, r.BufferOffset, headOf(r), atOf(r), t.epoch
	}
}

// opsFollow are the opcodes whose packets say no more than where bytes belong.
const opsFollow = (1<<OpcodeWrite | kindQueueOps) &^ opsOwnLayout

// changed makes every packet be checked again: something that earlier ones were checked
// against has changed.
func (t *Target) changed() {
	t.epoch++
	if t.epoch == 0 { // it has wrapped: forget the epochs of old
		for i := range t.records {
			t.records[i].epoch = 0
		}
		clear(t.grants)
		t.epoch = 1
	}
}
