// SPDX-License-Identifier: Apache-2.0

package hw

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/pcc"
)

// TestWindowRule: a packet leaves if it fits the window, or if nothing is in
// flight.
func TestWindowRule(t *testing.T) {
	dev, soft, _ := newSoft(t, softConfig())
	c := start(t, dev, soft, 0, Control{Generation: 1})
	bell, err := dev.Doorbell(0)
	require.NoError(t, err)
	c.SetCwnd(10_000)
	bell.Ring(c, 1, 5)
	soft.Step(10_000)
	require.EqualValues(t, 2*4096, c.Sent())
	require.Equal(t, State{Window: true, Generation: 1}, c.State())
	soft.Ack(0, 4096)
	soft.Step(20_000)
	require.EqualValues(t, 3*4096, c.Sent())
	require.EqualValues(t, 4096, c.Acked())

	c.SetCwnd(1) // below what is in flight: legal, and nothing new leaves
	soft.Ack(0, 4096)
	soft.Step(30_000)
	require.EqualValues(t, 3*4096, c.Sent())
	soft.Ack(0, 4096)
	soft.Step(40_000)
	require.EqualValues(t, 4*4096, c.Sent(), "one packet always fits an empty window")
	c.SetCwnd(-1) // was a window without end
	soft.Step(50_000)
	require.EqualValues(t, 4*4096, c.Sent())
	require.Positive(t, dev.Counters().WindowBlockedNs)
	require.EqualValues(t, 4, dev.Counters().TXPackets)
	last, err := dev.Load(Reg.LastTX, 0)
	require.NoError(t, err)
	require.Equal(t, nsToTicks(30_000+327, uetTickPs), last)
}

// TestCreditRule: credit is a total; an older one is ignored and counted.
func TestCreditRule(t *testing.T) {
	dev, soft, _ := newSoft(t, softConfig())
	c := start(t, dev, soft, 1, Control{Generation: 3, Mode: ModeCredit})
	bell, _ := dev.Doorbell(1)
	bell.Ring(c, 3, 10)
	soft.Step(1000)
	require.Zero(t, c.Sent())
	require.True(t, c.State().Credit)
	c.SetCredit(33) // 16 quanta a packet
	soft.Step(10_000)
	require.EqualValues(t, 2*4096, c.Sent())
	require.EqualValues(t, 32, c.CreditUsed())
	c.SetCredit(20)
	soft.Step(20_000)
	require.EqualValues(t, 1, dev.Counters().StaleCredit)
	c.SetCredit(48)
	soft.Step(30_000)
	require.EqualValues(t, 48, c.CreditUsed())
	require.Positive(t, dev.Counters().CreditBlockedNs)
}

// TestTokenBucketPaces: a token bucket paces.
func TestTokenBucketPaces(t *testing.T) {
	dev, soft, _ := newSoft(t, softConfig())
	c := start(t, dev, soft, 0, Control{Generation: 1, Mode: ModeRate, Rate: 1 << 19, Burst: 2 * 4096})
	bell, _ := dev.Doorbell(0)
	bell.Ring(c, 1, 10_000)
	for now := int64(0); now <= 1_000_000; now += 100 {
		soft.Step(now)
	}
	require.InDelta(t, 6.25e6, float64(c.Sent()), 10*4096, "half of 100 Gb/s for a millisecond")
	require.Positive(t, dev.Counters().RateBlockedNs)
}

// TestTokenBucketKeepsFractions: the bucket keeps fractions and a long time between steps counts whole.
func TestTokenBucketKeepsFractions(t *testing.T) {
	for _, tc := range []struct {
		line int64
		rate uint32
		step int64
	}{
		{1e9, 1, 1_000},         // 119 bytes a second
		{1e9, 64, 10_000_000},   // the least rate of the sample algorithm
		{100e9, 64, 30_000_000}, // 22,888 bytes between two steps
		{100e9, 1000, 1},
		{1 << 43, 1 << 20, 10},
	} {
		cfg := softConfig()
		cfg.LineRate, cfg.Contexts = tc.line, 1
		dev, soft, _ := newSoft(t, cfg)
		c := start(t, dev, soft, 0, Control{Mode: ModeRate, Rate: tc.rate, Burst: 40 * 4096})
		bell, err := dev.Doorbell(0)
		require.NoError(t, err)
		now := int64(0)
		for range 5000 {
			bell.Ring(c, 0, uint16(c.Sent()/4096+100))
			now += tc.step
			soft.Step(now)
		}
		port := float64(tc.line) / 8e9 * float64(now)
		want := min(port, 40*4096+port*float64(tc.rate)/(1<<20))
		spilled := want / 5000 // the bucket was full before the first step
		require.InDelta(t, want, float64(c.Sent()), spilled+2*4096, "%+v", tc)
	}
}

// TestLineRateHasFractions: 4,096 bytes last 40.96 ns at 800 Gb/s.
func TestLineRateHasFractions(t *testing.T) {
	cfg := softConfig()
	cfg.LineRate, cfg.Contexts = 800e9, 1
	dev, soft, _ := newSoft(t, cfg)
	c := start(t, dev, soft, 0, Control{})
	c.SetCwnd(1 << 40)
	bell, err := dev.Doorbell(0)
	require.NoError(t, err)
	bell.Ring(c, 0, 30_000)
	soft.Step(1_000_000)
	require.InDelta(t, 1e8, float64(c.Sent()), 4096)
}

// TestContextsShareThePort: several contexts share the port in turn.
func TestContextsShareThePort(t *testing.T) {
	dev, soft, _ := newSoft(t, softConfig())
	bell, _ := dev.Doorbell(0)
	var contexts [4]*Context
	for i := range contexts {
		contexts[i] = start(t, dev, soft, i, Control{Generation: 1})
		contexts[i].SetCwnd(1 << 30)
		bell.Ring(contexts[i], 1, 30_000)
	}
	for now := int64(0); now <= 100_000; now += 1000 {
		soft.Step(now)
	}
	total := uint64(0)
	for _, c := range contexts {
		total += c.Sent()
		require.InDelta(t, float64(contexts[0].Sent()), float64(c.Sent()), 4096)
	}
	require.InDelta(t, 1.25e6, float64(total), 4*4096)
}

// TestDoorbellIdempotent: the same doorbell twice, an older one, and one of
// another life change nothing but a counter.
func TestDoorbellIdempotent(t *testing.T) {
	dev, soft, _ := newSoft(t, softConfig())
	c := start(t, dev, soft, 0, Control{Generation: 9})
	c.SetCwnd(1 << 30)
	bell, _ := dev.Doorbell(0)
	ring := func(gen uint8, index uint16) uint64 {
		bell.Ring(c, gen, index)
		soft.Step(soft.now + 50_000_000)
		return c.Sent() / 4096
	}
	require.EqualValues(t, 5, ring(9, 5))
	require.EqualValues(t, 5, ring(9, 5))
	require.EqualValues(t, 5, ring(9, 3))
	require.EqualValues(t, 1, dev.Counters().StaleDoorbells)
	require.EqualValues(t, 5, ring(8, 20))
	require.Positive(t, dev.Counters().GenMismatch)
	require.EqualValues(t, 30_005, ring(9, 30_005))
	require.EqualValues(t, 60_005, ring(9, 60_005))
	require.EqualValues(t, 65_540, ring(9, 4), "the index wraps")
	require.EqualValues(t, 64, bell.Room())
	require.NoError(t, dev.Enable(allFeatures&^FeatureRoom))
	bell, err := dev.Doorbell(0)
	require.NoError(t, err)
	require.EqualValues(t, uint32(math.MaxUint32), bell.Room(), "nobody says")
}

// TestDoorbellOvertaken: two contexts ring through one page before the device
// looks; the first one's record still says what it wanted.
func TestDoorbellOvertaken(t *testing.T) {
	dev, soft, _ := newSoft(t, softConfig())
	a := start(t, dev, soft, 0, Control{Generation: 1})
	b := start(t, dev, soft, 1, Control{Generation: 1})
	bell, _ := dev.Doorbell(0)
	bell.Ring(a, 1, 1)
	bell.Ring(b, 1, 1)
	soft.Step(10_000)
	require.EqualValues(t, 4096, a.Sent())
	require.EqualValues(t, 4096, b.Sent())
}

// TestNewGenerationIsANewLife: a new generation is a new life of the slot.
func TestNewGenerationIsANewLife(t *testing.T) {
	dev, soft, host := newSoft(t, softConfig())
	ring, err := dev.Ring(0, host, 0, 6)
	require.NoError(t, err)
	c := start(t, dev, soft, 0, Control{Generation: 1, Mode: ModeBoth})
	bell, _ := dev.Doorbell(0)
	c.SetCwnd(1 << 20)
	c.SetCredit(1 << 20)
	bell.Ring(c, 1, 4)
	soft.Step(10_000)
	require.EqualValues(t, 4*4096, c.Sent())

	c.Commit(Control{Enable: true, Mode: ModeBoth, Generation: 2})
	soft.Step(20_000)
	require.EqualValues(t, 2, c.State().Generation)
	require.Equal(t, c.Sent(), c.Acked(), "nothing of the new life is in flight")
	bell.Ring(c, 1, 9) // the old owner, late
	soft.Step(30_000)
	require.EqualValues(t, 4*4096, c.Sent())
	bell.Ring(c, 2, 1)
	soft.Step(40_000)
	require.EqualValues(t, 4*4096, c.Sent(), "the old life's credit is void")
	require.True(t, c.State().Credit)
	c.SetCredit(c.CreditUsed() + 16)
	soft.Step(50_000)
	require.EqualValues(t, 5*4096, c.Sent(), "the new life counts from what was used")

	var events [16]Event
	n := ring.Drain(events[:])
	require.Equal(t, 5, n)
	require.EqualValues(t, 1, events[3].Generation)
	require.EqualValues(t, 2, events[4].Generation)
}

// TestCommitRefusesAnotherGeneration: a commit whose generation is not that of CTL is refused.
func TestCommitRefusesAnotherGeneration(t *testing.T) {
	dev, soft, _ := newSoft(t, softConfig())
	require.NoError(t, dev.Store(Reg.Ctl, 0, 1|5<<8|1<<24))
	require.NoError(t, dev.Store(Reg.Commit, 0, 1<<8|6))
	soft.Step(1)
	require.Equal(t, FaultCommit, dev.Faults())
	dev.ClearFaults(FaultRing)
	soft.Step(2)
	require.Equal(t, FaultCommit, dev.Faults(), "only the bits that were written")
	dev.ClearFaults(FaultCommit)
	soft.Step(3)
	require.Zero(t, dev.Faults())
	require.NoError(t, dev.Store(Reg.Ring, 0, doorbellWord(1, opTX, 0, 99)))
	soft.Step(4)
	require.Equal(t, FaultDoorbell, dev.Faults())
}

// TestProbeLeavesWithTheNextBurst: a doorbell asks for a probe, and the next burst carries it.
func TestProbeLeavesWithTheNextBurst(t *testing.T) {
	dev, soft, host := newSoft(t, softConfig())
	ring, _ := dev.Ring(0, host, 0, 4)
	c := start(t, dev, soft, 0, Control{Generation: 1})
	bell, _ := dev.Doorbell(0)
	bell.Probe(c, 1)
	soft.Step(10)
	bell.Ring(c, 1, 1)
	soft.Step(20)
	var e [1]Event
	require.Equal(t, 1, ring.Drain(e[:]))
	require.Equal(t, pcc.EventTX, e[0].Type)
	require.EqualValues(t, pcc.ProbeSent, e[0].Flags)
	require.Equal(t, pcc.EventTX, e[0].PCC().Type)

	for i := range 3 { // nothing else is rung between
		bell.Probe(c, 1)
		soft.Step(30 + int64(i))
		require.True(t, soft.contexts[0].probe, "asked again")
		soft.contexts[0].probe = false
	}
}

// TestEventsAreCountedByType, also where several are posted at once.
func TestEventsAreCountedByType(t *testing.T) {
	dev, soft, _ := newSoft(t, softConfig())
	var events []Event
	for i, e := range []pcc.EventType{EventACKCC, pcc.EventCNP, pcc.EventCNP, EventTrimNACK, EventACKCC, pcc.EventNACK, EventACKCC, EventACKCC} {
		events = append(events, Event{Type: e, Context: uint32(i % 4)})
	}
	soft.Post(events...)
	soft.Post(events[1])
	soft.Step(1)
	require.Equal(t, Counters{RXPackets: 4, CNPs: 3, NACKs: 2, EventsLost: 9}, dev.Counters()) // nobody has set up a ring
}

func TestSoftErrors(t *testing.T) {
	for _, change := range []func(*SoftConfig){
		func(c *SoftConfig) { c.Contexts = 0 },
		func(c *SoftConfig) { c.Contexts = 1<<16 + 1 },
		func(c *SoftConfig) { c.PDCs = -1 },
		func(c *SoftConfig) { c.Owners = 65 },
		func(c *SoftConfig) { c.LineRate = 0 },
		func(c *SoftConfig) { c.LineRate = 1<<43 + 1 },
		func(c *SoftConfig) { c.MTU = 100 },
		func(c *SoftConfig) { c.MTU = 0 },
		func(c *SoftConfig) { c.MTU = 1024 * 64 },
		func(c *SoftConfig) { c.PDCs = 1<<16 + 1 },
		func(c *SoftConfig) { c.Owners = 0 },
	} {
		cfg := softConfig()
		change(&cfg)
		require.Zero(t, cfg.SpaceSize())
		_, err := NewSoftDevice(cfg, NewMemory(1<<20), NewMemory(1))
		require.ErrorIs(t, err, ErrConfig)
	}
	for _, good := range []SoftConfig{
		{Contexts: 1, Owners: 1, LineRate: 1, MTU: 64}, {Contexts: 1 << 16, PDCs: 1 << 16, Owners: 64, LineRate: 1 << 43, MTU: 1023 * 64},
	} {
		_, err := NewSoftDevice(good, NewMemory(good.SpaceSize()), NewMemory(1))
		require.NoError(t, err)
		_, err = NewSoftDevice(good, NewMemory(good.SpaceSize()-8), NewMemory(1))
		require.ErrorIs(t, err, ErrConfig)
	}
}

// Credit behind a commit that the device has not taken is the old generation's; what is
// stored behind a reset that it has not done is lost.
func TestStoresAheadOfALife(t *testing.T) {
	dev, soft, _ := newSoft(t, softConfig())
	c := start(t, dev, soft, 0, Control{Generation: 1, Mode: ModeCredit})
	ready := func() bool {
		soft.Step(0)
		return c.State().Ready
	}
	c.Commit(Control{Enable: true, Generation: 2, Mode: ModeCredit})
	c.SetCredit(100)
	require.False(t, ready())
	require.EqualValues(t, 2, c.State().Generation)
	c.SetCredit(c.CreditUsed() + 200)
	require.True(t, ready())

	dev.Reset()
	c.Commit(Control{Enable: true, Generation: 3, Mode: ModeCredit})
	require.False(t, ready())
	require.Zero(t, c.State().Generation)
	require.NoError(t, dev.Enable(allFeatures))
	c = start(t, dev, soft, 0, Control{Generation: 3, Mode: ModeCredit})
	c.SetCredit(c.CreditUsed() + 200)
	require.True(t, ready())
}

// A device outlives any clock of its owner's.
func TestStepAtOddTimes(t *testing.T) {
	dev, soft, _ := newSoft(t, softConfig())
	c := start(t, dev, soft, 0, Control{Generation: 1, Mode: ModeBoth, Rate: 1 << 19})
	bell, err := dev.Doorbell(0)
	require.NoError(t, err)
	for i, now := range []int64{-1, math.MinInt64, 1000, 0, 1 << 62, 5, math.MaxInt64, math.MinInt64, math.MaxInt64} {
		c.SetCwnd(1 << 40)
		c.SetCredit(1 << 40)
		bell.Ring(c, 1, uint16(10*i+10))
		before := dev.Clock().Ticks()
		soft.Step(now)
		require.GreaterOrEqual(t, dev.Clock().Ticks(), before)
	}
	require.Positive(t, c.Sent())
}
