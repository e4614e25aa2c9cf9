package pcc

import (
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
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

// TestFirstEvent: the first event of any type starts the flow and counts
// nothing.
func TestFirstEvent(t *testing.T) {
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
	f.OnEvent(&p, sample(5000), &n)
	require.False(t, f.CNP)
	require.True(t, f.Nack, "not consumed by a mild sample")
	f.OnEvent(&p, sample(150000), &n)
	require.False(t, f.Nack)
}

// TestProbeLoss: a lost request is noticed after two bursts, a lost answer after
// 300 us, 600 us, ... ; a late answer is welcome.
func TestProbeLoss(t *testing.T) {
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

func TestTemplateParams(t *testing.T) {
	p := DefaultTemplateParams()
	require.NoError(t, p.Validate())
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

// TestStamps: the four timestamps of the RTT measurement flow, with a receiver
// clock of any offset, and across the wrap of both clocks.
func TestStamps(t *testing.T) {
	for _, offset := range []uint32{0, 1 << 31, math.MaxUint32 - 3500} {
		for _, t1 := range []uint32{0, math.MaxUint32 - 2000} {
			s := Stamps{ReqSend: t1, ReqRecv: t1 + 3000 + offset, RespSend: t1 + 3600 + offset}
			t4 := t1 + 8100
			require.EqualValues(t, 8100, s.Total(t4))
			require.EqualValues(t, 600, s.Residence())
			require.EqualValues(t, 7500, s.Network(t4))
		}
	}
	require.EqualValues(t, 3000, Stamps{ReqSend: 5, ReqRecv: 3005}.OneWay())
	require.Zero(t, Stamps{RespSend: 9000}.Network(8100), "a coarse receiver clock makes no negative delay")
}

// TestAckRTT: an ACK_CC carries the same three facts as a probe.
func TestAckRTT(t *testing.T) {
	e := AckRTT(1000, 9100, 600)
	require.Equal(t, EventRTT, e.Type)
	require.EqualValues(t, 7500, e.Network(e.Time))
}

// TestExpected: the delay that a flow may see depends on its rate.
func TestExpected(t *testing.T) {
	p := DefaultZTRParams()
	for rate, above := range map[Rate]uint32{
		LineRate:       13000,
		LineRate / 100: 13000 + 11700, // 24.7 us at 1 %
		64:             178000,
	} {
		f := ZTR{Rate: rate, MinRTT: 6000}
		require.InDelta(t, float64(6000+above), float64(f.expected(&p)), 1000, "rate %d", rate)
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

// TestFastReaction: the first congestion halves the rate at once, the next one
// is answered in proportion and bounded.
func TestFastReaction(t *testing.T) {
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

// TestWindowing: with the delay a little above the expected one the rate falls
// as a constant window would make it fall.
func TestWindowing(t *testing.T) {
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

// TestCalm: after a calm period the increase takes an extra step.
func TestCalm(t *testing.T) {
	p := DefaultZTRParams()
	f := ztrStarted(&p)
	f.Rate = 1000
	e := ztrSample(6000)
	e.Time += p.HAIPeriod
	e.ReqSend += p.HAIPeriod
	require.EqualValues(t, 1000+96+1700, f.OnEvent(&p, e).Rate)
	require.EqualValues(t, 1000+2*96+1700, f.OnEvent(&p, e).Rate)
}

// TestMinimumWindow: a minimum is remembered for at least a window, and for two
// at most.
func TestMinimumWindow(t *testing.T) {
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
	require.EqualValues(t, 9000, at(start+2*p.MinWindow, 9500))
}

func TestZTRParams(t *testing.T) {
	p := DefaultZTRParams()
	require.NoError(t, p.Validate())
	for _, change := range []func(*ZTRParams){
		func(p *ZTRParams) { p.Alpha = one + 1 },
		func(p *ZTRParams) { p.MaxDec = one + 1 },
		func(p *ZTRParams) { p.MaxDec = one - one/5 - 1 },
		func(p *ZTRParams) { p.AI = 0 },
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

func TestRateBits(t *testing.T) {
	require.EqualValues(t, int64(400_000_000_000), LineRate.Bits(400_000_000_000))
	require.InDelta(t, 381_469, float64(Rate(1).Bits(400_000_000_000)), 1)
	require.InDelta(t, 24_414_062, float64(Rate(64).Bits(400_000_000_000)), 1)
}

func TestEventTypeString(t *testing.T) {
	require.Equal(t, "rtt", EventRTT.String())
	require.Equal(t, "EventType(77)", EventType(77).String())
	for ev := range EventRTT {
		require.NotContains(t, ev.String(), "EventType")
	}
}

// TestContextSize: a NIC gives 48 bytes of context a flow.
func TestContextSize(t *testing.T) {
	require.LessOrEqual(t, unsafe.Sizeof(Template{}), uintptr(48))
	require.LessOrEqual(t, unsafe.Sizeof(ZTR{}), uintptr(48))
}

func TestAllocs(t *testing.T) {
	p, zp := DefaultTemplateParams(), DefaultZTRParams()
	var n TemplateCounters
	f, z := started(&p, &n), ztrStarted(&zp)
	e := ztrSample(9000)
	alloctest.Zero(t, "Template", func() {
		if !f.OnEvent(&p, e, &n).Probe {
			panic("not an answer")
		}
	})
	alloctest.Zero(t, "ZTR", func() {
		if !z.OnEvent(&zp, e).Probe {
			panic("not an answer")
		}
	})
}
