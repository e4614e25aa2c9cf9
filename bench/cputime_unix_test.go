//go:build unix

package bench

import (
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
