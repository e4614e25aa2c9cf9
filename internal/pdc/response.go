// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/internal/list"
	"github.com/uetcc/uetcc/internal/slab"
	"github.com/uetcc/uetcc/pds"
)

// ResponseMax is the longest response that can always be kept: a response header with data
// and 16 bytes, the default of Max_ACK_Data_Size. Longer responses need a place of
// [MemoryConfig].LongResponses.
const ResponseMax = dataHeaderLen + 16

// dataHeaderLen is the length of the header of a response with data.
const dataHeaderLen = 20

// respState is the next event of a stored response.
type respState uint8

const (
	respNone     respState = iota // slot 0: no response
	respPending                   // the layer above works on the request
	respBuffered                  // held back by an ordered PDC: behind a gap, or in turn now
	respStored                    // CLEAR from the peer
)

// A response is a PSN that CACK must not pass: the answer is still owed.
type response struct {
	psn   pds.PSN
	data  [ResponseMax]byte
	len   uint16 // of data; while respBuffered, the number of the buffer
	long  uint16 // place of a response longer than data, 0: none
	hdr   pds.NextHdr
	state respState
	flags pds.Flags // of the request: FlagRetx, FlagM
}

// responseStore hands out responses. Slot i belongs to the PDC with id i and only takes the
// PDC's lowest missing PSN, so a full store never blocks the packet that everything waits
// for. The rest is shared: a PDC gets one more slot, or one more buffer, only while more
// are free than the PDC has, so a peer clearing nothing, or filling no gap, leaves half to
// others.
type responseStore struct {
	slot  []response // 0 is the end of a list
	links list.Links[uint32]
	free  list.List[uint32]
	spare uint32 // slots in free
	pdcs  uint32
	long  longResponses

	buffers []uint16 // numbers of free buffers
}

func (s *responseStore) init(pdcs, shared int) {
	s.slot, s.links = slab.Make[response](1+pdcs+shared), list.Make[uint32](pdcs+shared)
	s.pdcs, s.spare = uint32(pdcs), uint32(shared)
	for i := pdcs + 1; i < len(s.slot); i++ {
		s.links.Push(&s.free, uint32(i))
	}
}

// available reports whether the PDC of l can store a response, for the lowest missing PSN
// or for any other.
func (s *responseStore) available(l *respList, lowest bool) bool {
	return uint32(l.shared) < s.spare || lowest && !l.ownUsed
}

// take returns a slot promised by available.
func (s *responseStore) take(pdc uint32, l *respList) uint32 {
	if uint32(l.shared) >= s.spare {
		l.ownUsed = true
		return pdc
	}
	i := s.free.Head
	s.links.Remove(&s.free, i)
	s.spare--
	l.shared++
	return i
}

// respList is the list of a PDC, in order of PSN.
type respList struct {
	list.List[uint32]
	ownUsed  bool   // the PDC's own slot is in use
	heard    bool   // a packet from the peer since last asked to clear
	asked    uint8  // number of questions about Head, each followed by a packet of the peer
	tells    uint8  // control packets allowed to a peer known only by SYN packets
	shared   uint16 // slots from the shared part
	buffered uint16 // slots with a buffer
}

// insert puts slot i into l. Almost always the slot goes to the end.
func (s *responseStore) insert(l *respList, i uint32) {
	at := l.Tail
	for at != 0 && s.slot[at].psn.After(s.slot[i].psn) {
		at = s.links.Prev(at)
	}
	if s.links.Insert(&l.List, at, i); at == 0 {
		l.asked = 0
	}
}

// remove takes slot i out of l and frees the slot.
func (s *responseStore) remove(l *respList, i uint32) {
	s.shorten(i)
	s.unbuffer(l, i)
	if i == l.Head {
		l.asked = 0
	}
	s.links.Remove(&l.List, i)
	if i <= s.pdcs {
		l.ownUsed = false
		return
	}
	s.links.Insert(&s.free, 0, i) // the last used is the next, as the lines may be near
	s.spare++
	l.shared--
}

// find returns the slot of psn, or 0.
func (s *responseStore) find(l *respList, psn pds.PSN) uint32 {
	for i := l.Head; i != 0; i = s.links.Next(i) {
		if s.slot[i].psn == psn {
			return i
		}
	}
	return 0
}

// lowest returns the first PSN of l.
func (s *responseStore) lowest(l *respList) (pds.PSN, bool) {
	return s.slot[l.Head].psn, l.Head != 0
}

// freeAll empties l.
func (s *responseStore) freeAll(l *respList) {
	for l.Head != 0 {
		s.remove(l, l.Head)
	}
}

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
