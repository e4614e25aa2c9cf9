package ccc_test

import (
	"fmt"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/nscc"
)

// One context sends what its window allows, and learns what stops it.
func Example() {
	p, err := ccc.NewParams(ccc.Config{NSCC: nscc.Config{
		LinkRate: 12_500_000_000, // bytes a second: 100 Gb/s
		BaseRTT:  6_000,          // ns
		MTU:      4_160,
		Trimming: true,
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var c ccc.Context
	c.Init(&p, 0)
	c.Bind(&p, 0)

	c.OnNewData(&p, 0, 256_000_000)
	sent := 0
	for c.State() == ccc.StateReady {
		c.OnSend(&p, 0, 4_160, false)
		sent++
	}
	fmt.Println(sent, "packets,", c.Inflight(), "of", c.Cwnd(), "bytes:", c.State(), c.Decide(&p, 0).Reason)

	c.OnACK(&p, 6_000, ccc.Ack{Ack: nscc.Ack{Bytes: 8_192, RTT: 6_000}, Packets: 2})
	fmt.Println("may send", c.Decide(&p, 6_000).Bytes, "more:", c.State())
	// Output:
	// 27 packets, 112320 of 112500 bytes: ACTIVE window
	// may send 8372 more: READY
}
