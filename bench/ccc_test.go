// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/prefetch"
	"github.com/uetcc/uetcc/nscc"
)

// cccConfig is the fabric of the yardstick: 100 Gb/s, 12 us.
func cccConfig() ccc.Config {
	return ccc.Config{NSCC: nscc.Config{LinkRate: 100e9 / 8, BaseRTT: 12_000, MTU: 4096, Trimming: true}}
}

func cccParams(b testing.TB, c ccc.Config) *ccc.Params {
	p, err := ccc.NewParams(c)
	if err != nil {
		b.Fatal(err)
	}
	return &p
}

// cccAcks are 4096 acknowledgements with the signals of WindowShape/mixed.
func cccAcks() []ccc.Ack {
	r := rand.New(rand.NewPCG(1, 1))
	acks := make([]ccc.Ack, 4096)
	for i := range acks {
		acks[i] = ccc.Ack{Packets: 1, Entropy: uint16(r.Uint32()),
			Ack: nscc.Ack{Bytes: 4096, RTT: 12_000 + r.Int64N(18_000), ECN: r.IntN(3) == 0}}
	}
	return acks
}

// cccOrder visits n contexts at random.
func cccOrder(n int) []uint16 {
	r := rand.New(rand.NewPCG(2, 2))
	order := make([]uint16, 1<<20)
	for i := range order {
		order[i] = uint16(r.IntN(n))
	}
	return order
}

// cccManager has n contexts of one PDC each, all with data.
func cccManager(b testing.TB, n int, c ccc.ManagerConfig) *ccc.Manager {
	c.Contexts, c.PDCs, c.Seed = n, n, 1
	m, err := ccc.NewManager(c)
	if err != nil {
		b.Fatal(err)
	}
	for i := range n {
		h := ccc.NewHandle(uint16(i), 1)
		if m.Open(h, 0, 0) != nil || m.Bind(h, h, 0, false) != nil {
			b.Fatal("no context")
		}
		m.OnNewData(h, 0, 1<<50)
	}
	return m
}

// BenchmarkCCCOnACK is one acknowledgement by the window alone, through a context
// (counters, decision, run state), and through a manager (path choice, PDC,
// turns). The PDC's packet is sent in the same step for the manager, which
// believes only what was sent; plain is that by the two steps for the case that
// nearly always holds.
func BenchmarkCCCOnACK(b *testing.B) {
	acks := cccAcks()
	for _, n := range []int{1, 1 << 10, 1 << 16} {
		order := cccOrder(n)
		b.Run(fmt.Sprintf("by=window/contexts=%d", n), func(b *testing.B) {
			p := cccParams(b, cccConfig())
			ws := make([]nscc.Window, n)
			for i := range ws {
				ws[i].Init(p.NSCC(), 0, 0)
			}
			b.ReportAllocs()
			i, now := 0, int64(0)
			for b.Loop() {
				ws[order[i&(1<<20-1)]].OnACK(p.NSCC(), now, acks[i&4095].Ack)
				now += 80
				i++
			}
		})
		b.Run(fmt.Sprintf("by=context/contexts=%d", n), func(b *testing.B) {
			p := cccParams(b, cccConfig())
			cs := make([]ccc.Context, n)
			for i := range cs {
				cs[i].Init(p, 0, 0)
				cs[i].Bind(p, 0)
				cs[i].OnNewData(p, 0, 1<<50)
			}
			b.ReportAllocs()
			i, now := 0, int64(0)
			for b.Loop() {
				cs[order[i&(1<<20-1)]].OnACK(p, now, acks[i&4095])
				now += 80
				i++
			}
		})
		b.Run(fmt.Sprintf("by=manager+send/contexts=%d", n), func(b *testing.B) {
			m := cccManager(b, n, ccc.ManagerConfig{Params: cccParams(b, cccConfig())})
			b.ReportAllocs()
			i, now := 0, int64(0)
			for b.Loop() {
				h := ccc.NewHandle(order[i&(1<<20-1)], 1)
				m.OnSend(h, now, ccc.Sent{Size: 4096})
				m.OnACK(h, now, &acks[i&4095])
				now += 80
				i++
			}
		})
		b.Run(fmt.Sprintf("by=manager+send/plain/contexts=%d", n), func(b *testing.B) {
			m := cccManager(b, n, ccc.ManagerConfig{Params: cccParams(b, cccConfig())})
			sent, news := &ccc.Run{Most: 1, Size: 4096}, &ccc.Run{Acks: 1}
			b.ReportAllocs()
			i, now := 0, int64(0)
			for b.Loop() {
				h, a := ccc.NewHandle(order[i&(1<<20-1)], 1), &acks[i&4095]
				news.News[0] = ccc.PlainAck{PlainAck: nscc.MakePlainAck(a.Bytes, a.RTT, a.ECN), Packets: 1, Entropy: a.Entropy}
				if !m.Exchange(h, now, sent) || !m.Exchange(h, now, news) {
					b.Fatal("not plain")
				}
				now += 80
				i++
			}
		})
		b.Run(fmt.Sprintf("by=manager+send/prefetch=32/contexts=%d", n), func(b *testing.B) {
			m := cccManager(b, n, ccc.ManagerConfig{Params: cccParams(b, cccConfig())})
			b.ReportAllocs()
			i, now := 0, int64(0)
			for b.Loop() {
				if i%32 == 0 {
					for _, next := range order[i&(1<<20-1):][:32] {
						prefetch.Lines(m.ContextLines(next))
					}
				}
				h := ccc.NewHandle(order[i&(1<<20-1)], 1)
				m.OnSend(h, now, ccc.Sent{Size: 4096})
				m.OnACK(h, now, &acks[i&4095])
				now += 80
				i++
			}
		})
	}
}

// BenchmarkCCCSend is a packet's way out: the decision, and the count.
func BenchmarkCCCSend(b *testing.B) {
	p := cccParams(b, cccConfig())
	var c ccc.Context
	c.Init(p, 0, 0)
	c.Bind(p, 0)
	c.OnNewData(p, 0, 1<<60)
	b.Run("op=decide", func(b *testing.B) {
		b.ReportAllocs()
		var sum int64
		for b.Loop() {
			sum += c.Decide(p, 0).Bytes
		}
		if sum < 0 {
			b.Fatal(sum)
		}
	})
	b.Run("op=send+ack", func(b *testing.B) {
		b.ReportAllocs()
		a := ccc.Ack{Ack: nscc.Ack{Bytes: 4096}, Packets: 1}
		for b.Loop() {
			c.OnSend(p, 0, 4096, false)
			c.OnACK(p, 0, a)
		}
	})
	b.Run("op=message+send+ack/plain", func(b *testing.B) {
		m := cccManager(b, 1, ccc.ManagerConfig{Params: p})
		h, now := ccc.NewHandle(0, 1), int64(0)
		m.OnWithdraw(h, now, 1<<50) // each packet is the last that its PDC has
		sent, news := &ccc.Run{Most: 1, Size: 4096}, &ccc.Run{Acks: 1}
		news.News[0] = ccc.PlainAck{PlainAck: nscc.MakePlainAck(4096, 12_100, false), Packets: 1}
		b.ReportAllocs()
		for b.Loop() {
			m.OnNewData(h, now, 4096)
			if !m.Exchange(h, now, sent) || !m.Exchange(h, now, news) {
				b.Fatal("not plain")
			}
			now += 80
		}
	})
}

// BenchmarkCCCGate is a reservation and its return, alone and by all cores.
func BenchmarkCCCGate(b *testing.B) {
	m := cccManager(b, 1, ccc.ManagerConfig{Params: cccParams(b, cccConfig()), Admission: true})
	g := m.Gate(ccc.NewHandle(0, 1))
	b.Run("op=reserve+giveback/alone", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if g.TryReserve(4096) {
				g.GiveBack(4096)
			}
		}
	})
	b.Run("op=reserve+giveback/parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if g.TryReserve(4096) {
					g.GiveBack(4096)
				}
			}
		})
	})
	b.Run("op=refused", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if g.TryReserve(1 << 40) {
				b.Fatal("above the window")
			}
		}
	})
}

// BenchmarkCCCCores is what several cores do at once to contexts of their own: an
// acknowledgement taken in, by one of 1k contexts, and a reservation and its
// return. The time is that on one of them. Nothing is shared, so it should grow no
// more than the peers' WindowShapeCores and AdmitCores.
func BenchmarkCCCCores(b *testing.B) {
	const contexts = 1 << 10
	acks, order, p := cccAcks(), cccOrder(contexts), cccParams(b, cccConfig())
	own := make([][]ccc.Context, runtime.GOMAXPROCS(0))
	gates := make([]*ccc.Gate, len(own))
	for k := range own {
		own[k] = make([]ccc.Context, contexts)
		for i := range own[k] {
			c := &own[k][i]
			c.Init(p, 0, 0)
			c.Bind(p, 0)
			c.OnNewData(p, 0, 1<<50)
		}
		gates[k] = cccManager(b, 1, ccc.ManagerConfig{Params: p, Admission: true}).Gate(ccc.NewHandle(0, 1))
	}
	onCores(b, "op=ack/", func(core, from, to int) {
		cs := own[core]
		for i := from; i < to; i++ {
			cs[order[i&(1<<20-1)]].OnACK(p, int64(i)*80, acks[i&4095])
		}
	})
	onCores(b, "op=reserve+giveback/", func(core, from, to int) {
		g := gates[core]
		for range to - from {
			if g.TryReserve(4096) {
				g.GiveBack(4096)
			}
		}
	})
}

// BenchmarkCCCShared is what a second core costs: an event posted and handled,
// and a snapshot read.
func BenchmarkCCCShared(b *testing.B) {
	p := cccParams(b, cccConfig())
	h := ccc.NewHandle(0, 1)
	e := ccc.Event{Kind: ccc.EventACK, PDC: h, Ack: ccc.Ack{}}
	b.Run("op=post/alone", func(b *testing.B) {
		m := cccManager(b, 1, ccc.ManagerConfig{Params: p})
		b.ReportAllocs()
		for b.Loop() {
			m.Post(e)
		}
	})
	b.Run("op=post/parallel", func(b *testing.B) {
		m := cccManager(b, 1, ccc.ManagerConfig{Params: p})
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				for !m.Post(e) {
					runtime.Gosched()
				}
			}
		})
	})
	b.Run("op=refresh+snapshot", func(b *testing.B) {
		var v ccc.View
		m := cccManager(b, 1, ccc.ManagerConfig{Params: p})
		b.ReportAllocs()
		for b.Loop() {
			m.Refresh(h, &v)
			v.Snapshot()
		}
	})
}

// BenchmarkCCCEntropy is one value chosen and one report taken in, one in eight
// of them bad.
func BenchmarkCCCEntropy(b *testing.B) {
	for s := ccc.SchemeOblivious; s <= ccc.SchemeMixed; s++ {
		b.Run("scheme="+s.String(), func(b *testing.B) {
			p, err := ccc.NewEntropyParams(ccc.EntropyConfig{Scheme: s})
			if err != nil {
				b.Fatal(err)
			}
			var e ccc.Entropy
			side := make([]uint64, p.Words())
			e.Init(&p, 1)
			var a ccc.Ack
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				v := e.Next(&p, side, ccc.Progress{Seq: 1 << 20})
				a.Entropy, a.ECN = v, i&7 == 7
				e.OnACK(&p, side, 0, &a)
				i++
			}
		})
	}
}
