package ses

// entryOf returns the row of a resource index and its number.
func (t *Target) entryOf(ep Handle, ri ResourceIndex) (*entry, uint32, error) {
	i, ok := t.epSlots.at(ep)
	if !ok {
		return nil, 0, ErrNotFound
	}
	if int(ri) >= t.perEndpoint {
		return nil, 0, ErrRange
	}
	n := i*uint32(t.perEndpoint) + uint32(ri)
	return &t.entries[n], n, nil
}

// validEntry is entryOf for an index that is open.
func (t *Target) validEntry(ep Handle, ri ResourceIndex) (*entry, uint32, error) {
	e, n, err := t.entryOf(ep, ri)
	if err == nil && e.state == IndexInvalid {
		err = ErrNotFound
	}
	return e, n, err
}

// Generations have 8 bits. A value must not come back while a packet of its
// former life can be under way, so in any [TargetConfig.Hold] fewer than 256
// changes pass: a burst of renewBurst, then renewRate evenly, and one that an
// opened or renewed index still owes for its closing.
const (
	renewBurst = 128
	renewRate  = 120
)

// renewed moves e to its next generation.
func (e *entry) renewed(now, hold int64) {
	e.renewAt = now + max(e.renewAt-now, 0) + hold/renewRate + 1
	e.gen++
}

func (e *entry) heldBack(now, hold int64) bool {
	return e.renewAt-now > (renewBurst-1)*(hold/renewRate+1)
}

// OpenIndex opens a resource index, enabled, and returns the generation that
// requests must carry. It is the one after that of its former life. now is in
// nanoseconds.
//
// Errors: [ErrNotFound] for the endpoint, [ErrRange], [ErrExists], [ErrHeldBack]
// (closed and opened too often in too short a time).
func (t *Target) OpenIndex(now int64, ep Handle, ri ResourceIndex, x Index) (Generation, error) {
	e, _, err := t.entryOf(ep, ri)
	if err != nil {
		return 0, err
	}
	if e.state != IndexInvalid {
		return 0, ErrExists
	}
	if int(x.Kind) >= len(kindOps) || x.Job > AnyJob {
		return 0, ErrRange
	}
	if e.heldBack(now, t.hold) {
		return 0, ErrHeldBack
	}
	e.kind, e.job, e.state = x.Kind, x.Job, IndexEnabled
	e.ops = kindOps[x.Kind]
	if x.Ops != 0 {
		e.ops &= x.Ops
	}
	return e.gen, nil
}

// CloseIndex withdraws a resource index with its regions and receive buffers. A
// late packet is refused also after the index has been opened again, what is
// still read for a rendezvous send is not placed, and a deferred send is asked for, to be
// refused. It looks at every region.
//
// Errors: [ErrNotFound], [ErrRange].
func (t *Target) CloseIndex(now int64, ep Handle, ri ResourceIndex) error {
	e, n, err := t.validEntry(ep, ri)
	if err != nil {
		return err
	}
	for i := range t.regions {
		if h := t.regionSlots.handle(uint32(i)); h>>16&1 == 1 && t.regions[i].entry == n {
			_ = t.Withdraw(h)
		}
	}
	for e.head != 0 {
		t.consume(e, e.head-1)
	}
	t.dropPending(n)
	e.state = IndexInvalid
	e.renewed(now, t.hold)
	t.changed()
	return nil
}

// SetIndexState enables or disables an open resource index. A queue that a ROD
// send found empty is generation-disabled until this enables it again.
//
// Errors: [ErrNotFound], [ErrRange].
func (t *Target) SetIndexState(ep Handle, ri ResourceIndex, s IndexState) error {
	e, _, err := t.validEntry(ep, ri)
	switch {
	case err != nil:
		return err
	case s < IndexEnabled || s > IndexGenDisabled:
		return ErrRange
	}
	e.state = s
	t.changed()
	return nil
}

// Renew moves an open resource index to its next generation, so that packets of
// the old one are refused from here on, and returns it. now is in nanoseconds.
//
// Errors: [ErrNotFound], [ErrRange], [ErrHeldBack] (renewed more than 120 times
// in a Hold, after a burst of 128).
func (t *Target) Renew(now int64, ep Handle, ri ResourceIndex) (Generation, error) {
	e, _, err := t.validEntry(ep, ri)
	if err != nil {
		return 0, err
	}
	if e.heldBack(now, t.hold) {
		return 0, ErrHeldBack
	}
	e.renewed(now, t.hold)
	t.changed()
	return e.gen, nil
}

// Register opens memory under a key of a resource index.
//
// Errors: [ErrNotFound], [ErrRange] (an end beyond 2^64, a job that is none),
// [ErrExists] (the key), [ErrFull].
func (t *Target) Register(ep Handle, ri ResourceIndex, r Region) (Handle, error) {
	e, n, err := t.validEntry(ep, ri)
	switch {
	case err != nil:
		return 0, err
	case e.kind != IndexMemory || r.Job > AnyJob || r.Base != 0 && r.Length > -r.Base:
		return 0, ErrRange
	}
	if _, ok := t.keys.find(pair{uint64(n), r.Key}); ok {
		return 0, ErrExists
	}
	i, ok := t.regionSlots.take()
	if !ok {
		return 0, ErrFull
	}
	t.regions[i] = region{Region: r, entry: n}
	t.keys.insert(pair{uint64(n), r.Key}, i)
	return t.regionSlots.handle(i), nil
}

// Withdraw closes a region. Packets for it are refused from now on, also of
// messages that are half way.
//
// Errors: [ErrNotFound].
func (t *Target) Withdraw(h Handle) error {
	i, ok := t.regionSlots.at(h)
	if !ok {
		return ErrNotFound
	}
	t.keys.remove(pair{uint64(t.regions[i].entry), t.regions[i].Key})
	t.regionSlots.release(i)
	t.changed()
	return nil
}

// PostReceive appends a buffer to a receive queue. If a deferred send waits for
// it, the buffer is kept for that, and [Target.Errand] has something to do. A queue that
// a ROD send has found empty takes sends again after [Target.SetIndexState] only.
//
// Errors: [ErrNotFound], [ErrRange] (not a queue, an end beyond 2^64), [ErrFull].
func (t *Target) PostReceive(ep Handle, ri ResourceIndex, r Receive) (Handle, error) {
	e, n, err := t.validEntry(ep, ri)
	switch {
	case err != nil:
		return 0, err
	case e.kind != IndexQueue || r.Base != 0 && uint64(r.Length) > -r.Base:
		return 0, ErrRange
	}
	i, ok := t.recvSlots.take()
	if !ok {
		return 0, ErrFull
	}
	t.posted++
	t.receives[i] = receive{Receive: r, entry: n, posted: t.posted}
	if t.deferred.head != 0 && t.keep(i) {
		return t.recvSlots.handle(i), nil
	}
	t.enqueue(e, e.tail, i)
	return t.recvSlots.handle(i), nil
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

// match returns the oldest buffer of e's queue that takes a message with this
// tag; an untagged message matches whatever the tags.
func (t *Target) match(e *entry, tagged bool, tag uint64) (i uint32, ok bool) {
	for at := e.head; at != 0; at = t.receives[at-1].next {
		if !tagged || t.receives[at-1].takes(tag) {
			return at - 1, true
		}
	}
	return 0, false
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
