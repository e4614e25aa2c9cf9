// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

// A peer that opens a PDC, asks for data and is never heard of again goes with the idle time, also
// where packets are sent again for ever: the NOOP before the data is not, once all the SYN packets
// have paid for has gone.
func TestSilentUnprovenPeerIsForgotten(t *testing.T) {
	const idle = 8000 * ms
	g := newPair(t, pairConfig{Config: Config{IdleTime: idle, MaxRTORetx: rtoForever}})
	g.submit(1, 1)
	r, _ := g.give(g.send(g.a)[0])
	h := r.ID.PDC
	_, err := g.b.m.Submit(g.now, h, Packet{Handle: 9, Size: 4160, Next: pds.NextResponseData, EOM: true})
	require.NoError(t, err)
	told := 0
	for g.now < 2*idle-1000*ms {
		told += len(g.send(g.b))
		g.wait(ms)
	}
	require.LessOrEqual(t, told, tellsPerRequest)
	_, ok := g.b.m.PDC(h)
	require.True(t, ok)
	for range 2000 {
		g.send(g.b)
		g.wait(ms)
	}
	_, ok = g.b.m.PDC(h)
	require.False(t, ok)
	require.Equal(t, []uint64{9}, g.b.take(EventError))
	require.NotZero(t, g.b.m.Stats().Muted)
}

// Where the packets of such a peer have paid for nothing more, its PDC cannot be asked to close and ends with
// the idle time: over a path of 10 ms it stayed for another 2.6 s. Else it is asked whether it has the PDC,
// and to close.
func TestUnprovenPeerThatCannotBeAsked(t *testing.T) {
	const idle = 8000 * ms
	var ended [2]int64
	for i, paid := range []int{0, 2} {
		g := newPair(t, pairConfig{Config: Config{IdleTime: idle, CloseReqTime: 1000 * ms}})
		g.submit(1, 1)
		r, _ := g.give(g.send(g.a)[0])
		h, told := r.ID.PDC, 0
		g.b.m.target.byID(h.ID()).resp.tells = uint8(paid)
		for _, live := g.b.m.PDC(h); live && g.now < 4*idle; _, live = g.b.m.PDC(h) {
			told += len(g.send(g.b))
			g.wait(10 * ms)
		}
		require.Equal(t, paid, told)
		ended[i] = g.now
	}
	require.Less(t, ended[0], ended[1])
}
