// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/uetcc/uetcc/bench/internal/cli"
)

// runOptions are the command line of uetsweep run.
type runOptions struct {
	out      string
	uetsim   string
	parallel int
	serve    string
	lease    time.Duration
	door     door
	axes     []axis
}

func parseRun(args []string, stderr io.Writer) (*runOptions, error) {
	o := &runOptions{}
	f := flag.NewFlagSet("run", flag.ContinueOnError)
	f.StringVar(&o.out, "out", "", "folder of the results, made if there is none; what it has is not done again")
	f.StringVar(&o.uetsim, "uetsim", "", "the uetsim that runs the jobs; default: beside uetsweep, or built from this checkout")
	f.IntVar(&o.parallel, "jobs", runtime.NumCPU(), "jobs at a time on this machine; 0, with -serve: all are left to workers")
	f.StringVar(&o.serve, "serve", "", "have workers of other machines join at this `ADDR`, host:port")
	f.DurationVar(&o.lease, "lease", 30*time.Second, "with -serve: a worker that is silent for so long loses its job to another")
	o.door.serverFlags(f)
	axes := addAxes(f)
	if err := cli.Parse(f, args, "uetsweep run -out DIR -FLAG LIST ...; a LIST is a,b,c or 1..100", stderr); err != nil {
		return nil, err
	}
	o.axes = *axes
	return o, o.check(f)
}

func (o *runOptions) check(f *flag.FlagSet) error {
	least := 1
	if o.serve != "" {
		least = 0
	}
	switch {
	case f.NArg() > 0:
		return fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.out == "":
		return errors.New("-out is missing: the folder of the results")
	case len(o.axes) == 0:
		return errors.New("nothing to sweep: want flags of uetsim, such as -matrix FILE.cm -cc nscc,rccc -seed 1..100")
	}
	return cmp.Or(
		cli.Range("-jobs", o.parallel, least, 4096, "jobs at a time"),
		cli.Range("-lease", o.lease, 100*time.Millisecond, time.Hour, "of silence"),
		o.door.checkServer(o.serve),
	)
}

// A campaign is the sweep at hand: the jobs to be done, and the outcome.
type campaign struct {
	*store
	program *program
	files   inputs
	todo    []job
	all     int // jobs, done before or not
	began   time.Time
	stop    context.CancelCauseFunc // ends it, with an error

	mu     sync.Mutex
	fresh  int
	failed []error
}

// sweep is the command run.
func sweep(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	o, err := parseRun(args, stderr)
	if err != nil {
		return err
	}
	s, err := openStore(o.out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	p, err := findProgram(ctx, o.uetsim, o.out, o.parallel)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	c := &campaign{store: s, program: p, began: time.Now(), stop: stop}
	if err := c.plan(o.axes); err != nil {
		return err
	}
	end := c.progressTo(stderr)
	if o.serve != "" {
		err = c.serve(ctx, o, stderr)
	} else {
		err = c.runHere(ctx, o.parallel)
	}
	end()
	return c.sum(ctx, err, stdout)
}

// plan finds out the jobs to be done.
func (c *campaign) plan(axes []axis) error {
	all, files, err := jobs(c.program.version, axes)
	if err != nil {
		return err
	}
	for _, j := range all {
		if !c.has(j.Key) {
			c.todo = append(c.todo, j)
		}
	}
	c.all, c.files = len(all), files
	return nil
}

// runHere does all jobs on the local machine, so many at a time.
func (c *campaign) runHere(ctx context.Context, parallel int) error {
	queue := make(chan job)
	var workers sync.WaitGroup
	for range parallel {
		workers.Go(func() {
			for j := range queue {
				if ctx.Err() != nil {
					continue
				}
				r, err := c.program.run(ctx, j, j.Args)
				c.ended(r, err, func(error) {})
			}
		})
	}
	for _, j := range c.todo {
		queue <- j
	}
	close(queue)
	workers.Wait()
	return nil
}

// ended takes the result of a job, or the error in its place. saved is called when the result is on
// the disk.
func (c *campaign) ended(r *result, err error, saved func(error)) {
	if err != nil {
		c.fail(err)
		saved(nil)
		return
	}
	c.add(r, func(err error) {
		if err != nil {
			c.stop(err)
		} else {
			c.mu.Lock()
			c.fresh++
			c.mu.Unlock()
		}
		saved(err)
	})
}

// fail notes a job with no result. A job refused by uetsim ends the sweep: further jobs would fail
// alike.
func (c *campaign) fail(err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = append(c.failed, err)
	if errors.Is(err, errRefused) {
		c.stop(err)
	}
}

// sum prints the work done, and returns the reason for missing jobs.
func (c *campaign) sum(ctx context.Context, err error, stdout io.Writer) error {
	if err != nil {
		return err
	}
	c.flush()
	c.mu.Lock()
	defer c.mu.Unlock()
	before, took := c.all-len(c.todo), time.Since(c.began)
	fmt.Fprintf(stdout, "%d jobs: %d were done before, %d done now in %s, %d failed: %s\n", c.all, before, c.fresh,
		took.Round(time.Millisecond), len(c.failed), c.path())
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errRefused):
		return cause
	case cause != nil:
		return fmt.Errorf("%w: %w; the same command does the rest", errFailed, cause)
	case len(c.failed) > 0:
		return fmt.Errorf("%w: %w", errFailed, c.failed[0])
	}
	return nil
}
