// SPDX-License-Identifier: Apache-2.0

// Package cli reads the command lines of the commands here, and writes their files and words, in a uniform way.
package cli

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/uetcc/uetcc/internal/check"
)

// ErrValue is wrapped by the error about a flag whose value is out of range.
var ErrValue = errors.New("value out of range")

// Range returns nil if a flag's value is from least to most, and otherwise an error that wraps
// [ErrValue] and names the flag, the value, the range and the unit.
func Range[T cmp.Ordered](flag string, v, least, most T, unit string) error {
	if err := check.Range(ErrValue, flag, v, least, most); err != nil {
		return fmt.Errorf("%w %s", err, unit)
	}
	return nil
}

// Parse parses the flags in args. A wrong flag is an error of one line; -h writes usage and
// the flags to w, and returns [flag.ErrHelp].
func Parse(f *flag.FlagSet, args []string, usage string, w io.Writer) error {
	f.SetOutput(io.Discard)
	err := f.Parse(args)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, flag.ErrHelp):
		f.SetOutput(w)
		fmt.Fprintln(w, "usage:", usage)
		f.PrintDefaults()
		return err
	}
	return fmt.Errorf("%w; %s", err, wanted(f, err))
}

// wanted is the kind of value of the flag in err: package flag names the flag last, with "invalid
// value" before a second colon.
func wanted(f *flag.FlagSet, err error) string {
	_, name, ok := strings.Cut(err.Error(), "flag -")
	if !ok {
		_, name, ok = strings.Cut(err.Error(), "argument: -")
	}
	name, _, _ = strings.Cut(name, ":")
	g := f.Lookup(name)
	if !ok || g == nil {
		return "-h lists the flags"
	}
	kind, about := flag.UnquoteUsage(g)
	about, _, _ = strings.Cut(about, "\n")
	if kind == "duration" {
		kind += ", as in 5ms or 1.5s"
	}
	return strings.TrimRight(fmt.Sprintf("-%s %s: %s", name, kind, about), ": ")
}
