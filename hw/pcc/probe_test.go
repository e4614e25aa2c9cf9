// SPDX-License-Identifier: Apache-2.0

package pcc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLostProbeIsAskedForAgain: a lost request is noticed after two bursts, a lost answer after
// 300 us, 600 us, ... ; a late answer is welcome.
func TestLostProbeIsAskedForAgain(t *testing.T) {
	p := DefaultTemplateParams()
	var n TemplateCounters
	f := new(Template)
	burst := func(at uint32, sent bool) bool {
		flags := uint8(0)
		if sent {
			flags = ProbeSent
		}
		return f.OnEvent(&p, &Event{Type: EventTX, Flags: flags, Time: at}, &n).Probe
	}
	burst(0, false)
	require.False(t, burst(1, false))
	require.True(t, burst(2, false), "two bursts after the request no probe had left")
	require.False(t, burst(10, true))
	require.False(t, burst(11, true), "a second one does not move the send time")
	require.EqualValues(t, 10, f.SentAt)
	require.False(t, burst(300010, false))
	require.True(t, burst(300011, false))
	require.False(t, burst(600010, false))
	require.True(t, burst(600011, false))
	require.EqualValues(t, 2, f.Backoff)
	f.OnEvent(&p, sample(700000), &n)
	require.Zero(t, f.Backoff)
	require.False(t, f.InFlight)
}

// TestProbeBackoffShift: the 33rd wait for a peer that never answers is the first one again, for
// the processor takes a shift modulo 32; in between the bits fall off.
func TestProbeBackoffShift(t *testing.T) {
	for _, c := range []struct {
		backoff   uint8
		late, not uint32 // ages that ask again and do not
	}{{0, 300001, 300000}, {13, 2457600001, 2457600000}, {14, 620232705, 620232704}, {27, 1, 0}, {32, 300001, 300000}, {255, 1, 0}} {
		p := Probe{InFlight: true, Backoff: c.backoff}
		require.False(t, p.onTX(&Event{}, c.not), "backoff %d", c.backoff)
		require.True(t, p.onTX(&Event{}, c.late), "backoff %d", c.backoff)
		require.Equal(t, c.backoff+1, p.Backoff)
	}
}

// TestZTRWaitsAtMost: ZTR's waits stop doubling before bits fall off.
func TestZTRWaitsAtMost(t *testing.T) {
	p := DefaultZTRParams()
	f := ZTR{Rate: LineRate, Probe: Probe{InFlight: true, Backoff: 13}}
	require.False(t, f.OnEvent(&p, &Event{Type: EventTX, Time: giveUp << 13}).Probe)
	require.True(t, f.OnEvent(&p, &Event{Type: EventTX, Time: giveUp<<13 + 1}).Probe)
	require.EqualValues(t, 13, f.Backoff)
}
