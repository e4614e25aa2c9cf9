//go:build !purego

package hw

// readTSC returns the time stamp counter.
//
//go:noescape
func readTSC() uint64

// invariantTSC reports whether the counter runs at the same rate in all power
// states: CPUID 0x80000007, EDX bit 8.
//
//go:noescape
func invariantTSC() bool
