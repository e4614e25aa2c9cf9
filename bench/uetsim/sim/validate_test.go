// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const experiments = workloads + "validate.txt"

// Each experiment has a line in the order of the file, with bar and result, or with file, line and
// reason; a bar that is missed is a failure of the command.
func TestValidate(t *testing.T) {
	status, out, errs := uetsim("validate", experiments)
	require.Equal(t, 1, status)
	lines := strings.Split(out, "\n")
	require.Len(t, lines, 9, out)
	for i, want := range []string{
		`^met +validate.txt:3: 176.2 of 190 us: Single Connection$`,
		`^missed +validate.txt:10: 24\d\d.\d of 2000 us: Small incast: the last transfer 2\d.\d % late$`,
		`^not supported validate.txt:17: - of 190 us: Single path, aeolus: validate.txt:20: not supported: -queue_type aeolus$`,
		`^error +validate.txt:22: - of 190 us: Mistaken: validate.txt:25: -paths "none", want 1 to 65536 entropy values$`,
		`^missed +validate.txt:27: - of 190 us: Interrupted: 0 of 2 transfers finished by 100 us; no transfer Uec_0_13 finished$`,
		`^$`,
		`^not supported, 1: -queue_type aeolus$`,
		`^5 experiments: 3 ran, 1 met, 2 missed \(0 of them by htsim too\), 1 not supported, 1 errors, 0 skipped$`,
	} {
		require.Regexp(t, want, lines[i])
	}
	require.Equal(t, "uetsim: FAILED: 2 of 5 experiments missed their bar\nuetsim: FAILED: 1 of 5 experiments could not be run\n", errs)
}

// The output is the same for any number of workers.
func TestValidateInOrder(t *testing.T) {
	_, want, _ := uetsim("validate", "-json", "-workers", "1", experiments, experiments)
	var all summary
	require.NoError(t, json.Unmarshal([]byte(want), &struct {
		Met, Missed *int
		Outcomes    *[]json.RawMessage `json:"experiments"`
	}{&all.Met, &all.Missed, new([]json.RawMessage)}))
	require.Equal(t, 2, all.Met)
	require.Equal(t, 4, all.Missed)
	for _, workers := range []string{"2", "7"} {
		_, got, _ := uetsim("validate", "-json", "-workers", workers, experiments, experiments)
		require.Equal(t, want, got)
	}
}

// What htsim itself misses is said to be missed there.
func TestValidateOutside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "outside.csv")
	table := "file,experiment,matrix,params,target_tail_us,tail_htsim_us\n" +
		"validate.txt,Small incast,incast.cm,-q 50 -ecn 12 37 -end 3000,2000,2478.5\n" +
		"validate.txt,Single Connection,one.cm,-end 1000 -sender_cc_only,190,\n"
	require.NoError(t, os.WriteFile(path, []byte(table), 0o600))
	_, out, _ := uetsim("validate", "-outside", path, "-run", "^S", experiments)
	require.Contains(t, out, "of 2000 us (htsim 2478.5): Small incast")
	require.Contains(t, out, "1 missed (1 of them by htsim too)")
	for text, want := range map[string]string{
		"file\n":                            ":1: no column experiment",
		"":                                  "EOF",
		strings.ReplaceAll(table, ".", "x"): `:2: tail_htsim_us "2478x5" is not a number`,
		table + "a,b\n":                     "wrong number of fields",
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		status, _, errs := uetsim("validate", "-outside", path, experiments)
		require.Equal(t, 2, status)
		require.Contains(t, errs, want)
	}
}

func TestValidateRejects(t *testing.T) {
	for want, args := range map[string][]string{
		"validate needs a file of experiments":      {},
		"-workers is 0, want 1 to 1024 experiments": {"-workers", "0", experiments},
		"-run: error parsing regexp":                {"-run", "(", experiments},
		"no such file":                              {"none.txt"},
		"one.cm:1: unknown field":                   {workloads + "one.cm"},
	} {
		status, out, errs := uetsim(append([]string{"validate"}, args...)...)
		require.Equal(t, 2, status, want)
		require.Empty(t, out)
		require.Contains(t, errs, want)
	}
	other := filepath.Join(t.TempDir(), "other.txt")
	require.NoError(t, os.WriteFile(other, []byte("none.cm\n!Binary ./htsim_uec\n"), 0o600))
	_, out, _ := uetsim("validate", "-run", "(^Single C|^$)", experiments, other)
	require.Contains(t, out, "\nvalidate.txt: 1 experiments: 1 ran, 1 met")
	require.Contains(t, out, "\nother.txt: 1 experiments: 0 ran, 0 met, 0 missed (0 of them by htsim too), 0 not supported, 1 errors")
	status, out, _ := uetsim("validate", "-n", "-run", "Single C", experiments)
	require.Zero(t, status)
	require.Contains(t, out, "1 skipped")
}

// Flags of what experiments vary reach the run, and errors about them name them.
func TestTuningFlags(t *testing.T) {
	run := []string{"-matrix", workloads + "bidir.cm", "-json", "-node", "light"}
	_, out, errs := uetsim(append(run, "-queue", "2bdp", "-ecn-min", "10p", "-ecn-max", "150000", "-trim-bytes", "128", "-ack-bytes", "4000",
		"-tiers", "2", "-switch-latency", "0.25", "-nic-latency", "0.5", "-pair-rtt", "-infer-loss", "-fail", "leaf0.1:down@3-9,host3:loss=0.5@2", "-fail", "spine1:rate=0.5@1", "-reroute", "4", "-host-queue", "priority", "-nack-rtt=false", "-tune", "gamma=0.5,target-delay=9")...)
	require.Empty(t, errs)
	for _, want := range []string{
		`"last_hop_ecn_min_bytes": 41500,`, `"last_hop_ecn_max_bytes": 150000,`, `"trim_bytes": 128,`, `"ack_bytes": 4000,`,
		`"switch_latency_ps": 250000,`, `"nic_latency_us": 0.5,`, `"pair_rtt": true,`, `"infer_loss": true,`, `"Gamma": 0.5,`,
		`"target_qdelay_us": 9,`, `"reroute_us": 4,`, `"host_queue": "priority",`, `"nack_rtt": false,`, `"fault": "leaf0.1:down@3-9",`, `"fault": "host3:loss=0.5@2",`, `"fault": "spine1:rate=0.5@1",`,
	} {
		require.Contains(t, out, want)
	}
	for want, args := range map[string][]string{
		`invalid value "5x" for flag -queue: `:          {"-queue", "5x"},
		"-ecn-min 2bdp, -ecn-max 1bdp: ":                {"-ecn-min", "2bdp", "-ecn-max", "1bdp"},
		"-trim-bytes is 63, want 64 to 32768 bytes":     {"-trim-bytes", "63"},
		"-ack-bytes is 40000, want 1 to 32768 bytes":    {"-ack-bytes", "40000", "-node", "endpoint"},
		"-tiers is 4, want 2 to 3 tiers":                {"-tiers", "4"},
		"-switch-latency is -1, want 0 to 1e+06 us":     {"-switch-latency", "-1"},
		"-nic-latency is 1e+07, want 0 to 1e+06 us":     {"-nic-latency", "1e7"},
		"-infer-loss true: fabric: ":                    {"-infer-loss", "-cc", "rccc"},
		"-pair-rtt true: fabric: ":                      {"-pair-rtt", "-node", "endpoint"},
		"-tune gamma=2: ccc: ":                          {"-tune", "gamma=2"},
		`no constant "gama"`:                            {"-tune", "gama=2"},
		`"gamma", want name=value`:                      {"-tune", "gamma"},
		"invalid value \"leaf0:up@1\" for flag -fail: ": {"-fail", "leaf0:up@1"},
		"-fail [leaf9:down@1]: fabric: ":                {"-fail", "leaf9:down@1"},
		`-host-queue "lifo", want fair`:                 {"-host-queue", "lifo"},
		`-routing "best", want entropy`:                 {"-routing", "best"},
		"-reroute is -1, want 0 to 1e+06 us":            {"-reroute", "-1"},
		"-tiers and -topo exclude each other":           {"-tiers", "2", "-topo", "x"},
	} {
		_, _, errs := uetsim(append(run, args...)...)
		require.Contains(t, errs, want)
	}
	_, _, errs = uetsim("-scenario", "hol", "-queue", "5p")
	require.Contains(t, errs, "-queue changes nothing in scenario hol")
}

// A signal leaves what has not come to its end marked, and the command fails.
func TestValidateInterrupted(t *testing.T) {
	v := validation{workers: 2, only: regexp.MustCompile("^S")}
	require.NoError(t, v.read(experiments))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out bytes.Buffer
	failed, err := v.run(ctx, &out)
	require.NoError(t, err)
	require.Equal(t, []string{"2 of 3 experiments did not come to their end"}, failed) // the third is not supported
	require.Contains(t, out.String(), "skipped       validate.txt:3: - of 190 us: Single Connection: interrupted\n")
}
