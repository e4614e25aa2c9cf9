package uetcc_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ses"
)

// eachNetwork runs a test in every kind of network, with a few seeds.
func eachNetwork(t *testing.T, seeds uint64, f func(t *testing.T, seed uint64, faults netFaults)) {
	for name, faults := range netSettings {
		for seed := range seeds {
			t.Run(fmt.Sprint(name, "/", seed), func(t *testing.T) { f(t, seed, faults) })
		}
	}
}

// postTag gives an end a receive buffer for one tag.
func (n *network) postTag(end *netEnd, base uint64, length uint32, tag, cookie uint64) {
	_, err := end.e.Target().PostReceive(1<<16, netQueue, ses.Receive{Base: base, Length: length, Match: tag, Cookie: cookie})
	require.NoError(n.t, err)
}

// matched is a message to the receive queue of an end.
func (n *network) matched(to *netEnd, tag, cookie uint64, length uint32) uetcc.Message {
	return uetcc.Message{To: uetcc.Destination{Address: to.addr, TC: tcLow, Job: 1, Index: netQueue}, Tagged: true, Key: tag, Length: length,
		Cookie: cookie, HasData: true, HeaderData: cookie}
}

// Atomics on the buffer that their tag finds: each once, and what a fetching one
// brings is the value before.
func TestEndpointTaggedAtomics(t *testing.T) {
	eachNetwork(t, 4, func(t *testing.T, seed uint64, faults netFaults) {
		n := newNetwork(t, seed, faults, 2, nil)
		a, b := n.ends[0], n.ends[1]
		const base = 4096
		for tag := uint64(1); tag <= 6; tag++ {
			n.postTag(b, base+16*tag, 16, tag, 0)
			binary.BigEndian.PutUint64(b.mem[base+16*tag+8:], 100*tag)
			m := n.matched(b, tag, tag, 8)
			m.Offset, m.Fetch = 8, tag%2 == 1
			m.Swap = ses.CompareSwap{Atomic: ses.Atomic{Opcode: ses.AtomicSum, Type: ses.TypeUint64}}
			a.local[tag] = binary.BigEndian.AppendUint64(nil, tag)
			_, err := a.e.Atomic(n.now, &m)
			require.NoError(t, err)
		}
		n.run(func() bool { return len(a.events) == 6 })
		for _, ev := range a.events {
			require.Equal(t, ses.StatusOK, ev.Outcome.Status, "%+v", ev)
		}
		for tag := uint64(1); tag <= 6; tag++ {
			require.Equal(t, 101*tag, binary.BigEndian.Uint64(b.mem[base+16*tag+8:]))
			if tag%2 == 1 {
				require.Equal(t, 100*tag, binary.BigEndian.Uint64(a.local[tag]))
			}
		}
		n.settle()
	})
}
