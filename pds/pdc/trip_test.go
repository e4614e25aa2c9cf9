package pdc

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

// A slow is a pair whose target answers a packet after a time of its own, as software does.
type slow struct {
	*pair
	after func() int64 // of an answer
	lose  func() bool  // a packet
	late  []lateWire   // by time
	ended int          // packets that are answered
}

type lateWire struct {
	at int64
	wire
}

// run sends n packets in messages of 50, with few at a time, and lets time pass until all are
// answered. Both ways an acknowledgement comes in are taken.
func (s *slow) run(n int) {
	for sent := 0; s.ended < n; {
		for ; sent < n && sent-s.ended < 100; sent += 50 {
			s.submit(uint64(sent+1), 50)
		}
		for _, w := range s.send(s.a) {
			if s.lose != nil && s.lose() {
				continue
			}
			_, back := s.give(w)
			for _, b := range back {
				s.late = append(s.late, lateWire{s.now + s.after(), b})
			}
		}
		slices.SortStableFunc(s.late, func(a, b lateWire) int { return int(a.at - b.at) })
		s.pass()
		for len(s.late) > 0 && s.late[0].at <= s.now {
			w := s.late[0]
			s.late = s.late[1:]
			s.arrive(w.wire)
		}
		s.ended += len(s.a.take(EventResponse, EventImplicit))
		require.Empty(s.t, s.a.take(EventError))
		require.False(s.t, s.a.has(EventClosed, CauseRTO))
	}
}

// pass moves the clock to what comes next.
func (s *slow) pass() {
	at := int64(never)
	if len(s.late) > 0 {
		at = s.late[0].at
	}
	for _, e := range []*pairEnd{s.a, s.b} {
		if d, ok := e.m.NextDeadline(); ok {
			at = min(at, d)
		}
	}
	s.wait(max(at-s.now, 0))
}

func (s *slow) arrive(w wire) {
	if a := (*pds.AckCCView)(w.b); len(w.b) >= pds.AckCCLen && a.Type() == pds.TypeACKCC && a.Plain() {
		if x := s.a.m.Fast().TakeACK(s.now, a, AddrFrom(s.b.addr)); x.N != 0 {
			s.ended += int(x.N)
			s.a.drain()
			return
		}
	}
	s.give(w)
}

// A peer that takes longer than RTO_Init_Time, 1 ms here, is sent nothing twice once its first
// answers have come.
func TestSlowPeerIsSentNothingTwice(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for name, after := range map[string]func() int64{
		"100 us":          func() int64 { return ms / 10 },
		"2 ms":            func() int64 { return 2 * ms },
		"2 ms, jitter":    func() int64 { return ms + rnd.Int64N(2*ms) },
		"5 ms":            func() int64 { return 5 * ms },
		"5 ms, kept here": func() int64 { return 5 * ms },
		"20 ms":           func() int64 { return 20 * ms },
		"20 ms, jitter":   func() int64 { return 10*ms + rnd.Int64N(20*ms) },
	} {
		t.Run(name, func(t *testing.T) {
			const n = 20_000
			s := &slow{pair: newPair(t, pairConfig{}), after: after}
			s.run(n)
			t.Logf("%d resent, %d time-outs of %d", s.a.m.Stats().Resent, s.a.m.Stats().RTOs, n)
		})
	}
}
