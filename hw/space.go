// SPDX-License-Identifier: Apache-2.0

package hw

import (
	"errors"
	"sync/atomic"
	"unsafe"
)

// Errors of this package.
var (
	ErrConfig  = errors.New("hw: invalid configuration, or memory too small, too large or misaligned")
	ErrChain   = errors.New("hw: broken chain of register blocks, or a mandatory block is missing")
	ErrIndex   = errors.New("hw: no such block or array element")
	ErrFeature = errors.New("hw: the device does not offer a feature")
	ErrRing    = errors.New("hw: ring size or address out of range, or ring in use")
	ErrAccess  = errors.New("hw: register does not allow this access")
)

// A Space is a flat range of registers, addressed in bytes. 32-bit accesses are
// aligned to 4, 64-bit accesses to 8; they panic outside the range, possible only
// by a wrong offset in package hw, since [Open] checks all geometry.
type Space interface {
	Load32(off uint32) uint32
	Load64(off uint32) uint64
	Store32(off uint32, v uint32)
	Store64(off uint32, v uint64)

	// Flush makes earlier stores visible to the device now, and before later
	// stores.
	Flush()

	// Size returns the length of the range in bytes.
	Size() uint32
}

// Memory is a [Space] of ordinary memory shared by goroutines, or by processes
// mapping the same file. Every access is a sequentially consistent atomic. Safe
// for concurrent use.
type Memory struct{ words []uint64 }

// NewMemory returns a zeroed space of at least size bytes on the heap.
func NewMemory(size uint32) *Memory { return &Memory{make([]uint64, (uint64(size)+7)/8)} }

// WrapMemory returns a space over b, such as a file mapped by several processes, which must start at a multiple of 8; a last
// incomplete word is left out. The error is [ErrConfig].
func WrapMemory(b []byte) (*Memory, error) {
	if !isSpace(b) {
		return nil, ErrConfig
	}
	return &Memory{unsafe.Slice((*uint64)(unsafe.Pointer(&b[0])), len(b)/8)}, nil
}

// isSpace reports whether registers can lie in b: b is aligned, and neither too
// short nor too long.
func isSpace(b []byte) bool {
	return len(b) >= 8 && uintptr(unsafe.Pointer(&b[0]))%8 == 0 && uint64(len(b)) <= 1<<32-8
}

// Size implements [Space].
func (m *Memory) Size() uint32 { return uint32(len(m.words)) * 8 }

// Load64 implements [Space].
//
//uetcc:hot inlines
func (m *Memory) Load64(off uint32) uint64 { return atomic.LoadUint64(&m.words[off>>3]) }

// Store64 implements [Space].
//
//uetcc:hot inlines
func (m *Memory) Store64(off uint32, v uint64) { atomic.StoreUint64(&m.words[off>>3], v) }

// Load32 implements [Space].
func (m *Memory) Load32(off uint32) uint32 { return atomic.LoadUint32(m.half(off)) }

// Store32 implements [Space].
func (m *Memory) Store32(off uint32, v uint32) { atomic.StoreUint32(m.half(off), v) }

// Flush implements [Space]; atomics are visible at once.
func (m *Memory) Flush() {}

// half returns the 32-bit half of a word at off.
func (m *Memory) half(off uint32) *uint32 {
	return &(*[2]uint32)(unsafe.Pointer(&m.words[off>>3]))[off>>2&1]
}

// entries returns n entries of a ring at off.
func (m *Memory) entries(off, n uint32) []entry {
	words := m.words[off>>3:][:n*entryLen/8]
	return unsafe.Slice((*entry)(unsafe.Pointer(&words[0])), n)
}
