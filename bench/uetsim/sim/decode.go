// SPDX-License-Identifier: Apache-2.0

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
	sum := f.Bool("sum", false, "write a line for what each side of each PDC has sent, in place of one for each packet")
	filter := f.String("filter", "", "only packets with these fields of -json, such as `type=RUD_REQ,psn=5..9,host=10.0.0.1,illegal`")
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
	switch {
	case *sum:
		show = func(w io.Writer, r io.Reader, ps *frame.Parser, keep ...uetpcap.Filter) (uetpcap.Counts, error) {
			return uetpcap.Sum(w, r, ps, *lines, keep...)
		}
	case *lines:
		show = uetpcap.PrintJSON
	}
	var keep []uetpcap.Filter
	if *filter != "" {
		k, err := uetpcap.ParseFilter(*filter)
		if err != nil {
			return fmt.Errorf("-filter: %w", err)
		}
		keep = append(keep, k)
	}
	for _, path := range f.Args() {
		if err := decodeFile(path, &ps, show, keep, stdout, stderr); err != nil {
			return err
		}
	}
	return nil
}

// A capturePrinter is uetpcap.Print or a similar function.
type capturePrinter func(io.Writer, io.Reader, *frame.Parser, ...uetpcap.Filter) (uetpcap.Counts, error)

func decodeFile(path string, ps *frame.Parser, show capturePrinter, keep []uetpcap.Filter, stdout, stderr io.Writer) error {
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
	n, err := show(stdout, f, ps, keep...)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	chosen := ""
	if len(keep) > 0 {
		chosen = fmt.Sprintf(", %d chosen", n.UET+n.Malformed-n.Hidden)
	}
	fmt.Fprintf(stderr, "%s: %d packets, %d UET, %d of them illegal, %d malformed, %d fragments%s\n",
		path, n.All, n.UET, n.Illegal, n.Malformed, n.Fragments, chosen)
	return nil
}
