// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"math"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/msg"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/ses"
)

// full returns an endpoint whose one PDC is taken and whose one place to wait for another
// too, and a message that finds neither.
func full(t *testing.T, now int64) (e *Endpoint, left *message) {
	c := Config{Address: netip.MustParseAddr("192.0.2.1"), Waiting: 1, Now: now}
	c.PDCs.General = 1
	e, err := NewEndpoint(c)
	require.NoError(t, err)
	for i := range 2 {
		m := Message{Length: 100}
		m.To.Address = netip.AddrFrom4([4]byte{192, 0, 2, byte(2 + i)})
		_, err = e.Write(now, &m)
		require.NoError(t, err)
	}
	e.source.op = msg.Operation{Opcode: ses.OpcodeWrite, Length: 100}
	rec, err := e.source.begin(pdc.AddrFrom(netip.AddrFrom4([4]byte{192, 0, 2, 9})), 0)
	require.NoError(t, err)
	require.Error(t, e.source.dispatch(now, rec, 0))
	return e, rec
}

// A retry that fails is put off to after the last tick, or the clock that has gone back
// would have it due again at once, for ever.
func TestRetriesEndWhenTheClockGoesBack(t *testing.T) {
	for _, c := range []struct{ last, now int64 }{{1 << 40, 5}, {1 << 40, -5}, {1 << 40, math.MinInt64}, {0, math.MaxInt64}} {
		e, rec := full(t, 5)
		i := uint32(rec.handle & 0xffff)
		_, ok := e.source.retries.Expire(c.last)
		require.False(t, ok)
		e.source.retries.Arm(i, c.now)
		e.Tick(c.now)
		require.True(t, e.source.retries.Armed(i))
		at, ok := e.source.retries.Next()
		require.True(t, ok)
		require.Greater(t, at, c.last)
	}
}
