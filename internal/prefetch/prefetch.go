// SPDX-License-Identifier: Apache-2.0

// Package prefetch begins to load cache lines needed soon. Unlike a load, a prefetch is over
// at once: the processor does not stall with a full window of a few hundred instructions,
// and any address is harmless. Without a prefetch instruction nothing happens, and [Enabled]
// is false.
package prefetch

import "unsafe"

// Line is the size of a cache line, bytes.
const Line = 64

// Load begins to load the cache lines of s into the nearest cache.
func Load[T any](s []T) { load(unsafe.Pointer(unsafe.SliceData(s)), size(s)) }

// Own is Load for lines to be written: Own takes the lines away from other cores. Stores
// leave a core in order, so without Own lines read by another core would come one by one.
func Own[T any](s []T) { own(unsafe.Pointer(unsafe.SliceData(s)), size(s)) }

// size is how many bytes s has.
func size[T any](s []T) int { return len(s) * int(unsafe.Sizeof(*new(T))) }
