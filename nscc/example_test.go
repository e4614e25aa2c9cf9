// SPDX-License-Identifier: Apache-2.0

package nscc_test

import (
	"fmt"

	"github.com/uetcc/uetcc/nscc"
)

// A sender that uses the window alone.
func Example() {
	params, err := nscc.NewParams(nscc.Config{
		LinkRate: 100e9 / 8, // bytes a second
		BaseRTT:  12_000,    // ns
		MTU:      4096,
		Trimming: true,
	})
	if err != nil {
		panic(err)
	}
	now := int64(1_000_000)
	var w nscc.Window
	w.Init(&params, now, 0)
	for w.CanSend(&params, 4096) {
		w.OnSend(4096) // and transmit
	}
	fmt.Println("in flight:", w.Inflight(), "of", w.Cwnd())

	// The queue is far above target, and the switch marks.
	for range 60 {
		now += 400
		w.OnACK(&params, now, nscc.Ack{Bytes: 4096, RTT: 12_000 + 40_000, ECN: true})
	}
	fmt.Println("window:", w.Cwnd(), "last action:", w.Snapshot().Action)

	// Output:
	// in flight: 221184 of 225000
	// window: 171038 last action: considered
}

// On a network that may drop, a transfer that takes several round trips begins with a packet less.
func ExampleWindow_Begin() {
	params, err := nscc.NewParams(nscc.Config{LinkRate: 100e9 / 8, BaseRTT: 12_000, MTU: 4096, Profile: nscc.ProfileAdaptive})
	if err != nil {
		panic(err)
	}
	for _, waiting := range []int64{10_000, 262_144} {
		var w nscc.Window
		w.Init(&params, 0, 0)
		w.Begin(&params, waiting)
		fmt.Println(w.Cwnd()/params.MTU(), "packets")
	}

	// Output:
	// 3 packets
	// 2 packets
}

// The target queueing delay of the specification, and that of the UET congestion chapters, which
// have the two cases the other way round: set it as here to follow them.
func ExampleTuning_targetQdelay() {
	for _, trimming := range []bool{true, false} {
		c := nscc.Config{LinkRate: 100e9 / 8, BaseRTT: 12_000, MTU: 4096, Trimming: trimming}
		spec, err := nscc.NewParams(c)
		if err != nil {
			panic(err)
		}
		c.Tuning.TargetQdelay = c.BaseRTT
		if !trimming {
			c.Tuning.TargetQdelay = c.BaseRTT * 3 / 4
		}
		chapters, err := nscc.NewParams(c)
		if err != nil {
			panic(err)
		}
		fmt.Printf("trimming %-5v specification %5d ns, chapters %5d ns\n",
			trimming, spec.Constants().TargetQdelay, chapters.Constants().TargetQdelay)
	}
	// Output:
	// trimming true  specification  9000 ns, chapters 12000 ns
	// trimming false specification 12000 ns, chapters  9000 ns
}

// The second half of figure 6-8 of the UET congestion chapters: NICs of 100 and 400 Gb/s whose
// windows grow without a queue, for ten round trips of 6 us. With the specification's constants,
// which scale with each NIC's own bandwidth-delay product, the faster one grows four times as fast;
// with a step of the shared Base_BDP both gain the same.
func ExampleAdditiveStep_scaleInvariance() {
	gains := func(gbps int64, eta float64) (bdp, gained int64) {
		c := nscc.Config{LinkRate: gbps * 1e9 / 8, BaseRTT: 6_000, MTU: 4096, InitialCwnd: 75_000}
		c.Tuning.Eta = eta
		params, err := nscc.NewParams(c)
		if err != nil {
			panic(err)
		}
		var w nscc.Window
		w.Init(&params, 0, 0)
		for rtt := range int64(10) {
			w.OnACK(&params, (rtt+1)*6_000, nscc.Ack{RTT: 6_000}) // no bytes, so eta alone
		}
		return params.Constants().BDP, w.Cwnd() - 75_000
	}
	for _, rate := range []int64{100, 400} {
		bdp, own := gains(rate, 0)
		_, shared := gains(rate, nscc.AdditiveStep(10))
		fmt.Printf("%d Gb/s: BDP %d, own %d bytes, shared %d bytes\n", rate, bdp, own, shared)
	}
	// Output:
	// 100 Gb/s: BDP 75000, own 3070 bytes, shared 1460 bytes
	// 400 Gb/s: BDP 300000, own 12280 bytes, shared 1460 bytes
}

// Figure 6-12 of the UET congestion chapters: four packets of 4,096 bytes are in flight, and ACKs whose
// rcvd_bytes say 12,288 and then 16,384 take them out: 4,096 are left after the first. One that was
// overtaken takes nothing out, and comes to no harm.
func ExampleRcvdTracker() {
	var rcvd nscc.RcvdTracker
	inflight := int64(16_384)
	for _, units := range []uint32{12_288 / 256, 16_384 / 256, 12_288 / 256} {
		newly := rcvd.Advance(units)
		inflight -= newly
		fmt.Println(units, "units:", newly, "bytes are new,", inflight, "in flight")
	}
	// Output:
	// 48 units: 12288 bytes are new, 4096 in flight
	// 64 units: 4096 bytes are new, 0 in flight
	// 48 units: 0 bytes are new, 0 in flight
}
