// SPDX-License-Identifier: Apache-2.0

package nscc

import "math"

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
