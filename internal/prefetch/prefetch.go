// Package prefetch begins to load cache lines that will be needed soon. Unlike a load, a
// prefetch is over at once: it does not stall the processor when its window of a few hundred
// instructions is full, and it is harmless whatever the address. Where there is no
// instruction for it nothing happens, and [Enabled] says so.
package prefetch

import "unsafe"

// Line is the size of a cache line, bytes.
const Line = 64

// Load begins to load the cache lines of s into the nearest cache.
func Load[T any](s []T) { load(unsafe.Pointer(unsafe.SliceData(s)), size(s)) }

// Own is Load for lines that will be written to: it takes them away from other cores. Stores
// leave a core in order, so without it lines that another core has read would come one after
// the other.
func Own[T any](s []T) { own(unsafe.Pointer(unsafe.SliceData(s)), size(s)) }

// size is how many bytes s has.
func size[T any](s []T) int { return len(s) * int(unsafe.Sizeof(*new(T))) }
