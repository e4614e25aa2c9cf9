// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A file has its name when it is whole: an error leaves what was there, and nothing else.
func TestFileSettles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write := func(text string, wrong error) error {
		f, err := Create(path)
		require.NoError(t, err)
		_, err = f.WriteString(text)
		require.NoError(t, err)
		return f.Settle(wrong)
	}
	require.NoError(t, write("whole", nil))
	require.ErrorIs(t, write("part", ErrValue), ErrValue)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "whole", string(b))
	files, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, files, 1)
}

func TestCheckPath(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, CheckPath("-o", ""))
	require.NoError(t, CheckPath("-o", filepath.Join(dir, "f")))
	require.ErrorContains(t, CheckPath("-o", dir), "is a folder")
	require.ErrorIs(t, CheckPath("-o", filepath.Join(dir, "none", "f")), os.ErrNotExist)
}
