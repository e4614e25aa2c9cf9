// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/uetcc/uetcc/rccc"
)

// renewal is how many grants pass between two arrivals that renew a target: seldom
// enough to cost nothing, and prime, so that every sender has its turn.
const renewal = 1021

// newReceiver makes a receiver whose n senders always have demand. The order of
// their turns is that of their places in memory, or shuffled.
func newReceiver(b *testing.B, n int, shuffled bool, policy rccc.GrantPolicy) *rccc.Receiver {
	r, err := rccc.NewReceiver(rccc.ReceiverConfig{
		Senders: n, Rate: 12_500_000_000, MaxCredit: 175_284, Policy: policy, MaxDemand: 1 << 28,
	})
	if err != nil {
		b.Fatal(err)
	}
	handles := make([]rccc.Handle, n)
	for i := range handles {
		if handles[i], err = r.Add(0, 1, 0); err != nil {
			b.Fatal(err)
		}
	}
	if shuffled {
		rand.New(rand.NewPCG(1, 1)).Shuffle(n, func(i, j int) { handles[i], handles[j] = handles[j], handles[i] })
	}
	for _, h := range handles {
		r.OnArrival(h, 0, rccc.ArrivalData, 1<<28)
	}
	return r
}

func pull(b *testing.B) rccc.GrantPolicy {
	p, err := rccc.NewPullPolicy(rccc.PullConfig{MaxCredit: 175_284})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func slices(b *testing.B) rccc.GrantPolicy {
	p, err := rccc.NewSlicePolicy(rccc.SliceConfig{Carry: true})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// BenchmarkGrant makes one grant; every sender always has demand. The peer is
// Grant/n=1024/floor-rr of peers/grant, whose turns go through memory in order.
func BenchmarkGrant(b *testing.B) {
	policies := []struct {
		name string
		make func(*testing.B) rccc.GrantPolicy
	}{{"pull", pull}, {"slice", slices}}
	for _, p := range policies {
		for _, n := range []int{1, 8, 64, 1 << 10, 1 << 13, 1<<16 - 1} {
			b.Run(fmt.Sprintf("policy=%s/n=%d", p.name, n), func(b *testing.B) { grants(b, newReceiver(b, n, false, p.make(b))) })
		}
	}
	for _, n := range []int{64, 1 << 10, 1<<16 - 1} {
		b.Run(fmt.Sprintf("policy=pull/order=shuffled/n=%d", n), func(b *testing.B) { grants(b, newReceiver(b, n, true, pull(b))) })
	}
}

func grants(b *testing.B, r *rccc.Receiver) {
	b.ReportAllocs()
	turn := 0
	for b.Loop() {
		due, _ := r.Deadline()
		g, _ := r.Poll(due)
		if turn++; turn == renewal {
			turn = 0
			r.OnArrival(g.Sender, due, rccc.ArrivalData, g.Cum+1<<28)
		}
	}
}

// BenchmarkCreditSource is a packet and its credit at the source: charge, target,
// timer, acknowledgement, update.
func BenchmarkCreditSource(b *testing.B) {
	p, err := rccc.NewParams(rccc.Config{MaxCredit: 175_284, MTU: 4150, RTT: 9348})
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{1, 1 << 10, 1 << 16} {
		b.Run(fmt.Sprintf("contexts=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			sources := make([]rccc.Source, n)
			for i := range sources {
				sources[i].Init(&p)
			}
			now, i := int64(0), 0
			for b.Loop() {
				now += 83
				s := &sources[i&(n-1)]
				i += 7919
				if !s.CanSend() {
					b.Fatal("no credit")
				}
				s.OnSend(4150)
				target := rccc.QuantaOf(s.Target(&p, rccc.Demand{Backlog: 1 << 20}))
				s.Settle(&p, now, 1<<20)
				s.OnACK()
				s.OnCreditUpdate(&p, target.Extend(s.Cum()))
				s.Settle(&p, now, 1<<20)
			}
		})
	}
}

// BenchmarkArrival takes in the target of a packet at a receiver of n senders.
func BenchmarkArrival(b *testing.B) {
	for _, n := range []int{64, 1 << 10, 1<<16 - 1} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			r := newReceiver(b, n, false, pull(b))
			now, i := int64(0), uint32(0)
			for b.Loop() {
				now += 83
				h := rccc.Handle(1<<16 | i%uint32(n)) // the first life of a slot
				i += 7919
				r.OnArrival(h, now, rccc.ArrivalData, r.Target(h)+256)
			}
		})
	}
}
