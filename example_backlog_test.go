// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"fmt"
	"net/netip"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/hbm"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/rccc"
	"github.com/uetcc/uetcc/rccc/tfc"
	"github.com/uetcc/uetcc/ses"
)

// walkers are the target of the packet walk and so many initiators, with congestion state in
// acknowledgements, each of which has been asked to write 16,384 bytes.
func walkers(initiators int, edit func(*uetcc.Config)) (target *uetcc.Endpoint, all []*uetcc.Endpoint) {
	for i := range initiators + 1 {
		c := walkConfig(1, 0x8001)
		if i > 0 {
			c = walkConfig(0, 0x4001)
			c.Address = netip.AddrFrom4([4]byte{10, 0, 1, byte(i)})
		}
		c.PDS.NoAckCC, c.PDS.KnownSources = false, true
		c.CC.NSCC.LinkRate = 12_500_000_000
		edit(&c)
		e, err := uetcc.NewEndpoint(c)
		must(err)
		if i == 0 {
			openWalk(e, walkLen, ses.RightWrite)
			target = e
			continue
		}
		m := walkMessage()
		_, err = e.Write(0, &m)
		must(err)
		all = append(all, e)
	}
	return target, all
}

// settle moves packets between target and initiator until neither has any to send.
func settle(now int64, target, initiator *uetcc.Endpoint) {
	for moved := true; moved; {
		moved = false
		for _, p := range sendAll(now, initiator) {
			moved = true
			_, back := receive(now, target, p)
			for _, q := range back {
				receive(now, initiator, q)
			}
		}
		for _, p := range sendAll(now, target) {
			moved = true
			receive(now, initiator, p)
		}
	}
}

// The policy of package hw/hbm is part of a Config: with the numbers of its example 28,672 bytes that
// wait are a penalty of 64, and a few are leave to restore.
func ExampleEndpoint_SetBacklog() {
	target, all := walkers(1, func(c *uetcc.Config) {
		c.PDS.AckPerPacket = true
		c.Penalty = hbm.PolicyConfig{Low: 8192, High: 49152, Resume: 4096, Max: 127}
	})
	waiting := []int64{0, 28_672, 28_672, 4096}
	for i, p := range sendAll(0, all[0]) {
		target.SetBacklog(0, waiting[i])
		_, acks := receive(0, target, p)
		var ack pds.AckCC
		var state pds.NSCCState
		_, err := ack.Decode(acks[0].data)
		must(err)
		fmt.Println(waiting[i], "bytes wait:", ack.NSCC(&state), state.CwndPend, state.Restore)
	}
	// Output:
	// 0 bytes wait: true 0 false
	// 28672 bytes wait: true 64 false
	// 28672 bytes wait: true 64 false
	// 4096 bytes wait: true 0 true
}

// Transport flow control: the target has 40 cells of 256 bytes for each source, and a packet of 4,096
// bytes and its headers fills 17 of them. While memory takes nothing two packets go, then the rest.
func ExampleConfig_cells() {
	target, all := walkers(1, func(c *uetcc.Config) {
		c.CC.TFC = tfc.Config{CellSize: 256, PktOverhead: 32, Limit: 40}
	})
	for _, waiting := range []int64{1 << 30, 0} {
		target.SetBacklog(0, waiting)
		settle(0, target, all[0])
		fmt.Println(target.PDS().Stats().Requests, "packets have come")
	}
	// Output:
	// 2 packets have come
	// 4 packets have come
}

// Receiver credit in time slices of 1 us: a link of 100 Gb/s has 12,500 bytes for one sender, 6,250 for
// each of two, and 4,166 of three. CREDITs carry whole units of 256 bytes: the rest is carried on.
func ExampleConfig_slices() {
	for initiators := 1; initiators <= 3; initiators++ {
		target, all := walkers(initiators, func(c *uetcc.Config) {
			slices, err := rccc.NewSlicePolicy(rccc.SliceConfig{Slice: 1000, Carry: true})
			must(err)
			c.CC.Control = ccc.ControlRCCC
			c.CC.RCCC.InitialCredit = 4096
			c.Receiver = rccc.ReceiverConfig{Policy: slices, Utilisation: 1}
		})
		for _, e := range all {
			for _, p := range sendAll(0, e) {
				receive(0, target, p)
			}
		}
		fmt.Print(initiators, ":")
		at, _ := target.NextDeadline()
		for _, p := range sendAll(at, target)[:initiators] {
			var c pds.Control
			_, err := c.Decode(p.data)
			must(err)
			fmt.Print(" ", c.Payload.Credit())
		}
		fmt.Println()
	}
	// Output:
	// 1: 48
	// 2: 24 24
	// 3: 16 16 16
}
