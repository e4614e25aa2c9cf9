// SPDX-License-Identifier: Apache-2.0

package ses

import "github.com/uetcc/uetcc/internal/enum"

// A Mode is the delivery service a message asks of the PDS. The zero value
// is RUD, good for every operation but datagrams.
type Mode uint8

const (
	ModeRUD  Mode = iota // reliable, unordered: each packet once, in any order
	ModeROD              // reliable, ordered, on one path; packets ahead of a gap are sent again, or kept (PDS.BufferROD)
	ModeRUDI             // reliable, unordered, for operations that may be repeated
	ModeUUD              // unreliable datagram: no answer, no record
)

var modeNames = [...]string{"RUD", "ROD", "RUDI", "UUD"}

// String returns the specification's abbreviation.
func (m Mode) String() string { return enum.Name(modeNames[:], m) }

// opsReliable are all opcodes of the specification but the datagram's.
const opsReliable = (1<<(OpcodeMsgError+1) - 1) &^ (1 << OpcodeDatagramSend)

// opsOf are the opcodes a mode carries: a datagram only over UUD, and over RUDI
// only operations harmless when done twice.
var opsOf = [...]uint64{
	ModeRUD:  opsReliable,
	ModeROD:  opsReliable,
	ModeRUDI: 1<<OpcodeNoOp | 1<<OpcodeWrite | 1<<OpcodeRead,
	ModeUUD:  1 << OpcodeDatagramSend,
}

// carries reports whether mode m carries opcode o.
func (m Mode) carries(o Opcode) bool { return int(m) < len(opsOf) && o.in(opsOf[m]) }

// opsOfForm are the opcodes each request form has.
var opsOfForm = [...]uint64{FormSmall: opsSmall, FormMedium: opsMedium, FormStandard: ^uint64(0)}
