// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/uetcc/uetcc/hw/port"
	"github.com/uetcc/uetcc/hw/udp"
)

const (
	batch     = 32   // packets that a party takes in at a time
	packetMax = 9216 // bytes of the largest
)

// An opening is a port of a party, and the packets coming and going there.
type opening struct {
	*udp.Port
	in     [batch]port.Packet
	out    []port.Packet // until the next send
	unsent int64         // packets that found no room in the kernel: losses like any other
}

// openPort binds local; UDP port 0 is chosen by the kernel. Each packet passes the kernel alone,
// since the kernel's queues mark a group as a whole.
func openPort(local netip.AddrPort, paths int) (*opening, error) {
	p, err := udp.Open(udp.Config{Local: local, Paths: paths, NoOffload: true})
	return &opening{Port: p}, err
}

func (o *opening) close() {
	if o != nil && o.Port != nil {
		_ = o.Close()
		_ = o.Wait(0, false)
	}
}

// receive returns the packets that have come, a batch at most, until the next call.
func (o *opening) receive() ([]port.Packet, error) {
	n, err := o.Receive(o.in[:])
	return o.in[:n], err
}

func (o *opening) add(p port.Packet) { o.out = append(o.out, p) }

// send sends the added packets, whose memory is the caller's again.
func (o *opening) send() error {
	if len(o.out) == 0 {
		return nil
	}
	n, err := o.Send(o.out)
	o.unsent += int64(len(o.out) - n)
	o.out = o.out[:0]
	var faults [1]port.Fault
	if err != nil || o.Faults(faults[:]) == 0 {
		return err
	}
	if err = faults[0].Err; errors.Is(err, port.ErrTooLong) {
		return fmt.Errorf("%w: %v, set a smaller -mtu", err, faults[0])
	}
	return fmt.Errorf("%w: %v", err, faults[0])
}
