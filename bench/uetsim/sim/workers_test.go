// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var workersFlag = regexp.MustCompile(`-workers \d+`)

// filesIn reads all files of a folder, but for what a page says of the folder and the workers.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	files := map[string]string{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		files[e.Name()] = workersFlag.ReplaceAllString(strings.ReplaceAll(string(b), dir, ""), "")
	}
	return files
}

// A fabric that is simulated in parts, with links that break: all that can be written of a run is
// the same on any number of workers, of either kind of node.
func TestFilesOnAnyNumberOfWorkers(t *testing.T) {
	matrix, schedule := filepath.Join(t.TempDir(), "permutation.cm"), filepath.Join(t.TempDir(), "halving.goal")
	status, _, errs := uetsim("gen", "permutation", "-ranks", "256", "-bytes", "6000", "-form", "matrix", "-o", matrix)
	require.Zero(t, status, errs)
	status, _, errs = uetsim("gen", "halving-doubling", "-ranks", "256", "-bytes", "40000", "-reduce", "0.1", "-o", schedule)
	require.Zero(t, status, errs)
	numbers := []int{1, 2, 3, 8}
	if testing.Short() {
		numbers = []int{1, 3}
	}
	for name, args := range map[string][]string{
		"endpoint":      {"-matrix", matrix, "-node", "endpoint", "-reroute", "5"},
		"light":         {"-matrix", matrix, "-node", "light", "-cc", "both"},
		"adaptive":      {"-matrix", matrix, "-rules", "htsim", "-routing", "adaptive", "-infer-loss", "-trim=false"},
		"goal, acked":   {"-goal", schedule, "-node", "light", "-reroute", "5"},
		"goal, arrived": {"-goal", schedule, "-node", "light", "-cc", "both", "-recv-done", "arrived", "-eager", "1000"},
	} {
		t.Run(name, func(t *testing.T) {
			var out string
			var files map[string]string
			for _, n := range numbers {
				dir := t.TempDir()
				all := append(args, "-json", "-workers", strconv.Itoa(n), "-interval", "1",
					"-fail", "leaf1.2:down@2-40", "-fail", "spine3:rate=0.5@1-5", "-fail", "host7:loss=0.3@0")
				for _, kind := range []string{"html", "pcap", "trace", "qlog", "perfetto", "flows", "series"} {
					end := map[string]string{"qlog": ".sqlog", "perfetto": ".json", "trace": ".csv"}[kind]
					all = append(all, "-"+kind, filepath.Join(dir, kind+end))
				}
				status, got, errs := uetsim(all...)
				require.Zero(t, status, errs)
				written := filesIn(t, dir)
				require.Len(t, written, 7)
				if n == 1 {
					out, files = got, written
				}
				require.True(t, out == got, "%d workers", n)
				for name := range files {
					require.True(t, files[name] == written[name], "%s on %d workers", name, n)
				}
			}
		})
	}
}

// The scenarios are too small for parts; their algorithms run side by side.
func TestScenariosOnAnyNumberOfWorkers(t *testing.T) {
	for _, s := range scenarios {
		for _, node := range []string{"light", "endpoint"} {
			if slices.Contains(s.ignores, "node") {
				node = ""
			}
			t.Run(s.name+" "+node, func(t *testing.T) {
				t.Parallel()
				on := func(workers string) string {
					args := []string{"-scenario", s.name, "-json", "-workers", workers}
					if node != "" {
						args = append(args, "-node", node)
					}
					_, out, errs := uetsim(args...)
					require.NotContains(t, errs, "usage")
					require.NotEmpty(t, out)
					return out
				}
				want := on("1")
				for _, n := range []string{"2", "3", "8"} {
					require.True(t, want == on(n), "%s workers", n)
					if testing.Short() {
						break
					}
				}
			})
			if node == "" {
				break
			}
		}
	}
}
