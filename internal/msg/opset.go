// SPDX-License-Identifier: Apache-2.0

package msg

import "github.com/uetcc/uetcc/ses"

// Sets of opcodes, bit n for opcode n: those with a tag, and those of the short forms.
const (
	opsTagged = 1<<ses.OpcodeTaggedSend | 1<<ses.OpcodeRendezvousTSend | 1<<ses.OpcodeDeferrableTSend |
		1<<ses.OpcodeTSendAtomic | 1<<ses.OpcodeTSendFetchingAtomic

	opsShort = 1<<ses.OpcodeNoOp | 1<<ses.OpcodeWrite | 1<<ses.OpcodeRead | 1<<ses.OpcodeAtomic | 1<<ses.OpcodeFetchingAtomic
	// opsMiddling adds the sends for one packet; all further opcodes need the standard form.
	opsMiddling = opsShort | 1<<ses.OpcodeSend | 1<<ses.OpcodeDatagramSend | 1<<ses.OpcodeTaggedSend |
		1<<ses.OpcodeTSendAtomic | 1<<ses.OpcodeTSendFetchingAtomic
)

// opsApart are the opcodes whose request_length may not be the bytes of a message's packets.
const opsApart = 1<<ses.OpcodeRendezvousSend | 1<<ses.OpcodeRendezvousTSend |
	1<<ses.OpcodeAtomic | 1<<ses.OpcodeFetchingAtomic | 1<<ses.OpcodeTSendAtomic | 1<<ses.OpcodeTSendFetchingAtomic

// Parts of the common fields, in place.
const (
	opcodeMask = 0x3f
	flagsMask  = 0x3f
	flagsOnly  = ses.FlagSOM | ses.FlagEOM // a message of one packet

	maxLength14 = 1<<14 - 1 // the largest length of a 14-bit field
)

// among reports whether o is one of ops, bit n for opcode n.
func among(o ses.Opcode, ops uint64) bool { return ops>>o&1 != 0 }

// opsReliable are all opcodes of the specification but the datagram's.
const opsReliable = (1<<(ses.OpcodeMsgError+1) - 1) &^ (1 << ses.OpcodeDatagramSend)

// opsOf are the opcodes a mode carries: a datagram only over UUD, and over RUDI
// only operations harmless when done twice.
var opsOf = [...]uint64{
	ses.ModeRUD:  opsReliable,
	ses.ModeROD:  opsReliable,
	ses.ModeRUDI: 1<<ses.OpcodeNoOp | 1<<ses.OpcodeWrite | 1<<ses.OpcodeRead,
	ses.ModeUUD:  1 << ses.OpcodeDatagramSend,
}

// carries reports whether mode m carries opcode o.
func carries(m ses.Mode, o ses.Opcode) bool { return int(m) < len(opsOf) && among(o, opsOf[m]) }

// opsOfForm are the opcodes each request form has.
var opsOfForm = [...]uint64{ses.FormSmall: opsShort, ses.FormMedium: opsMiddling, ses.FormStandard: ^uint64(0)}

// Operations all profiles have. A deferrable send is included because AI Base executes
// deferrable sends as sends.
const opsAIBase = 1<<ses.OpcodeNoOp | 1<<ses.OpcodeSend | 1<<ses.OpcodeDatagramSend | 1<<ses.OpcodeWrite |
	1<<ses.OpcodeAtomic | 1<<ses.OpcodeDeferrableSend | 1<<ses.OpcodeMsgError

var profileOps = [...]uint64{
	ses.ProfileAll:    ^uint64(0),
	ses.ProfileAIBase: opsAIBase,
	ses.ProfileAIFull: opsAIBase | 1<<ses.OpcodeRead | 1<<ses.OpcodeTaggedSend | 1<<ses.OpcodeDeferrableTSend | 1<<ses.OpcodeDeferrableRTR,
	ses.ProfileHPC: opsAIBase | 1<<ses.OpcodeRead | 1<<ses.OpcodeFetchingAtomic | opsTagged | 1<<ses.OpcodeRendezvousSend |
		1<<ses.OpcodeDeferrableRTR,
}

// Offers reports whether a target with profile p serves opcode o.
func Offers(p ses.Profile, o ses.Opcode) bool {
	return int(p) < len(profileOps) && among(o, profileOps[p])
}

// defers reports whether a target with profile p remembers a deferrable send that found no
// buffer. Targets of the remaining profiles treat the request as a send.
func defers(p ses.Profile) bool { return p == ses.ProfileAll || p == ses.ProfileAIFull }

// noPayload reports whether no operand follows the header: a swap's operands are in
// the extension.
func noPayload(o ses.AtomicOpcode) bool {
	return o.IsSwap() || o == ses.AtomicRead || o == ses.AtomicInvalidate
}

// isWide reports whether a field is wider than the place on the wire.
func isWide(h *ses.Rendezvous) bool { return (uint16(h.PIDonFEP)|uint16(h.Index))>>12 != 0 }
