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
// software writes to its ring, one by one or 32 at once, from which the engine takes up
// to 32. The peers' Hop/stream passes one word.
func BenchmarkHandOver(b *testing.B) {
	b.Run("by=post", func(b *testing.B) {
		m := cccManager(b, 1, ccc.ManagerConfig{Params: cccParams(b, cccConfig())})
		if !m.TryOwn() {
			b.Fatal("owned")
		}
		e := ccc.Event{Kind: ccc.EventNewData, PDC: ccc.NewHandle(0, 1), Size: 1}
		handOver(b, func() bool { return m.Post(e) }, m.Drain)
	})
	b.Run("by=ring", func(b *testing.B) { overRing(b, 1) })
	b.Run("by=ring-by-32", func(b *testing.B) { overRing(b, 32) })
}

// overRing posts so many events at once.
func overRing(b *testing.B, batch int) {
	nic, ring := eventRing(b, 10)
	var in, out [32]hw.Event
	for i := range in {
		in[i] = hw.Event{Type: hw.EventACKCC, Stamp: 1}
	}
	var drained struct {
		atomic.Uint32
		_ [60]byte
	}
	seen, taken, sent, pending := uint32(0), uint32(0), uint32(0), 0
	handOver(b, func() bool {
		if pending++; pending < batch {
			return true
		}
		if sent+uint32(batch)-seen > 1<<10 { // they would be lost
			if seen = drained.Load(); sent+uint32(batch)-seen > 1<<10 {
				pending--
				return false
			}
		}
		nic.Post(in[:batch]...)
		sent += uint32(batch)
		pending = 0
		return true
	}, func() {
		n := ring.Drain(out[:])
		for i := range out[:n] {
			if out[i].Serial != taken {
				b.Errorf("event %d instead of %d", out[i].Serial, taken)
			}
			taken++
		}
		if n > 0 {
			drained.Store(taken)
		}
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
