// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each transfer says what it waited for, on endpoints and on the light transport: no command
// told before.
func TestHeldNamesWhatLimits(t *testing.T) {
	for _, node := range []string{"endpoint", "light"} {
		args := []string{"-matrix", workloads + "incast.cm", "-cc", "nscc,rccc,both,none", "-node", node}
		status, out, errs := uetsim(append(args, "-json")...)
		require.Zero(t, status, errs)
		var r report
		require.NoError(t, json.Unmarshal([]byte(out), &r))
		for i, n := range r.Runs {
			for _, x := range n.Result.Transfers {
				window, credit := x.Held["window"], x.Held["credit"]
				require.LessOrEqual(t, window+credit, x.FCT, n.Name)
				require.Equal(t, i == 0 || i == 2, window > 0, n.Name)
				require.Equal(t, i == 1 || i == 2, credit > 0, n.Name)
				if i < 3 {
					require.Greater(t, window+credit, 0.9*x.FCT, "%s: fifteen senders wait for most of the time", n.Name)
				}
			}
		}
		status, out, errs = uetsim(append(args, "-v")...)
		require.Zero(t, status, errs)
		require.Contains(t, out, "held by")
		require.Regexp(t, `9\d % window\n`, out)
		require.Regexp(t, `\d\d % credit, \d+ % window\n`, out)
	}
}
