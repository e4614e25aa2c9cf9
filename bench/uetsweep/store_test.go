// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func testResult(seed int) *result {
	return &result{job: newJob("v", []string{fmt.Sprint("-seed=", seed)}, nil)}
}

// Whatever a process leaves of its last line when it dies, the next one goes on behind whole lines.
func TestStoreCutsWhatIsLeft(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, resultsFile)
	s, err := openStore(dir)
	require.NoError(t, err)
	s.add(testResult(1), func(err error) { require.NoError(t, err) })
	s.flush()
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	s.add(testResult(2), func(err error) { require.NoError(t, err) })
	require.NoError(t, s.close())
	both, err := os.ReadFile(file)
	require.NoError(t, err)
	for cut := len(whole); cut <= len(both); cut++ {
		require.NoError(t, os.WriteFile(file, both[:cut], 0o600))
		s, err := openStore(dir)
		require.NoError(t, err)
		require.True(t, s.has(testResult(1).Key))
		require.Equal(t, cut == len(both), s.has(testResult(2).Key))
		s.add(testResult(2), func(err error) { require.NoError(t, err) })
		require.NoError(t, s.close())
		again, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(both), string(again))
	}
}

// A line in the middle that is no result is an error: nobody cuts off what comes behind.
func TestStoreRefusesOtherFiles(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, resultsFile), []byte("{}\nhello\n{}\n"), 0o600))
	_, err := openStore(dir)
	require.ErrorContains(t, err, "results.jsonl:2: ")
	_, err = openStore(filepath.Join(dir, resultsFile))
	require.Error(t, err)
}

// One process at a time, each result once, from any number of goroutines.
func TestStoreKeepsEachOnce(t *testing.T) {
	dir := t.TempDir()
	s, err := openStore(dir)
	require.NoError(t, err)
	_, err = openStore(dir)
	require.ErrorContains(t, err, "another sweep is writing to it")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for seed := range 25 {
				s.add(testResult(seed), func(err error) { require.NoError(t, err) })
			}
		})
	}
	all.Wait()
	require.NoError(t, s.close())
	require.Len(t, seedsOf(t, dir), 25)
}

func FuzzReadResults(f *testing.F) {
	f.Add([]byte("{}\n{\"key\":\"a\"}\n{\"ke"))
	f.Add([]byte("\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		file := filepath.Join(t.TempDir(), "f")
		require.NoError(t, os.WriteFile(file, b, 0o600))
		n := 0
		whole, err := readResults(file, func(*result) { n++ })
		require.LessOrEqual(t, whole, int64(len(b)))
		if err == nil && n > 0 {
			require.Equal(t, byte('\n'), b[whole-1])
		}
	})
}
