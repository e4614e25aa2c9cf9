// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// A trace has a line for each event: the window is what the others say of it.
func TestTrace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.csv")
	status, _, errs := uetsim("-scenario", "incast", "-trace", file)
	require.Zero(t, status, errs)
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	last, cwnds, actions := map[string][]string{}, map[string]bool{}, map[string]bool{}
	for _, row := range rows[1:] {
		n := func(name string) int64 {
			v, err := strconv.ParseInt(row[column[name]], 10, 64)
			require.NoError(t, err)
			return v
		}
		require.Equal(t, n("rtt_ns"), n("base_rtt_ns")+n("queue_delay_ns"))
		if row[column["held_by"]] == "window" {
			require.Greater(t, n("inflight")+4240, n("cwnd"), "the nominal size of the largest packet")
		}
		last[row[column["src"]]] = row
		cwnds[row[column["cwnd"]]], actions[row[column["action"]]] = true, true
	}
	require.Len(t, last, 6, "six senders")
	for _, row := range last {
		require.Equal(t, "IDLE", row[column["state"]])
		require.Equal(t, "0", row[column["waiting"]])
	}
	require.Greater(t, len(cwnds), 100)
	require.Greater(t, len(actions), 2)
}

// Connections and hosts that no run has were traced in silence: no file, no word. A number that one of the runs has
// is enough.
func TestTraceOfWhatNoRunHas(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.csv")
	for want, args := range map[string][]string{
		"-trace-conns is 7, want 0 to 6 connections": {"-trace-conns", "0,7"},
		"-trace-hosts is 8, want 0 to 7 hosts":       {"-trace-hosts", "8-20"},
		"":                                           {"-trace-conns", "6-99", "-trace-hosts", "0-99"},
	} {
		status, out, errs := uetsim(append([]string{"-scenario", "incast", "-trace", file}, args...)...)
		require.NotEmpty(t, out, "the results are there")
		if want == "" {
			require.Zero(t, status, errs)
			continue
		}
		require.Equal(t, 1, status)
		require.Contains(t, errs, want)
	}
}

func TestTraceErrors(t *testing.T) {
	dir := t.TempDir()
	for _, flag := range []string{"-trace", "-pcap"} {
		status, _, errs := uetsim(flag, dir)
		require.Equal(t, 2, status)
		require.NotEmpty(t, errs)
		status, _, errs = uetsim("-scenario", "hol", flag, filepath.Join(dir, "none"))
		require.Equal(t, 2, status)
		require.Contains(t, errs, flag+" changes nothing in scenario hol")
	}
}
