// SPDX-License-Identifier: Apache-2.0

package table

import (
	"os"
	"strconv"
	"testing"
	"unsafe"

	"github.com/klauspost/cpuid/v2"
	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
)

// TestLayout pins the sizes that the cost of a look-up rests on.
func TestLayout(t *testing.T) {
	require.EqualValues(t, cacheLine, unsafe.Sizeof(slot{}))
	require.EqualValues(t, 8, unsafe.Sizeof(Slots{}.words[0]))
	require.EqualValues(t, cacheLine/4, unsafe.Sizeof(Slots{}.data[0]), "never across two lines")
	require.GreaterOrEqual(t, unsafe.Offsetof(ring{}.tail)-unsafe.Offsetof(ring{}.head), uintptr(cacheLine))
	require.GreaterOrEqual(t, unsafe.Offsetof(ring{}.mask)-unsafe.Offsetof(ring{}.tail), uintptr(cacheLine))
}

// TestCacheLine compares the constant with the CPU's own answer. A CPU with
// longer lines would work, only with more false sharing.
func TestCacheLine(t *testing.T) {
	if n := cpuid.CPU.CacheLine; n > 0 {
		require.LessOrEqual(t, n, cacheLine)
	}
}

// TestAlignment: the runtime aligns arrays without pointers whose size is a number
// of lines to a line, so a slot is one line and not two halves.
func TestAlignment(t *testing.T) {
	for n := range 600 {
		require.Zero(t, uintptr(unsafe.Pointer(&NewMap(n, 1).slots[0]))%cacheLine, "slots of %d", n)
	}
	require.Zero(t, uintptr(unsafe.Pointer(&NewMap(MaxCapacity, 1).slots[0]))%cacheLine)
}

func TestBytesPerEntry(t *testing.T) {
	const n = MaxCapacity
	full := alloctest.Bytes(func() any { return NewMap(n, 1) })
	require.LessOrEqual(t, full/n, 95)
	more := alloctest.Bytes(func() any { return NewMap(n+1, 1) })
	require.InDelta(t, full, more, 1024, "no more than that; the runtime's own allocations count too")
	require.LessOrEqual(t, alloctest.Bytes(func() any { return newPool(t, PoolConfig{First: 1, Count: n - 1}) })/n, 48)
}

// envInt reads a number from the environment: long runs of a test are asked for.
func envInt(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}
