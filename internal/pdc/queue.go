// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"math/bits"

	"github.com/uetcc/uetcc/pds"
)

// queue is a first-in-first-out queue of PDCs, each at most once. A queue is an
// array and not a list through the PDCs, so the next PDCs in line are known
// without loading the PDCs' cache lines.
type queue struct {
	ring       []pds.PDCID
	head, tail uint32 // of the whole life
}

func newQueue(pdcs int) queue { return queue{ring: make([]pds.PDCID, ringSize(pdcs))} }

// ringSize is the smallest power of two not below n, 1 or more.
func ringSize(n int) int { return 1 << bits.Len(uint(n-1)) }

//uetcc:hot inlines
func (q *queue) push(p *PDC) {
	q.ring[q.tail&uint32(len(q.ring)-1)] = p.handle.ID()
	q.tail++
}

// len is how many wait.
func (q *queue) len() uint32 { return q.tail - q.head }

// next is the PDC that pop would take.
func (q *queue) next() pds.PDCID { return q.ring[q.head&uint32(len(q.ring)-1)] }

//uetcc:hot inlines
func (q *queue) pop() pds.PDCID {
	id := q.next()
	q.head++
	return id
}

// first are up to n of the next PDCs, fewer at the end of the ring.
//
//uetcc:hot inlines
func (q *queue) first(n int) []pds.PDCID {
	at := q.head & uint32(len(q.ring)-1)
	return q.ring[at:min(at+min(uint32(n), q.len()), uint32(len(q.ring)))]
}

// list is a queue of PDCs linked through the PDCs, by slot; slot 0 is the end.
type list struct{ head, tail uint16 }
