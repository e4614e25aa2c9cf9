package hw

import (
	"errors"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/pcc"
	"github.com/uetcc/uetcc/internal/alloctest"
)

const allFeatures = FeatureWindow | FeatureCredit | FeatureRate | FeatureTXStamp | FeatureEvents |
	FeatureRoom | FeatureEntropy | FeatureService | FeatureProbe | FeatureWide

func softConfig() SoftConfig {
	return SoftConfig{Contexts: 4, PDCs: 4, Owners: 2, Features: allFeatures, LineRate: 100e9, MTU: 4096}
}

// newSoft returns a software device and the engine's view of it, with all its
// features on.
func newSoft(t testing.TB, cfg SoftConfig) (*Device, *SoftDevice, *Memory) {
	host := NewMemory(1 << 20)
	regs := NewMemory(cfg.SpaceSize())
	soft, err := NewSoftDevice(cfg, regs, host)
	require.NoError(t, err)
	dev, err := Open(regs)
	require.NoError(t, err)
	require.NoError(t, dev.Enable(cfg.Features))
	return dev, soft, host
}

// start commits a context and steps the device once.
func start(t testing.TB, dev *Device, soft *SoftDevice, i int, v Control) *Context {
	c, err := dev.Context(i)
	require.NoError(t, err)
	v.Enable = true
	c.Commit(v)
	soft.Step(0)
	require.Equal(t, v.Generation, c.State().Generation)
	return &c
}

func TestOpen(t *testing.T) {
	dev, soft, _ := newSoft(t, softConfig())
	require.EqualValues(t, 100e9, dev.LineRate())
	require.EqualValues(t, 4096, dev.MTU())
	require.Equal(t, StatusReady|StatusLink, dev.Status())
	require.Equal(t, allFeatures, dev.Features())
	require.Equal(t, 4, dev.Count(KindContext))
	require.Equal(t, 2, dev.Count(KindDoorbell))
	require.Zero(t, dev.Count(Kind(0x99)))
	require.EqualValues(t, 128_000, dev.Clock().TickPs())
	soft.Step(128 * 7)
	require.EqualValues(t, 7, dev.Clock().Ticks())
	soft.Step(5)
	require.EqualValues(t, 7, dev.Clock().Ticks(), "the clock never steps back")
	require.EqualValues(t, 7, dev.Clock().Ticks32())
}

// TestOpenOverlap: an array of elements must not lie over another block, known or not.
func TestOpenOverlap(t *testing.T) {
	cfg := softConfig()
	for _, tc := range []struct{ at, base, count uint32 }{
		{atContext, atDoorbell, 1}, // the headers of three blocks
		{atCapability, 0, 1},       // has no array: nothing is read
		{atCounters, atCounters + 0x18, 2},
	} {
		regs := NewMemory(cfg.SpaceSize())
		_, err := NewSoftDevice(cfg, regs, NewMemory(8))
		require.NoError(t, err)
		regs.Store32(atCounters+RegNext.Offset, atCounters+0x20)
		regs.Store32(atCounters+0x20, 0x99)
		_, err = Open(regs)
		require.NoError(t, err, "a block of an unknown kind")
		regs.Store32(tc.at+RegBase.Offset, tc.base)
		regs.Store32(tc.at+RegGeom.Offset, tc.count<<8|regs.Load32(tc.at+RegGeom.Offset)&0xff)
		_, err = Open(regs)
		require.Equal(t, tc.base != 0, errors.Is(err, ErrChain), "%#x", tc)
	}
}

// TestOpenArrayInFront: an array may lie in front of the block that describes it.
func TestOpenArrayInFront(t *testing.T) {
	cfg := softConfig()
	cfg.Owners = 1
	regs := NewMemory(cfg.SpaceSize() + 64)
	_, err := NewSoftDevice(cfg, regs, NewMemory(8))
	require.NoError(t, err)
	from, to := uint32(atCounters), cfg.SpaceSize()
	for off := uint32(0); off < headerLen; off += 4 {
		regs.Store32(to+off, regs.Load32(from+off))
	}
	regs.Store32(atEvents+RegNext.Offset, to)
	dev, err := Open(regs)
	require.NoError(t, err)
	require.EqualValues(t, counters, dev.Count(KindCounters))
	regs.Store32(to+RegBase.Offset, to-8) // into its own header
	_, err = Open(regs)
	require.ErrorIs(t, err, ErrChain)
	regs.Store32(to+RegBase.Offset, to+8)
	regs.Store32(to+RegGeom.Offset, regs.Load32(to+RegGeom.Offset)&0xff)
	_, err = Open(regs)
	require.NoError(t, err, "what is empty lies nowhere")
}

// TestEnable: a feature that the device lacks leaves everything off, and the
// registers of a feature that is off read 0 and ignore stores.
func TestEnable(t *testing.T) {
	cfg := softConfig()
	cfg.Features = FeatureWindow
	dev, _, _ := newSoft(t, cfg)
	require.NoError(t, dev.Store(RegCwnd, 0, 77))
	require.ErrorIs(t, dev.Enable(FeatureWindow|FeatureCredit), ErrFeature)
	require.Zero(t, dev.Enabled())
	v, err := dev.Load(RegCwnd, 0)
	require.NoError(t, err)
	require.Zero(t, v)
	require.NoError(t, dev.Store(RegCwnd, 0, 99))
	require.NoError(t, dev.Enable(FeatureWindow))
	v, _ = dev.Load(RegCwnd, 0)
	require.EqualValues(t, 77, v)

	c, _ := dev.Context(0)
	c.SetCredit(5)
	c.SetBacklog(5)
	require.NoError(t, dev.Enable(0))
	require.Zero(t, c.CreditUsed())
	require.Zero(t, c.LastTX())
	_, err = dev.Ring(0, NewMemory(4096), 0, 4)
	require.ErrorIs(t, err, ErrFeature)
}

// TestAccess: the access class of every register is kept by Load and Store.
func TestAccess(t *testing.T) {
	dev, _, _ := newSoft(t, softConfig())
	for _, r := range []Register{RegFeatures, RegStatus, RegNow, RegSent, RegPDC, RegRoom, RegLost, RegCounter} {
		require.ErrorIs(t, dev.Store(r, 0, 1), ErrAccess, r.Name)
	}
	for _, r := range []Register{RegReset, RegCommit, RegRing} {
		require.NoError(t, dev.Store(r, 0, 1))
		v, err := dev.Load(r, 0)
		require.NoError(t, err)
		require.Zero(t, v, r.Name)
	}
	_, err := dev.Load(RegCwnd, 4)
	require.ErrorIs(t, err, ErrIndex)
	_, err = dev.Load(RegCwnd, -1)
	require.ErrorIs(t, err, ErrIndex)
	_, err = dev.Load(Register{Kind: 0x99}, 0)
	require.ErrorIs(t, err, ErrMissing)
	require.ErrorIs(t, dev.Store(Register{Kind: 0x99, Access: RW}, 0, 0), ErrMissing)
}

// TestLines: what the engine writes and what the device writes lie in different
// cache lines of a context.
func TestLines(t *testing.T) {
	for _, r := range []Register{RegCtl, RegRate, RegCwnd, RegCredit, RegBacklog, RegBurst, RegCommit, RegRecord} {
		require.Less(t, r.Offset+uint32(r.Width)/8, uint32(65), r.Name)
		require.NotEqual(t, RO, r.Access, r.Name)
	}
	for _, r := range []Register{RegState, RegLastTX, RegSent, RegAcked, RegCreditUsed} {
		require.GreaterOrEqual(t, r.Offset, uint32(64), r.Name)
		require.Equal(t, RO, r.Access, r.Name)
	}
}

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
	require.Positive(t, dev.Counter(CounterWindowBlockedNs))
	require.EqualValues(t, 4, dev.Counter(CounterTXPackets))
	require.EqualValues(t, NsToTicks(30_000+327, UETTickPs), c.LastTX())
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
	require.EqualValues(t, 1, dev.Counter(CounterStaleCredit))
	c.SetCredit(48)
	soft.Step(30_000)
	require.EqualValues(t, 48, c.CreditUsed())
	require.Positive(t, dev.Counter(CounterCreditBlockedNs))
}

// TestRateRule: a token bucket paces.
func TestRateRule(t *testing.T) {
	dev, soft, _ := newSoft(t, softConfig())
	c := start(t, dev, soft, 0, Control{Generation: 1, Mode: ModeRate, Rate: 1 << 19, Burst: 2 * 4096})
	bell, _ := dev.Doorbell(0)
	bell.Ring(c, 1, 10_000)
	for now := int64(0); now <= 1_000_000; now += 100 {
		soft.Step(now)
	}
	require.InDelta(t, 6.25e6, float64(c.Sent()), 10*4096, "half of 100 Gb/s for a millisecond")
	require.Positive(t, dev.Counter(CounterRateBlockedNs))
}

// TestSlowRate: the bucket keeps fractions and a long time between steps counts whole.
func TestSlowRate(t *testing.T) {
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

// TestLineRate: several contexts share the port in turn.
func TestLineRate(t *testing.T) {
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
	require.EqualValues(t, 1, dev.Counter(CounterStaleDoorbells))
	require.EqualValues(t, 5, ring(8, 20))
	require.Positive(t, dev.Counter(CounterGenMismatch))
	require.EqualValues(t, 30_005, ring(9, 30_005))
	require.EqualValues(t, 60_005, ring(9, 60_005))
	require.EqualValues(t, 65_540, ring(9, 4), "the index wraps")
	require.EqualValues(t, 64, bell.Room())
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

// TestRebind: a new generation is a new life of the slot.
func TestRebind(t *testing.T) {
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

// TestCommitGeneration: a commit whose generation is not that of CTL is refused.
func TestCommitGeneration(t *testing.T) {
	dev, soft, _ := newSoft(t, softConfig())
	require.NoError(t, dev.Store(RegCtl, 0, 1|5<<8|1<<24))
	require.NoError(t, dev.Store(RegCommit, 0, 1<<8|6))
	soft.Step(1)
	require.Equal(t, FaultCommit, dev.Faults())
	dev.ClearFaults(FaultRing)
	soft.Step(2)
	require.Equal(t, FaultCommit, dev.Faults(), "only the bits that were written")
	dev.ClearFaults(FaultCommit)
	soft.Step(3)
	require.Zero(t, dev.Faults())
	require.NoError(t, dev.Store(RegRing, 0, doorbellWord(1, DoorbellTX, 0, 99)))
	soft.Step(4)
	require.Equal(t, FaultDoorbell, dev.Faults())
}

// TestPhase: over many laps, with batches of any size, every event comes once
// and in order, or is counted as lost.
func TestPhase(t *testing.T) {
	dev, soft, host := newSoft(t, softConfig())
	ring, err := dev.Ring(0, host, 8192, 4)
	require.NoError(t, err)
	start(t, dev, soft, 0, Control{Generation: 7})
	var buf [16]Event
	posted, got, lost := uint32(0), uint32(0), uint32(0)
	for batch := range uint32(300) {
		var events []Event
		for range batch % 23 {
			events = append(events, Event{Type: EventRTT, Context: 0, Stamp: 1, Words: [3]uint32{posted, ^posted, 3}, Port: 2, Coalesced: 4})
			posted++
		}
		for together := int(1 + batch/23%5); len(events) > 0; {
			n := min(together, len(events))
			soft.Post(events[:n]...)
			events = events[n:]
		}
		for n := ring.Drain(buf[:1+batch%16]); n > 0; n = ring.Drain(buf[:1+batch%16]) {
			for _, e := range buf[:n] {
				require.Equal(t, e.Words[0], ^e.Words[1], "torn")
				require.Equal(t, got, e.Serial, "in order")
				skipped := e.Words[0] - got - lost
				lost += skipped
				require.Equal(t, skipped > 0, e.Flags == FlagLost)
				require.Equal(t, Event{EventRTT, 0, e.Flags, 7, 0, 1, got, e.Words, 4, 2}, e)
				got++
			}
		}
	}
	require.Positive(t, lost)
	require.Equal(t, posted, got+ring.Lost())
	ring.Stop()
	soft.Step(1)
	require.EqualValues(t, posted-got, dev.Counter(CounterEventsLost))
	soft.Post(Event{Type: EventCNP})
	require.Zero(t, ring.Drain(buf[:]))
}

// TestPostToSeveralRings: the events of a batch go to the ring of their context, in
// their order.
func TestPostToSeveralRings(t *testing.T) {
	dev, soft, host := newSoft(t, softConfig())
	var rings [2]Ring
	for i := range rings {
		var err error
		rings[i], err = dev.Ring(i, host, uint32(i)*4096, 4)
		require.NoError(t, err)
	}
	soft.Step(1)
	var batch []Event
	for i, c := range []uint32{0, 0, 1, 2, 1, 1, 0, 3} {
		batch = append(batch, Event{Type: EventCNP, Context: c, Words: [3]uint32{uint32(i)}})
	}
	soft.Post(batch...)
	for i, want := range [][]uint32{{0, 1, 3, 6}, {2, 4, 5, 7}} {
		var buf [16]Event
		var got []uint32
		for _, e := range buf[:rings[i].Drain(buf[:])] {
			require.EqualValues(t, i, e.Context%2)
			got = append(got, e.Words[0])
		}
		require.Equal(t, want, got)
	}
	require.Zero(t, batch[0].Stamp, "the caller's events are its own")
}

// TestBatchesAreSeenWhole: an engine on another core finds a batch whole or not at
// all, over many laps.
func TestBatchesAreSeenWhole(t *testing.T) {
	const batches, most = 3000, 8
	dev, soft, host := newSoft(t, softConfig())
	ring, err := dev.Ring(0, host, 0, 6)
	require.NoError(t, err)
	soft.Step(1)
	var taken atomic.Uint32
	var engine sync.WaitGroup
	engine.Go(func() {
		var buf [64]Event
		for next := uint32(0); next < batches*most; runtime.Gosched() {
			n := ring.Drain(buf[:])
			if n%most != 0 {
				t.Errorf("%d events of batches of %d", n, most)
				return
			}
			for _, e := range buf[:n] {
				if e.Serial != next || e.Words[0] != next || e.Words[2] != ^next {
					t.Errorf("%+v instead of event %d", e, next)
					return
				}
				next++
			}
			taken.Store(next)
		}
	})
	var batch [most]Event
	for sent := uint32(0); sent < batches*most && !t.Failed(); {
		if sent-taken.Load() > 64-most {
			runtime.Gosched()
			continue
		}
		for i := range batch {
			batch[i] = Event{Type: EventCNP, Words: [3]uint32{sent, 0, ^sent}}
			sent++
		}
		soft.Post(batch[:]...)
	}
	engine.Wait()
}

func TestRingErrors(t *testing.T) {
	dev, soft, host := newSoft(t, softConfig())
	for _, c := range [][3]uint32{{0, 3, 0}, {0, 16, 0}, {100, 4, 0}, {1 << 20, 4, 0}} {
		_, err := dev.Ring(0, host, c[0], c[1])
		require.ErrorIs(t, err, ErrRing, "%v", c)
	}
	_, err := dev.Ring(2, host, 0, 4)
	require.ErrorIs(t, err, ErrIndex)
	require.NoError(t, dev.Store(RegRingAddr, 0, 1<<40))
	require.NoError(t, dev.Store(RegRingCtl, 0, 1|4<<4))
	soft.Step(1)
	require.Equal(t, FaultRing, dev.Faults(), "an address outside the host memory")
	soft.Post(Event{Type: EventCNP})
}

// TestRingAgain: a ring that was turned off may be used anew, also with the same size, once the device
// has seen it: until then it may write to the old entries.
func TestRingAgain(t *testing.T) {
	dev, soft, host := newSoft(t, softConfig())
	var buf [8]Event
	for life := range uint32(300) {
		ring, err := dev.Ring(0, host, 4096, 4)
		require.NoError(t, err)
		_, err = dev.Ring(0, host, 4096, 5)
		require.ErrorIs(t, err, ErrRing)
		soft.Step(int64(life))
		for n := range life % 5 {
			soft.Post(Event{Type: EventCNP, Words: [3]uint32{life, n}})
		}
		require.EqualValues(t, life%5, ring.Drain(buf[:]), life)
		for n := range life % 5 {
			require.Equal(t, [3]uint32{life, n}, buf[n].Words)
		}
		ring.Stop()
		require.False(t, ring.Stopped())
		_, err = dev.Ring(0, host, 4096, 4)
		require.ErrorIs(t, err, ErrRing)
		soft.Post(Event{Type: EventCNP, Words: [3]uint32{life, 99}})
		soft.Step(int64(life))
		require.True(t, ring.Stopped())
		require.Equal(t, 1, ring.Drain(buf[:]), "posted before the device saw it")
		soft.Post(Event{Type: EventCNP})
		require.Zero(t, ring.Drain(buf[:]))
		require.EqualValues(t, 1, ring.Lost())
	}
}

func TestPDC(t *testing.T) {
	dev, soft, _ := newSoft(t, softConfig())
	p, err := dev.PDC(3)
	require.NoError(t, err)
	b := Binding{Local: 0x4001, Remote: 0x8001, Context: 2, Generation: 5, Open: true, Ordered: true}
	require.Equal(t, b, bindingOf(b.word()))
	p.Bind(b)
	p.SetMPR(1024)
	p.SetEntropy(77)
	soft.Step(1)
	open, gen := p.State()
	require.True(t, open)
	require.EqualValues(t, 5, gen)
	soft.Received(3, 0x12003, 0xf0)
	cack, sack, ok := p.Acked()
	require.True(t, ok)
	require.EqualValues(t, 0x12003, cack)
	require.EqualValues(t, 0xf0, sack)
	b.Open = false
	p.Bind(b)
	soft.Step(2)
	open, gen = p.State()
	require.False(t, open)
	require.EqualValues(t, 5, gen)
	require.Zero(t, p.NextPSN())
	require.Zero(t, p.ReceivedPSN())
	require.Zero(t, p.ServiceTicks())
	_, err = dev.PDC(4)
	require.ErrorIs(t, err, ErrIndex)

	state := dev.block(KindPDC).base + 3*64 + RegPDC.Offset
	dev.space.Store32(state, dev.space.Load32(state)|1<<16) // dies while it changes the pair
	_, _, ok = p.Acked()
	require.False(t, ok)
}

// TestProbe: a doorbell asks for a probe, and the next burst carries it.
func TestProbe(t *testing.T) {
	dev, soft, host := newSoft(t, softConfig())
	ring, _ := dev.Ring(0, host, 0, 4)
	c := start(t, dev, soft, 0, Control{Generation: 1})
	bell, _ := dev.Doorbell(0)
	bell.Ask(c, 1, DoorbellProbe)
	soft.Step(10)
	bell.Ring(c, 1, 1)
	soft.Step(20)
	var e [1]Event
	require.Equal(t, 1, ring.Drain(e[:]))
	require.Equal(t, EventTX, e[0].Type)
	require.EqualValues(t, pcc.ProbeSent, e[0].Flags)
	require.Equal(t, pcc.EventTX, e[0].PCC().Type)

	for i := range 3 { // nothing else is rung between
		bell.Ask(c, 1, DoorbellProbe)
		soft.Step(30 + int64(i))
		require.True(t, soft.contexts[0].probe, "asked again")
		soft.contexts[0].probe = false
	}
}

// TestClockExtend is exact for every age up to the last of the stamp's turn.
func TestClockExtend(t *testing.T) {
	for _, bits := range []uint32{8, 16, 32} {
		turn := uint64(1) << bits
		for _, now := range []uint64{turn, 5*turn - 1, 5 * turn, 5*turn + 1, 1 << 40} {
			for _, age := range []uint64{0, 1, turn / 2, turn - 1} {
				taken := now - age
				got := Clock{stampBits: bits}.Extend(uint32(taken&(turn-1)), now)
				require.Equal(t, taken, got, "bits %d now %d age %d", bits, now, age)
			}
		}
	}
	dev, soft, _ := newSoft(t, softConfig())
	soft.Step(1 << 40)
	now := dev.Clock().Ticks()
	require.Equal(t, now-1000, dev.Clock().Extend(uint32(now-1000), now))
}

func TestTicks(t *testing.T) {
	require.EqualValues(t, 8_388_480, TicksToNs(65_535, UETTickPs), "the largest service time")
	require.EqualValues(t, 46, NsToTicks(6000, UETTickPs), "6 us are 46.875 ticks")
	for _, ns := range []int64{0, 1, 127, 128, 1 << 50} {
		back := TicksToNs(NsToTicks(ns, UETTickPs), UETTickPs)
		require.LessOrEqual(t, back, ns)
		require.Greater(t, back, ns-128)
	}
	require.Equal(t, int64(1<<50), TicksToNs(NsToTicks(1<<50, 1000), 1000))
}

// TestClockOfABrokenDevice: what a device says of its clock and port may be anything.
func TestClockOfABrokenDevice(t *testing.T) {
	dev, _, _ := newSoft(t, softConfig())
	now := uint64(5<<32 | 9)
	for bits, want := range map[uint32]uint64{16: now - 2, 32: now - 2, 64: now - 2, 33: now - 2, math.MaxUint32: now - 2, 0: now} {
		dev.space.Store32(dev.reg(RegStampBits), bits)
		require.Equal(t, want, dev.Clock().Extend(7, now), "%d bits", bits)
	}
	dev.space.Store32(dev.reg(RegTickPs), 0)
	require.Positive(t, NsToTicks(1, dev.Clock().TickPs()))
	dev.space.Store64(dev.reg(RegLineRate), math.MaxUint64)
	require.Positive(t, dev.LineRate())
}

// TestTicks32 reads over a 32-bit bus while the low half passes zero.
func TestTicks32(t *testing.T) {
	s := &carrySpace{Memory: NewMemory(0x100)}
	s.Store64(0, 0x1_ffff_ffff)
	c := Clock{space: s, now: 0}
	require.EqualValues(t, uint64(0x2_0000_0000), c.Ticks32())
}

// carrySpace is a clock that passes a carry after its high half was read.
type carrySpace struct {
	*Memory
	loads int
}

func (s *carrySpace) Load32(off uint32) uint32 {
	v := s.Memory.Load32(off)
	if s.loads++; s.loads == 1 {
		s.Store64(0, 0x2_0000_0001)
	}
	return v
}

func TestSpaces(t *testing.T) {
	aligned := make([]byte, 64)
	mem, err := WrapMemory(aligned)
	require.NoError(t, err)
	bar, err := WrapBAR(aligned)
	require.NoError(t, err)
	for _, s := range []Space{mem, bar} {
		s.Store64(8, 0x1122334455667788)
		require.EqualValues(t, 0x55667788, s.Load32(8), "little-endian")
		require.EqualValues(t, 0x11223344, s.Load32(12))
		s.Store32(12, 0xaabbccdd)
		require.EqualValues(t, uint64(0xaabbccdd55667788), s.Load64(8))
		s.Flush()
		require.Zero(t, s.Size()%8)
	}
	for _, bad := range [][]byte{nil, aligned[:7], aligned[1:]} {
		_, err := WrapMemory(bad)
		require.ErrorIs(t, err, ErrSpace)
		_, err = WrapBAR(bad)
		require.ErrorIs(t, err, ErrSpace)
	}
}

func TestSoftErrors(t *testing.T) {
	for _, change := range []func(*SoftConfig){
		func(c *SoftConfig) { c.Contexts = 0 },
		func(c *SoftConfig) { c.Contexts = 1<<16 + 1 },
		func(c *SoftConfig) { c.PDCs = -1 },
		func(c *SoftConfig) { c.Owners = 65 },
		func(c *SoftConfig) { c.LineRate = 0 },
		func(c *SoftConfig) { c.MTU = 100 },
	} {
		cfg := softConfig()
		change(&cfg)
		require.Zero(t, cfg.SpaceSize())
		_, err := NewSoftDevice(cfg, NewMemory(1<<20), NewMemory(1))
		require.ErrorIs(t, err, ErrConfig)
	}
	_, err := NewSoftDevice(softConfig(), NewMemory(64), NewMemory(1))
	require.ErrorIs(t, err, ErrSpace)
}

func TestStrings(t *testing.T) {
	for k, name := range map[interface{ String() string }]string{
		RO: "RO", RW: "RW", WO: "WO", Access(9): "Access(9)",
		OrderNone: "none", OrderProgram: "program", OrderBefore: "before", OrderFlush: "flush", OrderAfter: "after", Order(9): "Order(9)",
		KindClock: "clock", KindEvents: "events", Kind(0x99): "Kind(153)",
		ModeWindow: "window", ModeCredit: "credit", ModeBoth: "both", ModeRate: "rate", Mode(7): "Mode(7)",
		DoorbellTX: "tx", DoorbellProbe: "probe", DoorbellCredit: "credit", DoorbellOp(9): "DoorbellOp(9)",
		EventACKCC: "ack-cc", EventTrimNACK: "trim-nack", EventNoCredit: "no-credit", EventRTT: "rtt",
		CounterTXPackets: "tx-packets", CounterRateBlockedNs: "rate-blocked-ns", Counter(99): "Counter(99)",
	} {
		require.Equal(t, name, k.String())
	}
}

func TestAllocs(t *testing.T) {
	dev, soft, host := newSoft(t, softConfig())
	ring, _ := dev.Ring(0, host, 0, 10)
	c := start(t, dev, soft, 0, Control{Generation: 1, Mode: ModeBoth})
	bell, _ := dev.Doorbell(0)
	var buf [64]Event
	index, now := uint16(0), int64(0)
	alloctest.Zero(t, "engine and device", func() {
		index++
		now += 1000
		c.SetCwnd(math.MaxInt32)
		c.SetCredit(uint64(index) * 100)
		bell.Ring(c, 1, index)
		soft.Step(now)
		soft.Ack(0, 4096)
		ring.Drain(buf[:])
		c.State()
	})
	tsc, err := NewTSC(func() int64 { now++; return now * 1e6 }, 1)
	if err == nil {
		alloctest.Zero(t, "TSC", func() { tsc.Now() })
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

// TestCountsWrap: the 32-bit counts of a ring and the serial numbers of a context pass zero, and nothing is lost
// or comes twice, whether the ring is nearly empty or full.
func TestCountsWrap(t *testing.T) {
	dev, soft, host := newSoft(t, softConfig())
	ring, err := dev.Ring(0, host, 0, 4)
	require.NoError(t, err)
	start(t, dev, soft, 0, Control{Generation: 3})
	const before = math.MaxUint32 - 47 // a lap begins there
	r := &soft.rings[0]
	r.prod, r.cons, ring.cons = before, before, before
	dev.space.Store32(ring.regs+RegCons.Offset, before)
	soft.contexts[0].serial = before
	var buf [16]Event
	next := uint32(before)
	for n := range 60 {
		batch := make([]Event, n%16+1)
		for i := range batch {
			batch[i] = Event{Type: EventCNP, Words: [3]uint32{next + uint32(i)}}
		}
		soft.Post(batch...)
		require.Equal(t, len(batch), ring.Drain(buf[:]))
		for _, e := range buf[:len(batch)] {
			require.Equal(t, next, e.Words[0])
			require.Equal(t, next, e.Serial)
			next++
		}
	}
	require.Less(t, next, uint32(1000), "it has passed zero")
	require.Zero(t, ring.Lost())
	for i := range uint32(20) {
		soft.Post(Event{Type: EventCNP, Words: [3]uint32{i}})
	}
	require.EqualValues(t, 4, ring.Lost())
	require.Equal(t, 16, ring.Drain(buf[:]))
}
