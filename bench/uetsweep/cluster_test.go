// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// freePort is an address of this machine that nobody listens at.
func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// Three workers; the sweep and one of the workers die by kill -9. Every result is there once.
func TestKilledSweepAndWorker(t *testing.T) {
	const jobs = 60
	dir, addr := t.TempDir(), freePort(t)
	out, held := filepath.Join(dir, "runs"), filepath.Join(dir, "held")
	host := []string{"run", "-out", out, "-uetsim", self(t), "-serve", addr, "-jobs", "0", "-lease", "500ms",
		"-matrix", workloads + "one.cm", "-seed", fmt.Sprintf("1..%d", jobs)}
	worker := []string{"worker", "-join", addr, "-uetsim", self(t), "-jobs", "1", "-wait", "30s"}

	first := process(t, "", host...)
	hung := process(t, hang+"="+held, worker...)
	until(t, "a worker has a job and keeps it", func() bool { _, err := os.Stat(held); return err == nil })
	others := []func() error{process(t, "", worker...).Wait, process(t, "", worker...).Wait}
	results := func() int { return len(seedsOf(t, out)) }
	until(t, "results", func() bool { return results() >= 10 })
	require.NoError(t, first.Process.Kill()) // SIGKILL
	_ = first.Wait()

	second := process(t, "", host...)
	until(t, "all results but that of the worker that hangs", func() bool { return results() >= jobs-1 })
	require.NoError(t, hung.Process.Kill())
	_ = hung.Wait()
	require.NoError(t, second.Wait())
	for _, ended := range others {
		require.NoError(t, ended(), "the others go when the sweep is over")
	}
	seeds := seedsOf(t, out)
	require.Len(t, seeds, jobs)
	slices.Sort(seeds)
	require.Len(t, slices.Compact(seeds), jobs)
	require.NoDirExists(t, filepath.Join(out, "queue"))
}
