// SPDX-License-Identifier: Apache-2.0

package switchq

// An entry is a [Packet] in one word, so eight lie in a cache line: 32 bits of ID, 23
// of size, CE and 8 of DSCP.
type entry uint64

func entryOf(p Packet) entry {
	e := entry(p.ID)<<32 | entry(p.Size&(1<<23-1))<<9 | entry(p.DSCP)
	if p.CE {
		e |= 1 << 8
	}
	return e
}

func (e entry) packet() Packet {
	return Packet{ID: uint32(e >> 32), Size: int32(e >> 9 & (1<<23 - 1)), DSCP: DSCP(e), CE: e>>8&1 != 0}
}

// A lane holds the waiting packets of one class: a ring doubling when full and never
// shrinking, so a queue past the peak does not allocate.
type lane struct {
	head  uint32  // counts packets taken; index head & (len-1)
	n     uint32  // packets held
	bytes int64   // their sizes
	buf   []entry // length a power of two, or 0
}

func (l *lane) push(p Packet) {
	if int(l.n) == len(l.buf) {
		l.grow()
	}
	l.buf[(l.head+l.n)&uint32(len(l.buf)-1)] = entryOf(p)
	l.n++
	l.bytes += int64(p.Size)
}

// pop takes the oldest packet; the lane must not be empty.
//
//uetcc:hot inlines
func (l *lane) pop() Packet {
	p := l.buf[l.head&uint32(len(l.buf)-1)].packet()
	l.head++
	if l.n--; l.n == 0 {
		l.head = 0 // an empty queue keeps to the first line of the buffer
	}
	l.bytes -= int64(p.Size)
	return p
}

func (l *lane) oldest() (id uint32, ok bool) {
	if l.n == 0 {
		return 0, false
	}
	return l.buf[l.head&uint32(len(l.buf)-1)].packet().ID, true
}

// behind is the entry at the place of the next packet.
func (l *lane) behind() entry {
	if len(l.buf) == 0 {
		return 0
	}
	return l.buf[(l.head+l.n)&uint32(len(l.buf)-1)]
}

// newest is the packet pushed last; the lane must not be empty.
func (l *lane) newest() *entry {
	return &l.buf[(l.head+l.n-1)&uint32(len(l.buf)-1)]
}

func (l *lane) grow() {
	buf := make([]entry, max(8, 2*len(l.buf)))
	for i := range l.n {
		buf[i] = l.buf[(l.head+i)&uint32(len(l.buf)-1)]
	}
	l.buf, l.head = buf, 0
}
