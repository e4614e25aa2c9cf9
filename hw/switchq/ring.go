package switchq

// A ring is a first-in first-out queue of packets. It doubles when full and
// never shrinks, so that a queue that has seen its peak does not allocate.
type ring struct {
	head uint32   // counts packets taken; index head & (len-1)
	n    uint32   // packets held
	buf  []Packet // length a power of two, or 0
}

func (r *ring) push(p Packet) {
	if int(r.n) == len(r.buf) {
		r.grow()
	}
	r.buf[(r.head+r.n)&uint32(len(r.buf)-1)] = p
	r.n++
}

// pop takes the oldest packet; the ring must not be empty.
func (r *ring) pop() Packet {
	p := r.buf[r.head&uint32(len(r.buf)-1)]
	r.head++
	r.n--
	return p
}

// newest is the packet that was pushed last; the ring must not be empty.
func (r *ring) newest() *Packet {
	return &r.buf[(r.head+r.n-1)&uint32(len(r.buf)-1)]
}

func (r *ring) grow() {
	buf := make([]Packet, max(8, 2*len(r.buf)))
	for i := range r.n {
		buf[i] = r.buf[(r.head+i)&uint32(len(r.buf)-1)]
	}
	r.buf, r.head = buf, 0
}
