package ccc

import (
	"unsafe"

	"github.com/uetcc/uetcc/internal/prefetch"
)

// Prefetch begins to load what events of some PDCs will need, by the PDCs' indices. With
// more contexts than the caches hold, call it for the next 16 to 32 events, and tell these
// afterwards: what is loaded for one comes together with that for the others. It panics
// where there is no such index; 0 is nobody's.
func (m *Manager) Prefetch(pdcs []uint16) {
	for _, i := range pdcs {
		at := m.Line(i)
		prefetch.Lines(at, at, at, at)
	}
	for _, i := range pdcs {
		prefetch.Lines(m.ContextLines(i))
	}
}

// Line returns the address of what says which context a PDC is bound to, the first cache
// line that an event needs, by the PDC's index.
func (m *Manager) Line(index uint16) uintptr { return uintptr(unsafe.Pointer(&m.pdcs[index])) }

// ContextLines returns the addresses of the cache lines that an event of a PDC needs of its
// context, by the PDC's index, once its own line has been loaded. There are four where paths
// hear of acknowledgements, else three.
func (m *Manager) ContextLines(index uint16) (a, b, c, d uintptr) {
	// Of an element of a slice; through a pointer the compiler would load from it, to
	// see that it is not nil.
	a = uintptr(unsafe.Pointer(&m.seats[m.pdcs[index].context.Index()].context.window))
	d = a + 2*prefetch.Line
	if m.listens {
		d += prefetch.Line
	}
	return a, a + prefetch.Line, a + 2*prefetch.Line, d
}
