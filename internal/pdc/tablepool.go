// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"sync/atomic"

	"github.com/uetcc/uetcc/internal/table"
)

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

// giveBack undoes claim.
func (p *pool) giveBack(h table.Handle) {
	p.Return(h)
	p.initiators.Add(-1)
}
