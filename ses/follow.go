package ses

// Most packets of a long message say what the one before said, one place further
// on. Such a packet need not be checked again, as long as nothing it was checked
// against has changed: that is what the epoch is for.

// Follow judges a request in the middle of a message of [ModeRUD] or [ModeROD], all
// of whose questions an earlier one of the message has answered, as [Target.Receive]
// would: its PayloadLength bytes are to be placed at address, with the default
// response to answer, which [PutDefault] writes. It reports false, and has changed
// nothing, if this is not such a request; then it is Receive's.
func (t *Target) Follow(v *StandardView, a Arrival) (address, cookie uint64, ok bool) {
	i := int(t.recent[a.Peer&uint64(len(t.recent)-1)])
	if i >= len(t.records) {
		return 0, 0, false
	}
	m := &t.records[i]
	if m.epoch != t.epoch || m.peer != a.Peer || m.head != v.head() || m.at != v.at() ||
		m.key != v.Key() || m.offset != v.BufferOffset() || m.length != v.RequestLength() {
		return 0, 0, false
	}
	off, n := uint64(v.MessageOffset()), uint64(v.PayloadLength())
	if n-1 >= uint64(t.mtu) || int(n) > a.Payload {
		return 0, 0, false
	}
	// It neither ends the message nor makes it whole.
	if off+n >= uint64(m.length) || n >= uint64(m.length-m.seen) {
		return 0, 0, false
	}
	m.seen += uint32(n)
	return m.base + off, m.cookie, true
}

// lead lets later packets of m follow r, which has passed.
func (t *Target) lead(r *Request, m *record) {
	if r.Form == FormStandard && r.Opcode.in(opsFollow) && m.limit == m.length {
		m.key, m.offset, m.head, m.at, m.epoch = r.Key, r.BufferOffset, headOf(r), atOf(r), t.epoch
	}
}

// opsFollow are the opcodes with packets that say no more than where bytes belong.
const opsFollow = (1<<OpcodeWrite | kindQueueOps) &^ opsOwnLayout

// changed ends the following of earlier packets: what they were checked against is
// no longer so.
func (t *Target) changed() {
	t.epoch++
	if t.epoch == 0 { // has gone round: nothing may be left of its former values
		for i := range t.records {
			t.records[i].epoch = 0
		}
		t.epoch = 1
	}
}

// Touch loads the latest message of each of some peers, which their low 16 bits tell.
// The misses of the cache overlap. The result means nothing but keeps the loads.
func (t *Target) Touch(peers []uint16) (sum uint64) {
	for _, p := range peers {
		if i := int(t.recent[uint64(p)&uint64(len(t.recent)-1)]); i < len(t.records) {
			sum += uint64(t.records[i].epoch)
		}
	}
	return sum
}
