package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/uetcc/uetcc/bench/fabric"
)

// run is the command without its process: it returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	failed, err := command(args, stdout, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "uetsim:", err)
		return 2
	}
	for _, why := range failed {
		fmt.Fprintln(stderr, "uetsim: FAILED:", why)
	}
	return min(len(failed), 1)
}

// command does what the command line says, and returns what failed in the simulation.
func command(args []string, stdout, stderr io.Writer) (failed []string, err error) {
	if len(args) > 0 && args[0] == "decode" {
		return nil, decode(args[1:], stdout, stderr)
	}
	o, err := parseOptions(args, stderr)
	if err != nil {
		return nil, err
	}
	if o.list {
		list(stdout)
		return nil, nil
	}
	o.progress = progressTo(stderr)
	r, err := o.execute()
	if err = errors.Join(err, o.capture.close(), o.trace.close()); err != nil {
		return nil, err
	}
	return r.failed(), o.write(stdout, r)
}

func (o *options) execute() (*report, error) {
	if o.matrix != "" {
		return o.runMatrix()
	}
	r, err := o.chosen.run(o)
	if err != nil {
		return nil, err
	}
	r.Name, r.About = o.chosen.name, o.chosen.about
	if o.changed() {
		r.Oracle = nil
	}
	return r, nil
}

// runMatrix runs a workload file once for each word of -cc.
func (o *options) runMatrix() (*report, error) {
	c, err := o.load()
	if err != nil {
		return nil, err
	}
	r := &report{Name: o.matrix, About: fmt.Sprintf("%d transfers between %d nodes", len(c.Matrix.Flows), c.Matrix.Nodes)}
	for _, cc := range strings.Split(o.cc, ",") {
		if _, err := r.add(cc, o.with(c, cc)); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (o *options) write(w io.Writer, r *report) error {
	if !o.json {
		return o.print(w, r)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

func list(w io.Writer) {
	for _, s := range scenarios {
		fmt.Fprintf(w, "%-10s %s\n", s.name, s.about)
	}
}

// progressTo reports on a terminal how far a long run has come; nowhere else.
func progressTo(stderr io.Writer) func(fabric.Progress) {
	f, ok := stderr.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	last := time.Now()
	return func(p fabric.Progress) {
		if now := time.Now(); now.Sub(last) > 500*time.Millisecond {
			last = now
			fmt.Fprintf(f, "\r%.1f ms simulated, %d of %d transfers done, %d M events \r", float64(p.Now)/1e9, p.Done, p.Transfers, p.Events/1e6)
		}
	}
}
