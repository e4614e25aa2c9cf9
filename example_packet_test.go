package uetcc_test

import (
	"fmt"
	"net/netip"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
)

// A UDP payload taken apart.
func ExampleParser() {
	wire := []byte{
		0x3a, 0x00, 0x00, 0x03, 0xff, 0xff, 0xff, 0xff, 0x40, 0x11, 0x40, 0x01, // ACK
		0x01, 0x01, 0x00, 0x05, 0x00, 0x00, 0x00, 0x65, 0x00, 0x00, 0x10, 0x00, // response
	}
	var (
		parser uetcc.Parser
		p      uetcc.Packet
	)
	if err := parser.UDP(wire, &p); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Type, p.Ack.AckPSN(), p.Reply.ReturnCode, p.Payload)
	fmt.Println(&p)
	// Output:
	// ACK 2 RC_OK 24
	// ACK cack=4294967295 psn=2 spdc=16401 dpdc=16385 UET_HDR_RESPONSE | UET_RESPONSE RC_OK UET_EXPECTED id 5 job 101 gen 0 length 4096
}

// A packet of an endpoint becomes an Ethernet frame, and at the other end a packet for
// an endpoint again: for a NIC, or a capture file. (Over a UDP socket Packet is all.)
func ExampleFrame() {
	a, b := newHost("10.0.0.1", make([]byte, 300)), newHost("10.0.0.2", make([]byte, 300))
	_, _ = a.Write(0, &uetcc.Message{
		To:     uetcc.Destination{Address: netip.MustParseAddr("10.0.0.2"), Job: 1, PID: 2, Index: 5, Generation: b.open()},
		Length: 300,
	})
	out := a.transmit(0)[0]

	var parser uetcc.Parser
	var f uetcc.Frame
	_ = parser.UDP(out.Packet, &f.Packet) // the headers, to be written behind those of the frame
	f.Src, f.Dst = out.Src.Netip().As16(), out.Dst.Netip().As16()
	f.Entropy, f.TOS = out.Entropy, pds.TOS(10, pds.ECNECT0) // the code point of out.TC
	wire := f.AppendTo(nil, out.Packet[f.Payload:])
	fmt.Println(len(wire), "bytes")

	wire[15] |= uint8(pds.ECNCE) // a switch marks it
	if err := parser.Ethernet(wire, &f); err != nil {
		fmt.Println(err)
	}
	_, ecn := pds.SplitTOS(f.TOS)
	in := uetcc.Datagram{
		Packet: wire[f.PDS:f.End], Src: pdc.AddrFrom(f.SrcAddr()), Dst: pdc.AddrFrom(f.DstAddr()),
		Size: pds.NominalSize(f.TransportLen), CE: ecn == pds.ECNCE,
	}
	reply := b.receive(0, in)
	_ = parser.UDP(reply.Packet, &f.Packet)
	fmt.Println(f.Type, "says that it was marked:", f.Ack.Flags&pds.FlagM != 0)
	// Output:
	// 398 bytes
	// ACK_CC says that it was marked: true
}
