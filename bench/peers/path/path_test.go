// SPDX-License-Identifier: Apache-2.0

package path

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/uetcc/uetcc/bench/peers/codec"
	"github.com/uetcc/uetcc/bench/peers/cores"
)

func TestStepsFitTogether(t *testing.T) {
	e := newEngine(3)
	c := &e.conns[2]
	for i := range uint32(5000) {
		e.send(c)
		if !e.target(e.hdr[:]) || !e.source(e.ack[:], int64(i)*80, 0) {
			t.Fatalf("packet %d was refused", i)
		}
	}
	if c.rx.Base != 5000 || e.conns[0].rx.Base != 0 || c.ctl.Cwnd <= 150_000 {
		t.Fatal(c.rx.Base, e.conns[0].rx.Base, c.ctl.Cwnd)
	}
}

var sink uint64

const batch = 32

// randomOrder is which of n connections each of many packets belongs to.
func randomOrder(n int) []uint16 {
	r := rand.New(rand.NewPCG(1, 5))
	order := make([]uint16, 1<<16)
	for i := range order {
		order[i] = uint16(r.IntN(n))
	}
	return order
}

// BenchmarkFloorPath takes packets of n connections in random order. "-by-32"
// touches the contexts of 32 packets before it works on them. "send-of-4" sends four packets for
// one acknowledgement, so it takes four times as long as one; "target-of-4" acknowledges each
// fourth request.
func BenchmarkFloorPath(b *testing.B) {
	for _, n := range []int{1, 1 << 10, 1 << 16} {
		e := newEngine(n)
		order := randomOrder(n)
		delay := func(i int) int64 { return int64(i * 7 % 18_000) }
		send := func(i int, c *conn) bool { e.send(c); return true }
		target := func(i int, c *conn) bool { e.prologue(c, c.rx.Base); return e.target(e.hdr[:]) }
		both := func(i int, c *conn) bool {
			e.send(c)
			binary.BigEndian.PutUint16(e.ack[10:], c.id)
			return e.source(e.ack[:], int64(i)*80, delay(i))
		}
		source := func(i int, c *conn) bool {
			binary.BigEndian.PutUint16(e.ack[10:], c.id)
			return e.source(e.ack[:], int64(i)*80, delay(i))
		}
		four := func(i int, c *conn) bool {
			for range 3 {
				e.send(c)
			}
			return both(i, c)
		}
		quarter := func(i int, c *conn) bool { // an acknowledgement for each fourth request
			e.prologue(c, c.rx.Base)
			if i%4 != 0 {
				return e.mark(e.hdr[:])
			}
			return e.target(e.hdr[:])
		}
		all := func(i int, c *conn) bool {
			c.next = c.rx.Base
			e.send(c)
			return e.target(e.hdr[:]) && e.source(e.ack[:], int64(i)*80, delay(i))
		}
		a := codec.Ack{Prologue: 0x4d12, Bitmap: 0x00ff00ff00ff00ff}
		for _, s := range []struct {
			name  string
			ahead bool
			step  func(i int, c *conn) bool
		}{
			{"send", false, send}, {"target", false, target}, {"source", false, source},
			{"target-by-32", true, target}, {"source-by-32", true, source},
			{"target-of-4", false, quarter}, {"send-of-4+source", false, four}, {"send-of-4+source-by-32", true, four},
			{"send+source", false, both}, {"send+source-by-32", true, both},
			{"send+target+source", false, all}, {"send+target+source-by-32", true, all},
		} {
			b.Run(fmt.Sprintf("pdcs=%d/%s", n, s.name), func(b *testing.B) {
				b.ReportAllocs()
				a.Put(e.ack[:])
				for i := 0; b.Loop(); i++ {
					at := i & 0xffff
					if s.ahead && at%batch == 0 {
						sink += e.touch(order[at : at+batch])
					}
					if !s.step(i, e.byID[order[at]]) {
						b.Fatal("refused")
					}
				}
			})
		}
	}
}

// BenchmarkFloorPathCores is send+source-by-32 on several cores at once, each with
// connections of its own; the time is that of a packet on one of them.
func BenchmarkFloorPathCores(b *testing.B) {
	engines, orders := make([]*engine, runtime.GOMAXPROCS(0)), make([][]uint16, runtime.GOMAXPROCS(0))
	for i := range engines {
		engines[i], orders[i] = newEngine(1<<10), randomOrder(1<<10)
	}
	cores.Run(b, "", func(core, from, to int) {
		if !engines[core].sendAndSource(from, to, orders[core]) {
			b.Error("refused")
		}
	})
}

// sendAndSource takes packets through send and source, in batches.
func (e *engine) sendAndSource(from, to int, order []uint16) bool {
	(&codec.Ack{Prologue: 0x4d12, Bitmap: 0x00ff00ff00ff00ff}).Put(e.ack[:])
	var sum uint64
	for i := from; i < to; i++ {
		at := i & 0xffff
		if at%batch == 0 {
			sum += e.touch(order[at : at+batch])
		}
		c := e.byID[order[at]]
		e.send(c)
		binary.BigEndian.PutUint16(e.ack[10:], c.id)
		if !e.source(e.ack[:], int64(i)*80, int64(i*7%18_000)) {
			return false
		}
	}
	return sum != 1
}
