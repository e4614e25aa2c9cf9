// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/bench/internal/cli"
	"github.com/uetcc/uetcc/internal/enum"
)

// validate is the subcommand running the experiments of htsim's validation files. The result
// is the failures.
func validate(args []string, stdout, stderr io.Writer) (failed []string, err error) {
	f := flag.NewFlagSet("uetsim validate", flag.ContinueOnError)
	var v validation
	f.IntVar(&v.workers, "workers", runtime.GOMAXPROCS(0), "experiments that run side by side")
	f.BoolVar(&v.json, "json", false, "write JSON")
	f.BoolVar(&v.dry, "n", false, "read all files and run nothing")
	only := f.String("run", "", "run only experiments whose name matches this regular expression")
	outside := f.String("outside", "", "CSV with the results of htsim itself (columns file, experiment, matrix, params, tail_htsim_us), to compare with")
	if err := cli.Parse(f, args, "uetsim validate [flags] FILE ...", stderr); err != nil {
		return nil, err
	}
	if err := cli.Range("-workers", v.workers, 1, 1<<10, "experiments"); err != nil {
		return nil, err
	}
	if f.NArg() == 0 {
		return nil, errors.New("validate needs a file of experiments")
	}
	if v.only, err = regexp.Compile(*only); err != nil {
		return nil, fmt.Errorf("-run: %w", err)
	}
	if *outside != "" {
		if v.outside, err = readOutside(*outside); err != nil {
			return nil, err
		}
	}
	for _, path := range f.Args() {
		if err := v.read(path); err != nil {
			return nil, err
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // another signal ends the process
	return v.run(ctx, stdout)
}

// A validation is the work of a call of the subcommand.
type validation struct {
	workers   int
	json, dry bool
	only      *regexp.Regexp
	outside   map[string]float64 // tails of htsim itself, us, by outsideKey
	jobs      []job
}

// A job is an experiment and the folder of the experiment's files.
type job struct {
	fabric.Experiment
	folder string
}

func (v *validation) read(path string) error {
	list, err := fabric.ReadExperiments(path)
	if err != nil {
		return err
	}
	for _, e := range list {
		if v.only.MatchString(e.Name) {
			v.jobs = append(v.jobs, job{e, filepath.Dir(path)})
		}
	}
	return nil
}

// verdict is the outcome of an experiment.
type verdict uint8

const (
	verdictMet         verdict = iota
	verdictMissed              // a transfer is late, or not finished
	verdictUnsupported         // the fabric does not have what it asks for
	verdictError               // it says something that is wrong
	verdictSkipped             // by -n or a signal
)

var verdictNames = [...]string{"met", "missed", "not supported", "error", "skipped"}

func (v verdict) String() string { return enum.Name(verdictNames[:], v) }

// interrupted is why a signal has skipped an experiment.
const interrupted = "interrupted"

// MarshalText is String.
func (v verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// An outcome is the line of an experiment.
type outcome struct {
	File     string  `json:"file"`
	Line     int     `json:"line"`
	Name     string  `json:"experiment"`
	Matrix   string  `json:"matrix"`
	Params   string  `json:"params"`
	Verdict  verdict `json:"verdict"`
	Target   float64 `json:"target_us,omitempty"`       // bar for the last transfer
	Tail     float64 `json:"tail_us,omitempty"`         // when it was finished
	Outside  float64 `json:"outside_tail_us,omitempty"` // the same in htsim, where -outside has it
	Finished int     `json:"finished"`
	Flows    int     `json:"transfers"`
	Why      string  `json:"why,omitempty"` // what was missed, or why it did not run
}

// run runs the experiments, some side by side, and prints each as soon as all before are done.
func (v *validation) run(ctx context.Context, w io.Writer) (failed []string, err error) {
	results := make([]chan outcome, len(v.jobs))
	for i := range results {
		results[i] = make(chan outcome, 1)
	}
	var next sync.Mutex
	taken := 0
	for range min(v.workers, len(v.jobs)) {
		go func() {
			for {
				next.Lock()
				i := taken
				taken++
				next.Unlock()
				if i >= len(v.jobs) {
					return
				}
				results[i] <- v.one(ctx, &v.jobs[i])
			}
		}()
	}
	sum := summary{Outcomes: []outcome{}}
	p := &printer{w: w}
	for i := range results {
		o := <-results[i]
		sum.add(o)
		if !v.json {
			p.outcome(&o)
		}
	}
	if v.json {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return sum.failed(), e.Encode(&sum)
	}
	p.summary(&sum)
	return sum.failed(), p.err
}

// one runs an experiment.
func (v *validation) one(ctx context.Context, j *job) outcome {
	o := outcome{File: j.File, Line: j.Line, Name: j.Name, Matrix: filepath.Base(j.Matrix), Params: params(&j.Experiment), Target: inMicroseconds(j.Tail)}
	o.Outside = v.outside[outsideKey(o.File, o.Name, o.Matrix, o.Params)]
	c, err := j.Config(os.DirFS(j.folder))
	if err == nil {
		if o.Flows = len(c.Matrix.Flows); v.dry {
			o.Verdict = verdictSkipped
			return o
		}
		if ctx.Err() != nil {
			o.Verdict, o.Why = verdictSkipped, interrupted
			return o
		}
		c.Stop = func() bool { return ctx.Err() != nil }
		var r *fabric.Result
		if r, err = fabric.Run(c); err == nil {
			o.judge(&j.Experiment, &c, r)
			if ctx.Err() != nil && o.Verdict == verdictMissed {
				o.Verdict, o.Why = verdictSkipped, interrupted
			}
			return o
		}
		err = fmt.Errorf("%s:%d: %w", j.File, j.Line, err)
	}
	o.Verdict, o.Why = verdictError, err.Error()
	if errors.Is(err, fabric.ErrUnsupported) {
		o.Verdict = verdictUnsupported
	}
	return o
}

// judge compares a result with the bars.
func (o *outcome) judge(e *fabric.Experiment, c *fabric.Config, r *fabric.Result) {
	var why []string
	missed := func(format string, a ...any) { why = append(why, fmt.Sprintf(format, a...)) }
	byName := map[string]float64{}
	for _, t := range r.Transfers {
		if t.Finished >= 0 {
			o.Finished++
			o.Tail = max(o.Tail, t.Finished)
			byName[fmt.Sprintf("Uec_%d_%d", t.Src, t.Dst)] = t.Finished
		}
	}
	if r.Unfinished > 0 {
		missed("%d of %d transfers finished by %g us", o.Finished, o.Flows, inMicroseconds(c.End))
	}
	if o.Target > 0 && o.Tail > o.Target {
		missed("the last transfer %.1f %% late", 100*(o.Tail/o.Target-1))
	}
	for _, bar := range e.Flows {
		switch at, ok := byName[bar.Name]; {
		case !ok:
			missed("no transfer %s finished", bar.Name)
		case at > inMicroseconds(bar.Tail):
			missed("%s at %.1f us, want %g", bar.Name, at, inMicroseconds(bar.Tail))
		}
	}
	for _, bad := range r.Violations {
		missed("%s", bad)
	}
	if o.Why = strings.Join(why, "; "); o.Why != "" {
		o.Verdict = verdictMissed
	}
}

func params(e *fabric.Experiment) string {
	var words []string
	for _, p := range e.Params {
		words = append(words, p.Text)
	}
	return strings.Join(words, " ")
}
