// SPDX-License-Identifier: Apache-2.0

package prefetch

import (
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
)

// pattern is memory of which each word is another.
func pattern() []uint64 {
	memory := make([]uint64, 4096)
	for i := range memory {
		memory[i] = uint64(i) * 0x9e3779b97f4a7c15
	}
	return memory
}

// Stretches of any length, none among them, stay as they are, and so does what shares
// their lines.
func TestPrefetchChangesNothing(t *testing.T) {
	for name, fn := range map[string]func([]uint64){
		"Load": Load[uint64],
		"Own":  Own[uint64],
		"Lines": func(s []uint64) {
			p := uintptr(unsafe.Pointer(unsafe.SliceData(s)))
			Lines(p, p+1, p+Line, p)
		},
	} {
		memory := pattern()
		fn(nil)
		for i := range 100 {
			fn(memory[i : 8*i])
			fn(memory[len(memory)-i:])
		}
		require.Equal(t, pattern(), memory, name)
		alloctest.Zero(t, name, func() { fn(memory) })
	}
	Own(make([]struct{}, 5))
	Load(make([]struct{}, 5))
}

// Any address will do: one that nobody may read, none, the largest, one between two lines.
func TestLinesBearsAnyAddress(t *testing.T) {
	Lines(0, 1, math.MaxUint/2, math.MaxUint/2+1)
	Lines(63, math.MaxUint, math.MaxUint-63, 64)
}
