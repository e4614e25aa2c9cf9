package prefetch

import (
	"math"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
)

// Prefetching changes neither what it loads nor its list, and bears with any address:
// one that nobody may read, none, the largest, one between two lines.
func TestLinesChangesNothing(t *testing.T) {
	memory := make([]uint64, 4096)
	for i := range memory {
		memory[i] = uint64(i) * 0x9e3779b97f4a7c15
	}
	first := uintptr(unsafe.Pointer(&memory[0]))
	for i := range len(memory) / 12 {
		at := Addresses{0, 1, math.MaxUint / 2, math.MaxUint, math.MaxUint/2 + 1}
		for k := i % 6; k < len(at); k++ {
			at[k] = first + uintptr(12*i+k)*7
		}
		before := at
		Lines(&at)
		require.Equal(t, before, at)
	}
	for i := range memory {
		require.Equal(t, uint64(i)*0x9e3779b97f4a7c15, memory[i])
	}
	runtime.KeepAlive(memory)
}

func TestLinesAllocatesNothing(t *testing.T) {
	memory := make([]byte, 1<<12)
	first := uintptr(unsafe.Pointer(&memory[0]))
	alloctest.Zero(t, "lines", func() {
		var at Addresses
		for i := range at {
			at[i] = first + uintptr(64*i)
		}
		Lines(&at)
	})
	runtime.KeepAlive(memory)
}

// Stretches of any length, none among them, stay as they are, and so does what shares
// their lines.
func TestStretchesChangeNothing(t *testing.T) {
	for name, fn := range map[string]func([]uint64){"load": Load[uint64], "own": Own[uint64]} {
		memory := make([]uint64, 4096)
		for i := range memory {
			memory[i] = uint64(i) * 0x9e3779b97f4a7c15
		}
		fn(nil)
		for i := range 100 {
			fn(memory[i : 8*i])
			fn(memory[len(memory)-i:])
		}
		for i := range memory {
			require.Equal(t, uint64(i)*0x9e3779b97f4a7c15, memory[i], name)
		}
		alloctest.Zero(t, name, func() { fn(memory) })
	}
	Own(make([]struct{}, 5))
}
