// SPDX-License-Identifier: Apache-2.0

package rccc

import (
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/internal/deadline"
)

const testW, testMTU = 175_284, 4150

func testParams(t testing.TB, change func(*Config)) *Params {
	c := Config{MaxCredit: testW, MTU: testMTU, RTT: 9348}
	if change != nil {
		change(&c)
	}
	p, err := NewParams(c)
	require.NoError(t, err)
	return &p
}

func newSource(p *Params) *Source {
	s := new(Source)
	s.Init(p)
	return s
}

func TestSourceFitsItsContext(t *testing.T) {
	require.LessOrEqual(t, unsafe.Sizeof(Source{}), uintptr(32))
}

func TestNewParamsNamesTheField(t *testing.T) {
	good := Config{MaxCredit: testW, MTU: testMTU, RTT: 9348}
	for field, change := range map[string]func(*Config){
		"MTU":            func(c *Config) { c.MTU = 0 },
		"MaxCredit":      func(c *Config) { c.MaxCredit = testMTU - 1 },
		"InitialCredit":  func(c *Config) { c.InitialCredit = testW + 1 },
		"MaxDemand":      func(c *Config) { c.MaxDemand = 1 << 40 },
		"RTT":            func(c *Config) { c.RTT = -1 },
		"RequestCeiling": func(c *Config) { c.RequestCeiling = 1 },
	} {
		c := good
		change(&c)
		_, err := NewParams(c)
		require.ErrorIs(t, err, ErrConfig)
		require.ErrorContains(t, err, field)
	}
}

func TestSourceZeroMaySendNothing(t *testing.T) {
	require.False(t, new(Source).CanSend())
}

func TestSourceStartupEndsAtTheFirstFeedback(t *testing.T) {
	p := testParams(t, nil)
	for name, feedback := range map[string]func(*Source){
		"ACK":             func(s *Source) { s.OnACK() },
		"loss":            func(s *Source) { s.OnLoss() },
		"stale credit":    func(s *Source) { s.OnCreditUpdate(p, 0) },
		"overtaken later": func(s *Source) { s.OnCreditUpdate(p, -256) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSource(p)
			require.Equal(t, int64(testW), s.Credit())
			s.OnSend(testMTU)
			feedback(s)
			require.False(t, s.Startup())
			require.Zero(t, s.Credit(), "the unspent part is void")

			s = newSource(p)
			for s.CanSend() {
				s.OnSend(testMTU)
			}
			debt := s.Credit()
			require.Negative(t, debt)
			feedback(s)
			require.Equal(t, debt, s.Credit(), "the debt stays")
		})
	}
}

func TestSourceStartupGoesOnWithoutADestinationContext(t *testing.T) {
	p := testParams(t, nil)
	for range 3 {
		s := newSource(p)
		s.OnSend(testMTU)
		s.OnNoPDC(p, testMTU)
		require.True(t, s.Startup())
		require.Equal(t, p.InitialCredit(), s.Credit(), "the refused packet was not paid")
		s.OnNoPDC(p, testMTU)
		require.Equal(t, p.InitialCredit(), s.Credit(), "never above what it began with")
		s.OnSend(testMTU)
		s.OnSend(testMTU)
		s.OnNoPDC(p, testMTU)
		require.Equal(t, p.InitialCredit()-testMTU, s.Credit())
	}
	s := newSource(p)
	s.OnACK()
	s.OnNoPDC(p, testMTU)
	require.Zero(t, s.Credit(), "only self-granted credit is given back")
	s.OnSend(testMTU)
	s.OnNoPDC(p, testMTU)
	require.Zero(t, s.Credit(), "a debt is")
	s.OnSend(100)
	s.OnNoPDC(p, testMTU)
	require.Zero(t, s.Credit(), "and no more than that")
	s.OnSend(testMTU)
	s.OnNoPDC(p, 100)
	require.EqualValues(t, 100-testMTU, s.Credit())
}

func TestSourceCreditRule(t *testing.T) {
	p := testParams(t, nil)
	s := newSource(p)
	s.OnACK()
	require.Equal(t, int64(4352), s.OnCreditUpdate(p, 4352))
	require.Equal(t, int64(0), s.OnCreditUpdate(p, 4352), "duplicate")
	require.Equal(t, int64(0), s.OnCreditUpdate(p, 4096), "overtaken")
	require.Equal(t, int64(4352), s.Credit())
	require.Equal(t, int64(testW), s.OnCreditUpdate(p, 4352+testW), "the increment is what the message says")
	require.Equal(t, int64(testW), s.Credit(), "the balance stops at W")
	s.OnSend(testW - 1)
	require.True(t, s.CanSend(), "the last byte is good for a packet")
}

func TestSourceRefusesImpossibleJump(t *testing.T) {
	p := testParams(t, nil)
	s := newSource(p)
	s.OnACK()
	require.Zero(t, s.OnCreditUpdate(p, 4*testW+maxGrant+1))
	require.Zero(t, s.Credit())
	require.Zero(t, s.Cum(), "or every honest credit would look old")
	require.NotZero(t, s.OnCreditUpdate(p, 4*testW+maxGrant))
	require.EqualValues(t, 1, s.OnCreditUpdate(p, 4*testW+maxGrant+1), "no step is too small")
}

// A destination with a larger W may hand out more than seems possible, and if all but the last message is
// lost, each answer to a request repeats the jump.
func TestSourceBelievesAJumpAfterRequestsInVain(t *testing.T) {
	p := testParams(t, nil)
	s := newSource(p)
	s.OnACK()
	s.Settle(p, 0, testMTU)
	const total = 10 * testW
	for range doubtful {
		require.Zero(t, s.OnCreditUpdate(p, total))
		due, ok := s.Deadline()
		require.True(t, ok)
		require.True(t, s.RequestDue(p, due))
	}
	require.EqualValues(t, total, s.OnCreditUpdate(p, total))
	require.EqualValues(t, testW, s.Credit(), "no more than the source may hold")
}

// What a destination hands out before it stops is no jump, however small W is and however
// large a grant, and if only the last of its messages arrives.
func TestSourceBelievesTheLastOfManyGrants(t *testing.T) {
	for _, w := range []int64{testMTU, testMTU + 256, 2 * testMTU, testW} {
		for _, grant := range []int64{QuantumBytes, DefaultGrant, maxGrant} {
			p := testParams(t, func(c *Config) { c.MaxCredit = w })
			policy, err := NewPullPolicy(PullConfig{MaxCredit: w, Grant: grant})
			require.NoError(t, err)
			r, err := NewReceiver(ReceiverConfig{Senders: 1, Rate: 1e9, MaxCredit: w, Policy: policy})
			require.NoError(t, err)
			h, err := r.Add(0, 1, 0)
			require.NoError(t, err)
			s := newSource(p)
			for s.CanSend() {
				s.OnSend(testMTU)
			}
			require.True(t, r.OnArrival(h, 0, ArrivalData, s.Target(p, Demand{Backlog: 1 << 30})))
			var last Grant
			for {
				at, awake := r.Deadline()
				if !awake {
					break
				}
				if g, ok := r.Poll(at); ok {
					last = g
				}
			}
			require.Equal(t, last.Cum, s.OnCreditUpdate(p, last.Cum), "W %d, grants of %d", w, grant)
		}
	}
}

// What credit took once is forgotten, however long that was, and a clock that was set
// back takes no time.
func TestSourceForgetsALongWait(t *testing.T) {
	for _, took := range []int64{1000, 60_000_000, 67_108_864, 2_000_000_000, -1000, -2_000_000_000} {
		p := testParams(t, func(c *Config) { c.RequestCeiling = 1 << 40 })
		s := newSource(p)
		s.OnACK()
		now := int64(1 << 40)
		s.Settle(p, now, testMTU)
		total := int64(0)
		for range 100 {
			now += took
			took = 0
			total += QuantumBytes
			require.NotZero(t, s.OnCreditUpdate(p, total))
			s.OnSend(QuantumBytes)
			s.Settle(p, now, testMTU)
		}
		at, waits := s.Deadline()
		require.True(t, waits)
		require.Equal(t, p.rtt, at-now)
	}
}

func TestSourceTarget(t *testing.T) {
	p := testParams(t, nil)
	for _, c := range []struct {
		name        string
		credit, cum int64
		startup     bool
		d           Demand
		want        int64 // quanta
	}{
		{"startup repays what was spent", testW - testMTU, 0, true, Demand{Backlog: 129_034}, 17},
		{"startup with a large backlog", 54_934, 0, true, Demand{Backlog: 145_954}, 356},
		{"startup with a byte to send", testW, 0, true, Demand{Backlog: 1}, 17},
		{"last packet of a startup", testW - testMTU, 0, true, Demand{}, -668},
		{"demand is capped by W", 0, 256, false, Demand{Backlog: 1 << 40}, 686},
		{"retransmissions count", 0, 256, false, Demand{Backlog: 100, Rtx: 4150}, 18},
		{"a window caps the demand at one packet more", 0, 256, false, Demand{Backlog: 1 << 20, Cwnd: 8300}, 50},
		{"a window of a byte, too", 0, 256, false, Demand{Backlog: 1 << 20, Cwnd: 1}, 18},
		{"a larger window does not", 0, 256, false, Demand{Backlog: 1024, Cwnd: 8300}, 5},
		{"two contexts share the port", 0, 256, false, Demand{Backlog: 9000, Contexts: 2}, 19},
		{"contexts share the port", 0, 256, false, Demand{Backlog: 9000, Contexts: 3}, 13},
		{"division truncates toward zero", 1000, 256, false, Demand{Contexts: 3}, 0},
		{"debt adds to the need", -4000, 256, false, Demand{Backlog: 4150}, 33},
		{"no demand is a target below", 512, 512, false, Demand{}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Source{credit: c.credit, cum: c.cum}
			s.is.set(startup, c.startup)
			require.Equal(t, c.want*256, s.Target(p, c.d))
		})
	}
}

func TestSourceCountedInitialCreditIsKept(t *testing.T) {
	p := testParams(t, func(c *Config) { c.InitialCredit, c.CountInitial = 12_500, true })
	s := newSource(p)
	s.OnACK()
	require.Equal(t, int64(12_500), s.Credit())
	require.Equal(t, int64(12_500), s.OnCreditUpdate(p, 25_000))
	require.Equal(t, int64(25_000), s.Credit())
}

func TestSourceRequestTimer(t *testing.T) {
	p := testParams(t, func(c *Config) { c.RTT, c.RequestCeiling = 100, 350 })
	s := newSource(p)
	s.Settle(p, 0, 1<<20)
	_, armed := s.Deadline()
	require.False(t, armed, "credit is left")
	s.OnACK()
	s.Settle(p, 1000, 1<<20)
	for _, want := range []int64{1100, 1300, 1650, 2000} {
		due, armed := s.Deadline()
		require.True(t, armed)
		require.Equal(t, want, due)
		require.False(t, s.RequestDue(p, due-1), "early calls are harmless")
		s.Settle(p, due, 1<<20)
		require.True(t, s.RequestDue(p, due))
		require.False(t, s.RequestDue(p, due), "once a deadline")
	}
	s.OnCreditUpdate(p, 256)
	s.Settle(p, 1700, 1<<20)
	_, armed = s.Deadline()
	require.False(t, armed, "newer credit clears it")
	s.usual = 0
	s.OnSend(testMTU)
	s.Settle(p, 5000, 1)
	due, _ := s.Deadline()
	require.Equal(t, int64(5100), due, "and the back-off")
	s.Settle(p, 5001, 0)
	_, armed = s.Deadline()
	require.False(t, armed, "nothing waits")
}

// Where a round of all senders takes longer than an RTT, a source learns to wait.
func TestSourceRequestTimerLearnsTheUsualWait(t *testing.T) {
	p := testParams(t, func(c *Config) { c.RTT, c.RequestCeiling = 100, 100_000 })
	s := newSource(p)
	s.OnACK()
	now, cum := int64(0), int64(0)
	for i := range 20 {
		s.Settle(p, now, 1<<20)
		due, _ := s.Deadline()
		if i > 0 {
			require.Equal(t, now+2*1024, due, "twice 1.5 us, in units of 1,024 ns")
		}
		now, cum = now+1500, cum+4096
		s.OnCreditUpdate(p, cum)
		s.Settle(p, now, 1<<20)
		s.OnSend(4096)
	}
	for range 40 {
		s.Settle(p, now, 1<<20)
		now, cum = now+10, cum+4096
		s.OnCreditUpdate(p, cum)
		s.Settle(p, now, 1<<20)
		s.OnSend(4096)
	}
	s.Settle(p, now, 1<<20)
	due, _ := s.Deadline()
	require.Equal(t, now+100, due, "and forgets it")
	s.OnCreditUpdate(p, cum+testW)
	s.Settle(p, now, 1<<20)
	s.OnCreditUpdate(p, cum+2*testW)
	s.Settle(p, now+1e6, 1<<20)
	s.OnSend(2 * testW)
	s.Settle(p, now+1e6, 1<<20)
	due, _ = s.Deadline()
	require.Equal(t, now+1e6+100, due, "credit that nobody waited for took no time")
}

// Credit that does not lift the debt restarts the timer.
func TestSourceRequestTimerRestartsOnPartialCredit(t *testing.T) {
	p := testParams(t, func(c *Config) { c.RTT = 100 })
	s := newSource(p)
	s.OnACK()
	s.OnSend(4096)
	s.Settle(p, 1000, 1)
	s.OnCreditUpdate(p, 256)
	s.Settle(p, 1050, 1)
	due, armed := s.Deadline()
	require.True(t, armed)
	require.Equal(t, int64(1150), due)
	s.Settle(p, 1100, 1)
	due, _ = s.Deadline()
	require.Equal(t, int64(1150), due, "a running timer is left alone")
}

func TestSourceRequestDelayNeverOverflows(t *testing.T) {
	p := testParams(t, func(c *Config) { c.RTT, c.RequestCeiling = maxTime/64, maxTime })
	for backoff := range uint8(maxBackoff + 1) {
		s := Source{backoff: backoff, usual: math.MaxUint16}
		require.Equal(t, int64(maxTime/64)<<(min(backoff, 6)+max(backoff, hopeful)-hopeful), s.requestDelay(p))
	}
}

// Requests are in vain after seconds, whatever the round trip: 254 of them took 0.2 s at
// 12 us, and 13 minutes at 50 ms.
func TestSourceRequestsInVainEndInSeconds(t *testing.T) {
	for _, rtt := range []int64{1_000, 12_000, 100_000, 1_000_000, 2_000_000, 10_000_000, 30_000_000, 50_000_000} {
		p := testParams(t, func(c *Config) { c.RTT = rtt })
		s := newSource(p)
		s.OnACK()
		s.OnSend(4096)
		s.Settle(p, 0, 1)
		now, asked := int64(0), 0
		for ; !s.InVain(); asked++ {
			now, _ = s.Deadline()
			require.True(t, s.RequestDue(p, now))
		}
		require.Less(t, now, int64(10e9), "%d ns", rtt)
		require.Greater(t, now, 150*rtt, "and not before a destination may have come round")
		require.GreaterOrEqual(t, asked, 8)
		s.Settle(p, now, 0) // all is given up
		s.Settle(p, now, 1)
		at, _ := s.Deadline()
		require.False(t, s.InVain(), "what waits next asks, too")
		require.True(t, s.RequestDue(p, at))
		require.LessOrEqual(t, at-now, 64*rtt)
	}
}

func TestSourceAllocs(t *testing.T) {
	p := testParams(t, nil)
	s := newSource(p)
	total, now := int64(0), int64(0)
	alloctest.Zero(t, "a round of credit", func() {
		total, now = total+4096, now+1000
		s.OnACK()
		s.OnLoss()
		if s.OnCreditUpdate(p, QuantaOf(total).Extend(s.Cum())) != 4096 || !s.CanSend() {
			panic("the path under test did not run")
		}
		s.OnSend(4096)
		s.Settle(p, now, s.Target(p, Demand{Backlog: 1 << 20}))
		if !s.RequestDue(p, now+p.rtt) {
			panic("the timer does not run")
		}
	})
}

// At no time is the next request due at once, and so for ever.
func TestSourceRequestTimerAtTheEndOfTime(t *testing.T) {
	p := testParams(t, nil)
	for _, now := range []int64{math.MinInt64, -1 << 62, -1, deadline.End - 1, deadline.End, math.MaxInt64 - 1, math.MaxInt64} {
		s := newSource(p)
		s.OnACK()
		s.Settle(p, now, 1)
		asked := 0
		for range 100 {
			if s.RequestDue(p, now) {
				asked++
			}
		}
		require.LessOrEqual(t, asked, 1, "%d", now)
		_, armed := s.Deadline()
		require.True(t, armed)
	}
}

// A source on a path longer than configured holds, and asks for, as many times the credit, in powers of two.
func TestSourceReach(t *testing.T) {
	p := testParams(t, nil)
	for _, c := range []struct{ rtt, times int64 }{{0, 1}, {9348, 1}, {9349, 2}, {20_000, 4}, {4 * 9348, 4}, {1 << 50, 2048}} {
		s := newSource(p)
		s.OnACK()
		s.Reach(p, c.rtt)
		require.Equal(t, roundUp(c.times*testW), s.Target(p, Demand{Backlog: 1 << 40}), c.rtt)
		require.Equal(t, c.times >= 512, s.OnCreditUpdate(p, 1<<28) != 0, "so large a jump is believed by none other")
		s = newSource(p)
		s.OnACK()
		s.Reach(p, c.rtt)
		s.Reach(p, 1)
		for range 2 * c.times {
			s.OnCreditUpdate(p, s.Cum()+testW)
		}
		require.Equal(t, c.times*testW, s.Credit(), "up to what may be held, and a shorter sample takes nothing back")
	}
}
