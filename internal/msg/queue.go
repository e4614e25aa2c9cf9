// SPDX-License-Identifier: Apache-2.0

package msg

import "github.com/uetcc/uetcc/ses"

// PostReceive appends a buffer to a receive queue. If a deferred send waits for such a
// buffer, the buffer is kept for the send, and [Target.Errand] has an errand. A queue a
// ROD send has found empty takes sends again only after [Target.SetIndexState].
//
// Errors: [ErrNotFound], [ErrRange] (not a queue, an end beyond 2^64), [ErrFull].
func (t *Target) PostReceive(process ses.Handle, ri ses.ResourceIndex, r ses.Receive) (ses.Handle, error) {
	e, n, err := t.validEntry(process, ri)
	switch {
	case err != nil:
		return 0, err
	case e.kind == ses.IndexMemory || r.Base != 0 && uint64(r.Length) > -r.Base:
		return 0, ses.ErrRange
	}
	i, ok := t.recvSlots.take()
	if !ok {
		return 0, ses.ErrFull
	}
	t.posted++
	t.receives[i] = receive{Receive: r, entry: n, posted: t.posted}
	t.offer(i)
	return t.recvSlots.handle(i), nil
}

// CancelReceive takes back a buffer without a matched message.
//
// Errors: [ErrNotFound].
func (t *Target) CancelReceive(h ses.Handle) error {
	i, ok := t.recvSlots.at(h)
	if !ok || t.receives[i].kept {
		return ses.ErrNotFound
	}
	t.consume(i)
	return nil
}

type receive struct {
	ses.Receive
	entry      uint32
	prev, next uint32 // in the queue, slot + 1
	posted     uint32 // counts up, modulo 2^32
	kept       bool   // not in the queue: kept for a deferred send
	class      uint8  // see tagIndex

	older, newer uint32 // in the chain of the tagIndex, slot + 1
	newest       uint32 // of the chain, if the buffer is the oldest, slot + 1
}

// takes reports whether the buffer is for messages with the tag.
func (b *receive) takes(tag uint64) bool { return (b.Match^tag)&^b.Ignore == 0 }

// before reports whether b was posted before o.
func (b *receive) before(o *receive) bool { return int32(b.posted-o.posted) < 0 }

// match returns the oldest buffer of e's queue that takes r; an untagged message
// matches any tag.
func (t *Target) match(n uint32, r *ses.Request) (i uint32, ok bool) {
	if !among(r.Opcode, opsTagged) {
		head := t.entries[n].head
		return head - 1, head != 0
	}
	return t.matchTag(n, r.Key)
}

// enqueue puts buffer i into its queue, nearly always behind all others: in the order of
// posting, so one that was kept finds its place again.
func (t *Target) enqueue(i uint32) {
	b := &t.receives[i]
	e := &t.entries[b.entry]
	prev := e.tail
	for prev != 0 && b.before(&t.receives[prev-1]) {
		prev = t.receives[prev-1].prev
	}
	at, back := &e.head, &e.tail
	if prev != 0 {
		at = &t.receives[prev-1].next
	}
	if b.prev, b.next = prev, *at; b.next != 0 {
		back = &t.receives[b.next-1].prev
	}
	*at, *back = i+1, i+1
	t.addTag(i)
}

// consume removes a buffer from the queue.
func (t *Target) consume(i uint32) {
	b := &t.receives[i]
	e := &t.entries[b.entry]
	at, back := &e.head, &e.tail
	if b.prev != 0 {
		at = &t.receives[b.prev-1].next
	}
	if b.next != 0 {
		back = &t.receives[b.next-1].prev
	}
	*at, *back = b.next, b.prev
	t.removeTag(i)
	t.recvSlots.release(i)
}

// took notes that a message has taken receive buffer i.
//
//go:noinline
func (t *Target) took(m *Record, i uint32) {
	b := &t.receives[i]
	m.match, m.ignore, m.room, m.posted, m.taken = b.Match, b.Ignore, b.Length, b.posted, true
}

// giveBack puts the receive buffer of a message back at its place in the queue: some of the message's packets are longer
// than those that this side takes, and its initiator sends it again in shorter ones, as another message. It reports false
// if there is no buffer, or no slot is left for it.
func (t *Target) giveBack(m *Record) bool {
	e := &t.entries[m.entry]
	if !m.taken || m.gen != e.gen {
		return false
	}
	i, ok := t.recvSlots.take()
	if !ok {
		return false
	}
	m.taken = false
	t.receives[i] = receive{
		Receive: ses.Receive{Base: m.base, Length: m.room, Match: m.match, Ignore: m.ignore, Cookie: m.cookie},
		entry:   m.entry, posted: m.posted,
	}
	t.offer(i)
	return true
}

// offer gives buffer i to a deferred send that waits for one, or puts it at its place in the queue.
func (t *Target) offer(i uint32) {
	if !t.keep(i) {
		t.enqueue(i)
	}
}
