// SPDX-License-Identifier: Apache-2.0

package hw_test

import (
	"fmt"

	"github.com/uetcc/uetcc/hw"
	"github.com/uetcc/uetcc/hw/pcc"
)

// A device takes a window and sends by itself what fits it.
func Example() {
	cfg := hw.SoftConfig{
		Contexts: 1, Owners: 1, Features: hw.FeatureWindow | hw.FeatureEvents, LineRate: 100e9, MTU: 4096,
	}
	regs, host := hw.NewMemory(cfg.SpaceSize()), hw.NewMemory(4096)
	nic, _ := hw.NewSoftDevice(cfg, regs, host) // elsewhere: another goroutine, another process, a real NIC

	dev, _ := hw.Open(regs)
	fmt.Println(dev.LineRate()/1e9, "Gb/s, enforces windows:", dev.Features()&hw.FeatureWindow != 0)
	_ = dev.Enable(hw.FeatureWindow | hw.FeatureEvents)
	ring, _ := dev.Ring(0, host, 0, 6)
	ctx, _ := dev.Context(0)
	bell, _ := dev.Doorbell(0)

	ctx.Commit(hw.Control{Enable: true, Mode: hw.ModeWindow, Generation: 1})
	ctx.SetCwnd(3 * 4096)
	nic.Step(0)
	bell.Probe(&ctx, 1) // a round-trip probe leaves with the next burst
	nic.Step(5_000)
	bell.Ring(&ctx, 1, 5) // five packets wait
	nic.Step(10_000)

	var events [8]hw.Event
	for _, e := range events[:ring.Drain(events[:])] {
		fmt.Println(e.Type, "of context", e.Context, "generation", e.Generation, "with a probe:", e.Flags&pcc.ProbeSent != 0)
	}
	fmt.Println("sent", ctx.Sent(), "blocked by the window:", ctx.State().Window)
	cwnd, _ := dev.Load(hw.Reg.Cwnd, 0)
	fmt.Println(hw.Reg.Cwnd.Name, cwnd, "packets", dev.Counters().TXPackets)
	// Output:
	// 100 Gb/s, enforces windows: true
	// tx of context 0 generation 1 with a probe: true
	// tx of context 0 generation 1 with a probe: false
	// tx of context 0 generation 1 with a probe: false
	// sent 12288 blocked by the window: true
	// CWND 12288 packets 3
}
