// SPDX-License-Identifier: Apache-2.0

package ses

import "github.com/uetcc/uetcc/internal/enum"

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
