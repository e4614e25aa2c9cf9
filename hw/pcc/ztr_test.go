// SPDX-License-Identifier: Apache-2.0

package pcc

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExpectedDelayGrowsAsTheRateFalls: the delay that a flow may see depends on its rate.
func TestExpectedDelayGrowsAsTheRateFalls(t *testing.T) {
	p := DefaultZTRParams()
	for rate, above := range map[Rate]uint32{
		LineRate:       13000,
		LineRate / 100: 13000 + 11700, // 24.7 us at 1 %
		64:             178000,
	} {
		f := ZTR{Rate: rate, MinRTT: 6000}
		require.InDelta(t, float64(6000+above), float64(f.expected(&p)), 100, "rate %d", rate)
	}
	f := ZTR{Rate: 64, MinRTT: 6000}
	p.Alpha = one
	require.EqualValues(t, p.MaxDelay, f.expected(&p), "never above the severe delay")
}

// ztrStarted returns a flow at line rate whose minimum is 6 us.
func ztrStarted(p *ZTRParams) *ZTR {
	f := new(ZTR)
	f.OnEvent(p, &Event{Type: EventTX, Time: 1 << 20})
	f.OnEvent(p, &Event{Type: EventTX, Time: 1<<20 + 1, Flags: ProbeSent})
	f.OnEvent(p, ztrSample(6000))
	return f
}

func ztrSample(network uint32) *Event {
	const end = 1<<20 + 5000
	return &Event{Type: EventRTT, Time: end, Stamps: Stamps{ReqSend: end - network - 600, ReqRecv: 77, RespSend: 677}}
}

// TestFirstCongestionHalvesTheRate: the first congestion halves the rate at once, the next one
// is answered in proportion and bounded.
func TestFirstCongestionHalvesTheRate(t *testing.T) {
	p := DefaultZTRParams()
	f := ztrStarted(&p)
	require.EqualValues(t, 6000, f.MinRTT)
	require.Equal(t, LineRate/2, f.OnEvent(&p, ztrSample(40000)).Rate)
	require.Equal(t, (LineRate / 2).mul(fxp16(p.MaxDec)), f.OnEvent(&p, ztrSample(40000)).Rate)
	require.EqualValues(t, 40000, f.RTT)

	slow := ztrStarted(&p)
	slow.Rate = LineRate / 4
	require.Equal(t, (LineRate / 4).mul(fxp16(p.MaxDec)), slow.OnEvent(&p, ztrSample(40000)).Rate,
		"a flow below that rate already takes one step")

	f.OnEvent(&p, &Event{Type: EventTX, Time: 1<<20 + 1 + p.MaxDelay + 5000})
	require.False(t, f.seen, "an idle flow has forgotten")
}

// TestExpectedDoesNotWrap: the largest parameters allow the severe delay to the
// slowest flow, and not what 64 bits leave of the product.
func TestExpectedDoesNotWrap(t *testing.T) {
	p := DefaultZTRParams()
	p.Alpha, p.MaxDelay, p.MinRate = one, 1e9, 1
	for _, threshold := range []uint32{1 << 22, 4_198_405, 1 << 27} {
		p.Threshold = threshold
		require.NoError(t, p.Validate())
		f := ZTR{Rate: 1, MinRTT: 6000}
		require.Equal(t, p.MaxDelay, f.expected(&p), "threshold %d", threshold)
	}
}

// TestRateFallsAsAWindowWould: with the delay a little above the expected one the rate falls
// as a constant window would make it fall.
func TestRateFallsAsAWindowWould(t *testing.T) {
	p := DefaultZTRParams()
	f := ztrStarted(&p)
	f.seen = true
	expected := f.expected(&p)
	rtt := expected + expected/100
	got := f.OnEvent(&p, ztrSample(rtt)).Rate
	require.InDelta(t, float64(LineRate)*float64(expected)/float64(rtt), float64(got), 32)
}

// TestZTRNotifications: CNP and NACK act at the next sample, once.
func TestZTRNotifications(t *testing.T) {
	p := DefaultZTRParams()
	f := ztrStarted(&p)
	f.seen = true
	for range 3 {
		require.Equal(t, Decision{LineRate, false}, f.OnEvent(&p, &Event{Type: EventCNP}))
	}
	require.InDelta(t, 0.94, float64(f.OnEvent(&p, ztrSample(6000)).Rate)/float64(LineRate), 0.001)
	require.Greater(t, f.OnEvent(&p, ztrSample(6000)).Rate, LineRate.mul(61604), "consumed")

	f = ztrStarted(&p)
	f.seen = true
	f.OnEvent(&p, &Event{Type: EventNACK})
	require.Equal(t, LineRate, f.OnEvent(&p, ztrSample(6000)).Rate, "a NACK needs a severe delay")
	require.InDelta(t, 0.85, float64(f.OnEvent(&p, ztrSample(250000)).Rate)/float64(LineRate), 0.001)
}

// TestCalmPeriodAddsAStep: after a calm period the increase takes an extra step.
func TestCalmPeriodAddsAStep(t *testing.T) {
	p := DefaultZTRParams()
	f := ztrStarted(&p)
	f.Rate = 1000
	e := ztrSample(6000)
	e.Time += p.HAIPeriod
	e.ReqSend += p.HAIPeriod
	require.EqualValues(t, 1000+96+1700, f.OnEvent(&p, e).Rate)
	require.EqualValues(t, 1000+2*96+1700, f.OnEvent(&p, e).Rate)
}

// TestMinimumIsForgottenAfterTwoWindows: a minimum is remembered for at least a window, and for two
// at most.
func TestMinimumIsForgottenAfterTwoWindows(t *testing.T) {
	p := DefaultZTRParams()
	f := ztrStarted(&p)
	at := func(time, network uint32) uint32 {
		e := ztrSample(network)
		e.ReqSend += time - e.Time
		e.Time = time
		f.OnEvent(&p, e)
		return f.MinRTT
	}
	start := f.window
	require.EqualValues(t, 6000, at(start+p.MinWindow-1, 9000))
	require.EqualValues(t, 6000, at(start+p.MinWindow, 9000))
	require.EqualValues(t, 6000, at(start+2*p.MinWindow-1, 9000))
	require.EqualValues(t, 9000, at(start+2*p.MinWindow, 9500))
}

func TestZTRParams(t *testing.T) {
	for _, good := range []ZTRParams{
		DefaultZTRParams(),
		{MaxDec: 52_429, AI: 1, HAIPeriod: 1, Threshold: 1, MaxDelay: 1, First: 1, MinRate: 1, NewFlow: 1, MinWindow: 1},
		{Alpha: 65_536, MaxDec: 65_536, AI: LineRate, HAI: LineRate, HAIPeriod: math.MaxUint32, Threshold: math.MaxUint32,
			MaxDelay: math.MaxUint32, First: LineRate, MinRate: LineRate, NewFlow: LineRate, MinWindow: math.MaxUint32},
	} {
		require.NoError(t, good.Validate())
	}
	for _, change := range []func(*ZTRParams){
		func(p *ZTRParams) { p.Alpha = one + 1 },
		func(p *ZTRParams) { p.MaxDec = one + 1 },
		func(p *ZTRParams) { p.MaxDec = one - one/5 - 1 },
		func(p *ZTRParams) { p.AI = 0 },
		func(p *ZTRParams) { p.AI = LineRate + 1 },
		func(p *ZTRParams) { p.HAI = LineRate + 1 },
		func(p *ZTRParams) { p.HAIPeriod = 0 },
		func(p *ZTRParams) { p.Threshold = 0 },
		func(p *ZTRParams) { p.MaxDelay = 0 },
		func(p *ZTRParams) { p.MinWindow = 0 },
		func(p *ZTRParams) { p.MinRate = 0 },
		func(p *ZTRParams) { p.First = p.MinRate - 1 },
		func(p *ZTRParams) { p.First = LineRate + 1 },
		func(p *ZTRParams) { p.NewFlow = p.MinRate - 1 },
		func(p *ZTRParams) { p.NewFlow = LineRate + 1 },
	} {
		bad := DefaultZTRParams()
		change(&bad)
		require.ErrorIs(t, bad.Validate(), ErrConfig, "%+v", bad)
	}
}
