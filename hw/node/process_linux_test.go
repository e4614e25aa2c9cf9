// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/hw/node"
	"github.com/uetcc/uetcc/hw/port"
)

const childVariable = "UETCC_NODE_CHILD"

// In a child TestMain is a node that exposes memory, until its standard input ends.
func TestMain(m *testing.M) {
	if at := os.Getenv(childVariable); at != "" {
		n, err := node.Listen(at, node.Options{})
		if err == nil {
			_, err = n.Expose(make([]byte, 16<<20))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		fmt.Println(n.Addr())
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// startChild starts a node in a process of its own.
func startChild(t *testing.T, at string) (*exec.Cmd, netip.AddrPort) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childVariable+"="+at)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	require.NoError(t, err)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return c, netip.MustParseAddrPort(line[:len(line)-1])
}

// A peer that stands still for a while is not given up: everything arrives. One that is killed is, with an error
// that says so, and its next life takes part anew.
func TestPeerStopsAndDies(t *testing.T) {
	ctx := soon(t)
	a := listen(t, "127.0.0.1:0", node.Options{})
	child, peer := startChild(t, "127.0.0.1:0")
	data := random(16<<20, 8)
	sent := make(chan error, 1)
	write := func() { sent <- a.Write(ctx, peer, node.At{}, data) }
	go write()
	require.NoError(t, child.Process.Signal(unix.SIGSTOP))
	time.Sleep(500 * time.Millisecond)
	require.NoError(t, child.Process.Signal(unix.SIGCONT))
	require.NoError(t, <-sent)
	back := make([]byte, len(data))
	require.NoError(t, a.Read(ctx, peer, node.At{}, back))
	require.True(t, bytes.Equal(data, back))

	go func() {
		for {
			if err := a.Write(ctx, peer, node.At{}, data); err != nil {
				sent <- err
				return
			}
		}
	}()
	require.NoError(t, child.Process.Kill())
	err := <-sent
	t.Log(err)
	require.True(t, errors.Is(err, port.ErrRefused) || errors.Is(err, uetcc.ErrNoAnswer), "%v", err)

	_, again := startChild(t, peer.String())
	require.Equal(t, peer, again)
	if err := a.Write(ctx, peer, node.At{}, data); err != nil { // what is left of the first life ends
		t.Log(err)
		require.NoError(t, a.Write(ctx, peer, node.At{}, data))
	}
	require.NoError(t, a.Read(ctx, peer, node.At{}, back))
	require.True(t, bytes.Equal(data, back))
}

// A packet that the interface does not take is an error that says what to set, and nothing waits for it. What is chosen
// without being told fits.
func TestLinkOfSmallPackets(t *testing.T) {
	runtime.LockOSThread() // and never unlocked: this thread is in a network of its own from here on
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skip("no network namespaces without privilege: ", err)
	}
	for _, command := range []string{"ip link set lo mtu 1500", "ip link set lo up"} {
		if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
			t.Skipf("%s: %v: %s", command, err, out)
		}
	}
	ctx := soon(t)
	b := listen(t, "127.0.0.1:0", node.Options{})
	require.Equal(t, 1024, b.MTU())
	_, err := b.Expose(make([]byte, 1<<20))
	require.NoError(t, err)
	require.NoError(t, listen(t, "127.0.0.1:0", node.Options{}).Write(ctx, b.Addr(), node.At{}, make([]byte, 1<<20)))

	a := listen(t, "127.0.0.1:0", node.Options{MTU: 4096})
	err = a.Write(ctx, b.Addr(), node.At{}, make([]byte, 1<<20))
	require.ErrorIs(t, err, port.ErrTooLong)
	require.ErrorContains(t, err, "up to 1500 bytes")
	require.ErrorContains(t, err, "set Options.MTU")
}

// A node whose peers are idle does not wake up.
func TestIdleCostsNothing(t *testing.T) {
	ctx := soon(t)
	b := listen(t, "127.0.0.1:0", node.Options{Peers: 256})
	_, err := b.Expose(make([]byte, 8))
	require.NoError(t, err)
	for range 32 {
		a := listen(t, "127.0.0.1:0", node.Options{Peers: 2, Operations: 2})
		require.NoError(t, a.Write(ctx, b.Addr(), node.At{}, make([]byte, 8)))
	}
	for before := uint64(0); ; { // what the last operations have left to do is soon done
		after := b.Stats().Wakeups
		if after == before {
			break
		}
		before = after
		time.Sleep(300 * time.Millisecond)
	}
}
