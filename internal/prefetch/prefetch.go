// Package prefetch begins to load cache lines that will be needed soon. A load would keep
// what comes after it waiting once as many instructions are under way as the processor
// can hold, a few hundred; a prefetch is over at once, and harmless whatever the address.
// Where there is no instruction for it, [Enabled] says so, and nothing happens.
package prefetch

import "unsafe"

// Line is the size of a cache line, bytes.
const Line = 64

// Load begins to load the cache lines of s into the nearest cache.
func Load[T any](s []T) { load(unsafe.Pointer(unsafe.SliceData(s)), size(s)) }

// Own is Load for lines that will be written to, and takes them away from other cores. A
// store that lacks its line keeps those behind it waiting, so that lines which another
// core has read come one after the other.
func Own[T any](s []T) { own(unsafe.Pointer(unsafe.SliceData(s)), size(s)) }

// size is how many bytes s has.
func size[T any](s []T) int { return len(s) * int(unsafe.Sizeof(*new(T))) }
