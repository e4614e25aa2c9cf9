// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// madeResults writes results of n seeds: rccc is slower by 30 us, both has the spread of nscc.
func madeResults(t *testing.T, n int) (dir string) {
	dir = t.TempDir()
	s, err := openStore(dir)
	require.NoError(t, err)
	for seed := range n {
		noise := float64(seed * 7 % n)
		for cc, fct := range map[string]float64{"nscc": 100 + noise, "rccc": 130 + noise, "both": 100 + float64(seed*3%n)} {
			args := []string{fmt.Sprint("-seed=", seed), "-matrix=a<b>.cm", "-cc=" + cc}
			r := &result{job: newJob("v1", args, nil)}
			b, err := json.Marshal(map[string]any{"p99": fct, "name": "x", "list": []int{1}})
			require.NoError(t, err)
			r.Runs = []namedRun{{"run", map[string]json.RawMessage{"fct_us": b, "unfinished": json.RawMessage("0")}}}
			if cc == "rccc" && seed < 2 {
				r.Failed = []string{"1 transfers did not finish"}
			}
			s.add(r, func(err error) { require.NoError(t, err) })
		}
	}
	require.NoError(t, s.close())
	return dir
}

// The interval of a median of 20 is from the 6th to the 15th of them, at 95 %.
func TestCompare(t *testing.T) {
	dir := madeResults(t, 20)
	file := filepath.Join(dir, "page.html")
	status, out, errs := uetsweep("compare", "-metric", "fct_us.p99,unfinished", "-base", "nscc", "-html", file, dir, dir)
	require.Zero(t, status, errs)
	require.Equal(t, `-matrix=a<b>.cm
                          nscc                                both                                      rccc
  fct_us.p99  109.5 [105, 114]  109.5 [105, 114]  ~ (p=1.000 n=20)  139.5 [135, 144]  +27.40% (p<0.001 n=20)
  unfinished          0 [0, 0]          0 [0, 0]  ~ (p=1.000 n=20)          0 [0, 0]        ~ (p=1.000 n=20)

medians, their confidence intervals, and differences to nscc: ~ is what luck alone may do
note: 4 comparisons: about 0.2 of them would count as different by luck alone
note: results of v1
note: 2 of 20 jobs of rccc failed in uetsim, such as by transfers that did not finish: see "failed" of their lines
`, out)
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, want := range []string{"-matrix=a&lt;b&gt;.cm", "139.5 [135, 144]", "27.40% (p&lt;0.001 n=20)", "2 of 20 jobs of rccc", "left:2.00%"} {
		require.Contains(t, string(page), want)
	}
	require.Equal(t, 6, strings.Count(string(page), `class="range"`))
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 3, "results, lock and page")
}

// Of three seeds nothing can be said, and that is said.
func TestCompareFewSeeds(t *testing.T) {
	status, out, errs := uetsweep("compare", "-metric", "fct_us.p99", madeResults(t, 3))
	require.Zero(t, status, errs)
	require.Contains(t, out, "note: need >= 6 samples for confidence interval at level 0.95")
	require.Contains(t, out, "note: need >= 4 samples to detect a difference at alpha level 0.05")
	require.NotContains(t, out, "[")
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1234567: "1234567", 109.54: "109.5", 0.67644: "0.6764", 3: "3", -2.5: "-2.5", 0.00001234: "0.000012"} {
		require.Equal(t, want, number(v))
	}
}
