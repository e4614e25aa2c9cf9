// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/hw/node"
	"github.com/uetcc/uetcc/hw/port"
	"github.com/uetcc/uetcc/hw/udp"
)

// A lossyPort loses packets that it is to send.
type lossyPort struct {
	port.Port
	share  float64 // of them
	random *rand.Rand
	dead   atomic.Bool // loses all, in both directions
	lost   atomic.Int64
}

// listenLossy opens a node whose packets are lost with a probability.
func listenLossy(t *testing.T, address string, share float64, o node.Options) (*node.Node, *lossyPort) {
	t.Helper()
	p, err := udp.Open(udp.Config{Local: netip.MustParseAddrPort(address), ByPort: true})
	require.NoError(t, err)
	l := &lossyPort{Port: p, share: share, random: rand.New(rand.NewPCG(1, 2))}
	o.Port = l
	return listen(t, address, o), l
}

func (l *lossyPort) Send(packets []port.Packet) (int, error) {
	sent := 0
	for i := range packets {
		if l.dead.Load() || l.random.Float64() < l.share {
			l.lost.Add(1)
			if i > sent {
				if n, err := l.Port.Send(packets[sent:i]); err != nil || n < i-sent {
					return sent + n, err
				}
			}
			sent = i + 1
		}
	}
	n, err := l.Port.Send(packets[sent:])
	return sent + n, err
}

func (l *lossyPort) Receive(packets []port.Packet) (int, error) {
	n, err := l.Port.Receive(packets)
	if l.dead.Load() {
		n = 0
	}
	return n, err
}

// A hole is a port that loses packets with data that it is to send, while it is on, all but a few.
type hole struct {
	port.Port
	on        atomic.Bool
	few, lost atomic.Int64
}

func listenHole(t *testing.T, o node.Options) (*node.Node, *hole) {
	t.Helper()
	p, err := udp.Open(udp.Config{Local: netip.MustParseAddrPort("127.0.0.1:0"), ByPort: true})
	require.NoError(t, err)
	h := &hole{Port: p}
	o.Port = h
	return listen(t, "127.0.0.1:0", o), h
}

func (h *hole) Send(packets []port.Packet) (int, error) {
	var rest []port.Packet
	for i := range packets {
		if h.on.Load() && len(packets[i].Tail) > 0 && h.few.Add(-1) < 0 {
			h.lost.Add(1)
		} else {
			rest = append(rest, packets[i])
		}
	}
	if n, err := h.Port.Send(rest); err != nil || n < len(rest) { // what is left of a full queue is lost, too
		return len(packets), err
	}
	return len(packets), nil
}

// await waits until the hole has lost packets.
func (h *hole) await(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return h.lost.Load() > 0 }, deadline, time.Millisecond)
}

// A Send given up has packets under way that are lost and sent again, without their data: nobody takes them for a message.
// A Recv that has some of it ends with that; one that has none waits on.
func TestCancelledSend(t *testing.T) {
	for _, few := range []int64{0, 20} {
		t.Run(fmt.Sprintf("%d packets arrive", few), func(t *testing.T) {
			a, h := listenHole(t, node.Options{MTU: 1024})
			b := listen(t, "127.0.0.1:0", node.Options{MTU: 1024})
			_, err := b.Expose(make([]byte, 1))
			require.NoError(t, err)
			require.NoError(t, a.Write(soon(t), b.Addr(), node.At{}, []byte{1})) // the packets that open a PDC may be refused
			h.few.Store(few)
			h.on.Store(true)
			data, got := random(100_000, 12), make([]byte, 100_000)
			ended := make(chan error, 1)
			recv := node.Op{Kind: node.OpRecv, Tag: 1, Data: got, Done: func(op *node.Op) { ended <- op.Err }}
			require.NoError(t, b.Start(soon(t), &recv))
			ctx, cancel := context.WithCancel(soon(t))
			sent := make(chan error, 1)
			go func() { sent <- a.Send(ctx, b.Addr(), 1, data) }()
			h.await(t)
			require.Eventually(t, func() bool { return few == 0 || b.Stats().ReceivedBytes > 1 }, deadline, time.Millisecond)
			cancel()
			require.ErrorIs(t, <-sent, context.Canceled)
			h.on.Store(false)
			if few > 0 {
				err := <-ended
				require.ErrorIs(t, err, uetcc.ErrCancelled)
				require.ErrorContains(t, err, a.Addr().String())
				return
			}
			require.NoError(t, a.Send(soon(t), b.Addr(), 1, data))
			require.NoError(t, <-ended)
			require.True(t, bytes.Equal(data, got))
		})
	}
}

// What a Write given up leaves in the peer's memory is the bytes from before and the Write's, none other; so with Close.
func TestCancelledWrite(t *testing.T) {
	for _, end := range []string{"cancel", "close"} {
		t.Run(end, func(t *testing.T) {
			a, h := listenHole(t, node.Options{MTU: 1024})
			b := listen(t, "127.0.0.1:0", node.Options{MTU: 1024})
			memory := bytes.Repeat([]byte{1}, 4<<20)
			_, err := b.Expose(memory)
			require.NoError(t, err)
			h.few.Store(20)
			h.on.Store(true)
			ctx, cancel := context.WithCancel(soon(t))
			sent := make(chan error, 1)
			go func() { sent <- a.Write(ctx, b.Addr(), node.At{}, bytes.Repeat([]byte{2}, len(memory))) }()
			h.await(t)
			h.on.Store(false)
			if end == "close" {
				require.NoError(t, a.Close())
				require.ErrorIs(t, <-sent, node.ErrClosed)
			}
			cancel()
			if end == "cancel" {
				require.ErrorIs(t, <-sent, context.Canceled)
				require.NoError(t, a.Write(soon(t), b.Addr(), node.At{}, []byte{2})) // behind what is sent again
				time.Sleep(300 * time.Millisecond)
			}
			meet(b)
			require.Equal(t, len(memory), bytes.Count(memory, []byte{1})+bytes.Count(memory, []byte{2}))
		})
	}
}

// A region withdrawn while its data is on the way to a reader ends the read: it brought zeros, and ended well.
func TestWithdrawDuringRead(t *testing.T) {
	a := listen(t, "127.0.0.1:0", node.Options{})
	b, h := listenHole(t, node.Options{})
	r, err := b.Expose(random(64<<10, 13))
	require.NoError(t, err)
	h.on.Store(true)
	read := make(chan error, 1)
	go func() { read <- a.Read(soon(t), b.Addr(), node.At{Region: r}, make([]byte, 64<<10)) }()
	h.await(t)
	b.Withdraw(r)
	h.on.Store(false)
	require.ErrorIs(t, <-read, uetcc.ErrRejected)
}

// The sender to a Recv given up in the middle of the message hears of that: it heard that all is well.
func TestCancelledRecv(t *testing.T) {
	a, b := listen(t, "127.0.0.1:0", node.Options{}), listen(t, "127.0.0.1:0", node.Options{})
	ctx, cancel := context.WithCancel(soon(t))
	ended, sent := make(chan error, 1), make(chan error, 1)
	go func() {
		_, _, err := b.Recv(ctx, a.Addr(), 1, make([]byte, 64<<20))
		ended <- err
	}()
	go func() { sent <- a.Send(soon(t), b.Addr(), 1, make([]byte, 64<<20)) }()
	require.Eventually(t, func() bool { return b.Stats().ReceivedBytes > 0 }, deadline, time.Millisecond)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.ErrorIs(t, <-sent, uetcc.ErrCancelled)
	got := make([]byte, 1)
	go func() { sent <- a.Send(soon(t), b.Addr(), 2, []byte{7}) }()
	_, _, err := b.Recv(soon(t), a.Addr(), 2, got)
	require.NoError(t, err)
	require.NoError(t, <-sent)
	require.Equal(t, []byte{7}, got)
}

// A gate is a port that takes no packet in while it is shut.
type gate struct {
	port.Port
	shut atomic.Bool
}

func (g *gate) Receive(packets []port.Packet) (int, error) {
	if g.shut.Load() {
		return 0, nil
	}
	return g.Port.Receive(packets)
}

// So does the sender of a message whose last packet is the first after the end of the Recv.
func TestCancelledRecvBeforeLast(t *testing.T) {
	p, err := udp.Open(udp.Config{Local: netip.MustParseAddrPort("127.0.0.1:0"), ByPort: true})
	require.NoError(t, err)
	g := &gate{Port: p}
	a, b := listen(t, "127.0.0.1:0", node.Options{}), listen(t, "127.0.0.1:0", node.Options{Port: g})
	packets := func() uint64 { return a.Stats().Endpoints[0].PDS.Sent }
	ended, sent := make(chan error, 1), make(chan error, 1)
	go func() { sent <- a.Send(soon(t), b.Addr(), 1, []byte{1}) }()
	require.Eventually(t, func() bool { return b.Stats().Endpoints[0].Usage.Pending == 1 }, deadline, time.Millisecond)
	time.Sleep(10 * time.Millisecond) // a knows that the message waits for a Recv
	g.shut.Store(true)
	before := packets()
	ctx, cancel := context.WithCancel(soon(t))
	go func() {
		_, _, err := b.Recv(ctx, a.Addr(), 1, make([]byte, 1))
		ended <- err
	}()
	require.Eventually(t, func() bool { return packets() > before }, deadline, time.Millisecond)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	g.shut.Store(false)
	require.ErrorIs(t, <-sent, uetcc.ErrCancelled)
}
