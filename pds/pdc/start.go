// SPDX-License-Identifier: Apache-2.0

package pdc

import "github.com/uetcc/uetcc/internal/enum"

// A StartMethod is the choice of Start_PSNs that a target takes from an initiator opening a PDC,
// against replayed packets of an earlier PDC. If the initiator's choice is refused, the first data
// costs one more round trip.
//
// Under each method, a target begins to ask for a different Start_PSN when PDCs of peers not
// proven to receive hold a fifth of the PDCIDs open to such PDCs. As with the cookies of TCP and
// the Retry of QUIC, the target keeps no state of the asked peer. So a flood of SYN packets with
// false sources takes no PDCID needed by an honest peer.
//
// Source: UE Specification 1.0.x section 3.5, PDCs that TSS secures.
type StartMethod uint8

const (
	// StartAny: the initiator's choice.
	StartAny StartMethod = iota

	// StartRandom1RTT (RANDOM_1RTT_START): drawn by the target.
	StartRandom1RTT

	// StartExpected0RTT (EXPECTED_0RTT_START): the initiator's choice, if at or after the
	// Expected_PSN, the successor of the last PSN on a PDC with the same address and PDCID of the
	// initiator. For other initiators like StartRandom1RTT, unless [Config.FreshKey]. As an
	// initiator, a manager with this method counts on from the last PSN of a PDCID.
	StartExpected0RTT
)

var startNames = [...]string{"ANY", "RANDOM_1RTT_START", "EXPECTED_0RTT_START"}

// String returns the specification's name.
func (s StartMethod) String() string { return enum.Name(startNames[:], s) }
