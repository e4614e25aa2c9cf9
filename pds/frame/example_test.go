// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"fmt"
	"net/netip"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
	"github.com/uetcc/uetcc/ses"
)

// A UDP payload taken apart.
func ExampleParser() {
	wire := []byte{
		0x3a, 0x00, 0x00, 0x03, 0xff, 0xff, 0xff, 0xff, 0x40, 0x11, 0x40, 0x01, // ACK
		0x01, 0x01, 0x00, 0x05, 0x00, 0x00, 0x00, 0x65, 0x00, 0x00, 0x10, 0x00, // response
	}
	var (
		parser frame.Parser
		p      frame.Packet
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

// A frame of 4,096 bytes of data after a switch: of its IP payload UDP and PDS header are left.
func ExampleTrim() {
	f := frame.Frame{TOS: pds.TOS(8, pds.ECNECT0)}
	f.Src, f.Dst = netip.MustParseAddr("10.0.0.1").As16(), netip.MustParseAddr("10.0.0.2").As16()
	f.Type, f.Form = pds.TypeRUDReq, pds.NextRequestStd
	f.Req = pds.Request{Type: f.Type, Next: pds.NextRequestStd, PSN: 336, SPDCID: 3, DPDCID: 4}
	f.Request.Form, f.Request.Opcode = f.Form, ses.OpcodeWrite
	whole := f.AppendTo(nil, make([]byte, 4096))
	before := len(whole)
	cut, err := frame.Trim(whole, pds.MinTrimmedUDP, 18)
	fmt.Println(before, len(cut), err)

	parser := frame.Parser{DSCPs: pds.DSCPs{Trimmable: 8, Trimmed: 16, TrimmedLastHop: 18, Control: 46}}
	fmt.Println(parser.Ethernet(cut, &f), f.Trimmed, f.Req.PSN, f.TransportLen)
	// Output:
	// 4194 58 <nil>
	// <nil> UET_TRIMMED_LASTHOP 336 4160
}
