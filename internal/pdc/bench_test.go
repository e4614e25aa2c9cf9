// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"testing"

	"github.com/uetcc/uetcc/pds"
)

// arrivalOrders give the i-th PSN to arrive, as in the peers' ranges package.
var arrivalOrders = []struct {
	name string
	psn  func(i uint32) uint32
}{
	{"inorder", func(i uint32) uint32 { return i }},
	{"spray", func(i uint32) uint32 { return i ^ 31 }},
	{"gap1of64", func(i uint32) uint32 {
		if i%64 == 63 {
			return i - 63
		}
		return i + 1
	}},
}

// BenchmarkRecvWindow marks a packet as arrived and takes the SACK of its
// acknowledgement. Its peer is Receive/<order>/floor-ring+sack.
func BenchmarkRecvWindow(b *testing.B) {
	for _, o := range arrivalOrders {
		b.Run("op=accept+sack/order="+o.name, func(b *testing.B) {
			b.ReportAllocs()
			var w recvWindow
			f := newFar(b)
			w.Init(0)
			i := uint32(0)
			for b.Loop() {
				psn := pds.PSN(o.psn(i))
				if w.Classify(f, psn, defaultRange) == arrivalNew {
					w.Accept(f, psn-w.Missing())
				}
				sinkU64 += w.SACK(f, w.SACKBase(psn))
				i++
			}
		})
	}
}

var sinkU64 uint64

// BenchmarkSendWindow merges SACKs, 32 in a row for the same 64 packets, as
// Sender/floor-merge-64-packets of the peers does; here the bytes of the packets
// that are new, two on average, are also counted for congestion control.
func BenchmarkSendWindow(b *testing.B) {
	p, err := NewParams(Config{})
	if err != nil {
		b.Fatal(err)
	}
	setup := func() (*memory, *sendWindow) {
		m, _ := newMemory(memoryConfig{MemoryConfig: MemoryConfig{Chunks: defaultRange/chunkLen + 1}, pdcs: 1})
		w := new(sendWindow)
		w.Init(&p, m, 1, 0)
		for range defaultRange {
			_ = w.push(&p, m, uint64(w.tail), 4096, 0)
			sendNext(w, &p, m, 0)
		}
		return m, w
	}
	b.Run("op=merge/new=0", func(b *testing.B) {
		b.ReportAllocs()
		m, w := setup()
		var a ackNews
		var r ackGain
		i := uint32(0)
		for b.Loop() {
			a.SACK = 0x5555555555555555 << (i & 1)
			w.merge(m, i&^31%896, &a, &r)
			i++
		}
	})
	b.Run("op=merge/new=2", func(b *testing.B) {
		b.ReportAllocs()
		m, w := setup()
		var a ackNews
		var r ackGain
		i := uint32(0)
		for b.Loop() {
			a.SACK = 0x5555555555555555 << (i & 1)
			w.merge(m, i&^31%896, &a, &r)
			if i%32 == 31 { // the next 32 are for other packets; these are new again the next time
				for k := range uint32(2) {
					c, _ := w.at(m, i&^31%896+k*rowLen)
					c.acked, c.flight = 0, ^uint64(0)
				}
			}
			i++
		}
	})
	b.Run("op=send+ack", func(b *testing.B) {
		b.ReportAllocs()
		m, _ := newMemory(memoryConfig{MemoryConfig: MemoryConfig{Chunks: 4}, pdcs: 1})
		w := new(sendWindow)
		w.Init(&p, m, 1, 0)
		psn := pds.PSN(0)
		a := ackNews{}
		var r ackGain
		for b.Loop() {
			_ = w.push(&p, m, uint64(w.tail), 4096, 0)
			sendNext(w, &p, m, 0)
			a.CACK, a.AckPSN = psn, psn
			w.OnACK(m, 1, &a, &r)
			m.pop(&Event{})
			psn++
		}
	})
}
