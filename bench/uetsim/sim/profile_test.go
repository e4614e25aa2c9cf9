// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A profile is written whole, in the compressed form that go tool pprof reads, and changes
// nothing in what the command prints.
func TestCPUProfile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cpu.prof")
	status, profiled, errs := uetsim("-cpuprofile", file)
	require.Zero(t, status, errs)
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	b, err := io.ReadAll(z)
	require.NoError(t, err)
	require.Contains(t, string(b), "nanoseconds")
	_, plain, _ := uetsim()
	require.Equal(t, plain, profiled)

	status, _, errs = uetsim("-cpuprofile", t.TempDir())
	require.Equal(t, 2, status)
	require.Contains(t, errs, "is a directory")
}
