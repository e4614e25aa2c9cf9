// SPDX-License-Identifier: Apache-2.0

package hw

// Counters of a device: never cleared, modulo 2^64. The counter block has them in this order.
type Counters struct {
	TXPackets, TXBytes uint64
	RXPackets, RXBytes uint64
	Marked             uint64
	NACKs              uint64
	CNPs               uint64
	EventsLost         uint64
	Doorbells          uint64
	StaleDoorbells     uint64 // an index not newer than the last
	StaleCredit        uint64 // a total of credit older than the last
	GenMismatch        uint64 // a doorbell or commit of another life of the context
	WindowBlockedNs    uint64 // summed over contexts
	CreditBlockedNs    uint64
	RateBlockedNs      uint64
}

// counters is the number of elements of the counter block.
const counters = 15

// words returns the counters in the order of the block.
func (c *Counters) words() [counters]uint64 {
	return [counters]uint64{
		c.TXPackets, c.TXBytes, c.RXPackets, c.RXBytes, c.Marked, c.NACKs, c.CNPs, c.EventsLost, c.Doorbells,
		c.StaleDoorbells, c.StaleCredit, c.GenMismatch, c.WindowBlockedNs, c.CreditBlockedNs, c.RateBlockedNs,
	}
}

// Counters returns the device's counters, 0 where the device lacks a counter.
func (d *Device) Counters() Counters {
	var w [counters]uint64
	if b := d.block(KindCounters); b != nil {
		for i := range min(b.count, counters) {
			w[i] = d.space.Load64(b.base + 8*i)
		}
	}
	return Counters{
		w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13], w[14],
	}
}
