// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/uetcc/uetcc/nscc"
)

// nsccParams is the fabric of the yardstick: 100 Gb/s, 12 us.
func nsccParams(b *testing.B) *nscc.Params {
	p, err := nscc.NewParams(nscc.Config{LinkRate: 100e9 / 8, BaseRTT: 12_000, MTU: 4096, Trimming: true})
	if err != nil {
		b.Fatal(err)
	}
	return &p
}

// nsccSignals are 4096 acknowledgements of one kind of network.
func nsccSignals(mix string) []nscc.Ack {
	r := rand.New(rand.NewPCG(1, 1))
	acks := make([]nscc.Ack, 4096)
	for i := range acks {
		a := nscc.Ack{Bytes: 4096, RTT: 12_000}
		switch mix {
		case "quiet":
			a.RTT += r.Int64N(3000)
		case "mixed":
			a.RTT += r.Int64N(18_000)
			a.ECN = r.IntN(3) == 0
		case "congested":
			a.RTT += 8_000 + r.Int64N(22_000)
			a.ECN = r.IntN(2) == 0
		}
		acks[i] = a
	}
	return acks
}

// nsccContexts are n windows in use and a random order to visit them.
func nsccContexts(p *nscc.Params, n int) ([]nscc.Window, []int32) {
	ws := make([]nscc.Window, n)
	for i := range ws {
		ws[i].Init(p, 0, 0)
	}
	r := rand.New(rand.NewPCG(2, 2))
	order := make([]int32, 1<<20)
	for i := range order {
		order[i] = int32(r.IntN(n))
	}
	return ws, order
}

// BenchmarkNSCCOnACK takes in one acknowledgement: the work that
// WindowShape of the peers stands in for, with the same contexts, signals and clock.
func BenchmarkNSCCOnACK(b *testing.B) {
	for _, mix := range []string{"quiet", "mixed", "congested"} {
		for _, n := range []int{1, 1 << 10, 1 << 16} {
			b.Run(fmt.Sprintf("mix=%s/contexts=%d", mix, n), func(b *testing.B) {
				p := nsccParams(b)
				acks := nsccSignals(mix)
				ws, order := nsccContexts(p, n)
				b.ReportAllocs()
				i, now := 0, int64(0)
				for b.Loop() {
					ws[order[i&(1<<20-1)]].OnACK(p, now, acks[i&4095])
					now += 80
					i++
				}
			})
		}
	}
}

// BenchmarkNSCCOnACKBranch takes the same branch at each acknowledgement: none may
// cost twice the mixed median.
func BenchmarkNSCCOnACKBranch(b *testing.B) {
	const base, mtu = 12_000, 4096
	for _, c := range []struct {
		name string
		step int64 // ns between acknowledgements
		ack  nscc.Ack
		want nscc.Action
	}{
		{"counters", 80, nscc.Ack{Bytes: mtu}, nscc.ActionNone},
		{"proportional", 80, nscc.Ack{Bytes: mtu, RTT: base + 3_000}, nscc.ActionProportional},
		{"fast", 80, nscc.Ack{Bytes: mtu, RTT: base}, nscc.ActionFast},
		{"fair", 80, nscc.Ack{Bytes: mtu, RTT: base + 20_000}, nscc.ActionFair},
		{"hold", 80, nscc.Ack{Bytes: mtu, RTT: base + 3_000, ECN: true}, nscc.ActionHold},
		{"penalty", 80, nscc.Ack{Bytes: mtu, RTT: base + 3_000, Pend: 64}, nscc.ActionHold},
		{"decrease", 2 * base, nscc.Ack{Bytes: mtu, RTT: base + 20_000, ECN: true}, nscc.ActionDecrease},
		{"quickadapt", 3 * base, nscc.Ack{Bytes: mtu, RTT: base + 50_000, ECN: true}, nscc.ActionQuickAdapt},
	} {
		b.Run("action="+c.name, func(b *testing.B) {
			p, err := nscc.NewParams(nscc.Config{LinkRate: 100e9 / 8, BaseRTT: base, MTU: mtu, Trimming: c.name != "quickadapt"})
			if err != nil {
				b.Fatal(err)
			}
			var w nscc.Window
			w.Init(&p, 0, 0)
			now := int64(0)
			ack := func() { now += c.step; w.OnACK(&p, now, c.ack) }
			for range 200 { // until the branch is the steady state
				ack()
			}
			b.ReportAllocs()
			for b.Loop() {
				ack()
			}
			if got := w.Snapshot().Action; got != c.want {
				b.Fatalf("action %s, want %s", got, c.want)
			}
		})
	}
}

// BenchmarkNSCCSend asks for a packet and counts it, and now and then drains the window.
func BenchmarkNSCCSend(b *testing.B) {
	p := nsccParams(b)
	var w nscc.Window
	w.Init(p, 0, 0)
	b.ReportAllocs()
	for b.Loop() {
		if w.CanSend(p, 4096) {
			w.OnSend(4096)
		} else {
			w.OnUnmark(-w.Inflight())
		}
		w.AckRequest(p)
	}
}
