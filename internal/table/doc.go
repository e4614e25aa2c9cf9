// SPDX-License-Identifier: Apache-2.0

// Package table holds the two primitives under every look-up table of the
// engine: [Map], a hash from a 40-byte key to a handle, and [Pool], the 16-bit
// ids in handles, with generation, quarantine and owner words.
//
// Both have a fixed size, hold no pointer the collector would follow, allocate
// nothing after construction and are safe for concurrent use without a lock.
// The typed tables of internal/pdc and ccc only translate addresses and identities
// into keys.
//
// # Memory order
//
// Atomic operations in Go are sequentially consistent; the arguments in the
// comments rely on the consistency. Every word open to two goroutines at once
// is an atomic, the 40 bytes of a key included, so the race detector stays
// quiet in a user's tests. On amd64 an atomic load is a plain load; only stores
// pay.
package table
