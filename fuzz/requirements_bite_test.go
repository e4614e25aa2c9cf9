// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	bite     = flag.Int("bite", 0, "TestRequirementsBite: how many requirements have their code broken (each builds and runs a test)")
	biteSeed = flag.Uint64("biteseed", 1, "TestRequirementsBite: draws the requirements and what is broken")
)

// TestRequirementsBite breaks the code that a requirement names, by one fault of a few characters,
// and wants a test of that requirement to fail: 97 of 100 at least. Requirements and faults are
// drawn by seed; a fault that does not compile is drawn again, and those of testdata/harmless.csv
// are none, since they change nothing that anybody could see. Without -bite nothing is built, and only
// what there is to break is looked up.
func TestRequirementsBite(t *testing.T) {
	var rows []requirement
	harmless := readHarmless(t)
	for _, r := range readRequirements(t) {
		if r.status == implemented {
			rows = append(rows, r)
			assert.NotEmpty(t, r.faults(t, harmless), "%s names nothing that can be broken: %v", r.id, r.code)
		}
	}
	for place, seen := range harmless {
		assert.True(t, seen, "testdata/harmless.csv: no requirement names %q", place)
	}
	rng := rand.New(rand.NewPCG(*biteSeed, 0))
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	rows = rows[:min(*bite, len(rows))]
	var killed, survived atomic.Int64
	t.Run("rows", func(t *testing.T) {
		for _, r := range rows {
			seed := rng.Uint64()
			t.Run(r.id, func(t *testing.T) {
				t.Parallel()
				if r.bites(t, r.faults(t, harmless), rand.New(rand.NewPCG(seed, 0))) {
					killed.Add(1)
				} else {
					survived.Add(1)
				}
			})
		}
	})
	t.Logf("%d killed, %d survived", killed.Load(), survived.Load())
	require.LessOrEqual(t, survived.Load()*100, 3*(killed.Load()+survived.Load()), "faults that no test of their requirement sees")
}

// readHarmless reads the faults that change nothing, and why; the values say which have been met.
func readHarmless(t *testing.T) map[[3]string]bool {
	lines := readCSV(t, "testdata/harmless.csv", "file", "line", "fault", "why")
	all := make(map[[3]string]bool, len(lines))
	for _, l := range lines {
		require.NotEmpty(t, l[3], l)
		all[[3]string(l)] = false
	}
	return all
}

// faults lists what can be broken in the code of a requirement.
func (r *requirement) faults(t *testing.T, harmless map[[3]string]bool) (all []fault) {
	for _, name := range r.code {
		dir, name, _ := strings.Cut(name, ":")
		for _, f := range faultsOf(t, filepath.Join("..", dir), name) {
			if _, ok := harmless[f.place()]; !ok {
				all = append(all, f)
			} else if !harmless[f.place()] {
				harmless[f.place()] = true
			}
		}
	}
	return all
}

// bites breaks the code once, by one of all faults, and reports whether a test of the requirement
// fails.
func (r *requirement) bites(t *testing.T, all []fault, rng *rand.Rand) bool {
	for _, test := range r.tests {
		out, err := runTest("", test)
		require.NoError(t, err, "%s fails by itself: %s", test, out)
	}
	for len(all) > 0 {
		i := draw(all, rng)
		f := all[i]
		all = slices.Delete(all, i, i+1)
		overlay := f.overlay(t)
		for _, test := range r.tests {
			out, err := runTest(overlay, test)
			switch {
			case strings.Contains(out, "[build failed]"), strings.Contains(out, "[setup failed]"):
			case err != nil:
				t.Logf("killed: %s: %s", test, f)
				return true
			case test == r.tests[len(r.tests)-1]:
				require.NotContains(t, out, "no tests to run", test)
				t.Logf("SURVIVED: %s: %s", r.tests, f)
				return false
			default:
				continue
			}
			t.Logf("does not compile: %s", f)
			break
		}
	}
	t.Errorf("%s: no fault compiles", r.id)
	return false
}

// draw picks a fault; kinds of few places as often as those of many.
func draw(all []fault, rng *rand.Rand) int {
	places := map[string][]int{}
	var kinds []string
	for i, f := range all {
		if places[f.kind] == nil {
			kinds = append(kinds, f.kind)
		}
		places[f.kind] = append(places[f.kind], i)
	}
	of := places[kinds[rng.IntN(len(kinds))]]
	return of[rng.IntN(len(of))]
}

// runTest runs DIR:TEST or DIR:TEST/SUBTEST with the files of overlay, if any, in place of the tree's.
func runTest(overlay, test string) (out string, err error) {
	dir, name, _ := strings.Cut(test, ":")
	pattern := "^" + strings.ReplaceAll(name, "/", "$/^") + "$"
	cmd := exec.Command("go", "test", "-vet=off", "-timeout=100s", "-overlay", overlay, "-run", pattern, "./"+dir)
	cmd.Dir = ".."
	b, err := cmd.CombinedOutput()
	return string(b), err
}

// overlay writes the broken file and the list that has the go command read it.
func (f *fault) overlay(t *testing.T) string {
	dir := t.TempDir()
	broken := filepath.Join(dir, filepath.Base(f.file))
	require.NoError(t, os.WriteFile(broken, f.broken(), 0o644))
	whole, err := filepath.Abs(f.file)
	require.NoError(t, err)
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{whole: broken}})
	require.NoError(t, err)
	name := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(name, list, 0o644))
	return name
}

func (f fault) String() string {
	return fmt.Sprintf("%s:%d: %s: %s -> %s", strings.TrimPrefix(f.file, "../"), f.line, f.kind, f.was(), f.with)
}

// place names a fault as testdata/harmless.csv does, by the text of its line.
func (f *fault) place() [3]string {
	from := bytes.LastIndexByte(f.source[:f.from], '\n') + 1
	line, _, _ := bytes.Cut(f.source[from:], []byte("\n"))
	return [3]string{strings.TrimPrefix(f.file, "../"), strings.TrimSpace(string(line)), f.was() + " -> " + f.with}
}
