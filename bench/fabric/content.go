// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// Content is a piece of the payload of a message. The position of a byte determines the
// value, so nobody has to hold bytes: not the memory of a host, and not the network while
// the packet is under way. A piece in the right place is compared with itself, at no cost.
type Content struct {
	Message uint32 // number
	Offset  uint32 // of the first byte
	Length  uint32
}

const (
	contentPeriod = 65_521 // prime: no two places of a message that packets may be confused between are alike
	contentMost   = 1 << 14
)

// contents are random bytes, repeated beyond the period.
var contents = func() []byte {
	b := make([]byte, 0, contentPeriod+contentMost)
	for r := rand.NewPCG(1, 2); len(b) < contentPeriod; {
		b = binary.LittleEndian.AppendUint64(b, r.Uint64())
	}
	b = b[:contentPeriod]
	return append(b, b[:contentMost]...)
}()

// bytes are the content, not to be changed.
func (c Content) bytes() []byte {
	at := (uint64(c.Message)*40_503 + uint64(c.Offset)) % contentPeriod
	return contents[at : at+uint64(c.Length)]
}

// appendTo appends the content, with at most contentMost bytes.
func (c Content) appendTo(b []byte) []byte {
	switch {
	case c.Length == 0:
		return b
	case c.Message&atomicContent != 0:
		return append(b, atomicOne[:c.Length]...)
	default:
		return append(b, c.bytes()...)
	}
}

// atomicContent marks the number of a message whose payload is the operand 1.
const atomicContent = 1 << 31

var atomicOne = [8]byte{7: 1}

// page is the unit of a landing's record of arrivals: the smallest MTU.
const page = 1024

// A landing is the destination memory of a message, as a flag for each page with the right
// bytes. A page with other bytes is as bad as a missing page, until overwritten.
type landing struct {
	content Content // all of it
	pages   []uint64
	placed  int64 // bytes that are right
	wrong   int64 // writes of other bytes, or beyond the end
}

// store writes to the landing.
func (l *landing) store(at uint32, data []byte) {
	if len(data) == 0 {
		return
	}
	end := uint64(at) + uint64(len(data))
	if end > uint64(l.content.Length) || at%page != 0 || end%page != 0 && end != uint64(l.content.Length) {
		l.wrong++
		return
	}
	if l.pages == nil {
		l.pages = make([]uint64, (l.content.Length/page)/64+1)
	}
	right := bytes.Equal(data, Content{l.content.Message, at, uint32(len(data))}.bytes())
	if !right {
		l.wrong++
	}
	for p, last := at/page, uint32((end-1)/page); p <= last; p = p&^63 + 64 {
		l.set(p, min(last, p|63), right)
	}
}

// set sets or clears the flags of pages p to last, in one word.
func (l *landing) set(p, last uint32, right bool) {
	w, mask := &l.pages[p/64], ^uint64(0)>>(63-last+p)<<(p%64)
	changed := *w & mask
	if right {
		changed ^= mask
	}
	*w ^= changed
	n := int64(bits.OnesCount64(changed)) * page
	if changed != 0 && last == (l.content.Length-1)/page && changed>>(last%64)&1 != 0 { // which may be short
		n -= int64(last+1)*page - int64(l.content.Length)
	}
	if !right {
		n = -n
	}
	l.placed += n
}
