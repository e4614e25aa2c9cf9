// SPDX-License-Identifier: Apache-2.0

package nscc_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/nscc"
)

// armed is a state in the middle of things: the adjust and quick-adapt periods
// have just begun.
func armed(s *nscc.Snapshot) {
	s.Cwnd, s.Inflight = 100_000, 90_000
	s.QAEnd, s.LastAdjust, s.LastDecrease = 1_000_000_000, 1_000_000, 0
}

const midNow = 1_001_000

// The four cases of mark and delay, and what holds them.
func TestWindowOnACKCases(t *testing.T) {
	for _, tc := range []struct {
		name   string
		ack    nscc.Ack
		avg    int64
		action nscc.Action
		inc    float64 // per MTU acknowledged
		cwnd   int64
	}{
		{"unmarked below target grows in proportion", nscc.Ack{RTT: 15_000}, 0, nscc.ActionProportional, 33_554_432, 100_000},
		{"unmarked one tick below target grows least", nscc.Ack{RTT: 20_999}, 0, nscc.ActionProportional, 5_592.405333333333, 100_000},
		{"unmarked at target grows fairly", nscc.Ack{RTT: 21_000}, 0, nscc.ActionFair, 83_886_080, 100_000},
		{"unmarked above target grows fairly", nscc.Ack{RTT: 90_000}, 0, nscc.ActionFair, 83_886_080, 100_000},
		{"marked below target holds", nscc.Ack{RTT: 20_999, ECN: true}, 80_000, nscc.ActionHold, 0, 100_000},
		{"marked at target, average low: considered", nscc.Ack{RTT: 21_000, ECN: true}, 8_000, nscc.ActionConsidered, 0, 100_000},
		{"marked at target, average high: cut", nscc.Ack{RTT: 21_000, ECN: true}, 18_114, nscc.ActionDecrease, 0, 60_000},
		{"penalty holds an increase", nscc.Ack{RTT: 15_000, Pend: 1}, 0, nscc.ActionHold, 0, 85_904 - 32},
		{"penalty holds no decrease", nscc.Ack{RTT: 21_000, ECN: true, Pend: 1}, 18_114, nscc.ActionDecrease, 0, 51_522},
		{"no sample: counters only", nscc.Ack{ECN: true}, 80_000, nscc.ActionNone, 0, 100_000},
		{"negative sample: counters only", nscc.Ack{RTT: -1, ECN: true}, 80_000, nscc.ActionNone, 0, 100_000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, w := started(t, fabric100())
			set(p, w, func(s *nscc.Snapshot) { armed(s); s.AvgDelay = tc.avg })
			tc.ack.Bytes = 4_096
			w.OnACK(p, midNow, tc.ack)
			s := w.Snapshot()
			require.Equal(t, tc.action, s.Action)
			require.InDelta(t, tc.inc, s.IncBytes, 0.001)
			require.InDelta(t, tc.cwnd, s.Cwnd, 1)
			require.Equal(t, []int64{85_904, 4_096, 4_096, 4_096},
				[]int64{s.Inflight, s.AchievedBytes, s.ReceivedBytes, s.BytesIgnored})
			require.Equal(t, max(tc.ack.RTT-12_000, 0), s.QDelay)
		})
	}
}

// One decrease a base round trip, strictly more than one after the last.
func TestWindowOnACKDecreasesOncePerRTT(t *testing.T) {
	p, w := started(t, fabric100())
	set(p, w, func(s *nscc.Snapshot) { armed(s); s.AvgDelay, s.LastDecrease = 40_000, midNow })
	marked := nscc.Ack{Bytes: 1, RTT: 60_000, ECN: true}
	w.OnACK(p, midNow+12_000, marked)
	require.Equal(t, nscc.ActionConsidered, w.Snapshot().Action)
	w.OnACK(p, midNow+12_001, marked)
	require.Equal(t, nscc.ActionDecrease, w.Snapshot().Action)
	w.OnACK(p, midNow+12_002, marked)
	require.Equal(t, nscc.ActionConsidered, w.Snapshot().Action)
}

// A decrease ends fast increase even when it is not due.
func TestWindowOnACKFastIncrease(t *testing.T) {
	p, w := started(t, fabric100())
	set(p, w, func(s *nscc.Snapshot) { armed(s); s.FastCount = 100_000 - 4_096 })
	idle := nscc.Ack{Bytes: 4_096, RTT: 12_500}
	w.OnACK(p, midNow, idle)
	require.Equal(t, nscc.ActionProportional, w.Snapshot().Action, "a whole window, and strictly more")
	w.OnACK(p, midNow, idle)
	require.Equal(t, nscc.ActionFast, w.Snapshot().Action)
	before := w.Cwnd()
	w.OnACK(p, midNow, idle)
	require.Equal(t, before+1_024, w.Cwnd(), "a quarter of what was acknowledged")

	w.OnACK(p, midNow, nscc.Ack{Bytes: 4_096, RTT: 40_000})
	require.True(t, w.Snapshot().Fast, "fair increase leaves it alone")
	w.OnACK(p, midNow, nscc.Ack{Bytes: 4_096, RTT: 12_500, ECN: true})
	require.True(t, w.Snapshot().Fast, "so does hold")
	w.OnACK(p, midNow, nscc.Ack{Bytes: 4_096, RTT: 40_000, ECN: true})
	s := w.Snapshot()
	require.False(t, s.Fast)
	require.Zero(t, s.FastCount)
}

// With ticks of 128 ns a delay of one tick still counts as none.
func TestWindowOnACKFastToleratesOneTick(t *testing.T) {
	for q, fast := range map[int64]bool{0: true, 128: true, 999: true, 1_000: false} {
		p, w := started(t, fabric100())
		set(p, w, func(s *nscc.Snapshot) { armed(s); s.Fast = true })
		w.OnACK(p, midNow, nscc.Ack{Bytes: 4_096, RTT: 12_000 + q})
		require.Equal(t, fast, w.Snapshot().Fast, "delay %d ns", q)
	}
}

// eta is added and the period moves only when the period has passed, not when the
// bytes ask for the application.
func TestWindowOnACKFulfilment(t *testing.T) {
	p, w := started(t, fabric100())
	set(p, w, func(s *nscc.Snapshot) { armed(s); s.ReceivedBytes = 32_768; s.IncBytes = 1e9 })
	hold := nscc.Ack{Bytes: 1, RTT: 15_000, ECN: true}
	w.OnACK(p, midNow, hold)
	s := w.Snapshot()
	require.True(t, s.Fulfilled)
	require.EqualValues(t, 110_000, s.Cwnd)
	require.EqualValues(t, 1_000_000, s.LastAdjust)
	require.Zero(t, s.ReceivedBytes)

	w.OnACK(p, 1_011_999, hold)
	require.False(t, w.Snapshot().Fulfilled)
	w.OnACK(p, 1_012_000, hold)
	s = w.Snapshot()
	require.True(t, s.Fulfilled)
	require.EqualValues(t, 110_614, s.Cwnd, "eta is 614.4")
	require.EqualValues(t, 1_012_000, s.LastAdjust)
}

// Marks of the bytes in flight at a quick adapt are old news; unmarked
// acknowledgements are processed as ever. One cut a period.
func TestWindowQuickAdaptIgnoresOldMarks(t *testing.T) {
	p, w := started(t, fabric100())
	set(p, w, func(s *nscc.Snapshot) { armed(s); s.QAEnd = midNow })
	w.OnNACK(p, midNow, nscc.Nack{Size: 4_096, Reason: nscc.ReasonTrimmed})
	s := w.Snapshot()
	require.Equal(t, nscc.ActionQuickAdapt, s.Action)
	require.EqualValues(t, 4_096, s.Cwnd, "nothing got through in the period")
	require.EqualValues(t, 90_000-4_096, s.BytesToIgnore)
	require.EqualValues(t, midNow+21_000, s.QAEnd)

	w.OnACK(p, midNow+1, nscc.Ack{Bytes: 4_096, RTT: 90_000, ECN: true})
	require.Equal(t, nscc.ActionIgnore, w.Snapshot().Action)
	w.OnACK(p, midNow+1, nscc.Ack{Bytes: 4_096, RTT: 90_000})
	require.Equal(t, nscc.ActionFair, w.Snapshot().Action)
	w.OnNACK(p, midNow+1, nscc.Nack{Size: 4_096, Reason: nscc.ReasonTrimmed})
	require.Equal(t, nscc.ActionIgnore, w.Snapshot().Action, "a trim from before the cut")
	w.OnACK(p, midNow+1, nscc.Ack{Bytes: 200_000, RTT: 15_000, ECN: true})
	require.Equal(t, nscc.ActionHold, w.Snapshot().Action, "all old bytes are answered")
}

// Pitfall: bytes_ignored must not come round to 0 after 4 GiB and have marks
// ignored again.
func TestWindowIgnoreCounterDoesNotWrap(t *testing.T) {
	p, w := started(t, fabric100())
	set(p, w, func(s *nscc.Snapshot) { armed(s); s.BytesToIgnore, s.BytesIgnored = 1_000_000, 1<<32-2 })
	for range 3 {
		w.OnACK(p, midNow, nscc.Ack{Bytes: 4_096, RTT: 15_000, ECN: true})
		require.Equal(t, nscc.ActionHold, w.Snapshot().Action)
	}
}

// The recorded simulator does wrap.
func TestWindowIgnoreCounterWrapsInHTSim(t *testing.T) {
	c := fabric100()
	c.Profile = nscc.ProfileHTSim
	p, w := started(t, c)
	set(p, w, func(s *nscc.Snapshot) { armed(s); s.BytesToIgnore, s.BytesIgnored = 1_000_000, 1<<32-2 })
	w.OnACK(p, midNow, nscc.Ack{Bytes: 4_096, RTT: 15_000, ECN: true})
	require.Equal(t, nscc.ActionIgnore, w.Snapshot().Action)
	require.EqualValues(t, 4_094, w.Snapshot().BytesIgnored)
}

// The longest round trip there is, again and again, after the shortest.
func TestWindowAverageDoesNotOverflow(t *testing.T) {
	for _, profile := range []nscc.Profile{nscc.ProfileSpec, nscc.ProfileHTSim} {
		c := fabric100()
		c.Profile = profile
		p, w := started(t, c)
		w.SampleBase(p, 1)
		for range 5_000 {
			w.OnACK(p, midNow, nscc.Ack{Bytes: 1, RTT: math.MaxInt64, ECN: true})
			require.GreaterOrEqual(t, w.Snapshot().AvgDelay, int64(0))
		}
	}
}

// Pitfall: what is in flight may be negative when a quick adapt cuts; as unsigned
// it would have 4 GB of marks ignored.
func TestWindowQuickAdaptNegativeInflight(t *testing.T) {
	p, w := started(t, fabric100())
	set(p, w, func(s *nscc.Snapshot) { armed(s); s.Inflight, s.QAEnd = 100, midNow })
	w.OnNACK(p, midNow, nscc.Nack{Size: 4_096, Reason: nscc.ReasonTrimmed})
	s := w.Snapshot()
	require.Equal(t, nscc.ActionQuickAdapt, s.Action)
	require.EqualValues(t, -3_996, s.Inflight)
	require.Zero(t, s.BytesToIgnore)
}

func TestWindowOnNACKReasons(t *testing.T) {
	for _, tc := range []struct {
		name    string
		rccc    bool
		reason  nscc.NackReason
		cwnd    int64
		trigger bool
		ignored int64
	}{
		{"trimmed", false, nscc.ReasonTrimmed, 95_904, true, 4_096},
		{"trimmed, receiver credits on", true, nscc.ReasonTrimmed, 95_904, true, 4_096},
		{"last hop", false, nscc.ReasonTrimmedLastHop, 95_904, true, 4_096},
		{"last hop, receiver credits on", true, nscc.ReasonTrimmedLastHop, 100_000, false, 4_096},
		{"another reason", false, nscc.ReasonOther, 100_000, false, 0},
		{"a code that 1.0.3 reserves", false, 3, 100_000, false, 0},
		{"an unknown code", false, 255, 100_000, false, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := fabric100()
			c.RCCC = tc.rccc
			p, w := started(t, c)
			set(p, w, armed)
			w.OnNACK(p, midNow, nscc.Nack{Size: 4_096, Reason: tc.reason})
			s := w.Snapshot()
			require.Equal(t, tc.cwnd, s.Cwnd)
			require.Equal(t, tc.trigger, s.TriggerQA)
			require.Equal(t, tc.ignored, s.BytesIgnored)
			require.EqualValues(t, 85_904, s.Inflight)
		})
	}
}

// In every profile a trim takes the packet out of flight and the window shrinks; a size below zero
// is none.
func TestWindowOnNACKProfiles(t *testing.T) {
	for _, profile := range []nscc.Profile{nscc.ProfileSpec, nscc.ProfileHTSim, nscc.ProfileAdaptive} {
		c := fabric100()
		c.Profile = profile
		p, w := started(t, c)
		set(p, w, armed)
		before := w.Snapshot()
		w.OnNACK(p, midNow, nscc.Nack{Size: -1, Reason: nscc.ReasonOther})
		require.Equal(t, before.Inflight, w.Inflight(), profile)
		require.Equal(t, before.Cwnd, w.Cwnd(), profile)
		w.OnNACK(p, midNow, nscc.Nack{Size: 4_096, Reason: nscc.ReasonTrimmed})
		require.Equal(t, before.Inflight-4_096, w.Inflight(), profile)
		require.Less(t, w.Cwnd(), before.Cwnd, profile)
	}
}

func TestActionNames(t *testing.T) {
	seen := map[string]bool{}
	for a := nscc.ActionNone; a <= nscc.ActionReduce; a++ {
		require.NotContains(t, a.String(), "Action(")
		require.False(t, seen[a.String()], a.String())
		seen[a.String()] = true
	}
	require.Equal(t, "Action(200)", nscc.Action(200).String())
}

// What the plain steps are handed must arrive as OnACK would have it.
func TestWindowOnPlainACKIsOnACK(t *testing.T) {
	for _, profile := range []nscc.Profile{nscc.ProfileSpec, nscc.ProfileHTSim} {
		c := fabric100()
		c.Profile = profile
		p, plain := started(t, c)
		_, general := started(t, c)
		for i := range int64(2_000) {
			a := nscc.Ack{Bytes: i % 5 * 4_096, RTT: 11_000 + i*7_919%20_000, ECN: i%3 == 0}
			if i%11 == 0 {
				a.RTT = 0
			}
			now := i / 7 * 560
			plainly := nscc.MakePlainAck(a.Bytes, a.RTT, a.ECN)
			plain.OnPlainACK(p, now, plainly)
			general.OnACK(p, now, a)
			require.Equal(t, general, plain, i)
			require.Equal(t, a, plainly.Ack())
			require.Equal(t, a.ECN, plainly.Marks() == 1)
		}
	}
}
