package ses

// A Receive is a buffer to be posted to a receive queue. It serves one message.
type Receive struct {
	Base   uint64 // first address
	Length uint32 // bytes; a longer message is cut to them
	Match  uint64 // tag of the messages it is for
	Ignore uint64 // bits of the tag that need not match; all ones take any message
	Cookie uint64 // returned with each [Decision] about the message
}

// PostReceive appends a buffer to a receive queue. If a deferred send waits for it, the
// buffer is kept for that send, and there is an [Target.Errand]. A queue that a ROD send has
// found empty takes sends again only after [Target.SetIndexState].
//
// Errors: [ErrNotFound], [ErrRange] (not a queue, an end beyond 2^64), [ErrFull].
func (t *Target) PostReceive(process Handle, ri ResourceIndex, r Receive) (Handle, error) {
	e, n, err := t.validEntry(process, ri)
	switch {
	case err != nil:
		return 0, err
	case e.kind == IndexMemory || r.Base != 0 && uint64(r.Length) > -r.Base:
		return 0, ErrRange
	}
	i, ok := t.recvSlots.take()
	if !ok {
		return 0, ErrFull
	}
	t.posted++
	t.receives[i] = receive{Receive: r, entry: n, posted: t.posted}
	if t.keep(i) {
		return t.recvSlots.handle(i), nil
	}
	t.enqueue(e, e.tail, i)
	return t.recvSlots.handle(i), nil
}

// CancelReceive takes a buffer back that no message has matched yet.
//
// Errors: [ErrNotFound].
func (t *Target) CancelReceive(h Handle) error {
	i, ok := t.recvSlots.at(h)
	if !ok || t.receives[i].kept {
		return ErrNotFound
	}
	t.consume(&t.entries[t.receives[i].entry], i)
	return nil
}

type receive struct {
	Receive
	entry  uint32
	next   uint32 // slot + 1
	posted uint32 // counts up, modulo 2^32
	kept   bool   // not in the queue: for a deferred send that comes again
}

// takes reports whether the buffer is for messages with this tag.
func (b *receive) takes(tag uint64) bool { return (b.Match^tag)&^b.Ignore == 0 }

// match returns the oldest buffer of e's queue that takes r; an untagged message
// matches whatever the tags.
func (t *Target) match(e *entry, r *Request) (i uint32, ok bool) {
	tagged := r.Opcode.in(opsTagged)
	for at := e.head; at != 0; at = t.receives[at-1].next {
		if !tagged || t.receives[at-1].takes(r.Key) {
			return at - 1, true
		}
	}
	return 0, false
}

// enqueue puts buffer i into e's queue behind the one at prev, 0 for none.
func (t *Target) enqueue(e *entry, prev, i uint32) {
	at := &e.head
	if prev != 0 {
		at = &t.receives[prev-1].next
	}
	if t.receives[i].next, *at = *at, i+1; e.tail == prev {
		e.tail = i + 1
	}
}

// consume removes a buffer from e's queue.
func (t *Target) consume(e *entry, i uint32) {
	prev := uint32(0)
	for at := e.head; at != i+1; at = t.receives[at-1].next {
		prev = at
	}
	next := t.receives[i].next
	if prev == 0 {
		e.head = next
	} else {
		t.receives[prev-1].next = next
	}
	if e.tail == i+1 {
		e.tail = prev
	}
	t.recvSlots.release(i)
}
