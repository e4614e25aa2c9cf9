// SPDX-License-Identifier: Apache-2.0

//go:build (amd64 || arm64) && !purego

package prefetch

import "unsafe"

// Enabled reports whether package prefetch has instructions.
const Enabled = true

// Lines begins to load the cache lines of four addresses, some maybe the same, into the
// nearest cache. The addresses are not pointers, since the compiler would check a pointer for
// nil by a load; so no address keeps memory alive.
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
