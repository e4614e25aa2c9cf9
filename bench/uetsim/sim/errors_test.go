// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Errors speak of flags, with the value, the range and the unit: -speed 1e6 passed its own range
// and then was "LinkRate is 125000000000000", bytes a second; -paths 0 was 64 without a word.
func TestErrorsNameFlags(t *testing.T) {
	for want, args := range map[string][]string{
		"-speed is 1e+06, want 0.001 to 35000 Gb/s":     {"-speed", "1e6"},
		"-hop is 0, want 1e-06 to 1e+06 us":             {"-hop", "0"},
		"-packet is 40000, want 65 to 32768 bytes":      {"-packet", "40000"},
		"-paths is 0, want 1 to 65536 entropy values":   {"-paths", "0"},
		"uetsim: -paths 3: ":                            {"-paths", "3"},
		"-cwnd is -1, want 0 to 4294967295 bytes":       {"-cwnd", "-1"},
		"uetsim: -cwnd 1 bytes: ":                       {"-cwnd", "1"},
		"uetsim: -rtt 1e+06 us: ":                       {"-rtt", "1e6"},
		"-slow is -1, want 0":                           {"-slow", "-1"},
		"-ack-bytes is 0, want 1 to 4294967295 bytes":   {"-ack-bytes", "0", "-node", "light"},
		"uetsim: -first-credit 100000000 bytes: ":       {"-first-credit", "100000000", "-cc", "rccc"},
		"stopped at 50 us by -end, 0 of them not begun": {"-end", "50"},
	} {
		_, _, errs := uetsim(append([]string{"-matrix", workloads + "one.cm"}, args...)...)
		require.Contains(t, errs, want)
	}
}

// A run that has finished nothing has no times: zeros were printed, and a fairness of 0.
func TestNothingFinishedPrintsNoTimes(t *testing.T) {
	status, out, errs := uetsim("-matrix", workloads+"one.cm", "-end", "1e-6")
	require.Equal(t, 1, status)
	require.Regexp(t, `nscc +- +- +- +- +164.1 .* -\n`, out)
	require.Contains(t, errs, "stopped at 1e-06 us by -end")
}

// A trigger that never fires is not a run that has ended too early.
func TestTriggerThatNeverFires(t *testing.T) {
	file := filepath.Join(t.TempDir(), "circle.cm")
	require.NoError(t, os.WriteFile(file, []byte("Nodes 16\nConnections 2\nTriggers 2\n"+
		"0->1 id 1 trigger 1 size 1000 send_done_trigger 2\n2->3 id 2 trigger 2 size 1000 send_done_trigger 1\n"+
		"trigger id 1 oneshot\ntrigger id 2 oneshot\n"), 0o600))
	for _, node := range []string{"endpoint", "light"} {
		status, _, errs := uetsim("-matrix", file, "-node", node)
		require.Equal(t, 1, status)
		require.Contains(t, errs, "2 transfers did not finish: nothing was left to happen at 0 us, and 2 of them wait for a trigger that never fires")
	}
}

// A file's escape bytes do not reach the terminal.
func TestErrorsEscapeTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bad.topo")
	for _, line := range []string{"\x1b]0;x\x07 4", "Nodes 16\nTier \x1b[31m", "Nodes \x9b31m", "Nodes \u009b31m"} {
		require.NoError(t, os.WriteFile(file, []byte(line+"\n"), 0o600))
		status, _, errs := uetsim("-matrix", workloads+"one.cm", "-topo", file)
		require.Equal(t, 2, status)
		require.NotRegexp(t, "[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x{9f}]", errs)
	}
}

func TestVersion(t *testing.T) {
	status, out, errs := uetsim("--version")
	require.Zero(t, status, errs)
	require.Regexp(t, `^uetsim .+, go1.+/.+\n$`, out)
}
