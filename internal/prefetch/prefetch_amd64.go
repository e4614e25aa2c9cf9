//go:build !purego

package prefetch

import "unsafe"

// Enabled says that [Lines], [Load] and [Own] do something.
const Enabled = true

// Lines begins to load the lines of these addresses into the nearest cache, and waits for
// none.
//
//go:noescape
func Lines(at *Addresses)

// load is Load of n bytes.
//
//go:noescape
func load(at unsafe.Pointer, n int)

// own is Own of n bytes.
//
//go:noescape
func own(at unsafe.Pointer, n int)
