// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const schedules = "../../goal/testdata/"

// The ends of ranks come in text and in JSON, and both forms of a schedule are one.
func TestGoal(t *testing.T) {
	status, out, errs := uetsim("-goal", schedules+"ringcalc_16_1MiB.goal.gz", "-speed", "400", "-rules", "htsim", "-v")
	require.Zero(t, status, errs)
	require.Contains(t, out, "16 ranks, 480 sends, 480 receives, 240 calculations\n")
	require.Regexp(t, `nscc, makespan 26\d\.\d\d\d us \(bound 39\.974\); the first rank ends at`, out)
	require.Regexp(t, `\n  nscc( +\S+){4} +- +0 `, out, "transfers are timed from when each is ready, the bound from 0")
	require.Regexp(t, `\n +8: ( +26\d\.\d\d\d){8}\n`, out)

	var ends [2][]float64
	for i, form := range []string{"goal", "bin"} {
		status, out, errs := uetsim("-goal", schedules+"ringcalc_16_1MiB."+form+".gz", "-speed", "400", "-json")
		require.Zero(t, status, errs)
		var r report
		require.NoError(t, json.Unmarshal([]byte(out), &r))
		a := r.Runs[0].Result.Application
		require.Len(t, a.RankEnds, 16)
		ends[i] = append(a.RankEnds, a.Makespan)
	}
	require.Equal(t, ends[0], ends[1])
}

func TestGoalErrors(t *testing.T) {
	dir := t.TempDir()
	bad, alone := filepath.Join(dir, "bad.goal"), filepath.Join(dir, "alone.goal")
	require.NoError(t, os.WriteFile(bad, []byte("num_ranks 1\nrank 0 {\nl1: send 4 to 0\n}\n"), 0o600))
	require.NoError(t, os.WriteFile(alone, []byte("num_ranks 2\nrank 0 {\ncalc 7\n}\nrank 1 {\nrecv 5b from 0\n}\n"), 0o600))
	idle := filepath.Join(dir, "idle.goal")
	require.NoError(t, os.WriteFile(idle, []byte("num_ranks 2\nrank 0 {\n}\nrank 1 {\n}\n"), 0o600))
	for _, c := range []struct {
		status int
		want   string
		args   []string
	}{
		{2, `uetsim: bad.goal:3: want b, have "to"`, []string{"-goal", bad}},
		{2, "idle.goal has no operations", []string{"-goal", idle}},
		{1, "1 operations did not end: rank 1: recv of 5 bytes from 0 tag 0 (line 6) has no message", []string{"-goal", alone}},
		{1, "stopped at 100 us by -end", []string{"-goal", schedules + "pipe_8_1MiB.goal.gz", "-end", "100"}},
		{2, "-matrix and -goal exclude each other", []string{"-goal", bad, "-matrix", bad}},
		{2, "-eager needs -goal", []string{"-eager", "1"}},
		{2, `-recv-done "later", want acked or arrived`, []string{"-goal", alone, "-recv-done", "later"}},
	} {
		status, _, errs := uetsim(c.args...)
		require.Equal(t, c.status, status, errs)
		require.Contains(t, errs, c.want)
	}
}
