// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"cmp"
	"encoding/binary"

	"github.com/uetcc/uetcc/internal/standard"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// opsInitiator are the opcodes an operation can have.
const opsInitiator = kindMemoryOps | kindQueueOps | 1<<ses.OpcodeNoOp | 1<<ses.OpcodeDeferrableRTR

// An Operation is one message to be sent for an application.
type Operation struct {
	Opcode ses.Opcode
	Mode   ses.Mode
	// Form is the header form. 0 stands for NextRequestStd; the short forms are
	// for messages of one packet.
	Form             pds.NextHdr
	Relative         bool // address the process by job and number in the job
	HasData          bool // HeaderData goes to the target's completion
	DeliveryComplete bool // answer when the data is in place
	Job              ses.JobID
	PID              ses.PIDonFEP
	Index            ses.ResourceIndex
	Generation       ses.Generation // as far as known; corrected by a target
	Initiator        uint32         // our rank
	Length           uint32         // bytes of the message, may be 0; for a compare and swap the bytes of one operand
	BufferOffset     uint64
	Key              uint64 // memory key or tag
	HeaderData       uint64
	Swap             ses.CompareSwap // atomics; operands only with a compare and swap
	// Rendezvous gives the bytes sent with a rendezvous send, and the place of the rest for
	// the target's read, see [Target.Lend] and [Initiator.SetSource].
	Rendezvous ses.Rendezvous
	Token      ses.RestartToken // of ready to restart; a deferrable send gets a new token
	Cookie     uint64           // returned with the outcome
}

// Validate reports an operation impossible to send with the MTU:
// [ses.ErrOperation], [ses.ErrTooLong], or [ses.ErrRange] for a field wider than on the wire.
func (o *Operation) Validate(mtu uint32) error {
	switch {
	case !among(o.Opcode, opsInitiator) || !carries(o.Mode, o.Opcode):
		return ses.ErrOperation
	case o.isWide():
		return ses.ErrRange
	case o.Length > ses.MaxMessage || o.Length > mtu && (o.Opcode.IsAtomic() || o.Opcode == ses.OpcodeDatagramSend):
		return ses.ErrTooLong
	case o.Opcode == ses.OpcodeNoOp && o.Length > 0, o.carried() > o.Length:
		return ses.ErrTooLong
	}
	return o.validateForm(mtu)
}

// isWide reports whether a field is wider than the place on the wire.
func (o *Operation) isWide() bool {
	return o.Job>>24 != 0 || (uint16(o.PID)|uint16(o.Index))>>12 != 0 || isWide(&o.Rendezvous)
}

func (o *Operation) validateForm(mtu uint32) error {
	switch o.Form {
	case 0, pds.NextRequestStd:
		return nil
	case pds.NextRequestSmall:
		if o.HasData || o.Key != 0 || o.Initiator != 0 || !among(o.Opcode, opsOfForm[pds.NextRequestSmall]) {
			return ses.ErrOperation
		}
	case pds.NextRequestMedium:
		if o.HasData && o.BufferOffset != 0 || !among(o.Opcode, opsOfForm[pds.NextRequestMedium]) {
			return ses.ErrOperation
		}
	default:
		return ses.ErrOperation
	}
	if o.Length > min(mtu, maxLength14) {
		return ses.ErrTooLong
	}
	return nil
}

// Packets returns the operation's number of packets: the length over the MTU, rounded up, and
// at least 1. A long read takes a request for each MTU of data. Of a rendezvous send only the
// bytes sent eagerly count.
func (o *Operation) Packets(mtu uint32) uint32 {
	if n := o.carried(); n > mtu {
		return uint32((uint64(n) + uint64(mtu) - 1) / uint64(mtu))
	}
	return 1
}

// carried is the number of bytes in the message's packets: the eager bytes of a rendezvous
// send, and 0 for ready to restart, whose length belongs to the deferred message.
func (o *Operation) carried() uint32 {
	switch {
	case o.Opcode.IsRendezvous():
		return o.Rendezvous.EagerLength
	case o.Opcode == ses.OpcodeDeferrableRTR:
		return 0
	}
	return o.Length
}

// form returns the form of the headers, all of the same size.
func (o *Operation) form() pds.NextHdr { return cmp.Or(o.Form, pds.NextRequestStd) }

// put writes the standard header of the first packet, but for EOM and message_id, of a valid operation: the common
// fields in two words.
//
//uetcc:hot nobounds
func (o *Operation) put(b *[ses.StandardLen]byte) {
	what, data := uint64(o.Opcode)<<56|uint64(o.flags()|ses.FlagSOM)<<48, uint64(0)
	if o.HasData {
		data = o.HeaderData
	}
	binary.BigEndian.PutUint64(b[0:], what|uint64(o.Generation)<<24|uint64(o.Job))
	binary.BigEndian.PutUint32(b[8:], uint32(o.PID)<<16|uint32(o.Index))
	standard.Put(b, o.BufferOffset, o.Key, data, o.Initiator, o.Length)
}

func (o *Operation) flags() ses.Flags { return FlagsOf(o.Relative, o.DeliveryComplete, o.HasData) }

// FlagsOf are the flags of an [Operation] with these fields.
func FlagsOf(relative, complete, data bool) (f ses.Flags) {
	if relative {
		f |= ses.FlagRel
	}
	if complete {
		f |= ses.FlagDC
	}
	if data {
		f |= ses.FlagHD
	}
	return f
}

// bringsPayload reports whether the packets carry the message's bytes. Packets of reads and
// of ready to restart do not, and some atomics have the operands in the extension, or none.
func (o *Operation) bringsPayload() bool {
	return !among(o.Opcode, 1<<ses.OpcodeRead|1<<ses.OpcodeDeferrableRTR) && !(o.Opcode.IsAtomic() && noPayload(o.Swap.Opcode))
}

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
var opsOfForm = [...]uint64{pds.NextRequestSmall: opsShort, pds.NextRequestMedium: opsMiddling, pds.NextRequestStd: ^uint64(0)}

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
