// SPDX-License-Identifier: Apache-2.0

package pcc

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// started returns a flow that has seen its first event at time 0 and a burst
// with the probe at time 1.
func started(p *TemplateParams, n *TemplateCounters) *Template {
	f := new(Template)
	f.OnEvent(p, &Event{Type: EventTX}, n)
	f.OnEvent(p, &Event{Type: EventTX, Flags: ProbeSent, Time: 1}, n)
	return f
}

// sample returns the answer to a probe that took rtt and does not end in a zero
// byte.
func sample(rtt uint32) *Event {
	const end = 1<<20 + 1
	return &Event{Type: EventRTT, Time: end, Stamps: Stamps{ReqSend: end - rtt}}
}

// TestFirstEventStartsTheFlow: the first event of any type starts the flow and counts
// nothing.
func TestFirstEventStartsTheFlow(t *testing.T) {
	p := DefaultTemplateParams()
	for ev := range EventType(40) {
		var f Template
		var n TemplateCounters
		require.Equal(t, Decision{LineRate, true}, f.OnEvent(&p, &Event{Type: ev, Time: 7}, &n), "%v", ev)
		require.Equal(t, TemplateCounters{}, n)
		require.EqualValues(t, initialMinRTT, f.MinRTT)

		var z ZTR
		zp := DefaultZTRParams()
		require.Equal(t, Decision{LineRate, true}, z.OnEvent(&zp, &Event{Type: ev, Time: 7}), "%v", ev)
	}
}

// TestTemplateFactors applies each of the six decreases, and the increase.
func TestTemplateFactors(t *testing.T) {
	p := DefaultTemplateParams()
	for _, c := range []struct {
		name      string
		cnp, nack bool
		rtt, use  uint32
		want      float64
	}{
		{"delay", false, false, 30000, 0, 0.9},
		{"delay, busy port", false, false, 30000, highUse + 1, 0.8},
		{"exactly the busy threshold", false, false, 30000, highUse, 0.9},
		{"cnp", true, false, 5000, 0, 0.8},
		{"cnp, busy port", true, false, 5000, highUse + 1, 0.6},
		{"severe", false, false, 150000, 0, 0.8},
		{"nack and severe", false, true, 150000, 0, 0.5},
		{"nack and severe, busy port", false, true, 150000, highUse + 1, 0.0001},
		{"nack alone", false, true, 5000, 0, 1},
	} {
		var n TemplateCounters
		f := started(&p, &n)
		f.MinRTT = 5000
		f.CNP, f.Nack = c.cnp, c.nack
		e := sample(c.rtt)
		e.Utilisation = c.use
		d := f.OnEvent(&p, e, &n)
		require.InDelta(t, c.want, float64(d.Rate)/float64(LineRate), 0.0002, c.name)
		require.True(t, d.Probe, c.name)
		require.Equal(t, Probe{SentAt: 1, Wait: 1}, f.Probe, c.name)
	}
}

// TestTemplateIncrease: 5 % of the line rate a sample, never above the line.
func TestTemplateIncrease(t *testing.T) {
	p := DefaultTemplateParams()
	var n TemplateCounters
	f := started(&p, &n)
	f.Rate = 64
	require.EqualValues(t, 64+52428, f.OnEvent(&p, sample(5000), &n).Rate)
	for samples := 1; ; samples++ {
		if f.OnEvent(&p, sample(5000), &n).Rate == LineRate {
			require.LessOrEqual(t, samples, 20, "ceil((2^20 - r) / AI) samples")
			break
		}
	}
}

// TestTemplateNotifications: n CNPs between two samples count once, and a NACK
// waits for a severe sample.
func TestTemplateNotifications(t *testing.T) {
	p := DefaultTemplateParams()
	var n TemplateCounters
	f := started(&p, &n)
	for range 5 {
		require.Equal(t, Decision{LineRate, false}, f.OnEvent(&p, &Event{Type: EventCNP}, &n))
		require.Equal(t, Decision{LineRate, false}, f.OnEvent(&p, &Event{Type: EventNACK, Subtype: 2}, &n))
	}
	require.True(t, f.CNP)
	before := n
	f.OnEvent(&p, &Event{Type: EventTX}, &n)
	f.OnEvent(&p, sample(5000), &n)
	require.Equal(t, TemplateCounters{TX: before.TX + 1, RTT: before.RTT + 1}, n)
	require.False(t, f.CNP)
	require.True(t, f.Nack, "not consumed by a mild sample")
	f.OnEvent(&p, sample(150000), &n)
	require.False(t, f.Nack)
}

func TestTemplateParams(t *testing.T) {
	for _, good := range []TemplateParams{
		DefaultTemplateParams(),
		{UpdateFactor: 1, AI: 1, Threshold: 1, NewFlowRate: 1, MinRate: 1, MaxDelay: 1},
		{UpdateFactor: 6553, AI: LineRate, Threshold: math.MaxUint32, NewFlowRate: LineRate, MinRate: LineRate, MaxDelay: math.MaxUint32},
	} {
		require.NoError(t, good.Validate())
	}
	for _, change := range []func(*TemplateParams){
		func(p *TemplateParams) { p.UpdateFactor = 0 },
		func(p *TemplateParams) { p.UpdateFactor = 6554 }, // the strongest decrease would wrap
		func(p *TemplateParams) { p.AI = 0 },
		func(p *TemplateParams) { p.AI = LineRate + 1 },
		func(p *TemplateParams) { p.Threshold = 0 },
		func(p *TemplateParams) { p.MaxDelay = 0 },
		func(p *TemplateParams) { p.MinRate = 0 },
		func(p *TemplateParams) { p.NewFlowRate = p.MinRate - 1 },
		func(p *TemplateParams) { p.NewFlowRate = LineRate + 1 },
	} {
		bad := DefaultTemplateParams()
		change(&bad)
		require.ErrorIs(t, bad.Validate(), ErrConfig, "%+v", bad)
	}
}
