// SPDX-License-Identifier: Apache-2.0

package ses

import (
	"encoding/binary"
	"fmt"
)

// AtomicLen is the length of an [Atomic] extension, bytes.
const AtomicLen = 4

// An Atomic follows the request header of an atomic operation, in any form, and
// comes before the operands.
//
//	0                8                 16                 24         32
//	+----------------+-----------------+------------------+----------+
//	| atomic_opcode  | atomic_datatype | semantic_control | reserved |
//	+----------------+-----------------+------------------+----------+
//
// Source: figure 3-16.
type Atomic struct {
	Opcode  AtomicOpcode
	Type    AtomicType
	Control uint8 // semantic_control, carried as it is: cacheable 0x01, CPU coherent 0x02; table 3-23
}

func (h *Atomic) get(b *[AtomicLen]byte) {
	h.Opcode, h.Type, h.Control = AtomicOpcode(b[0]), AtomicType(b[1]), b[2]
}

func (h *Atomic) appendTo(b []byte) []byte {
	return append(b, byte(h.Opcode), byte(h.Type), h.Control, 0)
}

// validate reports a reserved opcode ([ErrAtomicOpcode]) or datatype
// ([ErrAtomicType]).
func (h *Atomic) validate() error {
	switch {
	case h.Opcode.isReserved():
		return ErrAtomicOpcode
	case h.Type.isReserved():
		return ErrAtomicType
	}
	return nil
}

func (h *Atomic) text() string {
	return fmt.Sprintf("%v %v control 0x%02x", h.Opcode, h.Type, h.Control)
}

// CompareSwapLen is the length of a [CompareSwap] extension, bytes.
const CompareSwapLen = 36

// An Operand is a 128-bit operand as on the wire, most significant word first. A
// narrower value is right-aligned; an assumption, as no source shows a narrower
// value.
type Operand struct {
	Hi, Lo uint64
}

// A CompareSwap is the atomic extension of the compare-and-swap operations, see
// [AtomicOpcode.IsSwap].
//
//	bytes
//	0     [Atomic]
//	4     compare_value (128)
//	20    swap_value (128)
//
// Source: figure 3-17.
type CompareSwap struct {
	Atomic
	Compare, Swap Operand
}

func (h *CompareSwap) get(b *[CompareSwapLen]byte) {
	h.Atomic.get((*[AtomicLen]byte)(b[:]))
	h.Compare = Operand{binary.BigEndian.Uint64(b[4:]), binary.BigEndian.Uint64(b[12:])}
	h.Swap = Operand{binary.BigEndian.Uint64(b[20:]), binary.BigEndian.Uint64(b[28:])}
}

func (h *CompareSwap) appendTo(b []byte) []byte {
	b, tail := extend(b, CompareSwapLen)
	p := (*[CompareSwapLen]byte)(tail)
	p[0], p[1], p[2], p[3] = byte(h.Opcode), byte(h.Type), h.Control, 0
	binary.BigEndian.PutUint64(p[4:], h.Compare.Hi)
	binary.BigEndian.PutUint64(p[12:], h.Compare.Lo)
	binary.BigEndian.PutUint64(p[20:], h.Swap.Hi)
	binary.BigEndian.PutUint64(p[28:], h.Swap.Lo)
	return b
}

func (h *CompareSwap) text() string {
	return fmt.Sprintf("%s compare 0x%016x%016x swap 0x%016x%016x", h.Atomic.text(),
		h.Compare.Hi, h.Compare.Lo, h.Swap.Hi, h.Swap.Lo)
}
