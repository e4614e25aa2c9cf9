package ccc

import (
	"unsafe"

	"github.com/uetcc/uetcc/internal/prefetch"
)

// Prefetch begins to load what events of some PDCs will need, by the PDCs' indices. With
// more contexts than the caches hold, call it for the next 16 to 32 events and report these
// afterwards: then their cache misses overlap. It panics on an index out of range.
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
// line that an event needs, which says where the context is.
func (m *Manager) Line(index uint16) uintptr { return uintptr(unsafe.Pointer(&m.pdcs[index])) }

// ContextLines returns the addresses of the cache lines that an event of a PDC needs of its
// context, by the PDC's index. It reads what Line tells of. There are four where the path
// choice takes feedback, else three, and d repeats c.
func (m *Manager) ContextLines(index uint16) (a, b, c, d uintptr) {
	// In one expression on the slices: the nil check of a pointer would load the very line.
	a = uintptr(unsafe.Pointer(&m.seats[m.pdcs[index].context.Index()].context.window))
	d = a + 2*prefetch.Line
	if m.listens {
		d += prefetch.Line
	}
	return a, a + prefetch.Line, a + 2*prefetch.Line, d
}
