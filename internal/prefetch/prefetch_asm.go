//go:build (amd64 || arm64) && !purego

package prefetch

import "unsafe"

// Enabled says that this package does something.
const Enabled = true

// Lines begins to load the cache lines of four addresses, of which some may be the same,
// into the nearest cache. They are not pointers, since the compiler would check those for nil
// by a load; so they keep nothing alive.
//
//go:noescape
func Lines(a, b, c, d uintptr)

// load is Load of n bytes.
//
//go:noescape
func load(at unsafe.Pointer, n int)

// own is Own of n bytes.
//
//go:noescape
func own(at unsafe.Pointer, n int)
