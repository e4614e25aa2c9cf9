// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"unsafe"

	"github.com/uetcc/uetcc/internal/prefetch"
)

// Prefetch begins to load the memory for events of some PDCs, by the PDCs' indices. With
// more contexts than the caches hold, call Prefetch for the next 16 to 32 events and report
// the events afterwards: then the cache misses overlap. An index out of range panics.
//
//uetcc:hot
func (m *Manager) Prefetch(pdcs []uint16) {
	for _, i := range pdcs {
		prefetch.Lines(m.ContextLines(i))
	}
}

// ContextLines returns the addresses of the cache lines that an event of a PDC needs, by the
// PDC's index: three of its context, and a fourth where the path choice takes feedback, or
// else where contexts are shared. Without either, d repeats c.
//
//uetcc:hot inlines
func (m *Manager) ContextLines(index uint16) (a, b, c, d uintptr) {
	// In one expression on the slices: the nil check of a pointer would load the very line.
	a = uintptr(unsafe.Pointer(&m.seats[m.homes[index]].context.window))
	c = a + 2*prefetch.Line
	switch d = c; {
	case m.listens:
		d += prefetch.Line
	case m.shares:
		d = uintptr(unsafe.Pointer(&m.pdcs[index]))
	}
	return a, a + prefetch.Line, c, d
}
