package ccc

import "unsafe"

// Line returns the address of what [Manager.TouchPDC] loads, the cache line of a PDC by
// its index, for prefetching. It panics where there is no such index.
func (m *Manager) Line(index uint16) uintptr { return uintptr(unsafe.Pointer(&m.pdcs[index])) }

// ContextLine is the address of the first of three cache lines in a row that an event of
// a PDC needs of its context, by the PDC's index, once its own line has been loaded.
func (m *Manager) ContextLine(index uint16) uintptr {
	// Of an element of a slice; through a pointer the compiler would load from it, to
	// see that it is not nil.
	return uintptr(unsafe.Pointer(&m.seats[m.pdcs[index].context.Index()].context.window))
}
