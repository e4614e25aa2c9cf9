// Package cli reads the command lines of the commands here in one way.
package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// ErrValue is wrapped by the error about a flag whose value is out of range.
var ErrValue = errors.New("value out of range")

// Parse parses the flags in args. A wrong one is an error of one line; for -h it writes usage
// and the flags to w, and returns [flag.ErrHelp].
func Parse(f *flag.FlagSet, args []string, usage string, w io.Writer) error {
	f.SetOutput(io.Discard)
	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		f.SetOutput(w)
		fmt.Fprintln(w, "usage:", usage)
		f.PrintDefaults()
	}
	return err
}
