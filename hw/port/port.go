// SPDX-License-Identifier: Apache-2.0

// Package port is the duty of a network port for a transport in software: packets in and out in
// batches, with their ECN bits. Package hw/udp has a Port on sockets, hw/xdp on the rings of a
// network device.
package port

import (
	"errors"
	"fmt"
	"net/netip"
)

// A Port carries packets. One goroutine at a time calls the methods, but any may call Wake and Close, and Wait may run
// beside Send of another goroutine.
type Port interface {
	// Local is the destination of packets to the port.
	Local() netip.AddrPort

	// Receive fills p with packets that have come, without waiting, and returns the number. The
	// packets' memory is the port's, until the next Receive. The error is net.ErrClosed, or
	// permanent.
	Receive(p []Packet) (n int, err error)

	// More reports whether packets may be there the last Receive has left, for want of room.
	More() bool

	// Send sends p in order, without waiting, and returns the number taken: fewer than len(p) without
	// room, whose return a Wait tells. A packet that cannot be sent to the peer counts as taken, with
	// a Fault. Nothing of p is kept. Errors as with Receive.
	Send(p []Packet) (n int, err error)

	// Wait returns when a packet has come, or a fault, or a Wake, or with room when Send may take more, or when
	// timeout is over, ns; never with a negative timeout. Wait may return early. Errors as with
	// Receive.
	Wait(timeout int64, room bool) error

	// Wake ends the Wait under way, or else the next one.
	Wake()

	// Faults fills f with the network's answers to packets sent, and returns the number.
	Faults(f []Fault) (n int)

	// LinkMTU is the largest IP packet of the link, bytes; 0 if unknown.
	LinkMTU() int

	// Stats returns the counters.
	Stats() Stats

	// Close ends the port and any Wait. A second Close does nothing.
	Close() error
}

// A Packet is the payload of one UDP packet, with fields of the IP header.
type Packet struct {
	Peer netip.AddrPort // whom it comes from, or goes to
	Data []byte         // the packet; out: its beginning
	Tail []byte         // out: what follows Data
	TOS  uint8          // TOS byte, or traffic class: DSCP and ECN
	Path uint16         // out: entropy; packets of different values may take different ways
}

// A Fault is an answer of the network or the kernel to packets sent. Anybody with the addresses and
// ports can forge the network's answers.
type Fault struct {
	Peer netip.AddrPort // destination of the packets
	Err  error          // ErrRefused, ErrUnreachable, ErrTooLong, ErrForbidden, or one of the system's
	MTU  int            // with ErrTooLong the largest IP packet that the path takes, bytes; 0: not known
}

func (f Fault) String() string {
	if f.MTU > 0 {
		return fmt.Sprintf("%v: %v: the path takes IP packets of up to %d bytes", f.Peer, f.Err, f.MTU)
	}
	return fmt.Sprintf("%v: %v", f.Peer, f.Err)
}

// Errors of a Fault.
var (
	ErrRefused     = errors.New("port: nobody listens at the peer's port")
	ErrUnreachable = errors.New("port: no way to the peer")
	ErrTooLong     = errors.New("port: packet longer than the path takes")
	ErrForbidden   = errors.New("port: a filter forbids it")
)

// Stats counts the events of a port since Open.
type Stats struct {
	Sent, Received         uint64 // packets
	SentBytes, RecvBytes   uint64 // of their payloads
	SendCalls, RecvCalls   uint64 // system calls that brought any
	NoRoom                 uint64 // times that Send had no room
	Refused                uint64 // packets that the system or the network did not take
	Overflows              uint64 // packets that came while the queue was full, as far as the system says
	Untold                 uint64 // packets received without their TOS byte, so that marks are not known
	Faults                 uint64
	Segmentation, Grouping bool // offload is in use: of packets sent, and of those received
}

// Add adds the counters of a second port.
func (s *Stats) Add(o *Stats) {
	s.Sent += o.Sent
	s.Received += o.Received
	s.SentBytes += o.SentBytes
	s.RecvBytes += o.RecvBytes
	s.SendCalls += o.SendCalls
	s.RecvCalls += o.RecvCalls
	s.NoRoom += o.NoRoom
	s.Refused += o.Refused
	s.Overflows += o.Overflows
	s.Untold += o.Untold
	s.Faults += o.Faults
	s.Segmentation = s.Segmentation || o.Segmentation
	s.Grouping = s.Grouping || o.Grouping
}
