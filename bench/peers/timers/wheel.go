// SPDX-License-Identifier: Apache-2.0

// Package timers arms and cancels time-outs, and keeps the events of a simulator.
package timers

const slots = 1024

// wheel is the floor: slots of doubly linked indices. One owner; nothing expires.
type wheel struct {
	slot [slots]int32
	node []node
}

type node struct {
	next, prev int32 // prev < 0: first of slot -prev-1
	at         uint32
	_          uint32
}

func newWheel(n int) *wheel {
	w := &wheel{node: make([]node, n)}
	for i := range w.slot {
		w.slot[i] = -1
	}
	return w
}

func (w *wheel) arm(id, at uint32) {
	s := int32(at % slots)
	head := w.slot[s]
	w.node[id] = node{next: head, prev: -s - 1, at: at}
	if head >= 0 {
		w.node[head].prev = int32(id)
	}
	w.slot[s] = int32(id)
}

func (w *wheel) cancel(id uint32) {
	n := w.node[id]
	if n.next >= 0 {
		w.node[n.next].prev = n.prev
	}
	if n.prev >= 0 {
		w.node[n.prev].next = n.next
	} else {
		w.slot[-n.prev-1] = n.next
	}
}
