// SPDX-License-Identifier: Apache-2.0

package stacks

import (
	"testing"
	"time"

	"github.com/xtaci/kcp-go/v5"
)

const (
	segment = 1000 // bytes of payload, less than its default MTU
	window  = 64   // segments
)

// A wire keeps the packets on their way to one end.
type wire struct {
	packets [][]byte
	n       int
}

func (w *wire) put(p []byte, size int) {
	if w.n == len(w.packets) {
		w.packets = append(w.packets, make([]byte, 0, 2048))
	}
	w.packets[w.n] = append(w.packets[w.n][:0], p[:size]...)
	w.n++
}

// take hands the packets to an end and returns how many there were.
func (w *wire) take(k *kcp.KCP) int {
	n := w.n
	for _, p := range w.packets[:n] {
		k.Input(p, kcp.IKCP_PACKET_REGULAR, true)
	}
	w.n = 0
	return n
}

func newKCP(out *wire) *kcp.KCP {
	k := kcp.NewKCP(1, out.put)
	k.NoDelay(1, 10, 2, 1) // acknowledge at once, no congestion window
	k.WndSize(window, 4*window)
	return k
}

// A flight is a window of segments between two ends of KCP, over and over, with the
// time that each step took.
type flight struct {
	from, to            *kcp.KCP
	there, back         wire
	message, read       []byte
	queue, receive, ack time.Duration
	segments            int
}

func newFlight() *flight {
	f := &flight{message: make([]byte, segment), read: make([]byte, 2*segment)}
	f.from, f.to = newKCP(&f.there), newKCP(&f.back)
	return f
}

func (f *flight) step() {
	start := time.Now()
	for f.from.WaitSnd() < 2*window {
		f.from.Send(f.message)
	}
	queued := time.Now()
	for f.there.n == 0 { // the first flight, and whatever waits for its clock
		f.from.Update()
	}
	sent := time.Now()
	f.segments += f.there.take(f.to)
	for f.to.Recv(f.read) > 0 {
	}
	received := time.Now()
	f.back.take(f.from)
	f.queue += queued.Sub(start)
	f.receive += received.Sub(sent)
	f.ack += time.Since(received)
}

// BenchmarkKCP is one flight an iteration. Its times are those of a segment: queued,
// received (read by the application, and acknowledged), and acknowledged (with the
// next one sent).
func BenchmarkKCP(b *testing.B) {
	f := newFlight()
	for range 32 {
		f.step() // buffers grow
	}
	f.queue, f.receive, f.ack, f.segments = 0, 0, 0, 0
	b.ReportAllocs()
	for b.Loop() {
		f.step()
	}
	per := func(unit string, d time.Duration) {
		b.ReportMetric(float64(d.Nanoseconds())/float64(f.segments), unit)
	}
	per("ns/seg-queue", f.queue)
	per("ns/seg-receive", f.receive)
	per("ns/seg-ack+send", f.ack)
}
