// SPDX-License-Identifier: Apache-2.0

package hw

import "unsafe"

// bar is the space of [WrapBAR].
type bar struct{ b []byte }

// WrapBAR returns a space over a mapping of device registers, which must be
// aligned to 8 bytes and stay mapped while the space is in use. Each access is
// exactly one plain load or store of the register's width: the accessors are
// not inlined, so the compiler can neither merge nor drop an access. The race
// detector does not see such accesses. Only a single goroutine at a time may use
// a register; different registers may be used at once. The error is [ErrConfig].
func WrapBAR(mapping []byte) (Space, error) {
	if !isSpace(mapping) {
		return nil, ErrConfig
	}
	return &bar{mapping[:len(mapping)&^7]}, nil
}

// Size implements [Space].
func (r *bar) Size() uint32 { return uint32(len(r.b)) }

// Load32 implements [Space].
func (r *bar) Load32(off uint32) uint32 {
	return load32((*uint32)(unsafe.Pointer(&r.b[off : off+4][0])))
}

// Load64 implements [Space].
func (r *bar) Load64(off uint32) uint64 {
	return load64((*uint64)(unsafe.Pointer(&r.b[off : off+8][0])))
}

// Store32 implements [Space].
func (r *bar) Store32(off uint32, v uint32) {
	store32((*uint32)(unsafe.Pointer(&r.b[off : off+4][0])), v)
}

// Store64 implements [Space].
func (r *bar) Store64(off uint32, v uint64) {
	store64((*uint64)(unsafe.Pointer(&r.b[off : off+8][0])), v)
}

// Flush implements [Space] with a store fence, which write-combining mappings
// need and uncached mappings tolerate.
func (r *bar) Flush() { fence() }

//go:noinline
func load32(p *uint32) uint32 { return *p }

//go:noinline
func load64(p *uint64) uint64 { return *p }

//go:noinline
func store32(p *uint32, v uint32) { *p = v }

//go:noinline
func store64(p *uint64, v uint64) { *p = v }
