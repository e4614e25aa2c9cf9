// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package bench

import "time"

var started = time.Now()

// cpuTime is the time since the start where the system tells no better.
func cpuTime() time.Duration { return time.Since(started) }

// peakMB is 0 where the system tells nothing of memory.
func peakMB() float64 { return 0 }
