// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"fmt"
	"net/netip"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
	"github.com/uetcc/uetcc/pds/pdc"
)

// A packet of an endpoint becomes an Ethernet frame, and at the other end a packet for
// an endpoint again: for a NIC, or a capture file. (Over a UDP socket Packet is all.)
func Example_frame() {
	a, b := newHost("10.0.0.1", make([]byte, 300)), newHost("10.0.0.2", make([]byte, 300))
	_, _ = a.Write(0, &uetcc.Message{
		To:     uetcc.Destination{Address: netip.MustParseAddr("10.0.0.2"), Job: 1, PID: 2, Index: 5, Generation: b.open()},
		Length: 300,
	})
	out := a.transmit(0)[0]

	f := frame.Frame{
		Src: out.Src.Netip().As16(), Dst: out.Dst.Netip().As16(), TOS: pds.TOS(10, pds.ECNECT0), // the code point of out.TC
		Native: true, CRC: true, // as the reference provider has it
	}
	f.Entropy = out.Entropy
	wire := f.Wrap(nil, out.Packet, nil) // this host has appended what out.Payload asks for
	fmt.Println(len(wire), "bytes")

	wire[15] |= uint8(pds.ECNCE) // a switch marks it
	parser := frame.Parser{CRC: true}
	if err := parser.Ethernet(wire, &f); err != nil {
		fmt.Println(err)
	}
	_, ecn := pds.SplitTOS(f.TOS)
	in := uetcc.Datagram{
		Packet: wire[f.PDS:f.End], Src: pdc.AddrFrom(f.SrcAddr()), Dst: pdc.AddrFrom(f.DstAddr()),
		Size: pds.NominalSize(f.TransportLen), CE: ecn == pds.ECNCE,
	}
	reply := b.receive(0, in)
	_ = new(frame.Parser).UDP(reply.Packet, &f.Packet)
	fmt.Println(f.Type, "says that it was marked:", f.Ack.Flags&pds.FlagM != 0)
	// Output:
	// 398 bytes
	// ACK_CC says that it was marked: true
}
