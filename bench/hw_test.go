// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"math/rand/v2"
	"testing"

	"github.com/uetcc/uetcc/hw"
	"github.com/uetcc/uetcc/hw/cbfc"
	"github.com/uetcc/uetcc/hw/hbm"
	"github.com/uetcc/uetcc/hw/pcc"
)

// BenchmarkCBFC is the decision whether a packet may start on a lossless link.
func BenchmarkCBFC(b *testing.B) {
	b.Run("ib/can-send", func(b *testing.B) {
		var tx cbfc.Tx
		tx.OnFlowControl(2048)
		b.ReportAllocs()
		for b.Loop() {
			if !tx.CanSend(66) {
				b.Fatal("blocked")
			}
		}
	})
	b.Run("ib/send+update", func(b *testing.B) {
		var tx cbfc.Tx
		b.ReportAllocs()
		for b.Loop() {
			tx.OnFlowControl(tx.FCTBS + 2048)
			if !tx.CanSend(66) {
				b.Fatal("blocked")
			}
			tx.OnSend(66)
		}
	})
	b.Run("ue/can-send", func(b *testing.B) {
		s, _ := cbfc.NewSender([]int64{4000, 4000}, 8000)
		b.ReportAllocs()
		for b.Loop() {
			if !s.CanSend(1, 33) {
				b.Fatal("blocked")
			}
		}
	})
}

// BenchmarkZTR is one event of a flow: samples with mixed delays, a third of
// the events a CNP.
func BenchmarkZTR(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	events := make([]pcc.Event, 4096)
	for i := range events {
		now := uint32(i) * 9000
		events[i] = pcc.Event{
			Type: pcc.EventRTT, Time: now,
			Stamps: pcc.Stamps{ReqSend: now - 6000 - r.Uint32N(20000), ReqRecv: 5, RespSend: 605},
		}
		if r.IntN(3) == 0 {
			events[i].Type = pcc.EventCNP
		}
	}
	b.Run("template", func(b *testing.B) {
		p := pcc.DefaultTemplateParams()
		var f pcc.Template
		var n pcc.TemplateCounters
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			f.OnEvent(&p, &events[i&4095], &n)
			i++
		}
	})
	b.Run("expected-delay", func(b *testing.B) {
		p := pcc.DefaultZTRParams()
		var f pcc.ZTR
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			f.OnEvent(&p, &events[i&4095])
			i++
		}
	})
}

// BenchmarkHBM is a write handed to the memory controller and retired, with
// seven requesters.
func BenchmarkHBM(b *testing.B) {
	c, err := hbm.NewController(hbm.Config{Channels: 8, Banks: 16, Requesters: 7, Depth: 64, Rate: 50e9, Interleave: 4096})
	if err != nil {
		b.Fatal(err)
	}
	var done [8]hbm.Done
	now := int64(0)
	b.ReportAllocs()
	for b.Loop() {
		now += 20
		if c.Submit(now, hbm.Request{Requester: int(now/20) % 7, Addr: uint64(now) << 10, Bytes: 4096}) != nil {
			b.Fatal("full")
		}
		c.Retire(now, done[:])
	}
}

// BenchmarkHW is what the engine does to a device's registers: a window written,
// a doorbell rung, events drained in batches of 32.
func BenchmarkHW(b *testing.B) {
	cfg := hw.SoftConfig{Contexts: 1, Owners: 1, Features: hw.FeatureWindow | hw.FeatureEvents, LineRate: 100e9, MTU: 4096}
	memory := hw.NewMemory(cfg.SpaceSize())
	if _, err := hw.NewSoftDevice(cfg, memory, hw.NewMemory(1<<16)); err != nil {
		b.Fatal(err)
	}
	mapped, err := hw.WrapBAR(make([]byte, 1<<14))
	if err != nil {
		b.Fatal(err)
	}
	for off := uint32(0); off < mapped.Size() && off < memory.Size(); off += 8 {
		mapped.Store64(off, memory.Load64(off))
	}
	for _, space := range []struct {
		name string
		hw.Space
	}{{"memory", memory}, {"bar", mapped}} {
		dev, err := hw.Open(space)
		if err != nil {
			b.Fatal(err)
		}
		if err := dev.Enable(cfg.Features); err != nil {
			b.Fatal(err)
		}
		c, _ := dev.Context(0)
		bell, _ := dev.Doorbell(0)
		b.Run("cwnd/"+space.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.SetCwnd(75776)
			}
		})
		b.Run("doorbell/"+space.name, func(b *testing.B) {
			b.ReportAllocs()
			for index := uint16(0); b.Loop(); index++ {
				bell.Ring(&c, 1, index)
			}
		})
	}
	ringNIC, ring := eventRing(b, 10)
	var in, out [32]hw.Event
	for i := range in {
		in[i] = hw.Event{Type: hw.EventACKCC, Stamp: 1}
	}
	b.Run("event/post+drain-by-32", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if i&31 != 31 {
				continue
			}
			if ringNIC.Post(in[:]...); ring.Drain(out[:]) != 32 {
				b.Fatal("lost")
			}
		}
	})
}
