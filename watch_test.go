// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
)

// Another goroutine looks at a context while its endpoint works: with the race detector on
// this tells whether the rule of Endpoint.CC is enough.
func TestEndpointWatchedByAnother(t *testing.T) {
	a, b := newHost("10.0.0.1", make([]byte, 1<<18)), newHost("10.0.0.2", make([]byte, 1<<18))
	m := uetcc.Message{
		To:     uetcc.Destination{Address: netip.MustParseAddr("10.0.0.2"), Job: 1, PID: 2, Index: 5, Generation: b.open()},
		Length: 1 << 18,
	}
	h, err := a.Connect(0, &m)
	require.NoError(t, err)
	info, _ := a.PDS().PDC(h)
	require.True(t, a.CC().TryOwn())

	stop, last := make(chan struct{}), make(chan ccc.Snapshot)
	go func() {
		var view ccc.View
		for {
			a.CC().Refresh(info.Context, &view)
			select {
			case <-stop:
				a.CC().Refresh(info.Context, &view)
				last <- view.Snapshot()
				return
			default:
			}
		}
	}()
	_, err = a.Write(0, &m)
	require.NoError(t, err)
	for now := int64(0); ; now += 10_000 {
		for _, p := range a.transmit(now) {
			if reply := b.receive(now, p); len(reply.Packet) > 0 {
				a.receive(now, reply)
			}
			a.CC().Drain()
		}
		if _, done := a.Poll(); done {
			break
		}
	}
	a.CC().Disown()
	close(stop)
	require.Equal(t, int64(64), (<-last).Sent)
}
