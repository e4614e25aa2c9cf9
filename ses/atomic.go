// SPDX-License-Identifier: Apache-2.0

package ses

import (
	"encoding/binary"
	"fmt"

	"github.com/uetcc/uetcc/internal/enum"
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

// validate reports a reserved opcode or datatype.
func (h *Atomic) validate() error {
	switch {
	case reservedAtomic(uint8(h.Opcode), uint8(AtomicInvalidate)):
		return errAtomicOpcode
	case reservedAtomic(uint8(h.Type), uint8(TypeFP16)):
		return errAtomicType
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

// An AtomicOpcode is the operation of an atomic request. Source: table 3-21.
type AtomicOpcode uint8

// The operations.
const (
	AtomicMin         AtomicOpcode = 0x00
	AtomicMax         AtomicOpcode = 0x01
	AtomicSum         AtomicOpcode = 0x02
	AtomicDiff        AtomicOpcode = 0x03
	AtomicProd        AtomicOpcode = 0x04
	AtomicLogicalOr   AtomicOpcode = 0x05
	AtomicLogicalAnd  AtomicOpcode = 0x06
	AtomicBitOr       AtomicOpcode = 0x07
	AtomicBitAnd      AtomicOpcode = 0x08
	AtomicLogicalXor  AtomicOpcode = 0x09
	AtomicBitXor      AtomicOpcode = 0x0a
	AtomicRead        AtomicOpcode = 0x0b
	AtomicWrite       AtomicOpcode = 0x0c
	AtomicSwapEqual   AtomicOpcode = 0x0d
	AtomicSwapNotEq   AtomicOpcode = 0x0e
	AtomicSwapLessEq  AtomicOpcode = 0x0f
	AtomicSwapLess    AtomicOpcode = 0x10
	AtomicSwapGreatEq AtomicOpcode = 0x11
	AtomicSwapGreater AtomicOpcode = 0x12
	AtomicMaskedSwap  AtomicOpcode = 0x13 // one operand on the wire, as the dissectors have it
	AtomicInvalidate  AtomicOpcode = 0x14
)

var atomicOpcodeNames = [...]string{
	"UET_AMO_MIN", "UET_AMO_MAX", "UET_AMO_SUM", "UET_AMO_DIFF", "UET_AMO_PROD", "UET_AMO_LOR", "UET_AMO_LAND",
	"UET_AMO_BOR", "UET_AMO_BAND", "UET_AMO_LXOR", "UET_AMO_BXOR", "UET_AMO_READ", "UET_AMO_WRITE", "UET_AMO_CSWAP",
	"UET_AMO_CSWAP_NE", "UET_AMO_CSWAP_LE", "UET_AMO_CSWAP_LT", "UET_AMO_CSWAP_GE", "UET_AMO_CSWAP_GT",
	"UET_AMO_MSWAP", "UET_AMO_INVAL",
}

// String returns the specification's name, or the number.
func (o AtomicOpcode) String() string { return enum.Name(atomicOpcodeNames[:], o) }

// IsSwap reports whether the extension is a [CompareSwap].
func (o AtomicOpcode) IsSwap() bool {
	return o-AtomicSwapEqual <= AtomicSwapGreater-AtomicSwapEqual
}

// An AtomicType is the type of an atomic's operands. Source: table 3-22.
type AtomicType uint8

// The types of an operand.
const (
	TypeInt8              AtomicType = 0x00
	TypeUint8             AtomicType = 0x01
	TypeInt16             AtomicType = 0x02
	TypeUint16            AtomicType = 0x03
	TypeInt32             AtomicType = 0x04
	TypeUint32            AtomicType = 0x05
	TypeInt64             AtomicType = 0x06
	TypeUint64            AtomicType = 0x07
	TypeInt128            AtomicType = 0x08
	TypeUint128           AtomicType = 0x09
	TypeFloat             AtomicType = 0x0a
	TypeDouble            AtomicType = 0x0b
	TypeFloatComplex      AtomicType = 0x0c
	TypeDoubleComplex     AtomicType = 0x0d
	TypeLongDouble        AtomicType = 0x0e
	TypeLongDoubleComplex AtomicType = 0x0f
	TypeBF16              AtomicType = 0x10
	TypeFP16              AtomicType = 0x11
)

var atomicTypes = [...]struct {
	name string
	size uint8
}{
	{"UET_TYPE_INT8", 1},
	{"UET_TYPE_UINT8", 1},
	{"UET_TYPE_INT16", 2},
	{"UET_TYPE_UINT16", 2},
	{"UET_TYPE_INT32", 4},
	{"UET_TYPE_UINT32", 4},
	{"UET_TYPE_INT64", 8},
	{"UET_TYPE_UINT64", 8},
	{"UET_TYPE_INT128", 16},
	{"UET_TYPE_UINT128", 16},
	{"UET_TYPE_FLOAT", 4},
	{"UET_TYPE_DOUBLE", 8},
	{"UET_TYPE_FLOAT_COMPLEX", 8},
	{"UET_TYPE_DOUBLE_COMPLEX", 16},
	{"UET_TYPE_LONG_DOUBLE", 16}, // inferred
	{"UET_TYPE_LONG_DOUBLE_COMPLEX", 32},
	{"UET_TYPE_BF16", 2},
	{"UET_TYPE_FP16", 2},
}

// String returns the specification's name, or the number.
func (t AtomicType) String() string {
	if int(t) < len(atomicTypes) {
		return atomicTypes[t].name
	}
	return enum.Name(nil, t)
}

// Size returns the bytes of one operand, 0 for an undefined type.
func (t AtomicType) Size() int {
	if int(t) < len(atomicTypes) {
		return int(atomicTypes[t].size)
	}
	return 0
}

// reservedAtomic reports whether the specification keeps an opcode or datatype for later. 0xe0 to
// 0xfe are the vendors'.
func reservedAtomic(v, last uint8) bool { return v > last && v < 0xe0 || v == 0xff }
