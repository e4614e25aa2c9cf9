package bench

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw"
)

// BenchmarkHandOver passes events to another core that takes them as they come: an
// event posted to a manager whose owner handles it, and one that a device in
// software writes to its ring, from which the engine takes up to 32 at a time. The
// peers' Hop/stream passes one word.
func BenchmarkHandOver(b *testing.B) {
	b.Run("by=post", func(b *testing.B) {
		m := cccManager(b, 1, ccc.ManagerConfig{Params: cccParams(b, cccConfig())})
		if !m.TryOwn() {
			b.Fatal("owned")
		}
		e := ccc.Event{Kind: ccc.EventNewData, PDC: ccc.NewHandle(0, 1), Size: 1}
		handOver(b, func() bool { return m.Post(e) }, m.Drain)
	})
	b.Run("by=ring", func(b *testing.B) {
		nic, ring := eventRing(b, 10)
		var buf [32]hw.Event
		serial, taken := uint32(0), uint32(0)
		sent, drained := uint32(0), new(atomic.Uint32)
		handOver(b, func() bool {
			if sent-drained.Load() >= 1<<10 {
				return false // it would be lost
			}
			nic.Post(hw.Event{Type: hw.EventACKCC, Stamp: 1})
			sent++
			return true
		}, func() {
			n := ring.Drain(buf[:])
			for i := range buf[:n] {
				if buf[i].Serial != serial {
					b.Errorf("event %d after %d", buf[i].Serial, serial-1)
				}
				serial++
			}
			if n > 0 {
				taken += uint32(n)
				drained.Store(taken)
			}
		})
	})
}

// eventRing is a device in software with a ring of 2^log2 events.
func eventRing(b *testing.B, log2 uint32) (*hw.SoftDevice, hw.Ring) {
	cfg := hw.SoftConfig{Contexts: 1, Owners: 1, Features: hw.FeatureWindow | hw.FeatureEvents, LineRate: 100e9, MTU: 4096}
	memory, host := hw.NewMemory(cfg.SpaceSize()), hw.NewMemory(1<<16)
	nic, err := hw.NewSoftDevice(cfg, memory, host)
	if err != nil {
		b.Fatal(err)
	}
	dev, err := hw.Open(memory)
	if err != nil {
		b.Fatal(err)
	}
	if err := dev.Enable(cfg.Features); err != nil {
		b.Fatal(err)
	}
	ring, err := dev.Ring(0, host, 0, log2)
	if err != nil {
		b.Fatal(err)
	}
	nic.Step(1)
	return nic, ring
}

// handOver calls put once an iteration, again while there is no room, and take on
// another core until everything has been put.
func handOver(b *testing.B, put func() bool, take func()) {
	b.ReportAllocs()
	var done atomic.Bool
	var other sync.WaitGroup
	other.Go(func() {
		for !done.Load() {
			take()
			runtime.Gosched()
		}
		take()
	})
	for b.Loop() {
		for !put() {
			runtime.Gosched()
		}
	}
	done.Store(true)
	other.Wait()
}
