// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"errors"
	"net/netip"

	"github.com/uetcc/uetcc/internal/counters"
	"github.com/uetcc/uetcc/pds"
)

// MaxPDCs is the number of PDCIDs: 16 bits, without 0.
const MaxPDCs = 1<<16 - 1

// TableConfig sizes the table of an endpoint's PDCIDs. Everything is allocated at construction.
type TableConfig struct {
	// General and Reserved are the sizes of the two pools of PDCIDs; 1 to General,
	// and from General+1 on. General must be at least 1, both at most MaxPDCs. Two ends with
	// one id each, opening to each other at the same time, are stuck: each id serves the own
	// end's PDC, and has to rest before serving the peer's.
	General  int
	Reserved int

	// Quarantine is the rest of a released PDCID before being handed out again, nanoseconds.
	// Half of Quarantine must exceed the life of a packet in the network; the other half prolongs
	// the time for which SYN packets are sent again, see [Config].MaxRTORetx, so both ends should
	// have the same: 0 is for tests. An Endpoint takes 2 s.
	Quarantine int64

	// PerSource is the most PDCs, resting ones included, held by SYN packets of one source
	// address. By default a source has no limit while more than a quarter of the PDCIDs are
	// free, and gets one more of the last quarter only while more are free than the source
	// holds, counted in PDCs whose peer has shown that it receives. MaxPDCs lifts the limit.
	PerSource int

	// Kept is the number of PDCIDs of the general pool given to SYN packets only if the source
	// has a PDC here already, or answers a NEW_START_PSN, so proven to receive. A flood of SYN
	// packets with false sources does not touch the Kept ids. With Kept 0 such a flood gets a
	// fifth of the PDCIDs at most: see [Config].Start. So five PDCIDs for each peer that may begin
	// at the same time spare all peers the question, and a round trip.
	Kept int

	// Initiators is the most PDCIDs of the general pool, resting ones included, held by PDCs
	// opened from here (default: all but a quarter, and at least one less than all). The rest
	// is for SYN packets: two ends whose own PDCs take every id refuse each other's, and as a
	// refused PDC keeps the id, neither would ever make progress. The reserved pool is divided
	// alike.
	Initiators int

	// FirstID is the PDCID of the general pool handed out first (default: drawn
	// from Seed, since peers may still send to the ids of an earlier life).
	FirstID pds.PDCID

	// Seed of the hashes (default: drawn from crypto/rand, as a network needs).
	Seed uint64
}

// TableStats counts the PDCIDs of a table. Beside changes the parts may not add
// up; on a quiet table the parts add up.
type TableStats struct{ General, Reserved PoolStats }

// PoolStats counts the ids of one pool: Capacity = Free + Live + Resting.
type PoolStats struct{ Capacity, Free, Live, Resting int }

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

// Errors of the table of PDCIDs. After an error nothing has changed.
var (
	// ErrNoPDC: no PDCID is free now. The answer to a SYN packet is a NACK with
	// NO_PDC_AVAIL; a message waits.
	ErrNoPDC = errors.New("pdc: no PDCID free")

	// ErrQuota: the source holds the most PDCs allowed to a source.
	ErrQuota = errors.New("pdc: source at its quota")

	// ErrInitiators: initiators hold the most PDCIDs allowed, see
	// TableConfig.Initiators. A message waits.
	ErrInitiators = errors.New("pdc: initiators at their share of the PDCIDs")

	// ErrResting: the SYN packet is a late packet of a closed PDC in quarantine. Drop
	// the packet: opening a PDC would deliver the data again.
	ErrResting = errors.New("pdc: PDC in quarantine")

	// ErrTableFull: no place is left for the key's hash, though the table has room.
	// With a random seed the cause is an attack; answer as for ErrNoPDC.
	ErrTableFull = errors.New("pdc: no room in the table for the key")

	// ErrUnknown: the PDCID names no live PDC (INV_DPDCID), or the handle's has gone.
	ErrUnknown = errors.New("pdc: no such PDC")

	// ErrPeer: the packet comes from an address other than the PDC's peer.
	ErrPeer = errors.New("pdc: packet from another peer than the PDC's")
)

// Stats counts what has happened to packets and PDCs.
type Stats struct {
	Received    uint64 // packets taken in, by Receive or a FastPath
	Malformed   uint64 // not a legal packet of the version
	Unknown     uint64 // for no PDC, or not from the PDC's peer
	Requests    uint64 // requests accepted
	Duplicates  uint64 // requests received before
	Outside     uint64 // requests outside the window
	Trimmed     uint64 // packets cut by a switch, of any type
	BadClear    uint64 // CLEAR of requests not received or not answered
	BadACK      uint64 // acknowledgements of packets never sent
	StaleNACK   uint64 // NACKs without effect
	Resting     uint64 // SYN packets of a closed PDC
	PendingOver uint64 // PDCs whose New_PDC_Time ended: compared by the alarm of New_PDC_Timeout_Thresh
	Refused     uint64 // SYN packets without resources
	Doubted     uint64 // SYN packets whose senders had to prove first to receive, see [StartMethod]

	Sent        uint64 // data packets, first transmissions
	Resent      uint64 // data packets again
	Controls    uint64 // control packets
	ACKs        uint64 // written, with a response or without
	NACKs       uint64 // written
	Muted       uint64 // answers kept back by the limits on answers
	RTOs        uint64 // packets that timed out
	Inferred    uint64 // packets concluded to be lost from SACK
	StallBreaks uint64 // blocked windows moved by a CLEAR_CMD and an ACK_REQ
	Opened      uint64 // PDCs, by either side
	Closed      uint64 // PDCs, in order or in error
	Failed      uint64 // PDCs closed in error
	Hoarded     uint64 // PDCs asked to close because their peer would not clear a response
	Unconfirmed uint64 // PDCs closed without an acknowledgement of the CLOSE_CMD
}

// String names the counters other than 0.
func (s Stats) String() string { return counters.String(s) }
