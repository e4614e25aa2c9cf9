// SPDX-License-Identifier: Apache-2.0

package pdc

// longResponses are the places of responses longer than [ResponseMax]: read data, up to
// Max_ACK_Data_Size. The places are few, since each is large; without a free place the data
// goes in separate packets.
type longResponses struct {
	bytes []byte
	size  int      // of a place
	next  []uint16 // free list, by number; place 0 is never handed out
	free  uint16
}

func (s *longResponses) init(n, size int) {
	if n == 0 {
		return
	}
	s.bytes, s.size, s.next = make([]byte, n*size), size, make([]uint16, n+1)
	for i := n; i > 0; i-- {
		s.next[i], s.free = s.free, uint16(i)
	}
}

// at returns place i.
func (s *longResponses) at(i uint16) []byte { return s.bytes[int(i-1)*s.size:][:s.size] }

// fits reports whether the store has a place for a response to a request of p. A peer known
// only by SYN packets gets no long response: repeated forged packets could flood a victim.
func (s *responseStore) fits(p *PDC, a *Response) bool {
	return max(len(a.Bytes), int(a.Room)) <= ResponseMax || s.long.free != 0 && !p.is(flagUnproven)
}

// reserve gives slot i a place for n bytes, if needed and missing.
func (s *responseStore) reserve(i uint32, n int) bool {
	r := &s.slot[i]
	if n <= ResponseMax || r.long != 0 {
		return true
	}
	if r.long = s.long.free; r.long == 0 {
		return false
	}
	s.long.free = s.long.next[r.long]
	return true
}

// shorten takes back the place of slot i, if any.
func (s *responseStore) shorten(i uint32) {
	if r := &s.slot[i]; r.long != 0 {
		s.long.next[r.long], s.long.free = s.long.free, r.long
		r.long = 0
	}
}

// put stores the bytes of a response in slot i; checked before by fits or reserve.
func (s *responseStore) put(i uint32, b []byte) {
	if s.reserve(i, len(b)); len(b) <= ResponseMax {
		s.shorten(i)
	}
	s.slot[i].len = uint16(len(b))
	copy(s.stored(i), b)
}

// stored returns the response in slot i.
func (s *responseStore) stored(i uint32) []byte {
	r := &s.slot[i]
	if r.long != 0 {
		return s.long.at(r.long)[:r.len]
	}
	return r.data[:r.len]
}
