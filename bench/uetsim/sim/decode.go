package sim

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/uetcc/uetcc/bench/internal/cli"
	"github.com/uetcc/uetcc/bench/uetpcap"
	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
)

// decode is the subcommand printing the UET packets of capture files.
func decode(args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("uetsim decode", flag.ContinueOnError)
	var ps frame.Parser
	f.BoolVar(&ps.CRC, "crc", false, "packets end in a CRC-32C, and one that is wrong is malformed; else a CRC is taken for one where it is right")
	f.BoolVar(&ps.LittleCRC, "little-crc", false, "with -crc: least significant byte first")
	lines := f.Bool("json", false, "write a line of JSON for each packet")
	port := f.Uint("port", pds.UDPPort, "UDP destination port")
	protocol := f.Uint("protocol", pds.IPProtocol, "IP protocol of UET without UDP")
	if err := cli.Parse(f, args, "uetsim decode [flags] FILE.pcap ..., - for standard input", stderr); err != nil {
		return err
	}
	err := cmp.Or(check.Range(cli.ErrValue, "-port", *port, 1, 65535), check.Range(cli.ErrValue, "-protocol", *protocol, 1, 255))
	if err != nil {
		return err
	}
	ps.Port, ps.Protocol, ps.DSCPs = uint16(*port), uint8(*protocol), codePoints
	if f.NArg() == 0 {
		return errors.New("decode needs a capture file, or - for standard input")
	}
	show := uetpcap.Print
	if *lines {
		show = uetpcap.PrintJSON
	}
	for _, path := range f.Args() {
		if err := decodeFile(path, &ps, show, stdout, stderr); err != nil {
			return err
		}
	}
	return nil
}

// A capturePrinter is uetpcap.Print or a similar function.
type capturePrinter func(io.Writer, io.Reader, *frame.Parser) (uetpcap.Counts, error)

func decodeFile(path string, ps *frame.Parser, show capturePrinter, stdout, stderr io.Writer) error {
	f := os.Stdin
	if path == "-" {
		path = "standard input"
	} else {
		var err error
		if f, err = os.Open(path); err != nil {
			return err
		}
		defer f.Close()
	}
	n, err := show(stdout, f, ps)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	fmt.Fprintf(stderr, "%s: %d packets, %d UET, %d of them illegal, %d malformed, %d fragments\n",
		path, n.All, n.UET, n.Illegal, n.Malformed, n.Fragments)
	return nil
}
