// SPDX-License-Identifier: Apache-2.0

package ses

import "github.com/uetcc/uetcc/internal/enum"

// A Profile is a [Target]'s offer to peers. Operations outside the profile are refused with
// UNSUPPORTED_OP. The zero value offers all operations of package ses.
//
// Source: UE Specification 1.0.x section 3.4, as far as the lists are public: all of AI Base;
// of AI Full and HPC the distinguishing features, so no target of either profile lacks a
// feature known to be mandatory.
type Profile uint8

const (
	ProfileAll    Profile = iota
	ProfileAIBase         // sends without matching, writes, atomics that fetch nothing, datagrams
	ProfileAIFull         // AI Base, reads, exact tags, deferrable sends
	ProfileHPC            // AI Base, reads, tags with wildcards, rendezvous, atomics that fetch
)

var profileNames = [...]string{"all", "AI Base", "AI Full", "HPC"}

// String returns the specification's name.
func (p Profile) String() string { return enum.Name(profileNames[:], p) }

// Operations all profiles have. A deferrable send is included because AI Base executes
// deferrable sends as sends.
const opsAIBase = 1<<OpcodeNoOp | 1<<OpcodeSend | 1<<OpcodeDatagramSend | 1<<OpcodeWrite |
	1<<OpcodeAtomic | 1<<OpcodeDeferrableSend | 1<<OpcodeMsgError

var profileOps = [...]uint64{
	ProfileAll:    ^uint64(0),
	ProfileAIBase: opsAIBase,
	ProfileAIFull: opsAIBase | 1<<OpcodeRead | 1<<OpcodeTaggedSend | 1<<OpcodeDeferrableTSend | 1<<OpcodeDeferrableRTR,
	ProfileHPC: opsAIBase | 1<<OpcodeRead | 1<<OpcodeFetchingAtomic | opsTagged | opsRendezvous |
		1<<OpcodeDeferrableRTR,
}

// Offers reports whether a target with profile p serves opcode o.
func (p Profile) Offers(o Opcode) bool { return int(p) < len(profileOps) && o.in(profileOps[p]) }

// defers reports whether a target with profile p remembers a deferrable send that found no
// buffer. Targets of the remaining profiles treat the request as a send.
func (p Profile) defers() bool { return p == ProfileAll || p == ProfileAIFull }
