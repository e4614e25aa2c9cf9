package rccc

import (
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFactors: the least one counts, and what is not set or makes no sense does
// not.
func TestFactors(t *testing.T) {
	var f Factors
	require.Equal(t, 1.0, f.Load())
	f.SetHost(0.5)
	require.Equal(t, 0.5, f.Load())
	f.SetFabric(0.25)
	require.Equal(t, 0.25, f.Load())
	f.SetFabric(1)
	require.Equal(t, 0.5, f.Load())
	f.SetHost(math.NaN())
	f.SetFabric(-1)
	require.Equal(t, 1.0, f.Load())
}

// TestFactorsShared publishes and reads at once.
func TestFactorsShared(t *testing.T) {
	var f Factors
	var wg sync.WaitGroup
	for _, set := range []func(float64){f.SetHost, f.SetFabric} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 1000 {
				set(float64(i%10+1) / 10)
			}
		}()
	}
	for range 1000 {
		v := f.Load()
		require.True(t, v >= 0.1 && v <= 1, "%v", v)
	}
	wg.Wait()
	require.Equal(t, 1.0, f.Load())
}

// Factors may lie anywhere in a struct, also where words of 64 bits are not aligned by
// themselves.
func TestFactorsAreAligned(t *testing.T) {
	var x [2]struct {
		_ uint32
		f Factors
	}
	for i := range x {
		x[i].f.SetHost(.5)
		require.Equal(t, .5, x[i].f.Load())
	}
}
