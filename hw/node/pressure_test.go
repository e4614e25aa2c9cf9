// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/hw/node"
	"github.com/uetcc/uetcc/hw/port"
	"github.com/uetcc/uetcc/hw/udp"
	"github.com/uetcc/uetcc/internal/porttest"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// 5 % of the packets are lost in both directions, and everything arrives.
func TestLoss(t *testing.T) {
	ctx := soon(t)
	a, out := listenLossy(t, "127.0.0.1:0", 0.05, node.Options{MTU: 1024})
	b, back := listenLossy(t, "127.0.0.1:0", 0.05, node.Options{MTU: 1024})
	memory, data := make([]byte, 2<<20), random(2<<20, 2)
	_, err := b.Expose(memory)
	require.NoError(t, err)
	require.NoError(t, a.Write(ctx, b.Addr(), node.At{}, data))
	meet(b)
	require.True(t, bytes.Equal(data, memory))
	clear(memory[:1<<20])
	meet(b)
	got := make([]byte, 1<<20)
	require.NoError(t, a.Read(ctx, b.Addr(), node.At{Offset: 1 << 20}, got))
	require.True(t, bytes.Equal(data[1<<20:], got))
	meet(a)
	meet(b)
	require.Positive(t, out.lost.Load())
	require.Positive(t, back.lost.Load())
}

// Queues of a few packets, at both ends.
func TestTinyBuffers(t *testing.T) {
	ctx := soon(t)
	a := listen(t, "127.0.0.1:0", node.Options{Buffer: 1, MTU: 1024})
	b := listen(t, "127.0.0.1:0", node.Options{Buffer: 1, MTU: 1024})
	memory, data := make([]byte, 256<<10), random(256<<10, 3)
	_, err := b.Expose(memory)
	require.NoError(t, err)
	require.NoError(t, a.Write(ctx, b.Addr(), node.At{}, data))
	meet(b)
	require.True(t, bytes.Equal(data, memory))
	t.Logf("%+v", a.Stats().Port)
}

// Where nobody listens the network says so, and the operation ends with that.
func TestNobodyListens(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("answers of the network are not told to sockets that send to many")
	}
	gone, err := node.Listen("127.0.0.1:0", node.Options{})
	require.NoError(t, err)
	require.NoError(t, gone.Close())
	a := listen(t, "127.0.0.1:0", node.Options{})
	err = a.Write(soon(t), gone.Addr(), node.At{}, []byte("x"))
	require.ErrorIs(t, err, port.ErrRefused)
	require.ErrorContains(t, err, gone.Addr().String())
}

// A context that ends first tells what the network has said until then.
func TestNobodyListensForLong(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("answers of the network are not told to sockets that send to many")
	}
	gone, err := node.Listen("127.0.0.1:0", node.Options{})
	require.NoError(t, err)
	require.NoError(t, gone.Close())
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	err = listen(t, "127.0.0.1:0", node.Options{}).Write(ctx, gone.Addr(), node.At{}, []byte("x"))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, err, port.ErrRefused)
}

// A context that ends gives the memory back, and the node goes on.
func TestContext(t *testing.T) {
	a, p := listenLossy(t, "127.0.0.1:0", 0, node.Options{})
	b := listen(t, "127.0.0.1:0", node.Options{})
	memory := make([]byte, 1<<20)
	_, err := b.Expose(memory)
	require.NoError(t, err)
	p.dead.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	data := random(1<<20, 4)
	require.ErrorIs(t, a.Write(ctx, b.Addr(), node.At{}, data), context.DeadlineExceeded)
	clear(data)
	begun := a.Stats().Begun
	_, err = a.Atomic(ctx, b.Addr(), node.At{}, ses.AtomicSum, 1, 0)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, begun, a.Stats().Begun, "with a context that has ended nothing begins")
	p.dead.Store(false)

	ctx, cancel = context.WithCancel(context.Background())
	time.AfterFunc(time.Millisecond, cancel)
	buffer := make([]byte, 100)
	_, _, err = a.Recv(ctx, netip.AddrPort{}, 1, buffer)
	require.ErrorIs(t, err, context.Canceled)
	sent := make(chan error, 1)
	go func() { sent <- b.Send(soon(t), a.Addr(), 1, []byte("late")) }()
	again := make([]byte, 100)
	n, from, err := a.Recv(soon(t), b.Addr(), 1, again)
	require.NoError(t, err)
	require.NoError(t, <-sent)
	require.Equal(t, "late", string(again[:n]))
	require.Equal(t, b.Addr(), from)
	require.Equal(t, make([]byte, 100), buffer)
}

// Of two Recvs with one tag each gets what its peer has sent; one that is too short says so at both ends.
func TestRecvFromPeer(t *testing.T) {
	ctx := soon(t)
	a, b, c := listen(t, "127.0.0.1:0", node.Options{}), listen(t, "127.0.0.1:0", node.Options{}), listen(t, "127.0.0.1:0", node.Options{})
	var all sync.WaitGroup
	for _, x := range []*node.Node{b, c} {
		all.Go(func() { require.NoError(t, x.Send(ctx, a.Addr(), 3, []byte(x.Addr().String()))) })
	}
	for _, x := range []*node.Node{c, b} {
		buffer := make([]byte, 100)
		n, from, err := a.Recv(ctx, x.Addr(), 3, buffer)
		require.NoError(t, err)
		require.Equal(t, x.Addr(), from)
		require.Equal(t, x.Addr().String(), string(buffer[:n]))
	}
	all.Wait()
	all.Go(func() { require.ErrorIs(t, b.Send(ctx, a.Addr(), 4, make([]byte, 9000)), uetcc.ErrTruncated) })
	n, _, err := a.Recv(ctx, b.Addr(), 4, make([]byte, 5000))
	require.ErrorIs(t, err, uetcc.ErrTruncated)
	require.Equal(t, 5000, n)
	all.Wait()
	all.Go(func() { require.Error(t, b.Send(ctx, a.Addr(), 5, make([]byte, 9000))) })
	n, _, err = a.Recv(ctx, b.Addr(), 5, nil)
	require.ErrorIs(t, err, uetcc.ErrTruncated)
	require.Zero(t, n)
	all.Wait()
}

// Close ends what is under way, and what comes after.
func TestClose(t *testing.T) {
	a := listen(t, "127.0.0.1:0", node.Options{})
	failed := make(chan error, 1)
	go func() {
		_, _, err := a.Recv(context.Background(), netip.AddrPort{}, 1, nil)
		failed <- err
	}()
	time.Sleep(time.Millisecond)
	require.NoError(t, a.Close())
	require.ErrorIs(t, <-failed, node.ErrClosed)
	_, _, err := a.Recv(context.Background(), netip.AddrPort{}, 1, nil)
	require.ErrorIs(t, err, node.ErrClosed)
	_, err = a.Expose(nil)
	require.ErrorIs(t, err, node.ErrClosed)
	require.NoError(t, a.Close())
}

// Operations that wait for room end once, too: a node hung in Close instead.
func TestCloseWithoutRoom(t *testing.T) {
	n := listen(t, "127.0.0.1:0", node.Options{Receives: 1})
	var ends [3]atomic.Int32
	for i := range ends {
		require.NoError(t, n.Start(soon(t), &node.Op{Kind: node.OpRecv, Done: func(*node.Op) { ends[i].Add(1) }}))
	}
	require.NoError(t, n.Close())
	for i := range ends {
		require.EqualValues(t, 1, ends[i].Load(), i)
	}
}

// Recvs beyond Options.Receives have their turn when earlier ones end, or are cancelled.
func TestRecvsWithoutRoom(t *testing.T) {
	a, b := listen(t, "127.0.0.1:0", node.Options{}), listen(t, "127.0.0.1:0", node.Options{Receives: 1})
	var ops [4]node.Op
	ends := make(chan *node.Op, len(ops))
	for i := range ops {
		ops[i] = node.Op{Kind: node.OpRecv, Peer: a.Addr(), Tag: uint32(i), Data: make([]byte, 1), Done: func(op *node.Op) { ends <- op }}
		require.NoError(t, b.Start(soon(t), &ops[i]))
	}
	mine := errors.New("mine")
	ops[1].Cancel(mine)
	require.ErrorIs(t, (<-ends).Err, mine)
	for _, i := range []uint32{0, 2, 3} {
		require.NoError(t, a.Send(soon(t), b.Addr(), i, []byte{byte(i)}))
		op := <-ends
		require.NoError(t, op.Err)
		require.Equal(t, i, op.Tag)
		require.Equal(t, []byte{byte(i)}, op.Data)
	}
}

// A Send waits for its Recv for longer than messages may stand still.
func TestSendWaitsForRecv(t *testing.T) {
	short := func(c *uetcc.Config) { c.MessageTimeout = int64(50 * time.Millisecond) }
	a := listen(t, "127.0.0.1:0", node.Options{Endpoint: short})
	b := listen(t, "127.0.0.1:0", node.Options{})
	sent := make(chan error, 1)
	go func() { sent <- a.Send(soon(t), b.Addr(), 1, []byte("late")) }()
	time.Sleep(300 * time.Millisecond)
	got := make([]byte, 10)
	n, _, err := b.Recv(soon(t), a.Addr(), 1, got)
	require.NoError(t, err)
	require.Equal(t, "late", string(got[:n]))
	require.NoError(t, <-sent)
}

// As many Sends may wait for their Recvs as are under way by default.
func TestSendsWaitForRecvs(t *testing.T) {
	a, b := listen(t, "127.0.0.1:0", node.Options{}), listen(t, "127.0.0.1:0", node.Options{})
	const all = 1024
	sent := make(chan error, all)
	for i := range uint32(all) {
		op := &node.Op{Kind: node.OpSend, Peer: b.Addr(), Tag: i, Data: []byte{byte(i)}, Done: func(op *node.Op) { sent <- op.Err }}
		require.NoError(t, a.Start(soon(t), op))
	}
	time.Sleep(2 * time.Second) // tries end before
	got := make([]byte, 1)
	for i := range uint32(all) {
		_, _, err := b.Recv(soon(t), a.Addr(), i, got)
		require.NoError(t, err)
		require.Equal(t, byte(i), got[0])
	}
	for range all {
		require.NoError(t, <-sent)
	}
}

// A port that is closed under a node ends all with its error.
func TestPortClosedUnderIt(t *testing.T) {
	p, err := udp.Open(udp.Config{Local: netip.MustParseAddrPort("127.0.0.1:0")})
	require.NoError(t, err)
	a := listen(t, "127.0.0.1:0", node.Options{Port: p})
	failed := make(chan error, 1)
	go func() {
		_, _, err := a.Recv(context.Background(), netip.AddrPort{}, 1, nil)
		failed <- err
	}()
	time.Sleep(time.Millisecond)
	require.NoError(t, p.Close())
	require.ErrorIs(t, <-failed, node.ErrClosed)
	require.ErrorIs(t, a.Write(context.Background(), netip.MustParseAddrPort("127.0.0.1:9"), node.At{}, nil), node.ErrClosed)
}

// A peer that vanishes ends what is under way with an error; its next life takes part anew.
func TestPeerRestarts(t *testing.T) {
	ctx := soon(t)
	a := listen(t, "127.0.0.1:0", node.Options{})
	b, p := listenLossy(t, "127.0.0.1:0", 0, node.Options{})
	memory := make([]byte, 1<<20)
	_, err := b.Expose(memory)
	require.NoError(t, err)
	data := random(1<<20, 5)
	require.NoError(t, a.Write(ctx, b.Addr(), node.At{}, data))
	p.dead.Store(true) // no farewell
	require.NoError(t, b.Close())

	c := listen(t, b.Addr().String(), node.Options{})
	clear(memory)
	_, err = c.Expose(memory)
	require.NoError(t, err)
	err = a.Write(ctx, c.Addr(), node.At{}, data)
	t.Log("the first one after: ", err)
	if err != nil {
		require.ErrorIs(t, err, uetcc.ErrPeerGone)
		require.NoError(t, a.Write(ctx, c.Addr(), node.At{}, data))
	}
	meet(c)
	require.True(t, bytes.Equal(data, memory))
}

// More operations than there is room for wait for their turn, in few slots, and nothing grows.
func TestBackPressure(t *testing.T) {
	ctx := soon(t)
	a := listen(t, "127.0.0.1:0", node.Options{Operations: 3, Peers: 2})
	b := listen(t, "127.0.0.1:0", node.Options{Peers: 2})
	memory := make([]byte, 64<<10)
	_, err := b.Expose(memory)
	require.NoError(t, err)
	data := random(64<<10, 6)
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			require.NoError(t, a.Write(ctx, b.Addr(), node.At{Offset: uint64(i) << 10}, data[i<<10:][:1<<10]))
		})
	}
	all.Wait()
	meet(b)
	require.True(t, bytes.Equal(data, memory))
	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	for range 3 {
		all.Go(func() { _, _, _ = a.Recv(short, b.Addr(), 1, nil) })
	}
	all.Wait()
}

// Callbacks chain operations without a goroutine for each.
func TestCallbacks(t *testing.T) {
	ctx := soon(t)
	a, b := listen(t, "127.0.0.1:0", node.Options{}), listen(t, "127.0.0.1:0", node.Options{})
	_, err := b.Expose(make([]byte, 8))
	require.NoError(t, err)
	over, left := make(chan error, 1), 100
	op := node.Op{Kind: node.OpAtomic, Peer: b.Addr(), Atomic: ses.AtomicSum, Operand: 1}
	op.Done = func(op *node.Op) {
		if left--; left == 0 || op.Err != nil {
			over <- op.Err
		} else if err := a.Start(ctx, op); err != nil {
			over <- err
		}
	}
	require.NoError(t, a.Start(ctx, &op))
	require.NoError(t, <-over)
	require.EqualValues(t, 99, op.Old)
}

// Eight nodes write to each other and lose a hundredth of the packets, one of them starts again in the middle: every
// operation is right, or ends with a named error that has to do with that node.
func TestAllToAll(t *testing.T) {
	const nodes, size = 8, 64 << 10
	ctx := soon(t)
	var all [nodes]*node.Node
	var memory [nodes][]byte
	var ports [nodes]*lossyPort
	for i := range all {
		all[i], ports[i] = listenLossy(t, "127.0.0.1:0", 0.01, node.Options{MTU: 1024})
		memory[i] = make([]byte, nodes*size)
		_, err := all[i].Expose(memory[i])
		require.NoError(t, err)
	}
	const victim = 3
	round := func(restart, tolerant bool) (failed int) {
		var mu sync.Mutex
		var tasks sync.WaitGroup
		for i := range all {
			for j := range all {
				if i != j {
					tasks.Go(func() {
						data := random(size, uint64(i*nodes+j))
						err := all[i].Write(ctx, all[j].Addr(), node.At{Offset: uint64(i * size)}, data)
						mu.Lock()
						defer mu.Unlock()
						if err != nil {
							failed++
							require.True(t, tolerant && (i == victim || j == victim), "%d to %d: %v", i, j, err)
							require.True(t, errors.Is(err, uetcc.ErrPeerGone) || errors.Is(err, uetcc.ErrNoAnswer) ||
								errors.Is(err, node.ErrClosed) || errors.Is(err, port.ErrRefused) || errors.Is(err, uetcc.ErrRejected), "%v", err)
						} else if meet(all[j]); i != victim && j != victim || !tolerant {
							require.True(t, bytes.Equal(data, memory[j][i*size:][:size]), "%d to %d", i, j)
						}
					})
				}
			}
		}
		if restart {
			ports[victim].dead.Store(true)
			old := all[victim]
			require.NoError(t, old.Close())
			x, err := node.Listen(old.Addr().String(), node.Options{MTU: 1024})
			require.NoError(t, err)
			t.Cleanup(func() { _ = x.Close() })
			_, err = x.Expose(memory[victim])
			require.NoError(t, err)
			tasks.Wait()
			all[victim] = x
		}
		tasks.Wait()
		return failed
	}
	require.Zero(t, round(false, false))
	t.Log("failed with the node that started again: ", round(true, true))
	for i := 0; round(false, true) > 0; i++ { // what has not been sent since still meets the new life
		require.Less(t, i, 3)
	}
	require.Zero(t, round(false, false))
}

// What is opened and closed leaves nothing, whether it has spoken with a peer or not.
func TestNoLeak(t *testing.T) {
	small := node.Options{MTU: 1024, Peers: 1, Operations: 1, Receives: 1, Regions: 1, Endpoint: func(c *uetcc.Config) {
		c.Memory, c.Answers, c.PDCs.General = pdc.MemoryConfig{Chunks: 16, Responses: 16, Events: 16}, 16, 16
		c.Target.Messages, c.Target.Pending = 16, 16
	}}
	peer := listen(t, "127.0.0.1:0", node.Options{MTU: 1024})
	_, err := peer.Expose(make([]byte, 1024))
	require.NoError(t, err)
	porttest.NoLeak(t, 2000, func(i int) {
		a, err := node.Listen("127.0.0.1:0", small)
		require.NoError(t, err)
		if i%50 == 0 {
			require.NoError(t, a.Write(soon(t), peer.Addr(), node.At{}, make([]byte, 1024)))
		}
		require.NoError(t, a.Close())
	})
}

// Two shards at each end, and peers on each of them.
func TestShards(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("groups of ports are Linux's")
	}
	ctx := soon(t)
	o := node.Options{Shards: 3, Peers: 8}
	b := listen(t, "127.0.0.1:0", o)
	memory := make([]byte, 8<<20)
	_, err := b.Expose(memory)
	require.NoError(t, err)
	data := random(1<<20, 9)
	var all sync.WaitGroup
	for i := range 8 {
		a := listen(t, "127.0.0.1:0", o)
		all.Go(func() {
			require.NoError(t, a.Write(ctx, b.Addr(), node.At{Offset: uint64(i) << 20}, data))
			meet(b)
			require.True(t, bytes.Equal(data, memory[i<<20:][:1<<20]))
			require.NoError(t, a.Send(ctx, b.Addr(), 1, []byte(fmt.Sprint(i))))
		})
		all.Go(func() {
			buffer := make([]byte, 10)
			n, _, err := b.Recv(ctx, a.Addr(), 1, buffer)
			require.NoError(t, err)
			require.Equal(t, fmt.Sprint(i), string(buffer[:n]))
		})
	}
	all.Wait()
	_, _, err = b.Recv(ctx, netip.AddrPort{}, 1, nil)
	require.ErrorIs(t, err, node.ErrAnyPeer)
	busy := 0
	for _, e := range b.Stats().Endpoints {
		if e.PDS.Sent+e.PDS.Duplicates+e.PDS.Controls > 0 || e.Usage.PDCs > 0 {
			busy++
		}
	}
	require.Greater(t, busy, 1)
}
