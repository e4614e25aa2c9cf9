package ccc

import (
	"unsafe"

	"github.com/uetcc/uetcc/internal/prefetch"
)

// Prefetch begins to load the memory for events of some PDCs, by the PDCs' indices. With
// more contexts than the caches hold, call Prefetch for the next 16 to 32 events and report
// the events afterwards: then the cache misses overlap. An index out of range panics.
func (m *Manager) Prefetch(pdcs []uint16) {
	for _, i := range pdcs {
		at := m.Line(i)
		prefetch.Lines(at, at, at, at)
	}
	for _, i := range pdcs {
		prefetch.Lines(m.ContextLines(i))
	}
}

// Line returns the address of the manager's record of a PDC, by its index: the first cache
// line of an event, with the place of the context.
func (m *Manager) Line(index uint16) uintptr { return uintptr(unsafe.Pointer(&m.pdcs[index])) }

// ContextLines returns the addresses of the cache lines of the context needed by an event
// of a PDC, by the PDC's index. The line of Line is read. Four where the path choice takes
// feedback, else three, and d repeats c.
func (m *Manager) ContextLines(index uint16) (a, b, c, d uintptr) {
	// In one expression on the slices: the nil check of a pointer would load the very line.
	a = uintptr(unsafe.Pointer(&m.seats[m.pdcs[index].context.Index()].context.window))
	d = a + 2*prefetch.Line
	if m.listens {
		d += prefetch.Line
	}
	return a, a + prefetch.Line, a + 2*prefetch.Line, d
}
