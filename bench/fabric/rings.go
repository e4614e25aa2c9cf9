// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"fmt"
	"math"
	"math/bits"
	"runtime/debug"

	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/internal/slab"
)

// maxRecords is the most records of all rings together: the first of a ring is known by 32
// bits.
const maxRecords = 1 << 32

const recordBytes = 16

// firstRings is the number of slots with room at first, if as many may be needed; the
// system gives memory only to used slots. More are added when more connections are under
// way at once.
const firstRings = 1 << 24

// rings hold the rings of the connections under way, each a power of two of slots.
// T must have no pointers.
type rings[T any] struct {
	slots []T
	used  int64        // of the slots, those that were in a ring at some time
	most  int64        // slots of all rings that will be taken
	free  [32][]uint32 // first slots, by the logarithm of the size
}

// makeRings makes room for rings with most slots together, for first slots at once.
func makeRings[T any](most, first int64) rings[T] {
	return rings[T]{slots: slab.Make[T](int(min(most, first))), most: most}
}

// take returns the first slot of a ring of n, with the last owner's content.
func (r *rings[T]) take(n uint32) uint32 {
	class := bits.TrailingZeros32(n)
	if l := len(r.free[class]); l > 0 {
		base := r.free[class][l-1]
		r.free[class] = r.free[class][:l-1]
		return base
	}
	base := r.used
	r.used += int64(n)
	if r.used > int64(len(r.slots)) {
		more := slab.Make[T](int(max(r.used, min(2*int64(len(r.slots)), r.most))))
		copy(more, r.slots[:base])
		r.slots = more
	}
	return uint32(base)
}

// give takes back a ring of n slots.
func (r *rings[T]) give(base, n uint32) {
	class := bits.TrailingZeros32(n)
	r.free[class] = append(r.free[class], base)
}

// ringOf is the length of the ring for a connection of so many packets: too long to limit
// the packets, or psnRange.
func ringOf(packets, psnRange uint32) uint32 {
	n := uint32(4) // a cache line
	for n <= packets && n < psnRange {
		n *= 2
	}
	return n
}

// recordLimit is how many records there may be at most: as many as can be numbered, and no
// more than GOMEMLIMIT has room for.
func recordLimit() int64 {
	memory := min(debug.SetMemoryLimit(-1), math.MaxInt)
	return min(memory/recordBytes, maxRecords)
}

// layOut gives each connection the size of its rings, and makes room for them. It refuses
// more than limit records.
func (s builder) layOut(limit int64) error {
	packets, transfers := make([]uint32, len(s.senders)), make([]uint32, len(s.senders))
	for i := range s.transfers {
		t := &s.transfers[i]
		packets[t.conn] += t.packets
		transfers[t.conn]++
	}
	psnRange := s.cfg.psnRange(link.Ps(s.rto))
	s.addRequests(packets)
	s.order = make([]uint32, len(s.transfers))
	var records int64
	var first uint32 // of the connection's transfers
	for i := range s.senders {
		c, r, n := &s.senders[i], &s.receivers[i], ringOf(packets[i], psnRange)
		s.psnRange = max(s.psnRange, n)
		if records += int64(n); records > limit {
			return s.tooLarge(i, limit)
		}
		c.mask, r.mask = n-1, max(n, 64)-1
		c.order, c.transfers = first, transfers[i]
		first += transfers[i]
	}
	s.psnRange = max(s.psnRange, 64)
	s.side = make([]uint64, len(s.senders)*s.params.Entropy().Words())
	return nil
}

// tooLarge says how many connections have rings of no more than limit records.
func (s builder) tooLarge(fit int, limit int64) error {
	raise := ""
	if limit < maxRecords {
		raise = fmt.Sprintf(", or raise GOMEMLIMIT, of which a packet takes %d bytes", recordBytes)
	}
	return fmt.Errorf("%w: %d connections keep track of more than %d packets at once: the first %d fit; "+
		"or set MaxPSNRange below %d%s", ErrConfig, len(s.senders), limit, fit, s.cfg.psnRange(link.Ps(s.rto)), raise)
}
