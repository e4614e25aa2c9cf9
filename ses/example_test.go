// SPDX-License-Identifier: Apache-2.0

package ses_test

import (
	"fmt"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// The first packet of the write that the packet walk of the UET congestion chapters follows.
func ExampleStandard() {
	h := ses.Standard{
		Common: ses.Common{
			Opcode: ses.OpcodeWrite, Flags: ses.FlagSOM | ses.FlagRel,
			JobID: 101, PIDonFEP: 2, Index: 0x00a, Generation: 1,
		},
		MessageID: 1, Key: 0xacce5, RequestLength: 16384,
	}
	packet := append(h.AppendTo(nil), "payload"...)

	var got ses.Standard
	n, err := got.Decode(packet)
	fmt.Println(n, err, string(packet[n:]))
	fmt.Println(got.Opcode, got.Flags, "job", got.JobID, "id", got.MessageID, "of", got.RequestLength)
	// Output:
	// 44 <nil> payload
	// UET_WRITE som,rel job 101 id 1 of 16384
}

// A packet parser learns the form from the PDS header's next_hdr.
func ExampleRequest() {
	wire := []byte{
		0x03, 0x03, 0x00, 0x08, 0x01, 0x00, 0x00, 0x65, 0x00, 0x02, 0x00, 0x0a,
		0, 0, 0, 0, 0, 0, 0x10, 0,
		0x02, 0x07, 0x00, 0x00,
	}
	var r ses.Request
	n, err := r.Decode(pds.NextRequestSmall, wire)
	fmt.Println(n, err, r.Validate())
	fmt.Println(r.Opcode, r.Swap.Atomic.Opcode, r.Swap.Type, r.RequestLength)
	// Output:
	// 24 <nil> <nil>
	// UET_ATOMIC UET_AMO_SUM UET_TYPE_UINT64 8
}
