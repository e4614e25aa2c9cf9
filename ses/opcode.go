// SPDX-License-Identifier: Apache-2.0

package ses

import "github.com/uetcc/uetcc/internal/enum"

// An Opcode is the operation of a request, 6 bits. Source: table 3-17.
type Opcode uint8

const opcodeMask = 0x3f

// The opcodes.
const (
	OpcodeNoOp                Opcode = 0x00 // nothing
	OpcodeWrite               Opcode = 0x01 // bytes into a region
	OpcodeRead                Opcode = 0x02 // bytes out of a region
	OpcodeAtomic              Opcode = 0x03 // an operation on a region
	OpcodeFetchingAtomic      Opcode = 0x04 // the same, and the value before comes back
	OpcodeSend                Opcode = 0x05 // into the next receive buffer of a queue
	OpcodeRendezvousSend      Opcode = 0x06 // the target reads the rest once a buffer is there
	OpcodeDatagramSend        Opcode = 0x07 // UUD: one packet, message_id 0
	OpcodeDeferrableSend      Opcode = 0x08 // the target may put the send off, and ask later
	OpcodeTaggedSend          Opcode = 0x09 // into the receive buffer with a tag
	OpcodeRendezvousTSend     Opcode = 0x0a // a tagged send with a rendezvous
	OpcodeDeferrableTSend     Opcode = 0x0b // a deferrable tagged send
	OpcodeDeferrableRTR       Opcode = 0x0c // ready to restart: a target asks for a deferred send
	OpcodeTSendAtomic         Opcode = 0x0d // an operation on the receive buffer with a tag
	OpcodeTSendFetchingAtomic Opcode = 0x0e // the same, and the value before comes back
	OpcodeMsgError            Opcode = 0x0f // the initiator gives up a message in progress
)

var opcodeNames = [...]string{
	"UET_NO_OP", "UET_WRITE", "UET_READ", "UET_ATOMIC", "UET_FETCHING_ATOMIC", "UET_SEND",
	"UET_RENDEZVOUS_SEND", "UET_DATAGRAM_SEND", "UET_DEFERRABLE_SEND", "UET_TAGGED_SEND",
	"UET_RENDEZVOUS_TSEND", "UET_DEFERRABLE_TSEND", "UET_DEFERRABLE_RTR", "UET_TSEND_ATOMIC",
	"UET_TSEND_FETCH_ATOMIC", "UET_MSG_ERROR",
}

// Sets of opcodes, bit n for opcode n.
const (
	opsAtomic     = 1<<OpcodeAtomic | 1<<OpcodeFetchingAtomic | 1<<OpcodeTSendAtomic | 1<<OpcodeTSendFetchingAtomic
	opsRendezvous = 1<<OpcodeRendezvousSend | 1<<OpcodeRendezvousTSend
	opsDeferrable = 1<<OpcodeDeferrableSend | 1<<OpcodeDeferrableTSend
	opsExtended   = opsAtomic | opsRendezvous
	opsOwnLayout  = opsExtended | opsDeferrable | 1<<OpcodeDeferrableRTR // not a bare Standard

	opsSmall = 1<<OpcodeNoOp | 1<<OpcodeWrite | 1<<OpcodeRead | 1<<OpcodeAtomic | 1<<OpcodeFetchingAtomic
	// opsMedium adds the sends for one packet; all further opcodes need the standard form.
	opsMedium = opsSmall | 1<<OpcodeSend | 1<<OpcodeDatagramSend | 1<<OpcodeTaggedSend |
		1<<OpcodeTSendAtomic | 1<<OpcodeTSendFetchingAtomic

	// opcodes 0x30 to 0x3e are the vendors', 0x3f escapes to an extended opcode
	opcodeVendor Opcode = 0x30
)

// String returns the specification's name, or the number.
func (o Opcode) String() string { return enum.Name(opcodeNames[:], o) }

// IsAtomic reports whether an atomic extension follows the header. The two tagged atomics
// have an extension: the operation has no other place.
func (o Opcode) IsAtomic() bool { return o.in(opsAtomic) }

// IsFetch reports whether the answer to o brings data.
func (o Opcode) IsFetch() bool {
	return o == OpcodeRead || o == OpcodeFetchingAtomic || o == OpcodeTSendFetchingAtomic
}

// IsRendezvous reports whether a [Rendezvous] extension follows the header.
func (o Opcode) IsRendezvous() bool { return o.in(opsRendezvous) }

// IsDeferrable reports whether the header has a [RestartToken] in the place of buffer_offset.
func (o Opcode) IsDeferrable() bool { return o.in(opsDeferrable) }

// IsPlain reports whether o has, in the standard form, the layout of [Standard]
// and no extension.
func (o Opcode) IsPlain() bool { return opsOwnLayout>>o&1 == 0 }

func (o Opcode) in(set uint64) bool { return set>>o&1 != 0 }

// validate checks that o is defined and in the form's set of opcodes.
func (o Opcode) validate(form uint64) error {
	switch {
	case o > OpcodeMsgError && o < opcodeVendor: // kept for later
		return errOpcode
	case !o.in(form):
		return errOpcodeForm
	}
	return nil
}
