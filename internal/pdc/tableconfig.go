// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"cmp"
	"math"
	"math/rand/v2"
	"sync/atomic"

	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/random"
	"github.com/uetcc/uetcc/internal/table"
)

func fillTable(c *TableConfig) error {
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
func NewTable(c TableConfig) (*Table, error) { return NewTableBeside(c, 0) }

// NewTableBeside is NewTable with a third pool, of so many ids, behind the two: for PDCs opened here by
// [Manager.Beside], and for PDCs that a NOOP opens, of peers with a PDC here already. So no second PDC takes an
// id that a first PDC could have.
func NewTableBeside(c TableConfig, beside int) (*Table, error) {
	if err := fillTable(&c); err != nil {
		return nil, err
	}
	ids := c.General + c.Reserved + beside
	slots := table.NewSlots(ids + 1)
	general, err := newPool(table.PoolConfig{
		First: 1, Count: c.General, Hold: c.Quarantine, Start: firstID(&c), Slots: slots,
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
		}, ofReserved(&c))
	}
	if first := c.General + c.Reserved + 1; err == nil && first <= ids {
		t.beside, err = newPool(table.PoolConfig{
			First: uint16(first), Count: ids + 1 - first, Hold: c.Quarantine, Slots: slots,
		}, ids+1-first)
	}
	return t, err
}

// ofReserved is how many ids of the reserved pool initiators may hold.
func ofReserved(c *TableConfig) int {
	if c.Initiators == c.General && c.General > 1 { // somebody wants no share for peers
		return c.Reserved
	}
	return initiators(c.Reserved, c.Reserved*(c.General-c.Initiators)/c.General)
}

// initiators is the number of n ids that initiators may hold with peers ids for the peers. Each
// side has at least 1.
func initiators(n, peers int) int { return max(n-max(peers, 1), 1) }

// start is the place of the first PDCID in the pool.
func firstID(c *TableConfig) uint16 {
	if c.FirstID != 0 {
		return uint16(c.FirstID) - 1
	}
	return uint16(rand.New(rand.NewPCG(c.Seed, 0)).IntN(c.General))
}

// A pool is a pool of PDCIDs, with a limit for initiators.
type pool struct {
	*table.Pool
	initiators atomic.Int32
	limit      int32
}

func newPool(c table.PoolConfig, initiators int) (*pool, error) {
	p, err := table.NewPool(c)
	return &pool{Pool: p, limit: int32(initiators)}, err
}

// claim takes an id for an initiator.
func (p *pool) claim() (table.Handle, error) {
	// Count first, look after: two cores looking first could both see the last
	// id.
	if p.initiators.Add(1) > p.limit {
		p.initiators.Add(-1)
		return table.None, ErrInitiators
	}
	h, err := p.Claim()
	if err != nil {
		p.initiators.Add(-1)
		return table.None, ErrNoPDC
	}
	return h, nil
}
