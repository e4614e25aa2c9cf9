// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A trial is a requirement whose code is broken by the first of its faults; the others are there in
// case the first does not compile.
type trial struct {
	requirement
	faults []fault
}

// A graft is a tree with many faults at once: beside each function to be broken stands a broken copy
// for every trial, which the function calls instead of its own body when the process is told the
// number of the trial, from 1. So all faults together cost one build. A fault outside functions stands
// in its place, in a graft of its own.
type graft struct {
	trials []*trial
	dir    string
	passed sync.Map // tests that passed with nothing broken
}

// bitten is the environment variable that holds the number of a trial; without it nothing is broken.
const bitten = "UETCC_BITTEN"

// plant makes the grafts of all trials and builds the tests that their requirements name in the
// first, that of many faults.
func plant(t *testing.T, trials []*trial) []*graft {
	shared := &graft{dir: t.TempDir()}
	grafts := []*graft{shared}
	for len(trials) > 0 {
		changed := []*graft{shared}
		for _, tr := range trials {
			if tr.faults[0].in != nil {
				shared.trials = append(shared.trials, tr)
			} else {
				changed = append(changed, &graft{dir: t.TempDir(), trials: []*trial{tr}})
			}
		}
		grafts = append(grafts, changed[1:]...)
		trials = nil
		for _, g := range changed {
			for _, tr := range g.refused(t) {
				if tr.faults = tr.faults[1:]; len(tr.faults) > 0 {
					trials = append(trials, tr)
				} else if *bite > 0 {
					t.Errorf("%s: no fault compiles", tr.id)
				}
			}
		}
	}
	dirs := map[string]bool{}
	for _, g := range grafts {
		for _, tr := range g.trials {
			for dir := range tr.byDir() {
				dirs[dir] = true
			}
		}
	}
	t.Run("build", func(t *testing.T) {
		for dir := range dirs {
			t.Run(dir, func(t *testing.T) {
				t.Parallel()
				shared.build(t, dir)
			})
		}
	})
	return grafts
}

// overlay writes the files that hold a fault and the list that has the go command read them.
func (g *graft) overlay(t *testing.T) string {
	byFile := map[string][]int{}
	for i, tr := range g.trials {
		byFile[tr.faults[0].file] = append(byFile[tr.faults[0].file], i)
	}
	replace := map[string]string{}
	write := func(file string, text []byte) {
		whole, err := filepath.Abs(file)
		require.NoError(t, err)
		replace[whole] = filepath.Join(g.dir, strings.ReplaceAll(file, "/", "-"))
		require.NoError(t, os.WriteFile(replace[whole], text, 0o644))
	}
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		write(file, g.file(byFile[file]))
		f := g.fault(byFile[file][0])
		if f.in == nil {
			continue
		}
		write(filepath.Join(filepath.Dir(file), "bitten.go"), fmt.Appendf(nil, `package %s

import ("os"; "strconv")

var bitten, _ = strconv.Atoi(os.Getenv(%q))
`, f.pkg, bitten))
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	name := filepath.Join(g.dir, "overlay.json")
	require.NoError(t, os.WriteFile(name, list, 0o644))
	return name
}

func (g *graft) fault(i int) *fault { return &g.trials[i].faults[0] }

// file is the text of a file with its faults, each in a copy of its function at the end.
func (g *graft) file(of []int) []byte {
	code := g.fault(of[0]).code
	if f := g.fault(of[0]); f.in == nil {
		return f.broken(0, len(code))
	}
	byFunc := map[int][]int{}
	for _, i := range of {
		f := g.fault(i)
		byFunc[f.offset(f.in.Type.Func)] = append(byFunc[f.offset(f.in.Type.Func)], i)
	}
	var text, copies bytes.Buffer
	at := 0
	for _, start := range slices.Sorted(maps.Keys(byFunc)) {
		named, call := g.fault(byFunc[start][0]).head()
		text.Write(code[at:start])
		fmt.Fprintf(&text, "%s{ switch bitten {", named)
		for _, i := range byFunc[start] {
			f := g.fault(i)
			name := fmt.Sprintf("%s_%d", f.in.Name.Name, i+1)
			fmt.Fprintf(&text, "case %d: %s; ", i+1, fmt.Sprintf(call, name))
			fmt.Fprintf(&copies, "\n//line fault%d:1\n%s%s%s\n", i+1,
				code[start:f.offset(f.in.Name.Pos())], name, f.broken(f.offset(f.in.Name.End()), f.offset(f.in.End())))
			at = f.offset(f.in.Body.Lbrace) + 1
		}
		text.WriteString("};")
	}
	text.Write(code[at:])
	return append(text.Bytes(), copies.Bytes()...)
}

// head is the fault's function up to the body, with a name for every parameter, and a call of
// another (%s) that hands them all on.
func (f *fault) head() (named, call string) {
	unnamed := 0
	names := func(of *ast.FieldList) (params, args []string) {
		for _, p := range of.List {
			n := len(args)
			for _, id := range p.Names {
				args = append(args, id.Name)
			}
			if len(p.Names) == 0 {
				args = append(args, "_")
			}
			for i := range args[n:] {
				if args[n+i] == "_" {
					unnamed++
					args[n+i] = fmt.Sprint("unnamed", unnamed)
				}
			}
			params = append(params, strings.Join(args[n:], ", ")+" "+f.text(p.Type))
			if _, ok := p.Type.(*ast.Ellipsis); ok {
				args[len(args)-1] += "..."
			}
		}
		return params, args
	}
	d := f.in
	named = "func "
	if d.Recv != nil {
		params, args := names(d.Recv)
		named += "(" + params[0] + ") "
		call = args[0] + "."
	}
	named += d.Name.Name
	call += "%s"
	if d.Type.TypeParams != nil {
		_, args := names(d.Type.TypeParams)
		named += f.text(d.Type.TypeParams)
		call += "[" + strings.Join(args, ", ") + "]"
	}
	params, args := names(d.Type.Params)
	named += "(" + strings.Join(params, ", ") + ") "
	call += "(" + strings.Join(args, ", ") + ")"
	if d.Type.Results == nil {
		return named, call + "; return"
	}
	return named + f.text(d.Type.Results) + " ", "return " + call
}

var inFault = regexp.MustCompile(`\bfault(\d+):\d+: .*`)

// refused takes away the trials that do not compile.
func (g *graft) refused(t *testing.T) (bad []*trial) {
	args := []string{"build", "-o", os.DevNull, everyError, "-overlay", g.overlay(t)}
	dirs := map[string]bool{}
	for i := range g.trials {
		dirs[filepath.Dir(g.fault(i).file)] = true
	}
	if len(dirs) == 0 {
		return nil
	}
	out, err := run("fuzz", "go", append(args, slices.Sorted(maps.Keys(dirs))...)...)
	if err == nil {
		return nil
	}
	why := map[int]string{}
	for _, m := range inFault.FindAllStringSubmatch(out, -1) {
		n, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		why[n-1] = m[0]
	}
	if g.fault(0).in == nil {
		why[0] = out
	}
	require.NotEmpty(t, why, "not due to a fault: %s", out)
	left := g.trials
	g.trials = nil
	for i, tr := range left {
		if why[i] == "" {
			g.trials = append(g.trials, tr)
			continue
		}
		bad = append(bad, tr)
		t.Logf("does not compile: %s: %s: %s", tr.id, &tr.faults[0], why[i])
	}
	return append(bad, g.refused(t)...)
}

// everyError has the compiler name all that it refuses.
const everyError = "-gcflags=./...=-e"

// build builds the tests of a folder.
func (g *graft) build(t *testing.T, dir string) {
	out, err := run("", "go", "test", "-c", "-vet=off", everyError, "-ldflags=-s -w",
		"-overlay", filepath.Join(g.dir, "overlay.json"), "-o", g.binary(dir), "./"+dir)
	require.NoError(t, err, out)
}

func (g *graft) binary(dir string) string {
	return filepath.Join(g.dir, strings.ReplaceAll(dir, "/", "-")+".test")
}

// byDir are the tests of a trial, by folder.
func (tr *trial) byDir() map[string][]string {
	all := map[string][]string{}
	for _, test := range tr.tests {
		dir, name, _ := strings.Cut(test, ":")
		all[dir] = append(all[dir], name)
	}
	return all
}

// bites reports whether a test of trial i fails that passes in the sound tree under the same limits.
// Tests of folder fuzz take longest and come last.
func (g *graft) bites(t *testing.T, i int, sound *graft) bool {
	tr := g.trials[i]
	tests := tr.byDir()
	dirs := slices.SortedFunc(maps.Keys(tests), func(a, b string) int {
		return cmp.Or(strings.Index(a, "fuzz")-strings.Index(b, "fuzz"), strings.Compare(a, b))
	})
	for _, dir := range dirs {
		if g != sound {
			g.build(t, dir)
		}
		for scale := 1; ; scale *= 2 {
			whole, err := g.test(i+1, dir, tests[dir], scale)
			if err == nil {
				break
			}
			by := failedOf(whole, tests[dir])
			if whole, err = sound.sound(dir, by, scale); err == nil {
				t.Logf("killed: %s: %s: %s", dir, by, &tr.faults[0])
				return true
			}
			require.Less(t, scale, 16, "nothing is broken: %s", whole)
		}
	}
	t.Logf("SURVIVED: %s: %s", tr.tests, &tr.faults[0])
	return false
}

// sound runs tests of a folder with nothing broken, once.
func (g *graft) sound(dir string, names []string, scale int) (out string, err error) {
	key := fmt.Sprint(dir, names, scale)
	if _, ok := g.passed.Load(key); ok {
		return "", nil
	}
	if out, err = g.test(0, dir, names, scale); err == nil {
		g.passed.Store(key, true)
	}
	return out, err
}

var failing = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// failedOf is the test that failed; all tests, if they were stopped.
func failedOf(out string, names []string) []string {
	m := failing.FindStringSubmatch(out)
	if m == nil {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.HasPrefix(name+"/", m[1]+"/") })
}

// test runs tests of a folder with trial n broken, from 1, or none. Tests that a fault lets run or
// grow without end fail: at scale 1 none need 40 s of processor time, ten minutes, or 6 GB of
// addresses. A busy machine may need another scale.
func (g *graft) test(n int, dir string, names []string, scale int) (out string, err error) {
	var patterns []string
	for _, name := range names {
		patterns = append(patterns, "^"+strings.ReplaceAll(name, "/", "$/^")+"$")
	}
	limits := fmt.Sprintf("ulimit -t %d; ulimit -v 6000000; ", 40*scale)
	return run(dir, "sh", "-c", limits+`exec env "$0" "$@"`, fmt.Sprint(bitten, "=", n), g.binary(dir),
		"-test.paniconexit0", "-test.failfast", "-test.v", fmt.Sprintf("-test.timeout=%dm", 10*scale), "-test.run="+strings.Join(patterns, "|"))
}

// run runs a command in a folder of the repository.
func run(dir, name string, args ...string) (out string, err error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = filepath.Join("..", dir)
	b, err := cmd.CombinedOutput()
	return string(b), err
}
