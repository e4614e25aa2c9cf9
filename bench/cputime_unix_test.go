// SPDX-License-Identifier: Apache-2.0

//go:build unix

package bench

import (
	"runtime"
	"syscall"
	"time"
)

// cpuTime is what the process has used of its processors so far. On a machine
// with neighbours it says more than a clock.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakMB is the most memory that the process has had in use, the program itself
// included. Linux tells it in KiB.
func peakMB() float64 {
	var u syscall.Rusage
	if runtime.GOOS != "linux" || syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Maxrss) / 1024
}
