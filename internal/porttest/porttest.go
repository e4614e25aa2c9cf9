// SPDX-License-Identifier: Apache-2.0

// Package porttest tests the duties of every port.Port.
package porttest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/uetcc/uetcc/hw/port"
	"github.com/uetcc/uetcc/internal/alloctest"
)

// Run runs the suite on ports that open opens in pairs, peers of each other.
func Run(t *testing.T, open func(t *testing.T) (a, b port.Port)) {
	for name, test := range map[string]func(t *testing.T, a, b port.Port){
		"each packet brings its own TOS byte": eachTOS,
		"a batch arrives whole and in order":  batches,
		"empty and long packets arrive, too":  sizes,
		"what waits":                          waits,
		"no packet is left without a word":    left,
		"nothing is allocated":                allocs,
		"a closed port says so":               closes,
	} {
		t.Run(name, func(t *testing.T) {
			a, b := open(t)
			test(t, a, b)
		})
	}
}

// Await calls f with packets of p until n have come. The packets are gone afterwards.
func Await(t *testing.T, p port.Port, n int, f func(q *port.Packet)) {
	t.Helper()
	var in [64]port.Packet
	for end := time.Now().Add(20 * time.Second); n > 0; {
		k, err := p.Receive(in[:min(n, len(in))])
		require.NoError(t, err)
		for i := range in[:k] {
			f(&in[i])
		}
		n -= k
		if k == 0 {
			require.True(t, time.Now().Before(end), "%d packets are missing; %+v", n, p.Stats())
			require.NoError(t, p.Wait(int64(time.Second), false))
		}
	}
}

// send sends all of the packets.
func send(t *testing.T, p port.Port, packets []port.Packet) {
	t.Helper()
	for len(packets) > 0 {
		n, err := p.Send(packets)
		require.NoError(t, err)
		if packets = packets[n:]; len(packets) > 0 {
			require.NoError(t, p.Wait(int64(time.Second), true))
		}
	}
}

func eachTOS(t *testing.T, a, b port.Port) {
	var out []port.Packet
	for _, tos := range []uint8{0, 1, 2, 3, 46 << 2, 46<<2 | 2, 46<<2 | 3} {
		for range 3 {
			out = append(out, port.Packet{Peer: b.Local(), Data: []byte{tos}, TOS: tos})
		}
	}
	send(t, a, out)
	i := 0
	Await(t, b, len(out), func(q *port.Packet) {
		require.Equal(t, out[i].Data, q.Data)
		if untold := b.Stats().Untold; untold == 0 {
			require.Equal(t, out[i].TOS, q.TOS)
		}
		require.Equal(t, a.Local(), q.Peer)
		i++
	})
}

func batches(t *testing.T, a, b port.Port) {
	var out []port.Packet
	for i := range 300 {
		length := []int{1084, 1084, 1084, 1084, 1084, 64, 700}[i%7]
		data := make([]byte, length)
		copy(data, fmt.Sprint("packet ", i))
		cut := i % 50
		out = append(out, port.Packet{Peer: b.Local(), Data: data[:cut], Tail: data[cut:], TOS: 2})
	}
	for len(out) > 0 {
		n := min(len(out), 60) // no more than a small queue holds
		send(t, a, out[:n])
		i := 0
		Await(t, b, n, func(q *port.Packet) {
			require.Equal(t, string(out[i].Data)+string(out[i].Tail), string(q.Data))
			i++
		})
		out = out[n:]
	}
}

func sizes(t *testing.T, a, b port.Port) {
	var out []port.Packet
	for _, length := range []int{4, 0, 4, 4, 0, 0, 0, 9216, 9217} {
		if length+48 <= b.LinkMTU() { // with the headers of IP and UDP
			out = append(out, port.Packet{Peer: b.Local(), Data: make([]byte, length)})
		}
	}
	send(t, a, out)
	i := 0
	Await(t, b, len(out), func(q *port.Packet) {
		require.Len(t, q.Data, len(out[i].Data))
		i++
	})
	require.EqualValues(t, len(out), a.Stats().Sent)
	require.EqualValues(t, len(out), b.Stats().Received)
}

func waits(t *testing.T, a, b port.Port) {
	require.NoError(t, b.Wait(0, false))
	require.NoError(t, b.Wait(1000, false))
	b.Wake()
	require.NoError(t, b.Wait(-1, false), "a Wake before the Wait")
	go b.Wake()
	require.NoError(t, b.Wait(-1, false))
	send(t, a, []port.Packet{{Peer: b.Local(), Data: []byte("packet")}})
	require.NoError(t, b.Wait(-1, false))
	Await(t, b, 1, func(*port.Packet) {})
	require.NoError(t, a.Wait(-1, true), "there is room")

	over := make(chan struct{})
	go func() { // beside Waits that empty the bell
		defer close(over)
		for range 20000 {
			b.Wake()
		}
	}()
	for on := true; on; {
		select {
		case <-over:
			on = false
		default:
			require.NoError(t, b.Wait(0, false))
		}
	}
	require.NoError(t, b.Wait(0, false))
	b.Wake()
	require.NoError(t, b.Wait(-1, false), "none is lost: else this Wait has no end")
}

// left takes packets that have come together in small bites: as long as packets are left the port
// reports More.
func left(t *testing.T, a, b port.Port) {
	const all = 50
	var out []port.Packet
	for i := range all {
		out = append(out, port.Packet{Peer: b.Local(), Data: make([]byte, 1+i%7*100)})
	}
	require.False(t, b.More())
	send(t, a, out)
	var in [20]port.Packet
	for got, more := 0, false; got < all; {
		if !more {
			require.NoError(t, b.Wait(int64(time.Second), false))
		}
		n, err := b.Receive(in[:])
		require.NoError(t, err)
		if got += n; n == 0 && !more { // a busy kernel has lost the rest
			send(t, a, out[got:])
			continue // of these the port may have told already
		}
		more = b.More()
		require.True(t, more || n < len(in))
		require.True(t, n > 0 || !more)
	}
	n, err := b.Receive(in[:])
	require.NoError(t, err)
	require.Zero(t, n)
	require.False(t, b.More())
}

func allocs(t *testing.T, a, b port.Port) {
	data := make([]byte, 1000)
	out := []port.Packet{{Peer: b.Local(), Data: data[:60], Tail: data, TOS: 2}, {Peer: b.Local(), Data: data[:60], Tail: data, TOS: 2}}
	var in [4]port.Packet
	alloctest.Zero(t, "a packet there", func() {
		if n, err := a.Send(out); n != len(out) || err != nil {
			panic(fmt.Sprint("sent ", n, err))
		}
		for got := 0; got < len(out); {
			n, err := b.Receive(in[:])
			if got += n; err != nil || got < len(out) && b.Wait(int64(time.Second), false) != nil {
				panic("not received as sent")
			}
		}
	})
}

func closes(t *testing.T, a, b port.Port) {
	go func() {
		time.Sleep(time.Millisecond)
		_ = b.Close()
	}()
	var err error
	for err == nil {
		err = b.Wait(-1, false)
	}
	require.ErrorIs(t, err, net.ErrClosed)
	_, err = b.Receive(make([]port.Packet, 1))
	require.ErrorIs(t, err, net.ErrClosed)
	_, err = b.Send([]port.Packet{{Peer: a.Local(), Data: []byte("x")}})
	require.True(t, errors.Is(err, net.ErrClosed), "%v", err)
	b.Wake()
	require.NoError(t, b.Close())
}

// leavings is the resources that opened things may leave.
type leavings struct {
	goroutines, descriptors int // descriptors: 0 where the system does not say
	heap                    uint64
}

func leftNow() (l leavings) {
	runtime.GC()
	runtime.GC() // what has finalizers, or lay in a pool
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	all, _ := os.ReadDir("/proc/self/fd")
	return leavings{runtime.NumGoroutine(), len(all), m.HeapAlloc}
}

// NoLeak calls f, which opens and closes, n times, in a short test n/10 times, and fails t if
// goroutines, descriptors or memory are left.
func NoLeak(t *testing.T, n int, f func(i int)) {
	t.Helper()
	if testing.Short() {
		n /= 10
	}
	defer debug.SetGCPercent(debug.SetGCPercent(1000)) // half of the time went there
	for i := range 10 {
		f(i)
	}
	before := leftNow()
	for i := range n {
		f(i)
	}
	const slack = 1 << 20 // what the runtime and the test itself keep
	var after leavings
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) { // goroutines that are at their end
		if after = leftNow(); after.goroutines <= before.goroutines && after.descriptors <= before.descriptors && after.heap <= before.heap+slack {
			return
		}
	}
	require.Fail(t, "a leak", "%+v before and %+v after %d times", before, after, n)
}
