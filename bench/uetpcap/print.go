package uetpcap

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
)

// errCut: the headers are longer than what was captured of the packet.
var errCut = errors.New("uetpcap: the capture has only a part of the headers")

// ErrLinkType means that the capture is neither of Ethernet frames nor of IP packets.
var ErrLinkType = errors.New("uetpcap: capture of an unknown link type")

// Counts are the packets of a capture.
type Counts struct {
	All       int
	UET       int // printed
	Illegal   int // of these, with a value that the specification does not allow
	Malformed int // printed: UET by port or protocol, but it cannot be read
	Fragments int // see [frame.ErrFragment]; not printed, since all but first ones can be anybody's
}

// Print writes one line to w for each UET packet of the capture r, pcap or
// pcapng: the time since the first packet of the capture in seconds, the
// addresses, and the headers. Packets of other protocols are counted only. An
// unreadable packet gets a line that says why; one that can be read but is not
// legal, a last remark. The trailer of a packet that the capture has only a part of
// cannot be checked, and is not. A parser without CRC takes the last four bytes of a
// packet for one where they are, in either order: else each packet of a peer that writes
// CRCs would seem to have four bytes more, and each read request to bring data.
func Print(w io.Writer, r io.Reader, parser *frame.Parser) (Counts, error) {
	var (
		n     Counts
		first time.Time
		out   = bufio.NewWriter(w)
	)
	c, err := open(r, parser)
	if err != nil {
		return n, err
	}
	for {
		data, info, err := c.ReadPacketData()
		if errors.Is(err, io.EOF) {
			return n, out.Flush()
		}
		if err != nil {
			return n, fmt.Errorf("uetpcap: packet %d: %w", n.All+1, errors.Join(err, out.Flush()))
		}
		if n.All++; n.All == 1 {
			first = info.Timestamp
		}
		if line := n.line(&c, whole(data, info), len(data)); line != "" {
			fmt.Fprintf(out, "%.9f %s\n", info.Timestamp.Sub(first).Seconds(), line)
		}
	}
}

// line counts the packet data, of which the first captured bytes are real, and returns
// what to print, nothing if it is not UET.
func (n *Counts) line(c *capture, data []byte, captured int) string {
	var f frame.Frame
	err := c.read(data, captured, &f)
	if err == nil && f.Payload > captured {
		err = errCut
	}
	switch {
	case errors.Is(err, frame.ErrNotUET):
		return ""
	case errors.Is(err, frame.ErrFragment):
		n.Fragments++
		return ""
	case err != nil:
		n.Malformed++
		return "malformed: " + err.Error()
	}
	n.UET++
	if err := f.Validate(); err != nil {
		n.Illegal++
		return f.String() + " | illegal: " + err.Error()
	}
	return f.String()
}

// whole returns data with zeros in place of what was not captured: the headers
// tell how long the packet was.
func whole(data []byte, info gopacket.CaptureInfo) []byte {
	if missing := info.Length - len(data); missing > 0 && info.Length <= 1<<16 {
		return append(data, make([]byte, missing)...)
	}
	return data
}

// A capture is a source of packets and the parser of their link type.
type capture struct {
	gopacket.PacketDataSource
	parser *frame.Parser
	parse  func(ps *frame.Parser, b []byte, f *frame.Frame) error
}

// read parses data, of which the first captured bytes are real.
func (c *capture) read(data []byte, captured int, f *frame.Frame) error {
	ps := *c.parser
	if captured == len(data) {
		return c.readWhole(ps, data, f)
	}
	if !ps.CRC {
		return c.parse(&ps, data, f)
	}
	ps.CRC = false
	err := c.parse(&ps, data, f)
	if err == nil && f.Trimmed == 0 && f.Type != pds.TypeTSS {
		f.End = max(f.Payload, f.End-pds.CRCLen)
	}
	return err
}

// readWhole is read for a packet of which all was captured.
func (c *capture) readWhole(ps frame.Parser, data []byte, f *frame.Frame) error {
	if ps.CRC {
		return c.parse(&ps, data, f)
	}
	for _, little := range []bool{false, true} {
		ps.CRC, ps.LittleCRC = true, little
		if c.parse(&ps, data, f) == nil {
			return nil
		}
	}
	return c.parse(c.parser, data, f)
}

// open reads the head of the capture file r.
func open(r io.Reader, parser *frame.Parser) (capture, error) {
	b := bufio.NewReader(r)
	magic, err := b.Peek(4)
	if err != nil {
		return capture{}, fmt.Errorf("uetpcap: %w", err)
	}
	var (
		source gopacket.PacketDataSource
		link   layers.LinkType
	)
	if bytes.Equal(magic, []byte{0x0a, 0x0d, 0x0d, 0x0a}) {
		var ng *pcapgo.NgReader
		if ng, err = pcapgo.NewNgReader(b, pcapgo.DefaultNgReaderOptions); err == nil {
			source, link = ng, ng.LinkType()
		}
	} else {
		var old *pcapgo.Reader
		if old, err = pcapgo.NewReader(b); err == nil {
			source, link = old, old.LinkType()
		}
	}
	if err != nil {
		return capture{}, fmt.Errorf("uetpcap: %w", err)
	}
	switch link {
	case layers.LinkTypeEthernet:
		return capture{source, parser, (*frame.Parser).Ethernet}, nil
	case layers.LinkTypeRaw, layers.LinkTypeIPv4, layers.LinkTypeIPv6:
		return capture{source, parser, (*frame.Parser).IP}, nil
	default:
		return capture{}, fmt.Errorf("%w: %v", ErrLinkType, link)
	}
}
