// Package port is what a network port has to do for a transport in software: packets in and out in batches,
// with their ECN bits. Package hw/udp has one on sockets, hw/xdp one on the rings of a network device.
package port

import (
	"errors"
	"fmt"
	"net/netip"
)

// A Port carries packets. One goroutine at a time calls its methods, but for Wake and Close, which any may call.
type Port interface {
	// Local is where packets to this port go.
	Local() netip.AddrPort

	// Receive fills p with packets that have come, without waiting for one, and returns their number. Their
	// memory is the port's, until the next Receive. The error is net.ErrClosed, or one that will not pass.
	Receive(p []Packet) (n int, err error)

	// More reports whether packets may be there that the last Receive has left, for want of room.
	More() bool

	// Send sends p in order, without waiting, and returns how many it has taken: fewer than all if there is no
	// room, which a Wait for it tells the end of. A packet that cannot be sent to its peer counts as taken, with
	// a Fault. Nothing of p is kept. Errors as with Receive.
	Send(p []Packet) (n int, err error)

	// Wait returns when a packet has come, or a fault, or a Wake, or with room when Send may take more, or when
	// timeout is over, ns; a negative one never is. It may return early. Errors as with Receive.
	Wait(timeout int64, room bool) error

	// Wake ends the Wait that is under way, or else the next one.
	Wake()

	// Faults fills f with what the network has said of packets that were sent, and returns how many.
	Faults(f []Fault) (n int)

	// LinkMTU is the largest IP packet of the link, bytes; 0 if it is not known.
	LinkMTU() int

	// Stats returns the counters.
	Stats() Stats

	// Close ends the port, and what waits in it. The second time it does nothing.
	Close() error
}

// A Packet is the payload of one UDP packet, and what the IP header says.
type Packet struct {
	Peer netip.AddrPort // whom it comes from, or goes to
	Data []byte         // the packet; out: its beginning
	Tail []byte         // out: what follows Data
	TOS  uint8          // TOS byte, or traffic class: DSCP and ECN
	Path uint16         // out: entropy; packets of different values may take different ways
	Age  int64          // in: how long it has waited in this machine, ns, as far as that is known
}

// A Fault is what the network or the kernel has answered to packets that were sent. Anybody who knows the
// addresses and ports can forge what comes from the network.
type Fault struct {
	Peer netip.AddrPort // whom they were for
	Err  error          // ErrRefused, ErrUnreachable, ErrTooLong, ErrForbidden, or one of the system's
	MTU  int            // with ErrTooLong the largest IP packet that the path takes, bytes; 0: not known
}

func (f Fault) String() string {
	if f.MTU > 0 {
		return fmt.Sprintf("%v: %v: the path takes IP packets of up to %d bytes", f.Peer, f.Err, f.MTU)
	}
	return fmt.Sprintf("%v: %v", f.Peer, f.Err)
}

// What a Fault says.
var (
	ErrRefused     = errors.New("port: nobody listens at the peer's port")
	ErrUnreachable = errors.New("port: no way to the peer")
	ErrTooLong     = errors.New("port: packet longer than the path takes")
	ErrForbidden   = errors.New("port: a filter forbids it")
)

// Stats counts what a port has seen since it was opened.
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

// Add adds the counters of another port.
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
