// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/ses"
)

// Another goroutine looks at a context while its endpoint works: with the race detector on
// this tells whether the rule of Endpoint.CC is enough.
func TestEndpointWatchedByAnother(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, nil)
	a := n.ends[0].e
	h, err := a.Connect(0, &uetcc.Message{To: uetcc.Destination{Address: n.ends[1].addr, Job: 1}})
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
	n.write(ses.ModeRUD, 64*netMTU)
	n.run(func() bool {
		a.CC().Drain()
		return len(n.ends[0].events) == 1
	})
	a.CC().Disown()
	close(stop)
	require.Equal(t, int64(64), (<-last).Sent)
}
