package ses

// Most packets of a long message say what the one before said, one place further
// on. Such a packet need not be checked again, as long as nothing it was checked
// against has changed: that is what the epoch is for.

// follows judges a packet in the middle of a message, all of whose questions an
// earlier packet of it has answered. It reports false, and has changed nothing, if
// this is not such a packet.
func (t *Target) follows(r *Request, a *Arrival, d *Decision) bool {
	if r.Form != FormStandard || r.Version != 0 || r.Flags&(flagsOnly|FlagIE) != 0 || a.Mode > ModeROD {
		return false
	}
	i := int(t.recent[a.Peer&uint64(len(t.recent)-1)])
	if i >= len(t.records) {
		return false
	}
	m := &t.records[i]
	if m.epoch != t.epoch || m.peer != a.Peer || m.id != r.MessageID || m.to != routeOf(r) {
		return false
	}
	if m.key != r.Key || m.offset != r.BufferOffset || m.length != r.RequestLength {
		return false
	}
	x := extent{r.MessageOffset, uint32(r.PayloadLength)}
	if x.n-1 >= t.mtu || int(x.n) > a.Payload {
		return false
	}
	// It neither ends the message nor makes it whole.
	if uint64(x.off)+uint64(x.n) >= uint64(m.length) || x.n >= m.length-m.seen {
		return false
	}
	m.seen += x.n
	d.accept(r)
	d.Action, d.Offset, d.Length, d.Address, d.Cookie = ActionPlace, x.off, x.n, m.base+uint64(x.off), m.cookie
	return true
}

// lead lets later packets of m follow r, which has passed.
func (t *Target) lead(r *Request, m *record) {
	if r.Opcode.in(1<<OpcodeWrite|kindQueueOps) && m.limit == m.length {
		m.key, m.offset, m.to, m.epoch = r.Key, r.BufferOffset, routeOf(r), t.epoch
	}
}

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

// Touch loads which message of a peer is the latest, and TouchMessage, in a second
// pass over packets ahead, the record of it: the misses of the cache overlap then.
// The low 16 bits of a peer suffice. The results mean nothing but keep the loads.
func (t *Target) Touch(peer uint64) uint64 {
	return uint64(t.recent[peer&uint64(len(t.recent)-1)])
}

// TouchMessage is the second pass, see [Target.Touch].
func (t *Target) TouchMessage(peer uint64) uint64 {
	if i := int(t.recent[peer&uint64(len(t.recent)-1)]); i < len(t.records) {
		return uint64(t.records[i].epoch)
	}
	return 0
}
