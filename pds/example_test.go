// SPDX-License-Identifier: Apache-2.0

package pds_test

import (
	"fmt"

	"github.com/uetcc/uetcc/pds"
)

// A packet as it stands in a UDP payload, and what the target answers.
func Example() {
	wire := []byte{0x11, 0x88, 0xff, 0xff, 0x00, 0x00, 0x01, 0x50, 0x40, 0x01, 0x40, 0x11}

	var req pds.Request
	if _, err := req.Decode(wire); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(req)

	ack := pds.AckCC{
		Ack:  pds.Ack{CACK: req.PSN, SPDCID: req.DPDCID, DPDCID: req.SPDCID},
		SACK: pds.SACK{MPR: 8},
	}
	ack.SetNSCC(&pds.NSCCState{ServiceTime: 10, RcvdBytes: 17})
	fmt.Println(ack)
	fmt.Printf("%x\n", ack.AppendTo(nil))
	// Output:
	// RUD_REQ psn=336 clear=335 spdc=16385 dpdc=16401 ar UET_HDR_REQUEST_STD
	// ACK_CC cack=336 psn=336 spdc=16401 dpdc=16385 UET_HDR_NONE mpr=8 sack=336:0x0000000000000000 nscc service=1280ns rcvd=17 pend=0 ooo=0
	// 400000000000015040114001000800000000000000000000000a000000110000
}
