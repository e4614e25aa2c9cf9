// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	bite     = flag.Int("bite", 0, "TestRequirementsBite: how many requirements have their code broken, each once; -1: all, in every way")
	biteSeed = flag.Uint64("biteseed", 1, "TestRequirementsBite: draws the requirements and what is broken")
	biteRows = flag.String("biterows", "", "TestRequirementsBite: requirements to break, a regular expression of their ids")
)

// TestRequirementsBite breaks the code that a requirement names, by one fault of a few characters,
// and wants a test of that requirement to fail: 97 of 100 at least. Requirements and faults are
// drawn by seed; a fault that does not compile is drawn again. Without -bite nothing is built, and
// only what there is to break is looked up.
func TestRequirementsBite(t *testing.T) {
	var rows []requirement
	named := regexp.MustCompile(*biteRows)
	for _, r := range readRequirements(t) {
		if r.status == implemented {
			assert.NotEmpty(t, r.faults(t), "%s names nothing that can be broken: %v", r.id, r.code)
			if named.MatchString(r.id) {
				rows = append(rows, r)
			}
		}
	}
	rng := rand.New(rand.NewPCG(*biteSeed, 0))
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	var trials []*trial
	for _, r := range rows[:min(uint(*bite), uint(len(rows)))] {
		all := r.faults(t)
		first := &trial{requirement: r}
		for len(all) > 0 {
			i := draw(all, rng)
			first.faults = append(first.faults, all[i])
			all = slices.Delete(all, i, i+1)
		}
		trials = append(trials, first)
		if *bite < 0 {
			for _, f := range first.faults[1:] {
				trials = append(trials, &trial{requirement: r, faults: []fault{f}})
			}
			first.faults = first.faults[:1]
		}
	}
	if len(trials) == 0 {
		return
	}
	grafts := plant(t, trials)
	require.False(t, t.Failed(), "the tests fail by themselves")
	var killed, survived atomic.Int64
	t.Run("rows", func(t *testing.T) {
		for _, g := range grafts {
			for i, tr := range g.trials {
				t.Run(tr.id, func(t *testing.T) {
					t.Parallel()
					if g.bites(t, i, grafts[0]) {
						killed.Add(1)
					} else {
						survived.Add(1)
					}
				})
			}
		}
	})
	t.Logf("%d killed, %d survived", killed.Load(), survived.Load())
	require.LessOrEqual(t, survived.Load()*100, 3*(killed.Load()+survived.Load()), "faults that no test of their requirement sees")
}

// faults lists what can be broken in the code of a requirement.
func (r *requirement) faults(t *testing.T) (all []fault) {
	for _, name := range r.code {
		dir, name, _ := strings.Cut(name, ":")
		all = append(all, faultsOf(t, filepath.Join("..", dir), name)...)
	}
	return all
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

func (f *fault) String() string {
	return fmt.Sprintf("%s:%d: %s: %s -> %s", strings.TrimPrefix(f.file, "../"), f.line, f.kind, f.was(), f.with)
}
