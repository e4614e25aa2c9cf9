// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A traceKind replays recorded runs of another implementation. The traces of a
// kind lie in a folder of its name.
type traceKind struct {
	name string

	// names lists the traces of the folder. The default is one trace for each
	// NAME.json.
	names func(dir fs.FS) ([]string, error)

	// replay compares our implementation with the trace and fails t at the first
	// difference.
	replay func(t *testing.T, dir fs.FS, name string)
}

// traceKinds are the subtests of TestTraces, in order.
var traceKinds = []traceKind{
	{"ibfc", ibNames, replayIBFC},
	{"cbfc", nil, replayCBFC},
	{"ztr", csvNames, replayZTR},
	{"rccc", rcccNames, replayRCCC},
}

// TestTraces replays recorded runs, TestTraces/<kind>/<name>. The environment
// variable UETCC_TRACES names another directory, an absolute one, of the layout of
// testdata/traces; files may be gzipped or not, and columns in any order. What no replay
// would look at fails. The go command does not see that these files change, so run it with
// -count=1.
func TestTraces(t *testing.T) {
	root := cmp.Or(os.Getenv("UETCC_TRACES"), "testdata/traces")
	folders, err := os.ReadDir(root)
	require.NoError(t, err)
	for _, f := range folders {
		known := slices.ContainsFunc(traceKinds, func(k traceKind) bool { return k.name == f.Name() })
		require.True(t, known || !f.IsDir(), "%s is no known kind", f.Name())
	}
	found := false
	for _, kind := range traceKinds {
		t.Run(kind.name, func(t *testing.T) {
			dir := os.DirFS(path.Join(root, kind.name))
			files, err := fs.ReadDir(dir, ".")
			if errors.Is(err, fs.ErrNotExist) || err == nil && len(files) == 0 {
				t.Skipf("no traces of kind %s in %s", kind.name, root)
			}
			require.NoError(t, err)
			list := kind.names
			if list == nil {
				list = jsonNames
			}
			names, err := list(dir)
			require.NoError(t, err)
			require.NotEmpty(t, names, "the folder holds files, but no trace was recognised")
			require.Empty(t, strayFiles(t, dir, names), "no replay looks at them")
			found = true
			for _, name := range names {
				t.Run(name, func(t *testing.T) { kind.replay(t, dir, name) })
			}
		})
	}
	require.True(t, found || t.Failed(), "no traces of any kind in %s", root)
}

// strayFiles lists the tables and descriptions of a kind's folder that belong to none of
// the traces.
func strayFiles(t *testing.T, dir fs.FS, names []string) (stray []string) {
	require.NoError(t, fs.WalkDir(dir, ".", func(file string, d fs.DirEntry, err error) error {
		name := strings.TrimSuffix(file, ".gz")
		stem, ext := strings.TrimSuffix(name, path.Ext(name)), path.Ext(name)
		inRun := slices.Contains(names, path.Dir(file)) && slices.Contains(rcccFiles, path.Base(name))
		if (ext == ".csv" || ext == ".json") && !inRun && !slices.Contains(names, stem) {
			stray = append(stray, file)
		}
		return err
	}))
	return stray
}

// columnsOf returns the places of the columns that a header line names: all of those
// wanted, in any order, and no other.
func columnsOf(t *testing.T, header []string, wanted string) map[string]int {
	t.Helper()
	require.ElementsMatch(t, strings.Split(wanted, ","), header)
	column := map[string]int{}
	for i, name := range header {
		column[name] = i
	}
	return column
}

// jsonNames lists the traces of a folder that describes each in NAME.json or
// NAME.json.gz.
func jsonNames(dir fs.FS) ([]string, error) { return namesWith(dir, ".json") }

// namesWith lists the files of a folder that end so, packed or not, without that ending.
func namesWith(dir fs.FS, ending string) ([]string, error) {
	files, err := fs.ReadDir(dir, ".")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range files {
		if name, ok := strings.CutSuffix(strings.TrimSuffix(f.Name(), ".gz"), ending); ok {
			names = append(names, name)
		}
	}
	return names, nil
}

// readRecorded returns the contents of name, or of name.gz uncompressed.
func readRecorded(t testing.TB, dir fs.FS, name string) []byte {
	t.Helper()
	plain, err := fs.ReadFile(dir, name)
	if err == nil {
		return plain
	}
	packed, err := fs.ReadFile(dir, name+".gz")
	require.NoError(t, err)
	r, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	plain, err = io.ReadAll(r)
	require.NoError(t, err)
	return plain
}
