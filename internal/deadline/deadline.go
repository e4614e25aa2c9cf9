// SPDX-License-Identifier: Apache-2.0

// Package deadline calculates due times of timers. Times are nanoseconds of a monotonic
// clock, and any int64 will do: no sum overflows into the past, where a timer
// would be due at once, and so for ever.
package deadline

import "math"

// End is the last time that timers go by: with min(now, End) in place of now, no timer is
// due that [After] has put off to the last time of all.
const End = math.MaxInt64 - 1

// After is now + d, or the last time of all if later. d must not be negative.
func After(now, d int64) int64 { return min(now, math.MaxInt64-d) + d }

// Backoff is d, more than 0, doubled n times, at most ceiling.
func Backoff(d int64, n uint8, ceiling int64) int64 {
	if d > ceiling>>n {
		return ceiling
	}
	return d << n
}
