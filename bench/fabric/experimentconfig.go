// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"strconv"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/link"
)

// ErrUnsupported is wrapped by the errors about htsim's features absent here.
var ErrUnsupported = errors.New("fabric: not supported")

// Config is the meaning of e's parameters: a run of [NodeLight] by [RulesHTSim], with htsim's
// defaults. The files named by e are in files. Errors about a parameter are of type
// [*ParseError], and wrap [ErrUnsupported] if htsim knows the parameter.
func (e *Experiment) Config(files fs.FS) (Config, error) {
	x := expConfig{e: e, mbps: 100_000, senders: true}
	x.c.Rules, x.c.Seed, x.c.End = RulesHTSim, 13, 1000*link.Microsecond
	x.c.Entropy.Scheme = ccc.SchemeMixed
	if name := path.Base(e.Binary); name != "htsim_uec" {
		return Config{}, x.unsupported(e.Line, "the transport of the program %q", cmp.Or(e.Binary, "htsim_eqds"))
	}
	if err := x.params(); err != nil {
		return Config{}, err
	}
	err := x.load(files)
	return x.c, err
}

// expConfig is a configuration in the making.
type expConfig struct {
	e                  *Experiment
	c                  Config
	next               int // of e.Params
	line               int // of the option at hand
	mbps               float64
	topo               string
	senders, receivers bool       // whose congestion control is on
	window             *expWindow // of the senders; nil: NSCC
	nodes              int64
	queue              Queue
	cwnd               int64 // packets
}

func (x *expConfig) unsupported(line int, format string, a ...any) error {
	why := fmt.Sprintf(format, a...)
	return &ParseError{File: x.e.File, Line: line, Msg: "not supported: " + why, Err: ErrUnsupported}
}

func (x *expConfig) errorf(format string, a ...any) error {
	return &ParseError{File: x.e.File, Line: x.line, Msg: fmt.Sprintf(format, a...)}
}

// params takes the options in their order.
func (x *expConfig) params() error {
	for x.next < len(x.e.Params) {
		p := x.e.Params[x.next]
		x.next++
		x.line = p.Line
		option, ok := expOptions[p.Text]
		if !ok {
			return x.errorf("unknown parameter %q", p.Text)
		}
		if err := option(x, p.Text); err != nil {
			return err
		}
	}
	own := x.senders && x.window != nil
	switch nscc := x.senders && !own; {
	case nscc && x.receivers:
		x.c.Control = ccc.ControlBoth
	case x.receivers:
		x.c.Control = ccc.ControlRCCC
	case own:
		x.c.Control = ccc.ControlNone
	default:
		x.c.Control = ccc.ControlNSCC
	}
	if own {
		x.c.Algorithm = func(src, dst int) ccc.Algorithm {
			w := *x.window
			return &w
		}
	}
	if x.queue != (Queue{}) {
		x.c.Queue = &x.queue
	}
	x.c.Rate = int64(x.mbps * 1e6)
	x.c.PacketBytes = cmp.Or(x.c.PacketBytes, x.c.defaultPacket())
	if x.senders { // with receiver credits alone htsim starts from the same credit whatever -cwnd says
		x.c.InitialCwnd = x.cwnd * x.c.PacketBytes
	}
	return nil
}

// load reads the files, and compares them with the parameters.
func (x *expConfig) load(files fs.FS) (err error) {
	if x.c.Matrix, err = readFS(files, path.Clean(x.e.Matrix), ParseMatrix); err != nil {
		return err
	}
	if n := int64(x.c.Matrix.Nodes); x.nodes != 0 && x.nodes != n {
		return x.errorf("-nodes %d, the matrix has %d", x.nodes, n)
	}
	if x.topo == "" {
		return nil
	}
	if x.c.Topology, err = readFS(files, path.Clean(x.topo), ParseTopology); err != nil {
		return err
	}
	if rate := x.c.Topology.Tiers[0].DownRate; rate != x.c.Rate {
		return x.unsupported(x.e.Line, "hosts that send with %g Gb/s into links of %g", float64(x.c.Rate)/1e9, float64(rate)/1e9)
	}
	return nil
}

func (x *expConfig) word(option string) (string, error) {
	if x.next == len(x.e.Params) {
		return "", x.errorf("%s needs a value", option)
	}
	x.next++
	return x.e.Params[x.next-1].Text, nil
}

// number takes a number from least to most of unit.
func (x *expConfig) number(option string, least, most float64, unit string) (float64, error) {
	w, err := x.word(option)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseFloat(w, 64)
	if err != nil || !(n >= least && n <= most) {
		return 0, x.errorf("%s %q, want %g to %g %s", option, w, least, most, unit)
	}
	return n, nil
}

// An expOption takes the values of an option.
type expOption = func(x *expConfig, option string) error

// whole is an option with a whole number from least to most of unit.
func whole(least, most int64, unit string, set func(x *expConfig, n int64)) expOption {
	return func(x *expConfig, option string) error {
		n, err := x.number(option, float64(least), float64(most), unit)
		if err == nil && n != math.Trunc(n) {
			err = x.errorf("%s %g is not a whole number of %s", option, n, unit)
		}
		if err == nil {
			set(x, int64(n))
		}
		return err
	}
}

// span is an option with a time in microseconds.
func span(most float64, set func(x *expConfig, t link.Ps)) expOption {
	return func(x *expConfig, option string) error {
		n, err := x.number(option, 0, most, "us")
		if err == nil {
			set(x, link.Ps(math.Round(n*float64(link.Microsecond))))
		}
		return err
	}
}

// plain is an option without a value.
func plain(set func(x *expConfig)) expOption {
	return func(x *expConfig, _ string) error {
		set(x)
		return nil
	}
}

// choice is an option with one of some words; nil is a word not supported here.
func choice(words map[string]func(x *expConfig)) expOption {
	return func(x *expConfig, option string) error {
		w, err := x.word(option)
		if err != nil {
			return err
		}
		set, ok := words[w]
		switch {
		case !ok:
			return x.errorf("%s %q is no choice that htsim has", option, w)
		case set == nil:
			return x.unsupported(x.line, "%s %s", option, w)
		}
		set(x)
		return nil
	}
}

// lacking is an option the fabric does not have.
func lacking(x *expConfig, option string) error { return x.unsupported(x.line, "%s", option) }

// quiet is an option about htsim's output, with so many values.
func quiet(values int) expOption {
	return func(x *expConfig, option string) (err error) {
		for range values {
			if _, err = x.word(option); err != nil {
				return err
			}
		}
		return nil
	}
}
