// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/ses"
)

// many has memory for all answers, and a second for a message to stand still.
func many(c *uetcc.Config) {
	patient(c)
	c.Memory.Chunks, c.Answers = 1024, 1024
}

// A write behind a read whose window is full, at a peer that answers nothing, ends well, whether it waited
// when the window became full or came later; an ordered one waits, and fails with the read. Before, each
// waited, and failed after MessageTimeout.
func TestWritePassesAReadThatWaits(t *testing.T) {
	for mode, want := range map[ses.Mode]pdc.Cause{ses.ModeRUD: pdc.CauseNone, ses.ModeROD: pdc.CauseMessageTimeout} {
		for _, later := range []bool{false, true} {
			n := newNetwork(t, 1, netFaults{}, 2, many)
			a := n.ends[0]
			n.ends[1].mute = true
			n.read(mode, 400*netMTU)
			if later {
				n.wait(ms)
			}
			wrote := a.local[n.write(mode, 40*netMTU)]
			n.run(func() bool { return len(a.events) > 0 })
			require.Equal(t, want, a.events[0].Cause, "%v, later: %v", mode, later)
			if mode == ses.ModeROD {
				require.Equal(t, 1, a.e.Usage().PDCs)
				continue
			}
			require.Less(t, n.now, int64(10*ms))
			require.Equal(t, wrote, n.ends[1].mem[:40*netMTU])
			n.read(mode, netMTU)
			n.write(mode, 2*netMTU)
			require.Equal(t, 2, a.e.Usage().PDCs, "each keeps to its own")
			n.run(func() bool { return len(a.events) > 1 })
			require.Equal(t, pdc.CauseNone, a.events[1].Cause)
		}
	}
}

// A read behind a long write does not wait for the write to leave; those behind it keep to the PDC beside.
func TestReadPassesAWriteThatWaits(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, many)
	a := n.ends[0]
	n.write(ses.ModeRUD, netMemory)
	read := n.read(ses.ModeRUD, netMTU)
	n.run(func() bool { return len(a.events) > 0 })
	require.Equal(t, read, a.events[0].Cookie)
	read = n.read(ses.ModeRUD, 2*netMTU)
	n.run(func() bool { return len(a.events) > 1 })
	require.Equal(t, read, a.events[1].Cookie)
	n.endWell(a, 3)
	require.Equal(t, 2, a.e.Usage().PDCs)
}

// As many peers as a target has PDCIDs, of which none comes before some others have two, all have what they
// had with one each: those who find no second keep both kinds on the first.
func TestEveryPDCIDHasAPeer(t *testing.T) {
	const peers = 70
	n := newNetwork(t, 1, netFaults{}, peers+1, func(c *uetcc.Config) {
		many(c)
		if c.Address.As4()[3] == 1 {
			c.PDCs.General, c.Memory.Chunks, c.Contexts, c.Answers, c.Target.Messages = peers, 8192, peers+1, 16384, 256
		}
	})
	server, most := n.ends[0], 0
	for _, end := range n.ends[1:] {
		for k := range uint64(4) {
			end.local[k] = make([]byte, 100*netMTU)
			m := uetcc.Message{To: uetcc.Destination{Address: server.addr, Job: 1}, Key: 1, Length: 100 * netMTU, Cookie: k}
			begin := end.e.Write
			if k%2 == 0 {
				begin = end.e.Read
			}
			_, err := begin(n.now, &m)
			require.NoError(t, err)
		}
		n.wait(20_000)
		most = max(most, server.e.Usage().PDCs)
	}
	for _, end := range n.ends[1:] {
		n.endWell(end, 4)
	}
	require.Greater(t, most, peers)
	require.NotZero(t, server.e.PDS().Stats().Refused, "a second")
	require.Zero(t, n.ends[peers].e.PDS().Stats().Failed)
}
