// SPDX-License-Identifier: Apache-2.0

package rccc_test

import (
	"fmt"

	"github.com/uetcc/uetcc/rccc"
)

// A 256 MB write from 10.0.0.1 over a 100 Gb/s link, with time slices of one
// microsecond, from its first packet to its last credit. Source: the blog
// chapter "Receiver Credit-based Congestion Control", figures 8-2 to 8-4.
func Example_rankZeroWritesToRankTwo() {
	const (
		write = 256_000_000 // bytes
		burst = 12_500      // initial credit, bytes
		reach = 1 << 29     // no other limit in this story
	)
	params, err := rccc.NewParams(rccc.Config{
		MaxCredit: reach, InitialCredit: burst, CountInitial: true, MTU: 4096, RTT: 6000,
	})
	check(err)
	policy, err := rccc.NewSlicePolicy(rccc.SliceConfig{Slice: 1000})
	check(err)
	target, err := rccc.NewReceiver(rccc.ReceiverConfig{
		Senders: 16, Rate: 12_500_000_000, Utilisation: 1, MaxCredit: reach, Policy: policy,
	})
	check(err)

	// Source: the CCC starts with its pre-provisioned credit and sends it.
	var ccc rccc.Source
	ccc.Init(&params)
	backlog := int64(write)
	send := func() int64 {
		n := min(ccc.Credit(), backlog)
		ccc.OnSend(n)
		backlog -= n
		return n
	}
	fmt.Println("burst", send(), "backlog", backlog)

	// Target: RUD_CC_REQ names CCC_ID 0xA1 and its credit target; the entry is
	// made, and the demand counts once the data is in memory.
	sender, err := target.Add(0, 1, burst)
	check(err)
	want := ccc.Target(&params, rccc.Demand{Backlog: backlog})
	target.OnArrival(sender, 0, rccc.ArrivalData, want)
	fmt.Printf("credit target %d, as quanta on the wire %d\n",
		target.Senders().Demand(sender.Slot()), rccc.QuantaOf(want))

	// Target: ACK_CC with CC_CREDIT; source: incremental credit.
	grant, _ := target.Poll(1000)
	fmt.Println("grant", grant.Bytes, "cumulative", grant.Cum, "was", ccc.Cum())
	fmt.Println("increment", ccc.OnCreditUpdate(&params, grant.Cum))
	fmt.Println("sent", send(), "backlog", backlog)

	// A second transfer arrives at the same target: the slice is divided.
	other, err := target.Add(1000, 1, burst)
	check(err)
	target.OnArrival(other, 1000, rccc.ArrivalData, write)
	for grant, ok := target.Poll(2000); ok; grant, ok = target.Poll(2000) {
		fmt.Println("two senders:", grant.Bytes, "bytes a microsecond =", grant.Bytes*8/1000, "Gb/s")
	}
	target.Remove(other)

	// Alone again: one grant a slice until everything was granted.
	for now := int64(3000); ccc.Cum() < write; now += 1000 {
		if grant, ok := target.Poll(now); ok {
			ccc.OnCreditUpdate(&params, grant.Cum)
			send()
		}
	}
	fmt.Println("cumulative", ccc.Cum(), "backlog", backlog)

	// The last byte is acknowledged, the PDC and with it the CCC close, and the
	// target forgets the sender.
	fmt.Println("dropped", target.Remove(sender), "senders left", target.Senders().Count())
	// Output:
	// burst 12500 backlog 255987500
	// credit target 255987500, as quanta on the wire 1000000
	// grant 12500 cumulative 25000 was 12500
	// increment 12500
	// sent 12500 backlog 255975000
	// two senders: 6250 bytes a microsecond = 50 Gb/s
	// two senders: 6250 bytes a microsecond = 50 Gb/s
	// cumulative 256000000 backlog 0
	// dropped true senders left 0
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
