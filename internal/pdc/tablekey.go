// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"net/netip"

	"github.com/uetcc/uetcc/internal/table"
	"github.com/uetcc/uetcc/pds"
)

// TargetKey is the identity of a PDC in a packet with the SYN flag. The destination is
// part of the key because a FEP may own several addresses.
//
// Source: UE Specification 1.0.x section 3.5: {source address, destination
// address, SPDCID}.
type TargetKey struct {
	Source      netip.Addr
	Destination netip.Addr
	SPDCID      pds.PDCID
}

// InitiatorKey is the key that decides a message's PDC. The public sources disagree on
// the parts; the key is the union, and unused parts stay zero. Several PDCs with all else
// alike are told apart by Context. IPv4 addresses equal their IPv4-mapped IPv6 form.
type InitiatorKey struct {
	Source      netip.Addr
	Destination netip.Addr
	JobID       uint32 // 24 bits
	TC          uint8  // traffic class of the requests; ACKs travel in a different class
	Ordered     bool   // ROD; RUD and ROD never share a PDC
	Reserved    bool   // the PDC comes from the reserved pool, here and at the peer
	Context     uint16 // a number for tss_context, rod_context, rsv_ccc and the like
}

// The last word of a table key, so both roles share one table:
//
//	target     0 {unused 47, SPDCID 16}
//	initiator  1 {unused 13, ordered 1, reserved 1, context 16, TC 8, JobID 24}
const initiatorRole = 1 << 63

func (k *TargetKey) fill(key *table.Key) { key.Set(k.Source, k.Destination, uint64(k.SPDCID)) }

func (k *InitiatorKey) fill(key *table.Key) {
	w := uint64(k.Context)<<32 | uint64(k.TC)<<24 | uint64(k.JobID&0xff_ffff) | initiatorRole
	if k.Reserved {
		w |= 1 << 48
	}
	if k.Ordered {
		w |= 1 << 49
	}
	key.Set(k.Source, k.Destination, w)
}
