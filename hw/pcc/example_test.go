// SPDX-License-Identifier: Apache-2.0

package pcc_test

import (
	"fmt"

	"github.com/uetcc/uetcc/hw/pcc"
)

// A flow starts at line rate and asks for a probe. Its round trip of 60 us is
// far above the minimum, so the first congestion halves the rate at once.
func Example() {
	p := pcc.DefaultZTRParams()
	var flow pcc.ZTR
	show := func(e pcc.Event) {
		d := flow.OnEvent(&p, &e)
		fmt.Printf("%-4v %3d Gb/s, probe %v\n", e.Type, d.Rate.Bits(400e9)/1e9, d.Probe)
	}
	show(pcc.Event{Type: pcc.EventTX, Time: 100})
	show(pcc.Event{Type: pcc.EventTX, Time: 200, Flags: pcc.ProbeSent})
	show(pcc.Event{Type: pcc.EventRTT, Time: 8900, Stamps: pcc.Stamps{ReqSend: 200, ReqRecv: 3200, RespSend: 3900}})
	show(pcc.Event{Type: pcc.EventTX, Time: 9000, Flags: pcc.ProbeSent})
	show(pcc.Event{Type: pcc.EventRTT, Time: 69700, Stamps: pcc.Stamps{ReqSend: 9000, ReqRecv: 61000, RespSend: 61700}})
	// Output:
	// tx   400 Gb/s, probe true
	// tx   400 Gb/s, probe false
	// rtt  400 Gb/s, probe true
	// tx   400 Gb/s, probe false
	// rtt  200 Gb/s, probe true
}
