package ses

// A record follows a message of several packets at the target. It is there from
// the first packet that arrives, whichever that is, until all have arrived, the
// initiator gives the message up, or its PDC is gone.
//
// Its first line is all that a packet needs which is like the ones before, see
// [Target.Follow].
type record struct {
	peer   uint64
	base   uint64 // address of the message's first byte
	cookie uint64
	key    uint64 // of the last packet that passed, as the next two
	offset uint64 // buffer_offset
	to     route
	length uint32 // request_length
	seen   uint32 // bytes of the packets that arrived, <= length
	epoch  uint32 // of the target when a packet passed that others may follow; 0: none may
	id     MessageID
	code   ReturnCode // of the first failure, RCNull before
	gen    Generation // the index had then; after a failure, the one to answer with

	headerData uint64
	limit      uint32 // bytes that have a place, <= length
	region     Handle // 0 for a receive buffer
	entry      uint32
	hasData    bool
	_          [recordLen - 64 - 21]byte
}

// recordLen is two cache lines, so that none of them holds parts of two records.
const recordLen = 128

// admits reports whether a further packet can belong to the message: of the same
// length, and none of its bytes twice. The PDS delivers each packet once, so the
// sum of the bytes says what is missing.
func (m *record) admits(r *Request, x extent) bool {
	return r.RequestLength == m.length && x.n <= m.length-m.seen
}

// open takes a record for a message.
func (t *Target) open(r *Request, peer uint64) (m *record, ok bool) {
	i, ok := t.recordSlots.take()
	if !ok {
		return nil, false
	}
	m = &t.records[i]
	*m = record{peer: peer, id: r.MessageID, length: r.RequestLength}
	t.messages.insert(pair{peer, uint64(r.MessageID)}, i)
	t.recent[peer&uint64(len(t.recent)-1)] = uint16(i)
	return m, true
}

// find returns the record of the message that r belongs to.
func (t *Target) find(r *Request, peer uint64) *record {
	if i, ok := t.messages.find(pair{peer, uint64(r.MessageID)}); ok {
		t.recent[peer&uint64(len(t.recent)-1)] = uint16(i)
		return &t.records[i]
	}
	return nil
}

// drop ends a message.
func (t *Target) drop(m *record) {
	key := pair{m.peer, uint64(m.id)}
	i, _ := t.messages.find(key)
	m.epoch = 0
	t.messages.remove(key)
	t.recordSlots.release(i)
}

// ClosePeer ends all messages of a PDC that is gone. lost, unless nil, is given the
// cookie of the region or receive buffer of each that was under way: not of those
// that failed before, which a [Decision] has told of, nor of reads. It looks at every
// record.
func (t *Target) ClosePeer(peer uint64, lost func(cookie uint64)) {
	if t.pendSlots.live != 0 {
		t.dropDeferredOf(peer)
	}
	for i := range t.records {
		m := &t.records[i]
		if t.recordSlots.gen[i]&1 == 0 || m.peer != peer {
			continue
		}
		if m.code == RCNull && m.to.opcode() != OpcodeRead && lost != nil {
			lost(m.cookie)
		}
		t.drop(m)
	}
}

// A route is what a request says about where it goes, but the key, and what it
// does there.
type route uint64

func (x route) opcode() Opcode { return Opcode(x >> 2 & 0x3f) }

func routeOf(r *Request) route {
	return route(r.JobID)<<40 | route(r.PIDonFEP)<<28 | route(r.Index)<<16 | route(r.Generation)<<8 | route(r.Opcode)<<2 |
		route(r.Flags&FlagRel)>>2
}
