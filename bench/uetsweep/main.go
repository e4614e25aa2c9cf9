// SPDX-License-Identifier: Apache-2.0

// Command uetsweep runs uetsim many times, on a machine or on many, and compares the results.
//
//	go run ./bench/uetsweep run -matrix FILE.cm -cc nscc,rccc -seed 1..100 -speed 100,400 -out runs/
//	go run ./bench/uetsweep compare -by cc runs/
//
// Each flag of uetsim given is an axis of the sweep, with a list as the value; 1..100 are whole
// numbers, and the values of -fail and -tune have semicolons between. Every combination is a job: a uetsim, on one core. The job's line in runs/results.jsonl
// has everything needed for a repetition: version, arguments, SHA-256 of the input files. The same
// command again does the missing jobs, if any; only whole lines count, and are on the disk before a
// job counts as done, so kill -9 costs no more than the running jobs.
//
//	uetsweep run ... -serve :4222 -token-file FILE
//	uetsweep worker -join HOST:4222 -token-file FILE
//
// With -serve other machines may join: any number may ask the first machine for jobs, at any time,
// and may vanish. A job is taken from a worker silent for as long as -lease, and given to the next.
// Workers get the input files with the jobs and need a uetsim of the same version, beside uetsweep or
// named with -uetsim; a checkout builds uetsim first. Folder launch has scripts to start workers on
// Slurm and Kubernetes.
//
// Of 10,000 jobs each took 1 ms of CPU more than uetsim alone, and 3 ms with -serve.
//
// The exit status is 1 if a job failed or a signal came before the end, and 2 if uetsweep could not
// run at all. Complaints of a job's uetsim about the result, such as unfinished transfers, are in the
// job's line.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/uetcc/uetcc/bench/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // another signal ends the process
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// errFailed is wrapped by errors about jobs, in place of the command as a whole.
var errFailed = errors.New("not all jobs are done")

var commands = map[string]func(ctx context.Context, args []string, stdout, stderr io.Writer) error{
	"run": sweep, "worker": join, "compare": compare,
	"version": func(_ context.Context, _ []string, stdout, _ io.Writer) error {
		_, err := fmt.Fprintln(stdout, "uetsweep", cli.Version())
		return err
	},
}

// run is the command without the process: the result is the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		args = []string{"nothing"}
	}
	if args[0] == "-version" || args[0] == "--version" {
		args = []string{"version"}
	}
	command, ok := commands[args[0]]
	if !ok {
		if args[0] != "nothing" && !strings.HasPrefix(args[0], "-h") && args[0] != "help" {
			fmt.Fprintf(stderr, "uetsweep: no command %q; ", args[0])
		}
		fmt.Fprintln(stderr, "usage: uetsweep run|worker|compare|version [flags]; -h of each tells its flags")
		if args[0] == "-h" || args[0] == "help" {
			return 0
		}
		return 2
	}
	err := command(ctx, args[1:], stdout, stderr)
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errFailed):
		fmt.Fprintln(stderr, "uetsweep:", err)
		return 1
	}
	fmt.Fprintln(stderr, "uetsweep:", err)
	return 2
}
