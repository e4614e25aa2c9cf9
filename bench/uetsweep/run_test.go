// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A real uetsim: what a line says runs again to the same result, and the same command does nothing more.
func TestSweepRepeats(t *testing.T) {
	out := t.TempDir()
	path, err := uetsim()
	require.NoError(t, err)
	sweep := []string{"run", "-out", out, "-uetsim", path, "-matrix", workloads + "one.cm", "-cc", "nscc,rccc", "-seed", "1..2", "-trim", "false"}
	status, said, errs := uetsweep(sweep...)
	require.Zero(t, status, errs)
	require.Contains(t, said, "4 jobs: 0 were done before, 4 done now")
	status, said, errs = uetsweep(append(sweep, "-jobs", "1")...)
	require.Zero(t, status, errs)
	require.Contains(t, said, "4 jobs: 4 were done before, 0 done now")
	n := 0
	_, err = readResults(filepath.Join(out, resultsFile), func(r *result) {
		n++
		require.Equal(t, newJob(r.Version, r.Args, r.Inputs).Key, r.Key)
		require.NoError(t, r.check())
		sum, err := fileSum(workloads + "one.cm")
		require.NoError(t, err)
		require.Equal(t, map[string]string{"matrix": sum}, r.Inputs)
		require.Empty(t, r.Failed)
		again, err := exec.Command(path, append(r.Args, "-json")...).Output()
		require.NoError(t, err)
		runs, err := runsOf(again)
		require.NoError(t, err)
		want, err := json.Marshal(r.Runs)
		require.NoError(t, err)
		got, err := json.Marshal(runs)
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(got))
		require.NotContains(t, string(got), `"transfers":[`)
	})
	require.NoError(t, err)
	require.Equal(t, 4, n)
}

// Other axes, a file that has changed and another version are other jobs.
func TestKeys(t *testing.T) {
	keys := map[string]bool{}
	for _, j := range []job{
		newJob("v1", []string{"-cc=nscc"}, nil), newJob("v2", []string{"-cc=nscc"}, nil), newJob("v1", []string{"-cc=rccc"}, nil),
		newJob("v1", []string{"-cc=nscc"}, map[string]string{"matrix": "a"}), newJob("v1", []string{"-cc=nscc"}, map[string]string{"matrix": "b"}),
	} {
		keys[j.Key] = true
	}
	require.Len(t, keys, 5)
}

// A job that dies leaves the others alone, and is tried again by the same command.
func TestFailedJobs(t *testing.T) {
	out := t.TempDir()
	sweep := []string{"run", "-out", out, "-uetsim", self(t), "-matrix", workloads + "one.cm", "-seed", "1..2", "-cc", "nscc,dead"}
	for range 2 {
		status, said, errs := uetsweep(sweep...)
		require.Equal(t, 1, status)
		require.Contains(t, said, "2 failed")
		require.Contains(t, errs, "not all jobs are done: uetsim -seed=")
		require.Contains(t, errs, "exit status 3")
		require.Len(t, seedsOf(t, out), 2)
	}
	sweep[len(sweep)-1] = "refused" // ends it: 1,000 more would say the same
	status, _, errs := uetsweep(append(sweep, "-node", "light")...)
	require.Equal(t, 2, status)
	require.Contains(t, errs, `-cc "refused", want another`)
}

// SIGINT ends the jobs at hand, and the same command does the rest.
func TestInterrupted(t *testing.T) {
	out := t.TempDir()
	t.Setenv(hang, filepath.Join(out, "held"))
	ctx, stop := context.WithCancel(context.Background())
	var said, errs bytes.Buffer
	ended := make(chan int)
	sweep := []string{"run", "-out", out, "-uetsim", self(t), "-matrix", workloads + "one.cm", "-seed", "1..3"}
	go func() { ended <- run(ctx, sweep, &said, &errs) }()
	until(t, "a job", func() bool { _, err := os.Stat(filepath.Join(out, "held")); return err == nil })
	stop()
	require.Equal(t, 1, <-ended)
	require.Contains(t, errs.String(), "not all jobs are done: context canceled; the same command does the rest")
	t.Setenv(hang, "")
	status, _, again := uetsweep(sweep...)
	require.Zero(t, status, again)
	require.Len(t, seedsOf(t, out), 3)
}

// A terminal is told what is left.
func TestProgress(t *testing.T) {
	c := &campaign{all: 100, todo: make([]job, 60), fresh: 20}
	require.Equal(t, "60 of 100 jobs done, about 20s left", c.progress(10*time.Second))
	c.fresh, c.failed = 0, []error{errFailed}
	require.Equal(t, "40 of 100 jobs done, 1 failed", c.progress(time.Second))
}
