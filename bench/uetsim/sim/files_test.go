// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Two outputs, or an output and an input, in one file are refused: before, -pcap x -trace x left
// the trace alone and exited with 0.
func TestOneFileForTwo(t *testing.T) {
	dir := t.TempDir()
	matrix, link := filepath.Join(dir, "one.cm"), filepath.Join(dir, "link")
	b, err := os.ReadFile(workloads + "one.cm")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(matrix, b, 0o600))
	require.NoError(t, os.Symlink(matrix, link))
	x := filepath.Join(dir, "x")
	for want, args := range map[string][]string{
		"-pcap and -trace are the same file":   {"-pcap", x, "-trace", dir + "/../" + filepath.Base(dir) + "/x"},
		"-matrix and -trace are the same file": {"-matrix", matrix, "-trace", link},
	} {
		status, _, errs := uetsim(args...)
		require.Equal(t, 2, status)
		require.Contains(t, errs, want)
	}
	require.NoFileExists(t, x)
	status, _, errs := uetsim("-matrix", matrix, "-pcap", os.DevNull, "-trace", os.DevNull)
	require.Zero(t, status, errs)
}

// A file is there when it is whole: it replaces what was there, keeps a link to it, and an error
// leaves what was there.
func TestFilesAreRenamed(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "run.csv"), filepath.Join(dir, "link.csv")
	require.NoError(t, os.WriteFile(file, []byte("before"), 0o600))
	require.NoError(t, os.Symlink(file, link))
	status, _, _ := uetsim("-scenario", "link", "-end", "10", "-trace", link)
	require.Equal(t, 2, status)
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "before", string(b))
	status, _, errs := uetsim("-matrix", workloads+"one.cm", "-cc", "none,nscc", "-trace", link)
	require.Zero(t, status, errs)
	b, err = os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, traceColumns, string(b[:len(traceColumns)]))
	_, none, err := readCSV(filepath.Join(dir, "run-none.csv"))
	require.NoError(t, err, "the run before is kept")
	_, nscc, err := readCSV(file)
	require.NoError(t, err)
	require.NotEqual(t, none, nscc)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 3)
}
