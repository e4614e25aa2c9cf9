package fuzz

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
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
// variable UETCC_TRACES names another directory of the layout of
// testdata/traces; files may be gzipped or not.
func TestTraces(t *testing.T) {
	root := "testdata/traces"
	if dir := os.Getenv("UETCC_TRACES"); dir != "" {
		root = dir
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
			found = true
			for _, name := range names {
				t.Run(name, func(t *testing.T) { kind.replay(t, dir, name) })
			}
		})
	}
	require.True(t, found || t.Failed(), "no traces of any kind in %s", root)
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
