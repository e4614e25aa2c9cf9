// SPDX-License-Identifier: Apache-2.0

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
// software writes to its ring, from which the engine takes up to 32, both one by one and
// 32 at once. The peers' Hop/stream passes one word, and its floor of 32 bytes four.
func BenchmarkHandOver(b *testing.B) {
	b.Run("by=post", func(b *testing.B) { overInbox(b, 1) })
	b.Run("by=post-by-32", func(b *testing.B) { overInbox(b, 32) })
	b.Run("by=ring", func(b *testing.B) { overRing(b, 1) })
	b.Run("by=ring-by-32", func(b *testing.B) { overRing(b, 32) })
}

// overInbox posts so many events at once.
func overInbox(b *testing.B, batch int) {
	m := cccManager(b, 1, ccc.ManagerConfig{Params: cccParams(b, cccConfig())})
	if !m.TryOwn() {
		b.Fatal("owned")
	}
	type poster struct {
		_       [64]byte
		events  [32]ccc.Event
		pending int
		_       [64]byte
	}
	p := &poster{}
	for i := range p.events {
		p.events[i] = ccc.Event{Kind: ccc.EventNewData, PDC: ccc.NewHandle(0, 1), Size: 1}
	}
	handOver(b, func() bool {
		if p.pending++; p.pending < batch {
			return true
		}
		if !m.Post(p.events[:batch]...) {
			p.pending--
			return false
		}
		p.pending = 0
		return true
	}, func() bool { m.Drain(); return false })
}

// overRing posts so many events at once. What one core writes has lines of its own.
func overRing(b *testing.B, batch int) {
	type engine struct {
		_     [64]byte
		ring  hw.Ring
		out   [32]hw.Event
		taken uint32
		_     [64]byte
		told  atomic.Uint32 // taken, for the device
		_     [60]byte
	}
	type device struct {
		in         [32]hw.Event
		seen, sent uint32
		pending    int
		_          [64]byte
	}
	nic, ring := eventRing(b, 10)
	e, d := &engine{ring: ring}, &device{}
	for i := range d.in {
		d.in[i] = hw.Event{Type: hw.EventACKCC, Stamp: 1}
	}
	handOver(b, func() bool {
		if d.pending++; d.pending < batch {
			return true
		}
		if d.sent+uint32(batch)-d.seen > 1<<10 { // they would be lost
			if d.seen = e.told.Load(); d.sent+uint32(batch)-d.seen > 1<<10 {
				d.pending--
				return false
			}
		}
		nic.Post(d.in[:batch]...)
		d.sent += uint32(batch)
		d.pending = 0
		return true
	}, func() bool {
		n := e.ring.Drain(e.out[:])
		for i := range e.out[:n] {
			if e.out[i].Serial != e.taken {
				b.Errorf("event %d instead of %d", e.out[i].Serial, e.taken)
			}
			e.taken++
		}
		if n > 0 {
			e.told.Store(e.taken)
		}
		return n > 0
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
// another core until everything has been put. Who finds nothing to do yields.
func handOver(b *testing.B, put, take func() bool) {
	b.ReportAllocs()
	var done atomic.Bool
	var other sync.WaitGroup
	other.Go(func() {
		for !done.Load() {
			if !take() {
				runtime.Gosched()
			}
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
