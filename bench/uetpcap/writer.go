// SPDX-License-Identifier: Apache-2.0

// Package uetpcap writes UET packets to capture files for Wireshark, and prints captured
// packets.
package uetpcap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
)

// snapLen is the bytes kept of a frame by a [Writer]: all headers, and the first bytes
// of data.
const snapLen = 256

// maxPayload is the largest payload MTU of UET, with room for a trailer.
const maxPayload = 8192 + 64

// ErrPayload means a payload no UET packet has.
var ErrPayload = errors.New("uetpcap: payload longer than any MTU")

// A Writer writes a capture file of Ethernet frames with times in nanoseconds.
// Use a Writer from a single goroutine.
type Writer struct {
	pcap  *pcapgo.Writer
	frame []byte
	zero  [maxPayload]byte
	err   error // of Tap
}

// NewWriter writes the head of a capture file to w.
func NewWriter(w io.Writer) (*Writer, error) {
	p := pcapgo.NewWriterNanos(w)
	if err := p.WriteFileHeader(snapLen, layers.LinkTypeEthernet); err != nil {
		return nil, fmt.Errorf("uetpcap: %w", err)
	}
	return &Writer{pcap: p}, nil
}

// Write appends frame f with payload bytes of data, all zero, as seen at now
// nanoseconds, 0 or more and below 2^32 seconds. The lengths in headers and file are the
// whole frame's; bytes beyond 256 are not stored. If f.Trimmed is set, the frame is cut
// as by a switch: to the smallest IP payload, with the lengths in IP rewritten and the
// UDP length unchanged.
func (w *Writer) Write(now int64, f *frame.Frame, payload int) error {
	if payload < 0 || payload > maxPayload {
		return ErrPayload
	}
	return w.WriteData(now, f, w.zero[:payload])
}

// WriteData is Write with the bytes of data.
func (w *Writer) WriteData(now int64, f *frame.Frame, data []byte) error {
	if len(data) > maxPayload {
		return ErrPayload
	}
	w.frame = f.AppendTo(w.frame[:0], data)
	if f.Trimmed != 0 {
		left := pds.MinTrimmedUDP
		if f.Native {
			left = pds.MinTrimmedNative
		}
		w.frame = trim(w.frame, left)
	}
	return w.store(now)
}

// Tap writes what an endpoint sends and takes in, so that it can be the Tap of a [uetcc.Config]:
// between the addresses that the endpoint knows, over UDP, with d.TC for a code point and zeros
// for the data that the caller of the endpoint appends. [Writer.Err] has the first error.
func (w *Writer) Tap(now int64, sent bool, d uetcc.Datagram) {
	if w.err != nil {
		return
	}
	if d.Payload.Length > maxPayload {
		w.err = ErrPayload
		return
	}
	f, ecn := frame.Frame{Src: d.Src.Netip().As16(), Dst: d.Dst.Netip().As16()}, pds.ECNECT0
	if d.CE {
		ecn = pds.ECNCE
	}
	f.TOS, f.Entropy = pds.TOS(pds.DSCP(d.TC), ecn), d.Entropy
	w.frame = f.Wrap(w.frame[:0], d.Packet, w.zero[:d.Payload.Length])
	w.err = w.store(now)
}

// Err is why [Writer.Tap] has stopped writing, nil while it has not.
func (w *Writer) Err() error { return w.err }

// store appends w.frame to the file.
func (w *Writer) store(now int64) error {
	kept := w.frame[:min(len(w.frame), snapLen)]
	info := gopacket.CaptureInfo{Timestamp: time.Unix(0, now), CaptureLength: len(kept), Length: len(w.frame)}
	if err := w.pcap.WritePacket(info, kept); err != nil {
		return fmt.Errorf("uetpcap: %w", err)
	}
	return nil
}

// trim cuts the IP payload of frame b to left bytes, as a switch does, never longer.
func trim(b []byte, left int) []byte {
	ip := b[14:]
	if ip[0]>>4 == 6 {
		left = min(left, len(ip)-40)
		binary.BigEndian.PutUint16(ip[4:], uint16(left))
		return b[:14+40+left]
	}
	left = min(left, len(ip)-20)
	old := binary.BigEndian.Uint16(ip[2:])
	binary.BigEndian.PutUint16(ip[2:], uint16(20+left))
	sum := uint32(^binary.BigEndian.Uint16(ip[10:])) + uint32(^old) + uint32(20+left)
	sum = sum>>16 + sum&0xffff // (RFC 1624)
	binary.BigEndian.PutUint16(ip[10:], ^uint16(sum>>16+sum))
	return b[:14+20+left]
}
