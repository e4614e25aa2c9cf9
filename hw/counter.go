// SPDX-License-Identifier: Apache-2.0

package hw

import "github.com/uetcc/uetcc/internal/enum"

// Counter names an element of the counter block. Counters are never cleared and
// wrap modulo 2^64.
type Counter uint8

// Counters.
const (
	CounterTXPackets Counter = iota
	CounterTXBytes
	CounterRXPackets
	CounterRXBytes
	CounterMarked
	CounterNACKs
	CounterCNPs
	CounterEventsLost
	CounterDoorbells
	CounterStaleDoorbells  // an index that is not newer than the last one
	CounterStaleCredit     // a total of credit older than the last one
	CounterGenMismatch     // a doorbell or commit of another life of the context
	CounterWindowBlockedNs // summed over contexts
	CounterCreditBlockedNs
	CounterRateBlockedNs

	counters
)

var counterNames = [counters]string{
	"tx-packets", "tx-bytes", "rx-packets", "rx-bytes", "marked", "nacks", "cnps", "events-lost",
	"doorbells", "stale-doorbells", "stale-credit", "gen-mismatch",
	"window-blocked-ns", "credit-blocked-ns", "rate-blocked-ns",
}

// String returns a short name.
func (c Counter) String() string { return enum.Name(counterNames[:], c) }

// Counter returns the value of a counter, 0 if the device lacks the counter.
func (d *Device) Counter(c Counter) uint64 {
	b := d.block(KindCounters)
	if b == nil || uint32(c) >= b.count {
		return 0
	}
	return d.space.Load64(b.base + 8*uint32(c))
}
