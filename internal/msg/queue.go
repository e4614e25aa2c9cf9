// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"github.com/uetcc/uetcc/internal/list"
	"github.com/uetcc/uetcc/ses"
)

// PostReceive appends a buffer to a receive queue, or keeps it for a deferred send: [Target.Errand] has an errand then.
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
	entry  uint32
	posted uint32 // counts up, modulo 2^32
	kept   bool   // not in the queue: kept for a deferred send
	class  uint8  // see tagIndex
}

// takes reports whether the buffer is for messages with the tag.
func (b *receive) takes(tag uint64) bool { return (b.Match^tag)&^b.Ignore == 0 }

// before reports whether b was posted before o.
func (b *receive) before(o *receive) bool { return int32(b.posted-o.posted) < 0 }

// match returns the oldest buffer of e's queue that takes r; an untagged message
// matches any tag.
func (t *Target) match(n uint32, r *ses.Request) (i uint32, ok bool) {
	if !among(r.Opcode, opsTagged) {
		head := t.entries[n].queue.Head
		return head - 1, head != 0
	}
	return t.matchTag(n, r.Key)
}

// enqueue puts buffer i into its queue, nearly always behind all others: in the order of
// posting, so one that was kept finds its place again.
func (t *Target) enqueue(i uint32) {
	b := &t.receives[i]
	q := &t.entries[b.entry].queue
	t.queued.Insert(q, t.behind(b, t.queued, q), i+1)
	t.addTag(i)
}

// behind returns the last buffer of a list posted before b, by slot + 1, or 0. The search is from both ends: what comes
// back was nearly always the first.
func (t *Target) behind(b *receive, links list.Links[uint32], l *list.List[uint32]) uint32 {
	last, first := l.Tail, l.Head
	for last != 0 && b.before(&t.receives[last-1]) {
		if b.before(&t.receives[first-1]) {
			return links.Prev(first)
		}
		last, first = links.Prev(last), links.Next(first)
	}
	return last
}

// consume removes a buffer from the queue.
func (t *Target) consume(i uint32) {
	t.queued.Remove(&t.entries[t.receives[i].entry].queue, i+1)
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

// A tagIndex finds the oldest receive buffer for a tag without a look at the rest, as network
// adapters with matching in hardware do. Buffers of a queue with the same Ignore and the same tags
// under Ignore form a chain, the oldest first, under a hash of queue, class and tag. A class is a
// value of Ignore some posted buffer has. A tagged send looks up a chain of each class and takes
// the oldest of the first buffers: the same buffer as in a walk through the queue in the order of
// posting. Buffers beyond the classes form one chain for each queue, searched buffer by buffer.
//
// MPI and libfabric have a few values: the exact tag, any source, any tag, and both.
type tagIndex struct {
	ignore [tagClasses]uint64
	posted [tagClasses + 1]uint32 // buffers of each class, the last of them those without one
	finder finder                 // key -> slot of chains
	slots  slots
	chains []list.List[uint32] // buffers by slot + 1, the oldest first
	links  list.Links[uint32]
}

// first is the oldest buffer of a chain, 0 for none.
func (x *tagIndex) first(k pair) uint32 {
	if c, ok := x.finder.find(k); ok {
		return x.chains[c].Head
	}
	return 0
}

const (
	tagClasses = 8
	tagOther   = tagClasses // in place of a class
)

// classOf returns the class of a value of Ignore, a new class if need be.
func (x *tagIndex) classOf(ignore uint64) uint8 {
	free := uint8(tagOther)
	for c := range uint8(tagClasses) {
		switch {
		case x.posted[c] == 0:
			free = min(free, c)
		case x.ignore[c] == ignore:
			return c
		}
	}
	if free != tagOther {
		x.ignore[free] = ignore
	}
	return free
}

// key is the key of the chain for a tag in a queue.
func (x *tagIndex) key(entry uint32, class uint8, tag uint64) pair {
	if class == tagOther {
		return pair{a: uint64(entry)<<8 | tagOther}
	}
	return pair{uint64(entry)<<8 | uint64(class), tag &^ x.ignore[class]}
}

// addTag puts buffer i into the tag's chain, nearly always as the newest.
func (t *Target) addTag(i uint32) {
	x, b := &t.tags, &t.receives[i]
	b.class = x.classOf(b.Ignore)
	x.posted[b.class]++
	k := x.key(b.entry, b.class, b.Match)
	c, ok := x.finder.find(k)
	if !ok {
		c, _ = x.slots.take() // there are as many as buffers
		x.finder.insert(k, c)
	}
	chain := &x.chains[c]
	x.links.Insert(chain, t.behind(b, x.links, chain), i+1)
}

// removeTag takes buffer i out of the tag's chain.
func (t *Target) removeTag(i uint32) {
	x, b := &t.tags, &t.receives[i]
	k := x.key(b.entry, b.class, b.Match)
	x.posted[b.class]--
	c, _ := x.finder.find(k)
	if x.links.Remove(&x.chains[c], i+1); x.chains[c].Head == 0 {
		x.finder.remove(k)
		x.slots.release(c)
	}
}

// matchTag returns the oldest buffer of a queue matching a tag.
func (t *Target) matchTag(entry uint32, tag uint64) (i uint32, ok bool) {
	x := &t.tags
	for c := range uint8(tagClasses) {
		if x.posted[c] == 0 {
			continue
		}
		if first := x.first(x.key(entry, c, tag)); first != 0 && (!ok || t.receives[first-1].before(&t.receives[i])) {
			i, ok = first-1, true
		}
	}
	if x.posted[tagOther] == 0 {
		return i, ok
	}
	for at := x.first(x.key(entry, tagOther, 0)); at != 0; at = x.links.Next(at) {
		b := &t.receives[at-1]
		if ok && !b.before(&t.receives[i]) {
			break
		}
		if b.takes(tag) {
			return at - 1, true
		}
	}
	return i, ok
}
