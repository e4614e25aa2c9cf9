// SPDX-License-Identifier: Apache-2.0

package offload

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw"
)

// The device works in a goroutine of its own, and the engine publishes and collects
// whenever it likes: credit is never overdrawn, and each packet is reported once.
func TestCreditIsNotOverdrawnBesideTheDevice(t *testing.T) {
	const packets = 3000
	r := newRig(t, hw.FeatureWindow|hw.FeatureCredit, ccc.ControlRCCC, hw.ModeCredit)
	r.c.OnNewData(&r.p, 0, packets*size)
	r.c.OnCreditUpdate(&r.p, 0, 0) // no more credit that can be void again
	var acked atomic.Int64
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		told := int64(0)
		for now := int64(1000); !stop.Load(); now += 1000 {
			r.soft.Step(now)
			n := acked.Load()
			r.soft.Ack(1, (n-told)*size)
			told = n
			runtime.Gosched()
		}
	})
	defer func() { stop.Store(true); wg.Wait() }()
	rnd := rand.New(rand.NewPCG(17, 17))
	grant, queued, reported := int64(0), 0, 0
	for now := int64(0); reported < packets; now += 100 {
		switch rnd.IntN(8) {
		case 0:
			if n := min(rnd.IntN(20), packets-queued); r.b.Queue(n) {
				queued += n
			}
		case 1:
			grant += rnd.Int64N(2 * size) // less than there are packets
			r.c.OnCreditUpdate(&r.p, now, grant)
		case 2:
			reported += r.b.Collect(&r.c, &r.p, now)
			if r.c.Credit() < 0 || r.b.Unsent() != queued-reported {
				t.Fatalf("credit %d, unsent %d of %d, reported %d", r.c.Credit(), r.b.Unsent(), queued, reported)
			}
		case 3:
			if r.c.InflightPackets() > 0 {
				a := ccc.Ack{Packets: 1}
				a.Bytes = size
				r.c.OnACK(&r.p, now, a)
				acked.Add(1)
			}
		case 4:
			r.b.Publish(&r.c)
		default: // the device works before the next step, or does not
			r.b.Poll(0) // no time passes for the watch: how fast the goroutines are does not count
			runtime.Gosched()
		}
	}
	require.Equal(t, packets, queued)
	require.Zero(t, r.b.Unsent())
	require.Zero(t, r.b.Collect(&r.c, &r.p, 0))
}

// TestLivesBesideTheDevice binds and releases as fast as it can while the device looks at any moment:
// none of that is a fault.
func TestLivesBesideTheDevice(t *testing.T) {
	r := newRig(t, hw.FeatureWindow|hw.FeatureRate, ccc.ControlNSCC, hw.ModeWindow)
	const steps = 20_000
	var step atomic.Int64
	var wg sync.WaitGroup
	wg.Go(func() {
		for step.Add(1) < steps {
			r.soft.Step(step.Load())
			runtime.Gosched()
		}
	})
	for life := 0; step.Load() < steps; life++ {
		r.b.Release()
		r.bind(uint8(life), hw.ModeWindow, size)
		if life%16 == 0 {
			runtime.Gosched()
		}
	}
	wg.Wait()
	require.Zero(t, r.dev.Faults())
	require.Zero(t, r.dev.Counters().GenMismatch)
	r.tick()
	require.Equal(t, Hardware, r.b.Poll(r.now))
}
