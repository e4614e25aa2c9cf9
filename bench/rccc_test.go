package bench

import (
	"fmt"
	"testing"

	"github.com/uetcc/uetcc/rccc"
)

// renewal is how many grants pass between two arrivals that renew a target: seldom
// enough to cost nothing, and prime, so that every sender has its turn.
const renewal = 1021

// newReceiver makes a receiver whose n senders always have demand.
func newReceiver(b *testing.B, n int, policy rccc.GrantPolicy) *rccc.Receiver {
	r, err := rccc.NewReceiver(rccc.ReceiverConfig{
		Senders: n, Rate: 12_500_000_000, MaxCredit: 175_284, Policy: policy, MaxDemand: 1 << 28,
	})
	if err != nil {
		b.Fatal(err)
	}
	for range n {
		h, err := r.Add(0, rccc.Key{}, 1, 0)
		if err != nil {
			b.Fatal(err)
		}
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
// Grant/n=1024/floor-rr of peers/grant.
func BenchmarkGrant(b *testing.B) {
	for _, p := range []struct {
		name string
		make func(*testing.B) rccc.GrantPolicy
	}{{"pull", pull}, {"slice", slices}} {
		for _, n := range []int{1, 8, 64, 1 << 10, 1 << 13, 1<<16 - 1} {
			b.Run(fmt.Sprintf("policy=%s/n=%d", p.name, n), func(b *testing.B) {
				b.ReportAllocs()
				r := newReceiver(b, n, p.make(b))
				turn := 0
				for b.Loop() {
					due, _ := r.Deadline()
					g, _ := r.Poll(due)
					if turn++; turn == renewal {
						turn = 0
						r.OnArrival(g.Sender, due, rccc.ArrivalData, g.Cum+1<<28)
					}
				}
			})
		}
	}
}
