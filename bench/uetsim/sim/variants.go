// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"
	"errors"
	"fmt"
	"sync"

	"github.com/uetcc/uetcc/bench/fabric"
)

// A variant is a run to be made.
type variant struct {
	name   string
	config fabric.Config
	files  []*output
	result *fabric.Result
	err    error
}

// newReport is a report of runs the command line has a say in.
func (o *options) newReport() *report { return &report{o: o} }

// add runs a variant and keeps the result.
func (r *report) add(name string, c fabric.Config) (*fabric.Result, error) {
	v := variant{name: name, config: c}
	if err := r.addAll([]*variant{&v}); err != nil {
		return nil, err
	}
	return v.result, nil
}

// results is addAll, and returns what came of each variant.
func (r *report) results(all ...*variant) (results []*fabric.Result, err error) {
	err = r.addAll(all)
	for _, v := range all {
		results = append(results, v.result)
	}
	return results, err
}

// addAll runs variants, side by side as far as there are workers, and keeps their results in
// the order of the variants.
func (r *report) addAll(all []*variant) error {
	for _, v := range all {
		v.files = r.o.watch(v.name, &v.config)
	}
	beside := max(min(r.o.workers, len(all)), 1)
	turn := make(chan *variant)
	var busy sync.WaitGroup
	for range beside {
		busy.Go(func() {
			for v := range turn {
				v.run(r.o.workers/beside, beside == 1)
			}
		})
	}
	for _, v := range all {
		turn <- v
	}
	close(turn)
	busy.Wait()
	return r.keep(all)
}

// run makes the run, unless a signal has ended an earlier run.
func (v *variant) run(workers int, alone bool) {
	c := &v.config
	stopped := func() bool { return c.Stop != nil && c.Stop() }
	if stopped() {
		return
	}
	c.Workers = workers
	if !alone {
		c.Progress = nil // several would write to one line
	}
	if v.result, v.err = fabric.Run(*c); v.err == nil {
		over(c, v.result)
	}
	for _, f := range v.files {
		f.end(stopped())
	}
}

// keep adds the results.
func (r *report) keep(all []*variant) error {
	var part *partError
	for _, v := range all {
		if v.err != nil {
			return v.err
		}
		if v.result == nil { // the signal came before the run
			part = cmp.Or(part, &partError{r, v.name, 0})
			continue
		}
		r.Runs = append(r.Runs, namedRun{v.name, v.result, recorderOf(&v.config)})
		if v.config.Stop != nil && v.config.Stop() {
			part = &partError{r, v.name, v.result.SimTime}
		}
	}
	if part != nil {
		return part
	}
	return nil
}

// A partError means runs ended by a signal: the part done, and the point of the end.
type partError struct {
	report *report
	run    string
	at     float64 // us
}

// Error says so.
func (e *partError) Error() string {
	return fmt.Sprintf("interrupted at %.1f us of run %q", e.at, e.run)
}

// watch has a run write the files asked for, and returns the files.
func (o *options) watch(run string, c *fabric.Config) (files []*output) {
	if o.pcap.path != "" {
		p := &capture{output: o.pcap.next(run), control: c.Control}
		c.Frame, c.Seen = p.frame, p.seen
		files = append(files, p.output)
	}
	if o.traces.path != "" {
		t := &trace{output: o.traces.next(run), filter: &o.traced}
		c.Context = t.event
		files = append(files, t.output)
	}
	if o.html != "" {
		watch(c, newRecorder(messages(c)))
	}
	if o.qlog.path != "" {
		q := newQlog(o.qlog.next(run))
		watch(c, q)
		files = append(files, q.output)
	}
	if o.perfetto.path != "" {
		p := newPerfetto(o.perfetto.next(run))
		watch(c, p)
		files = append(files, p.output)
	}
	return files
}

// tables writes the tables of all runs.
func (o *options) tables(r *report) (failed []string, err error) {
	for _, t := range []struct {
		to    *outputs
		write func(*output) error
	}{
		{&o.flows, func(f *output) error { return writeFlows(f.buffer, r.Runs) }},
		{&o.series, func(f *output) error { return writeSeries(f.buffer, r.Runs) }},
	} {
		if t.to.path == "" {
			continue
		}
		f := t.to.next("")
		if f.open(); f.err == nil {
			f.err = t.write(f)
		}
		f.end(r.Partial != "")
		parts, wrong := t.to.settle(nil)
		err = errors.Join(err, wrong)
		for _, path := range parts {
			failed = append(failed, "only a part: "+path)
		}
	}
	return failed, err
}
