// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// A mark in the IP header of each packet comes back to the sender's congestion control in
// the acknowledgements.
func TestEndpointUDPMarks(t *testing.T) {
	a := listen("127.0.0.1", 0, make([]byte, 1<<20))
	b := listen("127.0.0.2", int(a.addr().Port()), make([]byte, 1<<20))
	defer a.conn.Close()
	defer b.conn.Close()
	for i := range a.memory {
		a.memory[i] = byte(i * i >> 3)
	}
	a.set(syscall.IP_TOS, int(pds.TOS(0, pds.ECNCE)))
	require.Equal(t, ses.StatusOK, a.transfer(b).Outcome.Status)
	require.Equal(t, a.memory, b.memory)

	var view ccc.View
	for h := range a.PDS().All() {
		info, _ := a.PDS().PDC(h)
		require.True(t, a.CC().Refresh(info.Context, &view))
	}
	s := view.Snapshot()
	require.Positive(t, s.Acks)
	require.Equal(t, s.Acks, s.Marked)
}
