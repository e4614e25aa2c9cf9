// Package uetpcap writes UET packets to capture files that Wireshark opens, and
// prints captured ones.
package uetpcap

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/uetcc/uetcc"
)

// SnapLen is how many bytes of a frame a [Writer] keeps: all headers, and the
// first of the data.
const SnapLen = 256

// maxPayload is the largest payload MTU of UET, with room for a trailer.
const maxPayload = 8192 + 64

// ErrPayload: a payload that no UET packet has.
var ErrPayload = errors.New("uetpcap: payload longer than any MTU")

// A Writer writes a capture file of Ethernet frames with times in nanoseconds.
// Use it from one goroutine.
type Writer struct {
	pcap  *pcapgo.Writer
	frame []byte
	zero  [maxPayload]byte
}

// NewWriter writes the head of a capture file to w.
func NewWriter(w io.Writer) (*Writer, error) {
	p := pcapgo.NewWriterNanos(w)
	if err := p.WriteFileHeader(SnapLen, layers.LinkTypeEthernet); err != nil {
		return nil, fmt.Errorf("uetpcap: %w", err)
	}
	return &Writer{pcap: p}, nil
}

// Write appends frame f with payload bytes of data, all zero, as seen at now
// nanoseconds. The lengths in its headers, and the one in the file, are those of
// the whole frame; what exceeds [SnapLen] is not stored.
func (w *Writer) Write(now int64, f *uetcc.Frame, payload int) error {
	if payload < 0 || payload > maxPayload {
		return ErrPayload
	}
	w.frame = f.AppendTo(w.frame[:0], w.zero[:payload])
	kept := w.frame[:min(len(w.frame), SnapLen)]
	info := gopacket.CaptureInfo{Timestamp: time.Unix(0, now), CaptureLength: len(kept), Length: len(w.frame)}
	if err := w.pcap.WritePacket(info, kept); err != nil {
		return fmt.Errorf("uetpcap: %w", err)
	}
	return nil
}
