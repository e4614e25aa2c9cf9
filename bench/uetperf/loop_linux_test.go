// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/port"
)

// A steady clock knows nothing of an hour in which the process did not run; any other says
// that it was late.
func TestLoopSteadyClock(t *testing.T) {
	l := newLoop()
	l.steady = true
	before := l.now()
	l.seen -= int64(time.Hour)
	require.InDelta(t, before, l.now(), float64(stepTime))
	l.seen -= int64(time.Hour)
	before = l.time
	require.Equal(t, before+1000, l.pass(1000), "a wait that was longer than asked for")
	require.Zero(t, l.stall)

	l.steady = false
	before = l.now()
	l.seen -= int64(time.Hour)
	require.GreaterOrEqual(t, l.now(), before+int64(time.Hour))
	require.GreaterOrEqual(t, l.stall, int64(time.Hour)-stepTime)
}

// A packet that ends a wait was on its way before: however late the process hears of it, a
// steady clock has not moved to what else is due.
func TestLoopSteadyClockWaits(t *testing.T) {
	a, err := openPort(netip.MustParseAddrPort("127.0.5.1:0"), 1)
	require.NoError(t, err)
	defer a.close()
	a.add(port.Packet{Peer: a.Local(), Data: []byte("packet")})
	require.NoError(t, a.send())
	require.Zero(t, a.unsent)
	l := newLoop(&due{opening: a, at: int64(time.Hour)})
	l.steady = true
	l.seen -= int64(time.Hour)
	require.NoError(t, l.wait(0))
	require.Zero(t, l.time)
}

// A due party has one port and one deadline.
type due struct {
	opening *opening
	at      int64
}

func (d *due) openings() []*opening    { return []*opening{d.opening} }
func (d *due) step(int64) error        { return nil }
func (d *due) deadline() (int64, bool) { return d.at, true }
