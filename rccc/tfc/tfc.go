// SPDX-License-Identifier: Apache-2.0

// Package tfc is transport flow control for Ultra Ethernet: a destination with
// little buffer tells one source the number of cells that may be filled, so no packet
// is dropped for want of space.
//
// The source charges the cost of every new packet in cells and sends the packet only
// when covered whole; the destination frees cells as packets leave the buffer and
// announces the cumulative limit. Both numbers are absolute: a lost message costs time
// only. TFC protects a buffer and shares no link: a [Source] is a further gate beside
// NSCC, as an Algorithm of package ccc, with the field as CreditTotal. TFC replaces
// receiver credits on a context, because both use the same field.
//
// The text of UE Specification section 3.6.15 is not public. Public are the
// purpose, the unit (destination buffer cells) with its parameters tfc_credit,
// tfc_dest_cell_size and tfc_pkt_overhead, and the ACK_CC field. The rest is a
// proposal with the decisions: the field counts cells; cell size, overhead and limit
// are configured alike at both ends; a retransmission is not charged again; cells
// abandoned at the close of a delivery context are given back.
package tfc

import (
	"cmp"
	"errors"

	"github.com/uetcc/uetcc/internal/check"
)

// ErrConfig is wrapped by every error of [NewParams].
var ErrConfig = errors.New("tfc: invalid configuration")

// Config is the agreement of both ends (parameters of UE Specification 1.0.x, section
// 3.6.15.2). Zero fields have the defaults in the fields' comments.
type Config struct {
	CellSize    int64 // bytes of one cell, up to 2^31; required
	PktOverhead int64 // bytes that a packet occupies beyond its nominal size, up to 2^31
	Limit       int64 // cells that the destination dedicates to this source, an MTU's to 2^23-1; required
	MTU         int64 // nominal size of the largest packet, bytes, up to 2^31; required
	RTT         int64 // unloaded round trip, ns, up to 2^50: the first repetition; required

	// RepeatCeiling bounds the time between two repetitions of a credit, in
	// nanoseconds, RTT to 2^56. Default 64 RTT or 100 ms, whichever is more: a source that sends nothing proves nothing, and
	// the credit is repeated to it for as long.
	RepeatCeiling int64

	// WaitForGrant lets a source begin with nothing instead of Limit.
	WaitForGrant bool
}

// Params is a validated [Config]. Immutable and safe for concurrent use.
type Params struct {
	cell, overhead int64
	limit, initial int64
	rtt, ceiling   int64
}

const (
	maxBytes = 1 << 31
	maxTime  = 1 << 56
)

// NewParams validates c. Errors wrap [ErrConfig].
func NewParams(c Config) (Params, error) {
	c.RepeatCeiling = cmp.Or(c.RepeatCeiling, max(64*c.RTT, 100_000_000))
	err := cmp.Or(
		check.Range(ErrConfig, "CellSize", c.CellSize, 1, maxBytes),
		check.Range(ErrConfig, "PktOverhead", c.PktOverhead, 0, maxBytes),
		check.Range(ErrConfig, "MTU", c.MTU, 1, maxBytes),
		check.Range(ErrConfig, "RTT", c.RTT, 1, maxTime/64),
		check.Range(ErrConfig, "RepeatCeiling", c.RepeatCeiling, c.RTT, maxTime),
	)
	if err != nil {
		return Params{}, err
	}
	p := Params{
		cell: c.CellSize, overhead: c.PktOverhead, limit: c.Limit, initial: c.Limit,
		rtt: c.RTT, ceiling: c.RepeatCeiling,
	}
	if c.WaitForGrant {
		p.initial = 0
	}
	// A full packet must fit, and all outstanding cells must stay comparable.
	if err := check.Range(ErrConfig, "Limit", c.Limit, p.Cost(c.MTU), halfRange-1); err != nil {
		return Params{}, err
	}
	return p, nil
}

// Cost returns the cells a packet of size nominal bytes occupies, at least
// 1. Both ends compute the same.
func (p *Params) Cost(size int64) int64 {
	return max(1, (size+p.overhead+p.cell-1)/p.cell)
}

// halfRange is the reach of serial comparison, cells.
const halfRange = 1 << 23

// Cells is a cumulative count of cells in the wire's 24-bit credit field, modulo 2^24.
type Cells uint32

// CellsOf returns the wire form of a cumulative count.
func CellsOf(total int64) Cells { return Cells(total) & (1<<24 - 1) }

// Extend returns the cumulative count nearest to ref whose wire form is c; a count
// exactly half the range away counts as older.
func (c Cells) Extend(ref int64) int64 {
	return ref + int64(int32(uint32(c)-uint32(ref))<<8>>8)
}
