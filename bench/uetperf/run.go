// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/uetcc/uetcc/bench/internal/cli"
)

func run(args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	code := 0
	if err == nil && o.version {
		fmt.Fprintln(stdout, "uetperf", cli.Version())
		return 0
	}
	if err == nil {
		code, err = o.run(stdout)
	}
	if err != nil {
		fmt.Fprintf(stderr, "uetperf: %v\n", err)
		return 2
	}
	if s := o.signal.Load(); s != nil && o.listen == "" {
		fmt.Fprintf(stderr, "uetperf: ended by signal %v: the figures are of what was done until then\n", s)
	}
	return code
}

// run runs the mode chosen by flags, until the end or a signal, and prints the results.
func (o *options) run(stdout io.Writer) (code int, err error) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	stop, over := make(chan struct{}), make(chan struct{})
	defer close(over)
	go func() {
		select {
		case s := <-signals:
			o.signal.Store(s)
			signal.Stop(signals) // the next one ends the process
			close(stop)
		case <-over:
		}
	}()
	if o.pcap != "" {
		if o.capture, err = newCapture(o.pcap); err != nil {
			return 0, err
		}
		defer func() { err = o.capture.end(err) }()
	}
	r := &report{out: stdout, json: o.json, proto: o.proto}
	switch {
	case o.isSelf():
		return o.reportSelf(r, stop)
	case o.compare != "":
		err = o.runCompare(r)
	case o.listen != "":
		err = o.serve(r, o.until(stop))
	default:
		err = o.drive(r, stop)
	}
	code = r.end()
	if o.html != "" && err == nil {
		err = r.page(o).WriteFile(o.html)
	}
	return code, err
}

// until closes the channel with stop, or when -seconds are over.
func (o *options) until(stop <-chan struct{}) <-chan struct{} {
	if o.seconds == 0 {
		return stop
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-stop:
		case <-time.After(time.Duration(o.seconds * 1e9)):
		}
	}()
	return over
}
