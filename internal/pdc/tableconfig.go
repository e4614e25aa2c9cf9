// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"cmp"
	"math"
	"math/rand/v2"

	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/random"
	"github.com/uetcc/uetcc/internal/table"
	"github.com/uetcc/uetcc/pds"
)

// MaxPDCs is the number of PDCIDs: 16 bits, without 0.
const MaxPDCs = 1<<16 - 1

// TableConfig sizes a [Table]. Everything is allocated at construction.
type TableConfig struct {
	// General and Reserved are the sizes of the two pools of PDCIDs; 1 to General,
	// and from General+1 on. General must be at least 1, both at most MaxPDCs. Two ends with
	// one id each, opening to each other at the same time, are stuck: each id serves the own
	// end's PDC, and has to rest before serving the peer's.
	General  int
	Reserved int

	// Quarantine is the rest of a released PDCID before being handed out again, nanoseconds.
	// Quarantine must exceed the life of a packet in the network, prolonged by the sender's
	// retransmissions: 0 is for tests. An Endpoint takes 2 s.
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

func (c *TableConfig) fill() error {
	c.Seed = random.Seed(c.Seed)
	c.Initiators = cmp.Or(c.Initiators, initiators(c.General, c.General/4))
	return cmp.Or(
		check.Range(ErrConfig, "TableConfig.General", c.General, 1, MaxPDCs),
		check.Range(ErrConfig, "TableConfig.Reserved", c.Reserved, 0, MaxPDCs-c.General),
		check.Range(ErrConfig, "TableConfig.Quarantine", c.Quarantine, 0, 1<<62),
		check.Range(ErrConfig, "TableConfig.PerSource", c.PerSource, 0, MaxPDCs),
		check.Range(ErrConfig, "TableConfig.Kept", c.Kept, 0, c.General),
		check.Range(ErrConfig, "TableConfig.Initiators", c.Initiators, 1, c.General),
		check.Range(ErrConfig, "TableConfig.FirstID", int(c.FirstID), 0, c.General),
	)
}

// NewTable makes an empty table. Errors wrap [ErrConfig] and name the field.
func NewTable(c TableConfig) (*Table, error) {
	if err := c.fill(); err != nil {
		return nil, err
	}
	ids := c.General + c.Reserved
	slots := table.NewSlots(ids + 1)
	general, err := newPool(table.PoolConfig{
		First: 1, Count: c.General, Hold: c.Quarantine, Start: c.start(), Slots: slots,
	}, c.Initiators)
	if err != nil {
		return nil, err
	}
	t := &Table{
		slots: slots, general: general, kept: c.Kept, scarce: c.General / 4, quarantine: c.Quarantine,
		keys:   table.NewMap(ids+1, c.Seed),
		proven: table.NewQuota(ids, math.MaxUint32, c.Seed),
		held:   table.NewQuota(ids, math.MaxUint32, c.Seed),
	}
	if c.PerSource > 0 {
		t.held, t.scarce = table.NewQuota(ids, uint32(c.PerSource), c.Seed), 0
	}
	if c.Reserved > 0 {
		t.reserved, err = newPool(table.PoolConfig{
			First: uint16(c.General + 1), Count: c.Reserved, Hold: c.Quarantine, Slots: slots,
		}, c.ofReserved())
	}
	return t, err
}

// ofReserved is how many ids of the reserved pool initiators may hold.
func (c *TableConfig) ofReserved() int {
	if c.Initiators == c.General && c.General > 1 { // somebody wants no share for peers
		return c.Reserved
	}
	return initiators(c.Reserved, c.Reserved*(c.General-c.Initiators)/c.General)
}

// initiators is the number of n ids that initiators may hold with peers ids for the peers. Each
// side has at least 1.
func initiators(n, peers int) int { return max(n-max(peers, 1), 1) }

// start is the place of the first PDCID in the pool.
func (c *TableConfig) start() uint16 {
	if c.FirstID != 0 {
		return uint16(c.FirstID) - 1
	}
	return uint16(rand.New(rand.NewPCG(c.Seed, 0)).IntN(c.General))
}
