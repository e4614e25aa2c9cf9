// SPDX-License-Identifier: Apache-2.0

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

// errCut: the headers are longer than the captured part of the packet.
var errCut = errors.New("uetpcap: the capture has only a part of the headers")

// ErrCapture is wrapped by the errors about an empty, incomplete or foreign file.
var ErrCapture = errors.New("uetpcap: not a whole capture file")

// ErrLinkType means a capture neither of Ethernet frames nor of IP packets, nor in Linux's
// format for all interfaces at once.
var ErrLinkType = errors.New("uetpcap: capture of an unknown link type")

// Counts are the packets of a capture.
type Counts struct {
	All       int
	UET       int // printed, unless a filter refuses them
	Illegal   int // of these, with a value that the specification does not allow
	Malformed int // printed: UET by port or protocol, but it cannot be read
	Hidden    int // of UET and Malformed, those that a filter refuses
	Fragments int // see [frame.ErrFragment]; not printed, since all but first ones can be anybody's
}

// Print writes a line to w for each UET packet of the capture r, pcap or
// pcapng: the time since the first packet of the capture in seconds, the
// addresses, and the headers. Packets of other protocols are counted only. An
// unreadable packet gets a line with the reason; a readable but illegal packet, a last
// remark. The trailer of a packet captured in part is not checked. A parser without CRC
// takes the last four bytes of a packet for a CRC where equal to the CRC, in either order:
// else each packet of a peer writing CRCs would seem to have four bytes more, and each read
// request to bring data. Packets that not all of keep take are left out.
func Print(w io.Writer, r io.Reader, parser *frame.Parser, keep ...Filter) (Counts, error) {
	return each(w, r, parser, keep, func(out *bufio.Writer, p *Packet) error {
		_, err := fmt.Fprintf(out, "%.9f %s\n", p.Time, p.text)
		return err
	})
}

// each calls show for each packet to be printed. The output is flushed when no more input
// has come yet, so each may follow a growing capture.
func each(w io.Writer, r io.Reader, parser *frame.Parser, keep []Filter, show func(*bufio.Writer, *Packet) error) (Counts, error) {
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
		if c.in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return n, err
			}
		}
		data, info, err := c.ReadPacketData()
		switch {
		case err == io.EOF && info.CaptureLength == 0:
			return n, out.Flush()
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return n, errors.Join(fmt.Errorf("%w: it ends within packet %d", ErrCapture, n.All+1), out.Flush())
		case err != nil:
			return n, errors.Join(fmt.Errorf("%w: packet %d: %w", ErrCapture, n.All+1, err), out.Flush())
		}
		if n.All++; n.All == 1 {
			first = info.Timestamp
		}
		data = c.cooked.ethernet(data, &info)
		p := Packet{Number: n.All, Time: info.Timestamp.Sub(first).Seconds()}
		if n.line(&c, whole(data, info), len(data), &p); p.text == "" {
			continue
		}
		if !takes(keep, &p) {
			n.Hidden++
			continue
		}
		if err := show(out, &p); err != nil {
			return n, err
		}
	}
}

// line counts the packet data, of which the first captured bytes are real, and describes the
// packet in p; without a text for packets of other protocols.
func (n *Counts) line(c *capture, data []byte, captured int, p *Packet) {
	var f frame.Frame
	err := c.read(data, captured, &f)
	if err == nil && f.Payload > captured {
		err = errCut
	}
	switch {
	case errors.Is(err, frame.ErrNotUET):
		return
	case errors.Is(err, frame.ErrFragment):
		n.Fragments++
		return
	case err != nil:
		n.Malformed++
		p.Malformed = err.Error()
		p.text = "malformed: " + p.Malformed
		return
	}
	n.UET++
	p.describe(&f)
	if err := f.Validate(); err != nil {
		n.Illegal++
		p.Illegal = err.Error()
		p.text += " | illegal: " + p.Illegal
	}
}

// whole returns data with zeros in place of the bytes not captured: the headers tell the
// packet's length.
func whole(data []byte, info gopacket.CaptureInfo) []byte {
	if missing := info.Length - len(data); missing > 0 && info.Length <= 1<<16 {
		return append(data, make([]byte, missing)...)
	}
	return data
}

// A capture is a source of packets and the parser of their link type.
type capture struct {
	gopacket.PacketDataSource
	in     *bufio.Reader
	cooked cooked
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

// readWhole is read for a packet captured whole.
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
	switch {
	case err == io.EOF && len(magic) == 0:
		return capture{}, fmt.Errorf("%w: it is empty", ErrCapture)
	case err == io.EOF:
		return capture{}, fmt.Errorf("%w: it ends after %d bytes, within its head", ErrCapture, len(magic))
	case err != nil:
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
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return capture{}, fmt.Errorf("%w: it ends within its head", ErrCapture)
	}
	if err != nil {
		return capture{}, fmt.Errorf("%w: %w", ErrCapture, err)
	}
	switch link {
	case layers.LinkTypeEthernet:
		return capture{source, b, notCooked, parser, (*frame.Parser).Ethernet}, nil
	case layers.LinkTypeLinuxSLL:
		return capture{source, b, cookedV1, parser, (*frame.Parser).Ethernet}, nil
	case layers.LinkTypeLinuxSLL2:
		return capture{source, b, cookedV2, parser, (*frame.Parser).Ethernet}, nil
	case layers.LinkTypeRaw, layers.LinkTypeIPv4, layers.LinkTypeIPv6:
		return capture{source, b, notCooked, parser, (*frame.Parser).IP}, nil
	default:
		return capture{}, fmt.Errorf("%w: %v", ErrLinkType, link)
	}
}
