// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// lastEnd runs a workload on 16 hosts at 400 Gb/s and returns the end of its last transfer, us.
func lastEnd(t *testing.T, flag, file string) (last float64) {
	t.Helper()
	status, out, errs := uetsim(flag, file, "-speed", "400", "-rules", "htsim", "-json")
	require.Zero(t, status, errs)
	var r report
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	for _, x := range r.Runs[0].Result.Transfers {
		last = max(last, x.Finished)
	}
	return last
}

// What is generated ends when the consortium's simulator says that the same schedule does, and
// is the same run as a matrix.
func TestGenerated(t *testing.T) {
	dir := t.TempDir()
	for kind, want := range map[string]float64{
		"ring": 258.7, "recursive-doubling": 132.9, "halving-doubling": 118.0, "all-to-all": 33.6, "broadcast": 249.6, "barrier": 44.1,
		"incast": 339.6, "poisson": 0, "permutation": 0,
	} {
		schedule, matrix := filepath.Join(dir, kind+".goal"), filepath.Join(dir, kind+".cm")
		for file, form := range map[string]string{schedule: "binary", matrix: "matrix"} {
			status, _, errs := uetsim("gen", kind, "-ranks", "16", "-form", form, "-o", file)
			require.Zero(t, status, errs)
		}
		end := lastEnd(t, "-goal", schedule)
		require.Equal(t, end, lastEnd(t, "-matrix", matrix), kind)
		if want > 0 {
			require.InEpsilon(t, want, end, 0.05, kind)
		}
	}
}

func TestGenErrors(t *testing.T) {
	for want, args := range map[string][]string{
		"no pattern \"circle\", there are: ring,":           {"circle"},
		"no pattern \"\", there are: ring,":                 {},
		"-load changes nothing in ring":                     {"ring", "-load", "0.3"},
		"-ranks is 1, want 2 to 1048576 ranks":              {"ring", "-ranks", "1"},
		"12 Ranks, want a power of two":                     {"halving-doubling", "-ranks", "12"},
		"-form \"xml\", want goal, binary or matrix":        {"ring", "-form", "xml"},
		"waits for what no matrix can say: rank 1: calc of": {"pipeline", "-form", "matrix"},
		"is a directory":                                    {"ring", "-o", t.TempDir()},
	} {
		status, out, errs := uetsim(append([]string{"gen"}, args...)...)
		require.Equal(t, 2, status)
		require.Empty(t, out)
		require.Contains(t, errs, want)
	}
	status, _, errs := uetsim("gen", "-h")
	require.Zero(t, status)
	require.Contains(t, errs, "halving-doubling   all-reduce:")
}
