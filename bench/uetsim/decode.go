package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/uetcc/uetcc/bench/internal/cli"
	"github.com/uetcc/uetcc/bench/uetpcap"
	"github.com/uetcc/uetcc/pds/frame"
)

// decode is the subcommand that prints the UET packets of capture files.
func decode(args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("uetsim decode", flag.ContinueOnError)
	if err := cli.Parse(f, args, "uetsim decode FILE.pcap ...", stderr); err != nil {
		return err
	}
	if f.NArg() == 0 {
		return errors.New("decode needs a capture file")
	}
	for _, path := range f.Args() {
		if err := decodeFile(path, stdout, stderr); err != nil {
			return err
		}
	}
	return nil
}

func decodeFile(path string, stdout, stderr io.Writer) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := uetpcap.Print(stdout, f, &frame.Parser{DSCPs: codePoints})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	fmt.Fprintf(stderr, "%s: %d packets, %d UET, %d of them illegal, %d malformed, %d fragments\n",
		path, n.All, n.UET, n.Illegal, n.Malformed, n.Fragments)
	return nil
}
