// SPDX-License-Identifier: Apache-2.0

package rccc

import (
	"cmp"
	"errors"
	"math/bits"

	"github.com/uetcc/uetcc/internal/check"
)

// Config describes one kind of credit context at the source. Zero fields have
// the defaults in the fields' comments; [NewParams] checks the rest.
type Config struct {
	// MaxCredit is W, the most credit that a source may hold or ask for, in bytes:
	// 1.5 times the bandwidth-delay product, MTU to 2^29. Required.
	MaxCredit int64

	// InitialCredit is the bytes that a new context may send before any grant, up to
	// MaxCredit, the default.
	InitialCredit int64

	// CountInitial makes InitialCredit the first part of the cumulative total,
	// counted by the destination in the same way: no startup phase, and the credit
	// is kept. Otherwise the rest is void at the first feedback, and the spent part
	// is repaid through the target.
	CountInitial bool

	// MaxDemand caps the demand the target expresses, in bytes, MTU to 2^29. Default
	// MaxCredit.
	MaxDemand int64

	// MTU is the nominal size of a full packet, in bytes. Required.
	MTU int64

	// RTT is the unloaded round trip, in nanoseconds, 100 to 2^50: a source without
	// credit asks for some after one RTT of silence. Required.
	RTT int64

	// RequestCeiling bounds the exponential back-off of the request timer, in
	// nanoseconds, RTT to 2^56. Default 64 RTT.
	RequestCeiling int64
}

// Params is a validated [Config] with derived constants, immutable and
// safe for concurrent use; one Params serves any number of sources.
type Params struct {
	maxCredit      int64
	initialCredit  int64
	countInitial   bool
	maxDemand      int64
	maxStep        int64
	mtu            int64
	rtt            int64
	requestCeiling int64
	mostReach      uint8 // of [Source.Reach]
}

// ErrConfig is wrapped by every error about a configuration; the message names field
// and limit.
var ErrConfig = errors.New("rccc: invalid configuration")

// maxTotal keeps every difference of any two totals within the reach
// of serial comparison.
const maxTotal = halfRange / 4

// minRTT leaves a destination time to answer: by a round trip of 1 ns all requests of a source were in vain in 20 us.
const minRTT = 100

// maxTime bounds configured times, nanoseconds: sums with any now stay in range.
const maxTime = 1 << 56

// NewParams validates c and fills in the defaults. Errors wrap [ErrConfig].
func NewParams(c Config) (Params, error) {
	c.InitialCredit = cmp.Or(c.InitialCredit, c.MaxCredit)
	c.MaxDemand = cmp.Or(c.MaxDemand, c.MaxCredit)
	c.RequestCeiling = cmp.Or(c.RequestCeiling, 64*c.RTT)
	err := cmp.Or(
		check.Range(ErrConfig, "MTU", c.MTU, 1, maxTotal),
		check.Range(ErrConfig, "MaxCredit", c.MaxCredit, c.MTU, maxTotal),
		check.Range(ErrConfig, "InitialCredit", c.InitialCredit, 1, c.MaxCredit),
		check.Range(ErrConfig, "MaxDemand", c.MaxDemand, c.MTU, maxTotal),
		check.Range(ErrConfig, "RTT", c.RTT, minRTT, maxTime/64),
		check.Range(ErrConfig, "RequestCeiling", c.RequestCeiling, c.RTT, maxTime),
	)
	if err != nil {
		return Params{}, err
	}
	// A target is ahead of the source's credit by at most a demand and a debt, and
	// unasked-for credit ahead of the target by at most W and a grant.
	maxStep := 2*(c.MaxDemand+c.MaxCredit) + maxGrant
	return Params{
		maxCredit: c.MaxCredit, initialCredit: c.InitialCredit, countInitial: c.CountInitial,
		maxDemand: c.MaxDemand, maxStep: maxStep,
		mtu: c.MTU, rtt: c.RTT, requestCeiling: c.RequestCeiling, mostReach: doublings(max(c.MaxCredit, c.MaxDemand)),
	}, nil
}

// doublings is how often n may be doubled and still be told.
func doublings(n int64) uint8 { return uint8(bits.Len64(uint64(max(maxTotal/n, 1))) - 1) }

// MaxCredit returns W, the ceiling of a source's balance, in bytes.
func (p *Params) MaxCredit() int64 { return p.maxCredit }

// InitialCredit returns the bytes that a new context may send before any grant.
func (p *Params) InitialCredit() int64 { return p.initialCredit }

// QuantumBytes is the bytes of a unit in the wire's credit fields.
const QuantumBytes = 256

const (
	wireBits = 24
	wireMask = 1<<wireBits - 1

	// halfRange is the reach of serial comparison, bytes: 2^23 quanta, 2 GiB.
	halfRange = (1 << (wireBits - 1)) * QuantumBytes
)

// Quanta is a cumulative credit or credit target as on the wire: a
// count of 256-byte quanta modulo 2^24. Two Quanta have an order only while
// less than 2^23 quanta (2 GiB) apart.
type Quanta uint32

// QuantaOf returns the wire form of total bytes, rounded down: a credit never
// promises an ungranted byte.
func QuantaOf(total int64) Quanta { return Quanta(total>>8) & wireMask }

// Extend returns the total in bytes nearest to ref whose wire form is q. The
// result is below ref when q is older or equal, above ref when q is newer; a
// total exactly half the range away counts as older. Bits above the wire's 24
// are ignored.
//
//uetcc:hot inlines
func (q Quanta) Extend(ref int64) int64 {
	near := ref >> 8
	ahead := int32(uint32(q)-uint32(near)) << (32 - wireBits) >> (32 - wireBits)
	return (near + int64(ahead)) << 8
}

// roundUp returns the least whole number of quanta holding total, in bytes: a
// request asks for at least the need.
func roundUp(total int64) int64 { return (total + QuantumBytes - 1) &^ (QuantumBytes - 1) }

// roundDown returns the greatest whole number of quanta within total, in bytes.
func roundDown(total int64) int64 { return total &^ (QuantumBytes - 1) }
