// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/hw/link"
)

// Behind -scenario the help has what that scenario is about, and its flags alone.
func TestHelpOfAScenario(t *testing.T) {
	for name, flags := range map[string][3]string{
		"link":   {"ECMP sends two of four flows", "-speed", "-paths"},
		"hol":    {"head-of-line blocking", "-seed", "-speed"},
		"credit": {"under receiver credits", "-first-credit", "-hop"},
	} {
		status, _, errs := uetsim("-scenario", name, "-h")
		require.Zero(t, status)
		require.Contains(t, errs, flags[0])
		require.Contains(t, errs, "\n  "+flags[1]+" ")
		require.NotContains(t, errs, "\n  "+flags[2]+" ")
		require.NotContains(t, errs, "\n  -matrix ")
	}
	status, _, errs := uetsim("-scenario", "outage", "-h")
	require.Equal(t, 2, status)
	require.Contains(t, errs, `no scenario "outage", there are: `)
}

func TestProgressLine(t *testing.T) {
	p := fabric.Progress{Now: 1500 * link.Microsecond, Events: 3_000_000, Done: 10, Transfers: 40, Delivered: 1000, Packets: 4000}
	require.Equal(t, "1.5 ms simulated, 10 of 40 transfers done, 3 M events, about 15s left", progressLine(p, 5*time.Second))
	p.Delivered = 0
	require.Equal(t, "1.5 ms simulated, 10 of 40 transfers done, 3 M events", progressLine(p, 5*time.Second))
}
