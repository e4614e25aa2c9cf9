package ccc

// links threads indices into rings without pointers: each index is in one ring or
// in none. A ring is addressed by one of its members, its anchor, which is never
// taken out. The others lie behind the anchor in the order in which they came.
type links []link

// A link is the two neighbours of an index in a ring; an anchor that is alone has itself
// twice.
type link struct{ next, prev uint32 }

func newLinks(n int) links {
	l := make(links, n)
	for i := range l {
		l[i] = link{uint32(i), uint32(i)}
	}
	return l
}

// append puts i last in the ring of anchor.
func (l links) append(anchor, i uint32) {
	last := l[anchor].prev
	l[i] = link{next: anchor, prev: last}
	l[last].next, l[anchor].prev = i, i
}

// remove takes i out of its ring.
func (l links) remove(i uint32) {
	next, prev := l[i].next, l[i].prev
	l[prev].next, l[next].prev = next, prev
}

// first returns the first of the ring, false if anchor is alone.
func (l links) first(anchor uint32) (uint32, bool) {
	i := l[anchor].next
	return i, i != anchor
}

// rotate puts the first of the ring last.
func (l links) rotate(anchor uint32) {
	if i := l[anchor].next; i != l[anchor].prev {
		l.remove(i)
		l.append(anchor, i)
	}
}
