// SPDX-License-Identifier: Apache-2.0

package nscc

import "math"

// The wire counts received bytes in units of 256, modulo 2^24 units.
const (
	rcvdUnit = 256
	rcvdMask = 1<<24 - 1
	rcvdHalf = 1 << 23
)

// RcvdBytes counts at the destination the received bytes of one PDC. The zero
// value is ready. Single writer.
type RcvdBytes struct{ bytes uint64 }

// Add counts a packet of size bytes with data, neither trimmed nor a duplicate.
//
//uetcc:hot inlines nobounds
func (r *RcvdBytes) Add(size int64) { r.bytes += uint64(max(size, 0)) }

// Units is the field rcvd_bytes of an acknowledgement: rounded up, so a tail
// of less than 256 bytes is acknowledged too.
//
//uetcc:hot inlines nobounds
func (r *RcvdBytes) Units() uint32 { return uint32((r.bytes+rcvdUnit-1)/rcvdUnit) & rcvdMask }

// RcvdTracker keeps at the source the largest rcvd_bytes of one PDC. The zero
// value is ready. Single writer.
type RcvdTracker struct{ last uint32 }

// Advance returns the bytes newly received by the field units: 0 for a
// repeated or an older value, since acknowledgements overtake each other, and less
// than 2 GiB. Steps are 256 bytes, too coarse for [ProfileHTSim].
//
//uetcc:hot inlines nobounds
func (t *RcvdTracker) Advance(units uint32) int64 {
	delta := (units - t.last) & rcvdMask
	if delta >= rcvdHalf {
		return 0
	}
	t.last = units & rcvdMask
	return int64(delta) * rcvdUnit
}

// tickNs is the unit of service_time on the wire.
const tickNs = 128

// ServiceTime is the time from a packet's arrival at the destination to the answer, as on the
// wire: units of 128 ns. The largest value also stands for everything longer.
type ServiceTime uint16

// ServiceTimeOf rounds ns down to units; limited to 0 to 8,388,480 ns.
func ServiceTimeOf(ns int64) ServiceTime {
	return ServiceTime(min(max(ns/tickNs, 0), math.MaxUint16))
}

// Nanoseconds is the time in nanoseconds, 0 to 8,388,480.
func (s ServiceTime) Nanoseconds() int64 { return int64(s) * tickNs }

// RTT is the sample of a packet last transmitted at sent and acknowledged at
// arrival (nanoseconds), less the destination's service time. 0 is no sample: the clock has
// not moved on, or the destination claims the whole time or more, or names the largest
// service time, also meaning any longer. Otherwise a single answer could lower the base round
// trip of a path, and so the ceiling of the window, to nothing.
//
//uetcc:hot inlines nobounds
func RTT(arrival, sent int64, s ServiceTime) int64 {
	if s == math.MaxUint16 {
		return 0
	}
	return max(arrival-sent-s.Nanoseconds(), 0)
}
