// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"unsafe"

	"github.com/uetcc/uetcc/internal/prefetch"
)

// ContextLines returns the addresses of the cache lines that an event of a PDC needs, by the
// PDC's index, to be loaded ahead: three of its context, and a fourth where the path choice has side memory, or
// else where contexts are shared. Without either, d repeats c.
//
//uetcc:hot inlines
func (m *Manager) ContextLines(index uint16) (a, b, c, d uintptr) {
	// In one expression on the slices: the nil check of a pointer would load the very line.
	a = uintptr(unsafe.Pointer(&m.seats[m.homes[index]])) + prefetch.Line
	c = a + 2*prefetch.Line
	switch d = c; {
	case len(m.side) != 0:
		d = uintptr(unsafe.Pointer(&m.side[int(m.homes[index])*int(m.p.entropy.words)]))
	case m.shares:
		d = uintptr(unsafe.Pointer(&m.pdcs[index]))
	}
	return a, a + prefetch.Line, c, d
}
