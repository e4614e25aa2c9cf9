package frame_test

import (
	"fmt"

	"github.com/uetcc/uetcc/pds/frame"
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
