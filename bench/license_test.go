// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each source file says at its head under which license it is.
func TestSourceFilesNameTheirLicense(t *testing.T) {
	n := 0
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return filepath.SkipDir
		case d.IsDir() || !d.Type().IsRegular():
			return nil
		case !slices.Contains([]string{".go", ".s", ".js", ".lua", ".css", ".yaml", ".yml", ".sh"}, filepath.Ext(path)) &&
			filepath.Base(filepath.Dir(path)) != ".ci":
			return nil
		}
		b, err := os.ReadFile(path)
		n++
		require.True(t, strings.Contains(string(b[:min(len(b), 400)]), "SPDX-License-Identifier: Apache-2.0\n") ||
			strings.Contains(string(b[:min(len(b), 400)]), "SPDX-License-Identifier: Apache-2.0 */\n"), path)
		return err
	}))
	require.Greater(t, n, 1000)
}
