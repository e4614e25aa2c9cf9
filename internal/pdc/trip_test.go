// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/agenda"
	"github.com/uetcc/uetcc/internal/view"
	"github.com/uetcc/uetcc/pds"
)

// A slow is a pair whose target answers a packet after a time of its own, as software does.
type slow struct {
	*pair
	after       func() int64 // of an answer
	lose        func() bool  // a packet
	late        agenda.Agenda[wire]
	sent, ended int // packets that were submitted, and answered
}

// run sends packets in messages of 50, with few at a time, and lets time pass until n are
// answered. Both ways an acknowledgement comes in are taken.
func (s *slow) run(n int) {
	for s.ended < n {
		for ; s.sent < n && s.sent-s.ended < 100; s.sent += 50 {
			s.submit(uint64(s.sent+1), 50)
		}
		for _, w := range s.send(s.a) {
			if s.lose != nil && len(w.b) > 4096 && s.lose() {
				continue
			}
			_, back := s.give(w)
			for _, b := range back {
				s.late.Push(s.now+s.after(), b)
			}
		}
		s.pass()
		for at, ok := s.late.Next(); ok && at <= s.now; at, ok = s.late.Next() {
			_, w := s.late.Pop()
			s.arrive(w)
		}
		s.ended += len(s.a.take(EventResponse, EventImplicit))
		require.Empty(s.t, s.a.take(EventError))
		require.False(s.t, s.a.has(EventClosed, CauseRTO))
	}
}

// pass moves the clock to what comes next.
func (s *slow) pass() {
	at, ok := s.late.Next()
	if !ok {
		at = never
	}
	for _, e := range []*pairEnd{s.a, s.b} {
		if d, ok := e.m.NextDeadline(); ok {
			at = min(at, d)
		}
	}
	s.wait(max(at-s.now, 0))
}

func (s *slow) arrive(w wire) {
	if a := (*view.AckCC)(w.b); len(w.b) >= pds.AckCCLen && a.Plain() {
		if _, n := s.a.m.Fast().Exchange(s.now, []*view.AckCC{a}, new(AddrFrom(s.b.addr)), 0); n != 0 {
			s.ended += int(n)
			s.a.drain()
			return
		}
	}
	s.give(w)
}

// A peer that takes longer than RTO_Init_Time, 1 ms here, is sent nothing twice once its first
// answers have come. Before the time was learnt, of 20,000 packets without a loss these were sent
// again: 10,600 with answers of 2 ms, 18,300 with 5 ms, and with 20 ms each 3 or 4 times. Only the
// first window goes again still, until its answer comes.
func TestSlowPeerIsSentNothingTwice(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name  string
		after func() int64
		first uint64 // resends of the first 100 packets at most, each
	}{
		{"100 us", func() int64 { return ms / 10 }, 0},
		{"2 ms", func() int64 { return 2 * ms }, 1},
		{"1 to 3 ms", func() int64 { return ms + rnd.Int64N(2*ms) }, 2},
		{"5 ms", func() int64 { return 5 * ms }, 2},
		{"20 ms", func() int64 { return 20 * ms }, 4},
		{"10 to 30 ms", func() int64 { return 10*ms + rnd.Int64N(20*ms) }, 4},
		{"50 ms", func() int64 { return 50 * ms }, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			const warm, n = 1000, 20_000
			s := &slow{pair: newPair(t, pairConfig{}), after: c.after}
			s.run(warm)
			start := s.a.m.Stats().Resent
			require.LessOrEqual(t, start, 100*c.first+warm/20)
			s.run(n)
			again := s.a.m.Stats().Resent - start
			t.Logf("%d resent of the first %d, %d of %d then", start, warm, again, n-warm)
			require.LessOrEqual(t, again, uint64(n-warm)/1000)
		})
	}
}

// What is lost on the way to a slow peer is sent again after little more than twice its time, and
// everything arrives.
func TestSlowPeerLosesPackets(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, after := range []int64{2 * ms, 5 * ms, 20 * ms} {
		s := &slow{pair: newPair(t, pairConfig{}), after: func() int64 { return after }}
		s.run(1000)
		start, began, lost := s.a.m.Stats().Resent, s.now, uint64(0)
		s.lose = func() bool {
			gone := rnd.IntN(100) == 0
			if gone {
				lost++
			}
			return gone
		}
		s.run(5000)
		again := s.a.m.Stats().Resent - start
		t.Logf("%d lost, %d resent in %d ms", lost, again, (s.now-began)/ms)
		require.GreaterOrEqual(t, again, lost)
		require.LessOrEqual(t, again, 2*lost, "with those that only the lost one would have had acknowledged")
	}
}

// A path that is fast again is timed so: the learnt time falls back to RTO_Init_Time.
func TestPathThatIsFastAgain(t *testing.T) {
	after := int64(10 * ms)
	s := &slow{pair: newPair(t, pairConfig{}), after: func() int64 { return after }}
	s.run(2000)
	rto := func() int64 { return s.a.m.mem.trip[s.a.m.pdc[s.h.ID()].tx.slot].rto(s.a.m.p) }
	require.GreaterOrEqual(t, rto(), int64(19*ms))
	after = ms / 10
	began := s.now
	for n := 2100; rto() > ms; n += 100 {
		s.run(n)
		require.Less(t, s.now-began, int64(200*ms))
	}
	t.Logf("after %d us", (s.now-began)/1000)
}

// A packet that is lost again and again ends its PDC when nothing is heard of the peer, and not
// while probes are answered: then the way is full and not gone. Even so it does not go on for ever.
func TestTimeoutsOfAPeerThatAnswers(t *testing.T) {
	for name, tc := range map[string]struct {
		infer, deaf bool // deaf: probes are lost as well
		lost        int  // copies of the packet
		ok          bool
	}{
		"as often as it may":        {infer: true, deaf: true, lost: 5, ok: true},
		"nothing is heard":          {infer: true, deaf: true, lost: 6},
		"nobody asks":               {lost: 6},
		"probes are answered":       {infer: true, lost: 40, ok: true},
		"probes are answered, ever": {infer: true, lost: 1000},
	} {
		t.Run(name, func(t *testing.T) {
			g := established(t, pairConfig{Config: Config{InferLoss: tc.infer}})
			g.submit(1, 1)
			lost := 0
			for g.now < 5000*ms && !g.a.has(EventClosing, CauseRTO) && len(g.a.take(EventImplicit, EventResponse)) == 0 {
				for _, w := range g.send(g.a) {
					switch data := len(filterData([]wire{w})) > 0; {
					case data && lost < tc.lost:
						lost++
					case data || !tc.deaf:
						g.giveAll(g.giveAll([]wire{w}))
					}
				}
				g.wait(ms / 4)
			}
			require.Equal(t, tc.ok, g.info(g.a).State == StateEstablished)
			if tc.ok {
				require.Equal(t, tc.lost, lost)
			} else {
				require.LessOrEqual(t, lost, rtosEver*6, "each time-out has five probes, and an answer to one shows the packet to be lost")
			}
		})
	}
}

// One packet after another to a slow peer, as behind a window of one: the time is learnt in few round trips, though each
// packet is sent again before its answer comes, and though the first time-outs taught too short a time. A path of 10 ms was
// taken for one of 3.6 for ever, so each packet went twice and no round trip was ever measured.
func TestSlowPeerOfOnePacket(t *testing.T) {
	for _, after := range []int64{3 * ms, 10 * ms, 50 * ms} {
		s := &slow{pair: newPair(t, pairConfig{}), after: func() int64 { return after }}
		one := func() {
			s.sent++
			s.submit(uint64(s.sent), 1)
			s.run(s.sent)
		}
		one()
		s.a.m.mem.trip[s.a.m.pdc[s.h.ID()].tx.slot] = trip{mean: int32(after / 3 >> tripShift)}
		for range 20 {
			one()
		}
		start := s.a.m.Stats().Resent
		for range 50 {
			one()
		}
		require.Equal(t, start, s.a.m.Stats().Resent, after)
	}
}
