// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/ccc/baseline"
)

// Each baseline carries an incast on both kinds of nodes, and those that slow down lose less than
// what does not.
func TestBaselines(t *testing.T) {
	for _, node := range []string{"light", "endpoint"} {
		status, out, errs := uetsim("-matrix", workloads+"incast_3-1_overlapped.tm", "-node", node, "-cc", "none,dctcp,cubic,swift,constant,eqds", "-json")
		require.Zero(t, status, errs)
		var r report
		require.NoError(t, json.Unmarshal([]byte(out), &r))
		trims := map[string]int64{}
		for _, n := range r.Runs {
			trims[n.Name] = n.Result.Totals.Trimmed
			require.Empty(t, n.Result.Violations)
			if n.Name != "none" {
				require.Equal(t, map[bool]string{true: "rccc", false: "none"}[n.Name == "eqds"], n.Result.Parameters.Control)
			}
		}
		for _, cc := range []string{"dctcp", "cubic", "swift", "eqds"} {
			require.Less(t, trims[cc], trims["none"], "%s on %s", cc, node)
		}
	}
}

// An algorithm of anybody's own is a word of -cc like the others, and one that is not there is
// named together with those that are.
func TestOwnAlgorithm(t *testing.T) {
	var out, errs strings.Builder
	pairs := map[[2]int]bool{}
	own := Algorithms{"mine": func(src, dst int) ccc.Algorithm {
		pairs[[2]int{src, dst}] = true
		return &baseline.Constant{Cwnd: 20_000}
	}}
	status := Main([]string{"-matrix", workloads + "one.cm", "-cc", "nscc,mine"}, own, &out, &errs)
	require.Zero(t, status, errs.String())
	require.Equal(t, map[[2]int]bool{{0, 13}: true}, pairs)
	require.Contains(t, out.String(), "mine")
	require.Equal(t, 2, Main([]string{"-matrix", workloads + "one.cm", "-cc", "his"}, own, &out, &errs))
	require.Contains(t, errs.String(), `-cc "his", want one of none, nscc, rccc, both, observe, eqds, mine`)
}
