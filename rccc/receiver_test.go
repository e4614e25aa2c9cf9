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

func testPull(t testing.TB) GrantPolicy {
	p, err := NewPullPolicy(PullConfig{MaxCredit: testW})
	require.NoError(t, err)
	return p
}

func testReceiver(t testing.TB, policy GrantPolicy, change func(*ReceiverConfig)) *Receiver {
	c := ReceiverConfig{Senders: 8, Rate: 12_500_000_000, MaxCredit: testW, Policy: policy}
	if change != nil {
		change(&c)
	}
	r, err := NewReceiver(c)
	require.NoError(t, err)
	return r
}

// sliceReceiver hands out all of 100 Gb/s in slices.
func sliceReceiver(t testing.TB) *Receiver {
	p, err := NewSlicePolicy(SliceConfig{})
	require.NoError(t, err)
	return testReceiver(t, p, func(c *ReceiverConfig) { c.Utilisation = 1 })
}

func addSender(t testing.TB, r *Receiver, weight uint16) Handle {
	h, err := r.Add(0, weight, 0)
	require.NoError(t, err)
	return h
}

// next polls at the time the receiver asked for.
func next(t testing.TB, r *Receiver) Grant {
	due, awake := r.Deadline()
	require.True(t, awake)
	g, ok := r.Poll(due)
	require.True(t, ok)
	return g
}

// At rates at which a quantum is no whole number of picoseconds, too, 10 ms bring no more
// credit than the link carries, but for one grant.
func TestReceiverIsNoFasterThanTheLink(t *testing.T) {
	for _, rate := range []int64{12_500_000_000, 200_000_000_000, 300_000_000_000, 999_999_999_999} {
		r := testReceiver(t, testPull(t), func(c *ReceiverConfig) { c.Rate, c.Utilisation = rate, 1 })
		h := addSender(t, r, 0)
		credit := int64(0)
		for now := int64(0); now < 10_000_000; now, _ = r.Deadline() {
			r.OnArrival(h, now, ArrivalData, credit+testW)
			credit += next(t, r).Bytes
		}
		require.LessOrEqual(t, credit, rate/100+DefaultGrant, "%d bytes a second", rate)
	}
}

func TestSenderIsACacheLine(t *testing.T) {
	require.Equal(t, uintptr(64), unsafe.Sizeof(sender{}))
	require.Equal(t, uintptr(4), unsafe.Sizeof(link{}), "the links of all senders fit the second-level cache")
}

func TestNewReceiverNamesTheField(t *testing.T) {
	for field, change := range map[string]func(*ReceiverConfig){
		"Senders":     func(c *ReceiverConfig) { c.Senders = maxSenders + 1 },
		"Rate":        func(c *ReceiverConfig) { c.Rate = 1 },
		"Utilisation": func(c *ReceiverConfig) { c.Utilisation = math.NaN() },
		"MaxCredit":   func(c *ReceiverConfig) { c.MaxCredit = 0 },
		"MaxDemand":   func(c *ReceiverConfig) { c.MaxDemand = -1 },
		"Timeout":     func(c *ReceiverConfig) { c.Timeout = -1 },
		"Policy":      func(c *ReceiverConfig) { c.Policy = nil },
	} {
		c := ReceiverConfig{Senders: 8, Rate: 12_500_000_000, MaxCredit: testW, Policy: testPull(t)}
		change(&c)
		_, err := NewReceiver(c)
		require.ErrorIs(t, err, ErrConfig)
		require.ErrorContains(t, err, field)
	}
}

func TestPolicyConfigs(t *testing.T) {
	for _, c := range []PullConfig{{}, {MaxCredit: testW, Grant: 100}, {MaxCredit: testW, Grant: 300}, {MaxCredit: testW, Grant: 1 << 30}} {
		_, err := NewPullPolicy(c)
		require.ErrorIs(t, err, ErrConfig)
	}
	_, err := NewPullPolicy(PullConfig{NoIdleCredit: true})
	require.NoError(t, err)
	_, err = NewSlicePolicy(SliceConfig{Slice: -1})
	require.ErrorIs(t, err, ErrConfig)
	_, err = NewSlicePolicy(SliceConfig{Slice: 1})
	require.NoError(t, err)
}

// The simulator's table of pacer times.
func TestPaceQuantum(t *testing.T) {
	for _, c := range []struct{ gbps, quantum, wait int64 }{
		{100, 20_686, 1_323_904}, {200, 10_343, 661_952}, {400, 5_171, 330_944}, {800, 2_585, 165_440},
	} {
		r := testReceiver(t, testPull(t), func(c2 *ReceiverConfig) { c2.Rate = c.gbps * 125_000_000 })
		pace := r.Pace()
		require.Equal(t, c.quantum, pace.TimeFor(QuantumBytes))
		require.Equal(t, c.wait, pace.TimeFor(DefaultGrant))
	}
}

func TestPullPolicyRoundRobin(t *testing.T) {
	r := testReceiver(t, testPull(t), nil)
	a, b := addSender(t, r, 0), addSender(t, r, 0)
	r.OnArrival(a, 0, ArrivalData, 3*DefaultGrant)
	r.OnArrival(b, 0, ArrivalData, DefaultGrant+256)
	for i, want := range []Grant{
		{a, DefaultGrant, DefaultGrant, 1_323_904},
		{b, DefaultGrant, DefaultGrant, 1_323_904},
		{a, DefaultGrant, 2 * DefaultGrant, 1_323_904},
		{b, 256, DefaultGrant + 256, 20_686},
		{a, DefaultGrant, 3 * DefaultGrant, 1_323_904},
	} {
		require.Equal(t, want, next(t, r), "turn %d", i)
	}
	require.Zero(t, r.Senders().Len(ListActive))
	require.Equal(t, 2, r.Senders().Len(ListIdle))
}

// Whoever asks for more while it waits keeps its place.
func TestPullPolicyAskingDoesNotCostATurn(t *testing.T) {
	r := testReceiver(t, testPull(t), nil)
	a, b := addSender(t, r, 0), addSender(t, r, 0)
	r.OnArrival(a, 0, ArrivalData, 2*DefaultGrant)
	r.OnArrival(b, 0, ArrivalData, 2*DefaultGrant)
	r.OnArrival(a, 0, ArrivalRequest, 3*DefaultGrant)
	for i, want := range []Handle{a, b, a, b, a} {
		require.Equal(t, want, next(t, r).Sender, "turn %d", i)
	}
	r.OnArrival(b, 0, ArrivalRequest, 0)
	r.Senders().Grant(b.Slot(), 512, 0)
	g := next(t, r)
	require.Equal(t, Grant{Sender: b, Cum: 2*DefaultGrant + 512}, g, "an answer to a sender ahead of its target takes nothing back")
}

func TestPullPolicyWeightsAreGrantsATurn(t *testing.T) {
	r := testReceiver(t, testPull(t), func(c *ReceiverConfig) { c.MaxDemand = 1 << 28 })
	a, b := addSender(t, r, 3), addSender(t, r, 1)
	r.OnArrival(a, 0, ArrivalData, 1<<28)
	r.OnArrival(b, 0, ArrivalData, 1<<28)
	got := map[Handle]int64{}
	for range 400 {
		g := next(t, r)
		got[g.Sender] += g.Bytes
	}
	require.Equal(t, 3*got[b], got[a])
	require.EqualValues(t, 3, r.Senders().Weight(a.Slot()))
}

func TestPullPolicyIdleCreditStopsAtW(t *testing.T) {
	r := testReceiver(t, testPull(t), nil)
	h := addSender(t, r, 0)
	r.OnArrival(h, 0, ArrivalData, 256)
	var last Grant
	for due, awake := r.Deadline(); awake; due, awake = r.Deadline() {
		if g, ok := r.Poll(due); ok {
			last = g
		}
	}
	ahead := last.Cum - 256
	require.GreaterOrEqual(t, ahead, roundDown(testW))
	require.Less(t, ahead, roundDown(testW)+DefaultGrant)
	require.Equal(t, ListNone, r.Senders().List(h.Slot()))

	r.OnArrival(h, 0, ArrivalData, last.Cum-256)
	require.Equal(t, ListIdle, r.Senders().List(h.Slot()), "a newer target below its credit earns spare time again")
}

// A sender that holds exactly W gets no more, whether a grant or a newer target brought it there.
func TestPullPolicyIdleCreditIsWhole(t *testing.T) {
	p, err := NewPullPolicy(PullConfig{MaxCredit: 2 * DefaultGrant})
	require.NoError(t, err)
	r := testReceiver(t, p, nil)
	a, b := addSender(t, r, 0), addSender(t, r, 0)
	r.OnArrival(a, 0, ArrivalData, 256)
	r.OnArrival(b, 0, ArrivalData, 256)
	for i, want := range []Handle{a, b, a, b, a, b} {
		require.Equal(t, want, next(t, r).Sender, "turn %d: the idle take turns", i)
	}
	due, _ := r.Deadline()
	_, ok := r.Poll(due)
	require.False(t, ok)
	r.Senders().Grant(a.Slot(), 512, 0)
	r.OnArrival(a, due, ArrivalData, 512)
	require.Equal(t, ListNone, r.Senders().List(a.Slot()))
	_, awake := r.Deadline()
	require.False(t, awake, "nobody is to be served")
}

func TestPullPolicyOwedAnswerCostsNoTime(t *testing.T) {
	r := testReceiver(t, testPull(t), nil)
	a := addSender(t, r, 0)
	r.OnArrival(a, 0, ArrivalRequest, 0)
	require.Equal(t, Grant{Sender: a}, next(t, r))
	r.OnArrival(a, 0, ArrivalTrimmed, -512)
	due, _ := r.Deadline()
	require.Zero(t, due)
	require.Equal(t, Grant{Sender: a}, next(t, r), "a trimmed packet's sender has something to resend")
	require.Zero(t, r.Target(a), "a target that is not newer changes nothing")
}

func TestPullPolicyNoIdleCredit(t *testing.T) {
	p, err := NewPullPolicy(PullConfig{NoIdleCredit: true})
	require.NoError(t, err)
	r := testReceiver(t, p, nil)
	h := addSender(t, r, 0)
	r.OnArrival(h, 0, ArrivalData, 256)
	next(t, r)
	due, _ := r.Deadline()
	_, ok := r.Poll(due)
	require.False(t, ok)
	_, awake := r.Deadline()
	require.False(t, awake)
}

func TestSlicePolicyDividesTheSlice(t *testing.T) {
	for _, c := range []struct {
		senders int
		share   int64
	}{{1, 12_500}, {2, 6250}, {3, 4166}} {
		r := sliceReceiver(t)
		for range c.senders {
			r.OnArrival(addSender(t, r, 0), 0, ArrivalData, testW)
		}
		for slice := range int64(3) {
			for range c.senders {
				due, _ := r.Deadline()
				require.Equal(t, 1000*(slice+1), due)
				require.Equal(t, c.share, next(t, r).Bytes)
			}
		}
	}
}

func TestSlicePolicyWeights(t *testing.T) {
	r := sliceReceiver(t)
	a, b := addSender(t, r, 4), addSender(t, r, 1)
	r.OnArrival(a, 0, ArrivalData, testW)
	r.OnArrival(b, 0, ArrivalData, testW)
	require.Equal(t, int64(10_000), next(t, r).Bytes)
	require.Equal(t, int64(2500), next(t, r).Bytes)
}

// Where a slice has not a byte for each sender, or none at all, everybody gets one as soon as
// the link has carried so many.
func TestSlicePolicyStarvesNobody(t *testing.T) {
	for _, rate := range []int64{125_000, 1_000_000, 2_999_999} {
		p, err := NewSlicePolicy(SliceConfig{})
		require.NoError(t, err)
		r := testReceiver(t, p, func(c *ReceiverConfig) { c.Rate, c.Utilisation = rate, 1 })
		for range 3 {
			r.OnArrival(addSender(t, r, 0), 0, ArrivalData, testW)
		}
		credit := int64(0)
		due, _ := r.Deadline()
		for ; due <= 1e6; due, _ = r.Deadline() {
			credit += next(t, r).Bytes
		}
		require.LessOrEqual(t, credit, rate/1000)
		require.GreaterOrEqual(t, credit, rate/1000/2)
	}
}

// What a sender does not need of its share stays unused in that slice, and in the next one
// it has none. A request is answered all the same.
func TestSlicePolicySatisfied(t *testing.T) {
	r := sliceReceiver(t)
	a, b := addSender(t, r, 0), addSender(t, r, 0)
	r.OnArrival(a, 0, ArrivalData, 100)
	r.OnArrival(b, 0, ArrivalData, testW)
	for i, want := range []Grant{{a, 100, 100, 0}, {b, 6250, 6250, 1e6}, {b, 12_500, 18_750, 1e6}} {
		require.Equal(t, want, next(t, r), "grant %d", i)
	}
	r.OnArrival(a, 2500, ArrivalRequest, -100)
	require.Equal(t, Grant{b, 6250, 25_000, 0}, next(t, r))
	require.Equal(t, Grant{Sender: a, Cum: 100, Wait: 1e6}, next(t, r))
}

// A sender that joins when all others left in the middle of a slice waits for one slice.
func TestSlicePolicyStartsAnew(t *testing.T) {
	r := sliceReceiver(t)
	a, b := addSender(t, r, 0), addSender(t, r, 0)
	r.OnArrival(a, 0, ArrivalData, testW)
	r.OnArrival(b, 0, ArrivalData, testW)
	require.Equal(t, a, next(t, r).Sender)
	require.True(t, r.Remove(a))
	require.True(t, r.Remove(b))
	_, ok := r.Poll(1000)
	require.False(t, ok)
	c := addSender(t, r, 0)
	r.OnArrival(c, 1500, ArrivalData, testW)
	due, _ := r.Deadline()
	require.EqualValues(t, 2500, due)
	require.Equal(t, c, next(t, r).Sender)
}

// Whoever is served last in a slice carries the wait for the next one. When that
// sender leaves first, the slice still ends on time.
func TestSlicePolicyDepartureWithinASlice(t *testing.T) {
	r := sliceReceiver(t)
	a, b, c := addSender(t, r, 0), addSender(t, r, 0), addSender(t, r, 0)
	for _, h := range []Handle{a, b, c} {
		r.OnArrival(h, 0, ArrivalData, testW)
	}
	require.Equal(t, a, next(t, r).Sender)
	require.True(t, r.Remove(b))
	require.True(t, r.Remove(c))
	_, ok := r.Poll(1000)
	require.False(t, ok, "nobody else in this slice")
	due, awake := r.Deadline()
	require.True(t, awake)
	require.Equal(t, int64(2000), due)
	require.Equal(t, int64(12_500), next(t, r).Bytes)
}

// What arrives while the pacer rests does not wake it before its time.
func TestReceiverArrivalsDoNotHurryThePacer(t *testing.T) {
	r := testReceiver(t, testPull(t), nil)
	a, b := addSender(t, r, 0), addSender(t, r, 0)
	r.OnArrival(a, 0, ArrivalData, testW)
	next(t, r)
	for now := range int64(1324) {
		r.OnArrival(b, now, ArrivalRequest, testW)
		_, ok := r.Poll(now)
		require.False(t, ok)
	}
	_, ok := r.Poll(1324)
	require.True(t, ok)
}

func TestReceiverLatePollMakesNoBurst(t *testing.T) {
	r := testReceiver(t, testPull(t), func(c *ReceiverConfig) { c.MaxDemand = 1 << 28 })
	h := addSender(t, r, 0)
	r.OnArrival(h, 0, ArrivalData, 1<<28)
	next(t, r)
	_, ok := r.Poll(1_000_000)
	require.True(t, ok)
	_, ok = r.Poll(1_000_000)
	require.False(t, ok)
	due, _ := r.Deadline()
	require.Equal(t, int64(1_001_324), due)
}

// A thousand grants of 1,323,904 ps end after 1,323,904 ns exactly: parts of a
// nanosecond are carried.
func TestReceiverCarriesPicoseconds(t *testing.T) {
	r := testReceiver(t, testPull(t), func(c *ReceiverConfig) { c.MaxDemand = 1 << 28 })
	r.OnArrival(addSender(t, r, 0), 0, ArrivalData, 1<<28)
	for range 1000 {
		next(t, r)
	}
	due, _ := r.Deadline()
	require.Equal(t, int64(1_323_904), due)
}

func TestReceiverHandles(t *testing.T) {
	r := testReceiver(t, testPull(t), func(c *ReceiverConfig) { c.Senders = 1 })
	h := addSender(t, r, 0)
	_, err := r.Add(0, 0, 0)
	require.ErrorIs(t, err, ErrFull)
	require.True(t, r.Remove(h))
	require.False(t, r.Remove(h), "twice")
	require.False(t, r.OnArrival(h, 0, ArrivalData, 256), "stale")
	require.Zero(t, r.Target(h))
	again := addSender(t, r, 0)
	require.NotEqual(t, h, again)
	require.False(t, r.OnArrival(h, 0, ArrivalData, 256), "stale, its slot in use")
	for _, bad := range []Handle{0, 1, math.MaxUint32, again + 1} {
		require.False(t, r.OnArrival(bad, 0, ArrivalData, 256))
	}
}

func TestReceiverRemoveInAnyList(t *testing.T) {
	for _, target := range []int64{-256, 0, 256} {
		r := testReceiver(t, testPull(t), nil)
		other, h := addSender(t, r, 0), addSender(t, r, 0)
		r.OnArrival(other, 0, ArrivalData, 256)
		r.OnArrival(h, 0, ArrivalData, target)
		require.True(t, r.Remove(h))
		require.Equal(t, 1, r.Senders().Count())
		require.Equal(t, 1, r.Senders().Len(ListActive))
		require.Equal(t, int64(1), r.Senders().weight)
		require.Equal(t, other, next(t, r).Sender)
	}
}

// Credit comes in whole quanta, so one has to fit, however little a sender may hold.
func TestReceiverOfTinyWindowsGrantsQuanta(t *testing.T) {
	pull, err := NewPullPolicy(PullConfig{NoIdleCredit: true})
	require.NoError(t, err)
	r := testReceiver(t, pull, func(c *ReceiverConfig) { c.MaxCredit = 1 })
	r.OnArrival(addSender(t, r, 0), 0, ArrivalData, QuantumBytes)
	require.Equal(t, Quanta(1), QuantaOf(next(t, r).Cum))
}

// A sender that only asks is cut off; data or a timeout shows that credit is used.
func TestReceiverOnlyAskingIsBounded(t *testing.T) {
	r := testReceiver(t, testPull(t), func(c *ReceiverConfig) { c.Timeout = 1 << 40 })
	h := addSender(t, r, 0)
	ask := func(now int64, a Arrival) (cum int64) {
		for range 1000 {
			r.OnArrival(h, now, a, r.Target(h)+testW)
			due, awake := r.Deadline()
			for awake && r.Senders().Len(ListActive) > 0 {
				g, _ := r.Poll(due)
				cum, now = max(cum, g.Cum), max(now, due)
				due, awake = r.Deadline()
			}
		}
		return cum
	}
	limit := int64(4 * testW)
	cum := ask(0, ArrivalRequest)
	require.LessOrEqual(t, cum, limit)
	require.Greater(t, cum, limit/2)
	later := ask(1<<41, ArrivalRequest)
	require.Greater(t, later, cum, "after the timeout it is heard again")
	require.LessOrEqual(t, later, cum+limit)
	require.Greater(t, ask(1<<41, ArrivalData), cum+100*testW, "data is no mere asking")
}

func TestReceiverExpiresSilentHolders(t *testing.T) {
	r := testReceiver(t, testPull(t), func(c *ReceiverConfig) { c.Senders, c.Timeout = 2, 1000 })
	holder, quiet := addSender(t, r, 0), addSender(t, r, 0)
	r.OnArrival(holder, 0, ArrivalData, 512)
	next(t, r)
	_, ok := r.Expire(1000)
	require.False(t, ok, "not yet")
	r.OnArrival(holder, 600, ArrivalRequest, 0)
	due, _ := r.Deadline()
	r.Poll(max(due, 600))
	_, ok = r.Expire(1600)
	require.False(t, ok, "a request breaks the silence, too")
	h, ok := r.Expire(1601)
	require.True(t, ok)
	require.Equal(t, holder, h)
	_, ok = r.Expire(1 << 40)
	require.False(t, ok, "who holds nothing may keep silent")
	require.True(t, r.Remove(quiet))

	again, err := r.Add(5000, 0, 512)
	require.NoError(t, err)
	require.Equal(t, holder.Slot(), again.Slot())
	_, ok = r.Expire(6000)
	require.False(t, ok, "its slot's last sender was silent for long, not this one")
}

// Who holds nothing and keeps silent makes room for a sender that has come.
func TestReceiverDisplacesTheSilent(t *testing.T) {
	r := testReceiver(t, testPull(t), func(c *ReceiverConfig) { c.Senders, c.Timeout = 2, 1000 })
	first, second := addSender(t, r, 0), addSender(t, r, 0)
	r.OnArrival(second, 900, ArrivalData, 0)
	_, ok := r.Displace(1000)
	require.False(t, ok)
	_, ok = r.Expire(1001)
	require.False(t, ok)
	h, ok := r.Displace(1001)
	require.True(t, ok)
	require.Equal(t, first, h)
	_, ok = r.Displace(1900)
	require.False(t, ok)
	h, ok = r.Displace(1901)
	require.True(t, ok)
	require.Equal(t, second, h)
}

// Expire goes round the whole table, some slots at a time.
func TestReceiverExpireGoesRound(t *testing.T) {
	r := testReceiver(t, testPull(t), func(c *ReceiverConfig) { c.Senders, c.Timeout = 2*expireVisits+2, 1000 })
	var all []Handle
	for range 2*expireVisits + 1 {
		all = append(all, addSender(t, r, 0))
	}
	for _, i := range []int{2 * expireVisits, 1, expireVisits, 0} {
		r.Senders().Grant(all[i].Slot(), 512, 0)
		tries := 0
		h, ok := r.Expire(1001)
		for ; !ok && tries < 3; tries++ {
			h, ok = r.Expire(1001)
		}
		require.True(t, ok)
		require.Equal(t, all[i], h)
	}
}

// A source that asks again and again does so ever more rarely, while the turns of many
// others pass. Forgotten in between it would begin one W below what it asks for every
// time, and never be given more than it has.
func TestReceiverKeepsWhoWaitsForItsTurn(t *testing.T) {
	r := testReceiver(t, testPull(t), func(c *ReceiverConfig) { c.Timeout = 1000 })
	h := addSender(t, r, 0)
	r.OnArrival(h, 0, ArrivalRequest, 3*DefaultGrant)
	for range 2 {
		require.Equal(t, h, next(t, r).Sender)
		_, ok := r.Expire(1 << 40)
		require.False(t, ok, "silent, but not with all that it asked for")
	}
	next(t, r)
	gone, ok := r.Expire(1 << 40)
	require.True(t, ok)
	require.Equal(t, h, gone)
}

// A forgotten context starts again one W below its target: never ahead of what
// its source has, so no grant looks old for ever.
func TestReceiverResume(t *testing.T) {
	p := testParams(t, nil)
	for _, cum := range []int64{0, 256, 1 << 24, 1<<32 - 256} {
		for _, credit := range []int64{-4000, 0, 1, testW} {
			s := Source{cum: cum, credit: credit}
			r := testReceiver(t, testPull(t), nil)
			target := QuantaOf(s.Target(p, Demand{Backlog: 1 << 40})).Extend(0)
			h, err := r.Add(0, 0, r.Resume(target))
			require.NoError(t, err)
			r.OnArrival(h, 0, ArrivalData, target)
			before := s
			for r.Senders().Len(ListActive) > 0 {
				g := next(t, r)
				s.OnCreditUpdate(p, QuantaOf(g.Cum).Extend(s.Cum()))
			}
			require.LessOrEqual(t, before.cum, s.cum)
			require.Equal(t, QuantaOf(target), QuantaOf(s.cum))
		}
	}
}

// Rounding does not put a context that starts again ahead of its source either, nor a
// demand above W. Only a debt does, which the target asks for too.
func TestReceiverResumeIsNotAhead(t *testing.T) {
	for _, demand := range []int64{testW, testW + 1, 4 * testW, testMTU} {
		p := testParams(t, func(c *Config) { c.MaxDemand = demand })
		r := testReceiver(t, testPull(t), func(c *ReceiverConfig) { c.MaxDemand = demand })
		for _, cum := range []int64{0, 256, 1 << 32} {
			for _, credit := range []int64{-4000, 0, 1, testW} {
				s := Source{cum: cum, credit: credit}
				start := r.Resume(s.Target(p, Demand{Backlog: 1 << 40}))
				require.LessOrEqual(t, start, cum+roundUp(-min(credit, 0)), "demand %d, credit %d", demand, credit)
			}
		}
	}
}

// A slice is as long as ever while credit is slowed; what it holds is less.
func TestReceiverFactorOfSlices(t *testing.T) {
	p, err := NewSlicePolicy(SliceConfig{})
	require.NoError(t, err)
	r := testReceiver(t, p, func(c *ReceiverConfig) { c.Utilisation = 0.5 })
	r.OnArrival(addSender(t, r, 0), 0, ArrivalData, testW)
	for i, f := range []float64{1, 0.5} {
		r.SetFactor(f)
		due, _ := r.Deadline()
		require.EqualValues(t, 1000*(i+1), due)
		require.EqualValues(t, 6250*f, next(t, r).Bytes)
	}
}

func TestReceiverSetFactor(t *testing.T) {
	r := testReceiver(t, testPull(t), nil)
	for _, c := range []struct {
		f       float64
		quantum int64
	}{{0.225, 91_937}, {1, 20_686}, {2, 20_686}, {math.NaN(), 20_686}, {-1, 20_686_000}, {0, 20_686_000}} {
		r.SetFactor(c.f)
		pace := r.Pace()
		require.Equal(t, c.quantum, pace.TimeFor(QuantumBytes), "factor %v", c.f)
	}
}

func TestPaceStaysInRange(t *testing.T) {
	for _, rate := range []int64{minRate, maxRate} {
		r := testReceiver(t, testPull(t), func(c *ReceiverConfig) { c.Rate, c.Utilisation = rate, minUtilisation })
		r.SetFactor(0)
		pace := r.Pace()
		require.Positive(t, pace.TimeFor(maxGrant))
		require.Positive(t, pace.TimeFor(QuantumBytes))
	}
}

func TestReceiverCredit(t *testing.T) {
	r := testReceiver(t, testPull(t), nil)
	h := addSender(t, r, 0)
	r.OnArrival(h, 0, ArrivalData, 512)
	cum, ok := r.Credit(h)
	require.True(t, ok)
	require.Zero(t, cum)
	next(t, r)
	cum, ok = r.Credit(h)
	require.True(t, ok)
	require.Equal(t, int64(512), cum)
	require.Equal(t, int64(512), r.Target(h))
	r.Remove(h)
	for _, gone := range []Handle{h, 1<<16 | 8, 0} { // one slot too far, and nobody's
		_, ok = r.Credit(gone)
		require.False(t, ok)
		require.Zero(t, r.Target(gone))
	}
}

func TestReceiverAllocs(t *testing.T) {
	slice, err := NewSlicePolicy(SliceConfig{Carry: true})
	require.NoError(t, err)
	for name, policy := range map[string]GrantPolicy{"pull": testPull(t), "slice": slice} {
		r := testReceiver(t, policy, nil)
		h := addSender(t, r, 0)
		now := int64(0)
		alloctest.Zero(t, name, func() {
			if !r.OnArrival(h, now, ArrivalTrimmed, r.Target(h)+4096) {
				panic("the path under test did not run")
			}
			now, _ = r.Deadline()
			if g, ok := r.Poll(now); !ok || g.Sender != h {
				panic("no grant")
			}
			r.SetFactor(0.5)
			r.Expire(now)
			other, err := r.Add(now, 1, 0)
			if err != nil || !r.Remove(other) {
				panic("no room")
			}
		})
	}
}

// A pacer whose clock is at its end, or goes back, hands out no more than is asked for and
// stops.
func TestReceiverAtTheEndOfTime(t *testing.T) {
	for _, now := range []int64{math.MinInt64, -1 << 62, -1, deadline.End - 1, deadline.End, math.MaxInt64} {
		slices, err := NewSlicePolicy(SliceConfig{})
		require.NoError(t, err)
		for _, policy := range []GrantPolicy{testPull(t), slices} {
			r := testReceiver(t, policy, func(c *ReceiverConfig) { c.Rate = minRate })
			h := addSender(t, r, 0)
			require.True(t, r.OnArrival(h, now, ArrivalRequest, testW))
			polls := 0
			for ; polls < 100; polls++ {
				if _, ok := r.Poll(now); !ok {
					break
				}
			}
			require.Less(t, polls, 3, "%T at %d", policy, now)
			r.Expire(now)
			r.Poll(0)
			r.Expire(0)
		}
	}
}

// A sender that uses all credit and wants more has a longer path than configured: twice as much counts, again and again, up
// to what can be told. One that only asks gets no more than before.
func TestReceiverFollowsALongerPath(t *testing.T) {
	for _, a := range []Arrival{ArrivalData, ArrivalRequest} {
		r := testReceiver(t, testPull(t), func(c *ReceiverConfig) { c.Timeout = 1 << 40 })
		h := addSender(t, r, 0)
		now, first := int64(0), r.Ahead(h)
		for range 100 {
			cum, ok := r.Credit(h)
			require.True(t, ok)
			r.OnArrival(h, now, a, cum+1<<29)
			require.LessOrEqual(t, r.Target(h), cum+r.Ahead(h))
			for due, awake := r.Deadline(); awake && r.Senders().Len(ListActive) > 0; due, awake = r.Deadline() {
				now = max(now, due)
				r.Poll(due)
			}
		}
		if a == ArrivalData {
			require.Greater(t, r.Ahead(h), int64(1<<29))
			require.LessOrEqual(t, r.Ahead(h), int64(1<<31))
		} else {
			require.Equal(t, first, r.Ahead(h))
		}
	}
}
