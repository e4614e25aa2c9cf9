// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/node"
	"github.com/uetcc/uetcc/internal/netspace"
)

// A queue behind the sockets takes a part of what a window lets go, and says ENOBUFS of the rest: everything arrives.
func TestNoBuffers(t *testing.T) {
	s := netspace.New(t)
	for _, command := range []string{"ip link set lo mtu 1500", "ip link set lo up", "tc qdisc add dev lo root tbf rate 100mbit burst 20kb limit 50kb"} {
		if _, err := s.Run(command); err != nil {
			t.Skip(err)
		}
	}
	var a, b *node.Node
	require.NoError(t, s.Do(func() error {
		a, b = listen(t, "127.0.0.1:0", node.Options{}), listen(t, "127.0.0.1:0", node.Options{})
		return nil
	}))
	memory, data := make([]byte, 1<<20), random(1<<20, 11)
	_, err := b.Expose(memory)
	require.NoError(t, err)
	require.NoError(t, a.Write(soon(t), b.Addr(), node.At{}, data))
	meet(b)
	require.True(t, bytes.Equal(data, memory))
	require.Positive(t, a.Stats().Port.Refused, "a first window of 256 KiB meets a queue of 50 kB")
	t.Logf("%d packets refused, %d sent again", a.Stats().Port.Refused, a.Stats().Endpoints[0].PDS.Resent)
}
