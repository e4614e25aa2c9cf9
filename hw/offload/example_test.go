// SPDX-License-Identifier: Apache-2.0

package offload_test

import (
	"fmt"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw"
	"github.com/uetcc/uetcc/hw/offload"
	"github.com/uetcc/uetcc/nscc"
)

// A context decides, a NIC sends. Then the NIC dies, and what it has not sent is the
// caller's again.
func Example() {
	const mtu = 4096
	cfg := hw.SoftConfig{Contexts: 1, Owners: 1, Features: hw.FeatureWindow, LineRate: 100e9, MTU: mtu}
	regs := hw.NewMemory(cfg.SpaceSize())
	nic, _ := hw.NewSoftDevice(cfg, regs, hw.NewMemory(4096)) // elsewhere: a real one
	dev, _ := hw.Open(regs)
	_ = dev.Enable(hw.FeatureWindow)

	params, _ := ccc.NewParams(ccc.Config{NSCC: nscc.Config{LinkRate: 100e9 / 8, BaseRTT: 6_000, MTU: mtu, InitialCwnd: 3 * mtu}})
	var ctx ccc.Context
	ctx.Init(&params, 0, 0)
	ctx.Bind(&params, 0)
	ctx.OnNewData(&params, 0, 10*mtu)

	b, _ := offload.Bind(dev, offload.Config{
		Control: hw.Control{Generation: 1, Mode: hw.ModeWindow}, Size: mtu, Timeout: 50_000,
	}, 0)
	nic.Step(1_000)
	fmt.Println(b.Poll(1_000))
	b.Publish(&ctx) // the window
	b.Queue(10)     // packets are ready in memory
	nic.Step(2_000)
	nic.Step(3_000)
	fmt.Println("sent", b.Collect(&ctx, &params, 3_000), "in flight", ctx.Inflight(), "of", ctx.Cwnd())

	b.Poll(3_000)
	fmt.Println(b.Poll(60_000)) // its clock has not moved for longer than the timeout
	b.Collect(&ctx, &params, 60_000)
	fmt.Println("to be sent in software:", b.Unsent())
	// Output:
	// hardware
	// sent 3 in flight 12288 of 12288
	// software
	// to be sent in software: 7
}
