// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// couple opens two nodes that expose a little memory.
func couple(t *testing.T) (a, b *Node) {
	open := func() *Node {
		n, err := Listen("127.0.0.1:0", Options{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, n.Close()) })
		_, err = n.Expose(make([]byte, 1<<10))
		require.NoError(t, err)
		return n
	}
	return open(), open()
}

// fly has a node write until its caller takes the turns itself.
func fly(t *testing.T, a, b *Node) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for before := a.shards[0].duty.flights.Load(); a.shards[0].duty.flights.Load() == before; {
		require.NoError(t, a.Write(ctx, b.Addr(), At{}, make([]byte, 100)))
	}
}

// A caller alone waits at the port itself, and when it has gone the node serves its peers as before.
func TestCallerTakesTurns(t *testing.T) {
	a, b := couple(t)
	for range 5 {
		fly(t, a, b)
		require.NoError(t, b.Write(t.Context(), a.Addr(), At{}, make([]byte, 100)))
	}
}

// What others begin meanwhile ends, too, with and without callers.
func TestCallersTogether(t *testing.T) {
	a, b := couple(t)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for range 300 {
				require.NoError(t, a.Write(t.Context(), b.Addr(), At{}, make([]byte, 100)))
			}
		})
	}
	over, left := make(chan error, 1), 300
	op := &Op{Kind: OpWrite, Peer: b.Addr(), Data: make([]byte, 100)}
	op.Done = func(op *Op) {
		if left--; left == 0 || op.Err != nil {
			over <- op.Err
		} else if err := a.Start(context.Background(), op); err != nil {
			over <- err
		}
	}
	require.NoError(t, a.Start(t.Context(), op))
	require.NoError(t, <-over)
	all.Wait()
}

// A caller with the turns heeds its context, gives them back when it has to wait for long, and hears of a Close.
func TestCallerEnds(t *testing.T) {
	a, b := couple(t)
	fly(t, a, b)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	_, _, err := a.Recv(ctx, netip.AddrPort{}, 1, nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	fly(t, a, b)
	came := make(chan error, 1)
	go func() {
		_, _, err := a.Recv(t.Context(), netip.AddrPort{}, 1, nil)
		came <- err
	}()
	time.Sleep(time.Duration(2 * flightMax))
	require.NoError(t, b.Send(t.Context(), a.Addr(), 1, nil))
	require.NoError(t, <-came)

	fly(t, a, b)
	go func() {
		_, _, err := a.Recv(context.Background(), netip.AddrPort{}, 1, nil)
		came <- err
	}()
	require.NoError(t, a.Close())
	require.True(t, errors.Is(<-came, ErrClosed))
}

// Several operations that callbacks begin are sent by one call.
func TestCallbacksSendTogether(t *testing.T) {
	a, b := couple(t)
	const ops, rounds = 16, 50
	var all sync.WaitGroup
	all.Add(ops)
	for range ops {
		left := rounds
		op := &Op{Kind: OpWrite, Peer: b.Addr(), Data: make([]byte, 100)}
		op.Done = func(op *Op) {
			if left--; left == 0 || op.Err != nil || a.Start(context.Background(), op) != nil {
				all.Done()
			}
		}
		require.NoError(t, a.Start(t.Context(), op))
	}
	all.Wait()
	s := a.Stats()
	t.Logf("%d packets in %d calls", s.Port.Sent, s.Port.SendCalls)
	require.EqualValues(t, ops*rounds, s.Ended)
	require.Zero(t, s.Failed)
}
