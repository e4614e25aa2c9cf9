// SPDX-License-Identifier: Apache-2.0

package msg

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
	chains finder
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
	b.older, b.newer, b.newest = 0, 0, 0
	first, ok := x.chains.find(k)
	if !ok {
		b.newest = i + 1
		x.chains.insert(k, i)
		return
	}
	head := &t.receives[first]
	at := head.newest
	for at != 0 && b.before(&t.receives[at-1]) {
		at = t.receives[at-1].older
	}
	switch b.older = at; at {
	case 0:
		b.newer, b.newest = first+1, head.newest
		head.older, head.newest = i+1, 0
		x.chains.set(k, i)
	case head.newest:
		t.receives[at-1].newer, head.newest = i+1, i+1
	default:
		b.newer = t.receives[at-1].newer
		t.receives[at-1].newer, t.receives[b.newer-1].older = i+1, i+1
	}
}

// removeTag takes buffer i out of the tag's chain.
func (t *Target) removeTag(i uint32) {
	x, b := &t.tags, &t.receives[i]
	k := x.key(b.entry, b.class, b.Match)
	x.posted[b.class]--
	switch {
	case b.older == 0 && b.newer == 0:
		x.chains.remove(k)
	case b.older == 0:
		t.receives[b.newer-1].older, t.receives[b.newer-1].newest = 0, b.newest
		x.chains.set(k, b.newer-1)
	case b.newer == 0:
		first, _ := x.chains.find(k)
		t.receives[first].newest = b.older
		t.receives[b.older-1].newer = 0
	default:
		t.receives[b.older-1].newer, t.receives[b.newer-1].older = b.newer, b.older
	}
}

// matchTag returns the oldest buffer of a queue matching a tag.
func (t *Target) matchTag(entry uint32, tag uint64) (i uint32, ok bool) {
	x := &t.tags
	for c := range uint8(tagClasses) {
		if x.posted[c] == 0 {
			continue
		}
		if n, found := x.chains.find(x.key(entry, c, tag)); found && (!ok || t.receives[n].before(&t.receives[i])) {
			i, ok = n, true
		}
	}
	if x.posted[tagOther] == 0 {
		return i, ok
	}
	n, found := x.chains.find(x.key(entry, tagOther, 0))
	for at := n + 1; found && at != 0; at = t.receives[at-1].newer {
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
