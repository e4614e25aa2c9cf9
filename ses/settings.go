// SPDX-License-Identifier: Apache-2.0

package ses

import (
	"errors"

	"github.com/uetcc/uetcc/internal/enum"
)

// ErrConfig is wrapped by every error about a configuration; the message names field and
// limits.
var ErrConfig = errors.New("ses: invalid configuration")

// A TargetConfig gives the bounds of the receiving side of an endpoint. All memory is taken at
// construction. A peer gets one more of Messages or of Pending only while more are free than
// the peer has, so a single peer may have half.
type TargetConfig struct {
	MTU       uint32 // payload bytes of a full packet: 1024, 2048, 4096 or 8192
	Processes int    // processes, at most 65536
	Indices   int    // resource indices of each process, at most 4096
	Regions   int    // registered regions, at most 65536
	Receives  int    // posted receive buffers, at most 65536; with up to 8 values of Ignore a tag is found by hash
	Messages  int    // messages of several packets in progress, at most 65536
	// Pending are the rendezvous and deferrable sends awaiting the target's return, at most
	// 65536. Without room a deferrable send is refused like any other.
	Pending int
	// Profile is the offer; the zero value is all operations.
	Profile Profile
	// AtomicOps and AtomicTypes are the atomic opcodes and datatypes served, bit n
	// for value n. 0 means none, even with a region's rights: RC_AMO_UNSUPPORTED_OP, since
	// only the caller knows the host's abilities.
	AtomicOps, AtomicTypes uint32
	// Hold is the longest life of a packet in the network, nanoseconds, at most 2^56. A
	// resource index does not come back to a generation within Hold. 0 means 2 s.
	Hold int64
	// Seed keeps peers from choosing keys that collide in the tables. 0 draws a seed from
	// crypto/rand; with any other equal inputs give equal results.
	Seed uint64
}

// A Profile is a target's offer to peers. Operations outside the profile are refused with
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
