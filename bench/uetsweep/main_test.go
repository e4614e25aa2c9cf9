// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const workloads = "../fabric/testdata/"

// The test binary is also uetsweep, and a uetsim that makes its result out of its arguments.
const actAs = "UETSWEEP_TEST_ACT_AS"

// hang names a file that the uetsim of tests makes before it hangs, until its parent is gone.
const hang = "UETSWEEP_TEST_HANG"

func TestMain(m *testing.M) {
	switch as := os.Getenv(actAs); {
	case len(os.Args) > 1 && os.Args[1] == "-version":
		fmt.Println("uetsim of tests")
	case len(os.Args) > 1 && os.Args[len(os.Args)-1] == "-json":
		os.Exit(actUetsim(os.Args[1 : len(os.Args)-1]))
	case as == "uetsweep":
		main()
	default:
		status := m.Run()
		_ = os.RemoveAll(built)
		os.Exit(status)
	}
}

func actUetsim(args []string) int {
	if path := os.Getenv(hang); path != "" {
		parent := os.Getppid()
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			return 2
		}
		for os.Getppid() == parent {
			time.Sleep(10 * time.Millisecond)
		}
		return 3
	}
	value := map[string]string{}
	for _, arg := range args {
		flag, v := splitArg(arg)
		value[flag] = v
	}
	switch value["cc"] {
	case "refused":
		fmt.Fprintln(os.Stderr, "uetsim: -cc \"refused\", want another")
		return 2
	case "dead":
		return 3
	}
	b, err := os.ReadFile(value["matrix"])
	if err != nil {
		fmt.Fprintln(os.Stderr, "uetsim:", err)
		return 2
	}
	fmt.Printf(`{"runs":[{"name":"x","result":{"seed":%s,"matrix_bytes":%d,"transfers":[1,2,3]}}]}`, value["seed"], len(b))
	return 0
}

// uetsweep runs the command and returns its status and both outputs.
func uetsweep(args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = run(context.Background(), args, &out, &errs)
	return status, out.String(), errs.String()
}

// self is the test binary.
func self(t *testing.T) string {
	path, err := os.Executable()
	require.NoError(t, err)
	return path
}

// built is the folder of what uetsim builds.
var built string

// uetsim builds the real one, once.
var uetsim = sync.OnceValues(func() (path string, err error) {
	if built, err = os.MkdirTemp("", "uetsim"); err != nil {
		return "", err
	}
	p, err := findProgram(context.Background(), "", built, 1)
	if err != nil {
		return "", err
	}
	return p.path, nil
})

// seedsOf are the seeds in a folder's results, in order of arrival.
func seedsOf(t *testing.T, dir string) (seeds []string) {
	_, err := readResults(filepath.Join(dir, resultsFile), func(r *result) {
		for _, arg := range r.Args {
			if flag, v := splitArg(arg); flag == "seed" {
				seeds = append(seeds, v)
			}
		}
	})
	require.NoError(t, err)
	return seeds
}

// process starts uetsweep as a process of its own. It ends with the test at the latest.
func process(t *testing.T, env string, args ...string) *exec.Cmd {
	c := exec.Command(self(t), args...)
	c.Env = append(os.Environ(), actAs+"=uetsweep", env)
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		if t.Failed() {
			t.Logf("%s\n%s", strings.Join(args, " "), said.String())
		}
	})
	return c
}

// until waits for something that comes in milliseconds, and for a minute on a machine that is busy.
func until(t *testing.T, what string, ok func() bool) {
	for range 6000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	require.Fail(t, "it never came", what)
}
