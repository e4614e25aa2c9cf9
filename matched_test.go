// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/internal/step"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
	"github.com/uetcc/uetcc/ses"
)

// eachNetwork runs a test in every kind of network, with a few seeds.
func eachNetwork(t *testing.T, seeds uint64, f func(t *testing.T, seed uint64, faults netFaults)) {
	for name, faults := range netSettings {
		for seed := range seeds {
			t.Run(fmt.Sprint(name, "/", seed), func(t *testing.T) { f(t, seed, faults) })
		}
	}
}

// postTag gives an end a receive buffer for one tag.
func (n *network) postTag(end *netEnd, base uint64, length uint32, tag, cookie uint64) {
	_, err := end.e.Target().PostReceive(1<<16, netQueue, ses.Receive{Base: base, Length: length, Match: tag, Cookie: cookie})
	require.NoError(n.t, err)
}

// matched is a message to the receive queue of an end.
func (n *network) matched(to *netEnd, tag, cookie uint64, length uint32) uetcc.Message {
	return uetcc.Message{To: uetcc.Destination{Address: to.addr, TC: tcLow, Job: 1, Index: netQueue}, Tagged: true, Key: tag, Length: length,
		Cookie: cookie, HasData: true, HeaderData: cookie}
}

// Atomics on the buffer that their tag finds: each once, and what a fetching one
// brings is the value before.
func TestEndpointTaggedAtomics(t *testing.T) {
	eachNetwork(t, 4, func(t *testing.T, seed uint64, faults netFaults) {
		n := newNetwork(t, seed, faults, 2, nil)
		a, b := n.ends[0], n.ends[1]
		const base = 4096
		for tag := uint64(1); tag <= 6; tag++ {
			n.postTag(b, base+16*tag, 16, tag, 0)
			binary.BigEndian.PutUint64(b.mem[base+16*tag+8:], 100*tag)
			m := n.matched(b, tag, tag, 8)
			m.Offset, m.Fetch = 8, tag%2 == 1
			m.Swap = ses.CompareSwap{Atomic: ses.Atomic{Opcode: ses.AtomicSum, Type: ses.TypeUint64}}
			a.local[tag] = binary.BigEndian.AppendUint64(nil, tag)
			_, err := a.e.Atomic(n.now, &m)
			require.NoError(t, err)
		}
		n.endWell(a, 6)
		for tag := uint64(1); tag <= 6; tag++ {
			require.Equal(t, 101*tag, binary.BigEndian.Uint64(b.mem[base+16*tag+8:]))
			if tag%2 == 1 {
				require.Equal(t, 100*tag, binary.BigEndian.Uint64(a.local[tag]))
			}
		}
		n.settle()
	})
}

// started counts the sends of a test that have ended, at both ends.
type twoSided struct {
	*network
	a, b *netEnd
	sent uint64
}

func newTwoSided(t *testing.T, seed uint64, faults netFaults, edit func(*uetcc.Config)) *twoSided {
	n := newNetwork(t, seed, faults, 2, edit)
	return &twoSided{network: n, a: n.ends[0], b: n.ends[1]}
}

// deferrable starts a send of data that waits for a buffer if its tag finds none.
func (s *twoSided) deferrable(tag, cookie uint64, data []byte) ses.Handle {
	m := s.matched(s.b, tag, cookie, uint32(len(data)))
	m.Deferrable = true
	s.a.local[cookie] = data
	h, err := s.a.e.Send(s.now, &m)
	require.NoError(s.t, err)
	return h
}

// rendezvous starts a send of data that lies at base in the sender's memory.
func (s *twoSided) rendezvous(data []byte, base uint64, eager uint32, tag uint64) ses.Handle {
	s.sent++
	copy(s.a.mem[base:], data)
	m := s.matched(s.b, tag, s.sent, uint32(len(data)))
	m.Rendezvous, m.Eager, m.Source = true, eager, uetcc.Source{Process: 1 << 16, Base: base}
	s.a.local[s.sent] = data[:eager]
	h, err := s.a.e.Send(s.now, &m)
	require.NoError(s.t, err)
	return h
}

// received returns the ends of rendezvous sends that were read, by cookie.
func (e *netEnd) received() map[uint64]uetcc.Event {
	got := map[uint64]uetcc.Event{}
	for _, ev := range e.events {
		if ev.Received {
			got[ev.Cookie] = ev
		}
	}
	return got
}

// Rendezvous sends of all sizes, in each mode and whatever the network does: every
// byte is at its place once both sides say so, and the source is closed again.
func TestEndpointRendezvous(t *testing.T) {
	cases := []struct{ length, eager int }{{1, 0}, {17, 16}, {1000, 0}, {5000, 1024}, {5000, 1500}, {40_000, 0}, {40_000, 3000}, {3000, 3000}}
	eachNetwork(t, 6, func(t *testing.T, seed uint64, faults netFaults) {
		s := newTwoSided(t, seed, faults, nil)
		for i, c := range cases {
			base := uint64(i) * 0xc000
			s.postTag(s.b, base, 0xc000, uint64(i), uint64(100+i))
			s.rendezvous(fill(c.length, byte(i)), base, uint32(c.eager), uint64(i))
		}
		s.run(func() bool { return len(s.a.events) == len(cases) && len(s.b.received()) == len(cases)-1 })
		got := s.b.received()
		for i, c := range cases {
			require.Equal(t, fill(c.length, byte(i)), s.b.mem[i*0xc000:][:c.length], "case %d", i)
			if c.eager < c.length {
				ev := got[uint64(100+i)]
				require.Equal(t, ses.StatusOK, ev.Outcome.Status)
				require.EqualValues(t, c.length, ev.Outcome.Length)
				require.True(t, ev.HasData)
				require.EqualValues(t, i+1, ev.HeaderData)
			}
		}
		require.Equal(t, []uint64{8}, s.b.whole, "one came with its send")
		for _, ev := range s.a.events {
			require.Equal(t, ses.StatusOK, ev.Outcome.Status, "%+v", ev)
			require.EqualValues(t, cases[ev.Cookie-1].length, ev.Outcome.Length)
		}
		s.settle()
		require.Zero(t, s.b.e.Usage().Pending)
		_, err := s.a.e.Target().Register(1<<16, 0, ses.Region{Key: 2, Job: 1})
		require.NoError(t, err, "as many regions are free as before")
	})
}

// So few bytes are left to be read that they would fit in an acknowledgement. The sender
// is not told that all is well before they have arrived: nobody else would tell it better.
func TestEndpointRendezvousIsOverWhenItsRestHasArrived(t *testing.T) {
	s := newTwoSided(t, 1, netFaults{}, nil)
	s.postTag(s.b, 0, netMTU, 1, 9)
	s.rendezvous(fill(1000, 5), 4096, 990, 1)
	s.run(func() bool { return s.a.e.Usage().Answers == 1 })
	to := pdc.AddrFrom(s.b.addr)
	s.cut[to] = true
	s.wait(2_000_000)
	require.Empty(t, s.a.events)
	s.cut[to] = false
	s.run(func() bool { return len(s.a.events) == 1 && len(s.b.events) == 1 })
	require.Equal(t, ses.StatusOK, s.a.events[0].Outcome.Status)
	require.Equal(t, ses.StatusOK, s.b.events[0].Outcome.Status)
	require.Equal(t, fill(1000, 5), s.b.mem[:1000])
	s.settle()
}

// A buffer that is posted too late, and one that is too short.
func TestEndpointRendezvousWithoutABufferAndTruncated(t *testing.T) {
	eachNetwork(t, 4, func(t *testing.T, seed uint64, faults netFaults) {
		s := newTwoSided(t, seed, faults, func(c *uetcc.Config) { c.Backoff = 1_000_000 })
		data := fill(20_000, 3)
		s.rendezvous(data, 0, 2000, 1)
		s.run(func() bool { return s.now > 500_000 })
		s.postTag(s.b, 4096, 15_000, 1, 9)
		s.run(func() bool { return len(s.a.events) == 1 && len(s.b.events) == 1 })
		want := ses.Outcome{Status: ses.StatusTruncated, Length: 15_000}
		require.Equal(t, want, s.b.events[0].Outcome)
		want.Retries = s.a.events[0].Outcome.Retries
		require.Equal(t, want, s.a.events[0].Outcome)
		require.Equal(t, data[:15_000], s.b.mem[4096:][:15_000])
		require.Equal(t, make([]byte, 100), s.b.mem[4096+15_000:][:100])
		s.settle()
	})
}

// Deferrable sends before there are buffers: each arrives once, the buffers go to them
// in their order, and none is tried before it is asked for.
func TestEndpointDeferrable(t *testing.T) {
	for _, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD} {
		eachNetwork(t, 4, func(t *testing.T, seed uint64, faults netFaults) {
			s := newTwoSided(t, seed, faults, nil)
			lengths := []int{0, 10, 1024, 5000, 9000}
			for i, l := range lengths {
				m := s.matched(s.b, 0, uint64(i+1), uint32(l))
				m.Tagged, m.Deferrable, m.Mode = false, true, mode
				s.a.local[uint64(i+1)] = fill(l, byte(i))
				_, err := s.a.e.Send(s.now, &m)
				require.NoError(t, err)
			}
			s.run(func() bool { return s.b.e.Usage().Pending == len(lengths) })
			sent := s.a.e.PDS().Stats().Sent
			s.wait(60_000_000)
			require.Equal(t, sent, s.a.e.PDS().Stats().Sent, "nobody tries")
			for i := range lengths {
				s.post(s.b, uint64(i)*16384, 16384)
			}
			s.run(func() bool { return len(s.a.events) == len(lengths) })
			for _, ev := range s.a.events {
				require.Equal(t, ses.StatusOK, ev.Outcome.Status, "%+v", ev)
				require.EqualValues(t, 1, ev.Outcome.Retries)
			}
			require.Len(t, s.b.whole, len(lengths))
			if mode == ses.ModeROD || faults == (netFaults{}) {
				for i, l := range lengths {
					require.Equal(t, fill(l, byte(i)), s.b.mem[i*16384:][:l])
				}
			}
			s.settle()
			require.Zero(t, s.b.e.Usage().Pending)
		})
	}
}

// One of two deferred sends is given up: the buffer that was kept for it is the
// other's.
func TestEndpointDeferrableGivenUp(t *testing.T) {
	eachNetwork(t, 4, func(t *testing.T, seed uint64, faults netFaults) {
		s := newTwoSided(t, seed, faults, nil)
		var h [2]ses.Handle
		for i := range h {
			h[i] = s.deferrable(7, uint64(i+1), fill(3000, byte(i)))
			s.run(func() bool { return s.b.e.Usage().Pending == i+1 })
		}
		require.NoError(t, s.a.e.Cancel(s.now, h[0]))
		s.postTag(s.b, 0, 3000, 7, 0)
		s.run(func() bool { return len(s.a.events) == 2 })
		ends := map[uint64]ses.Outcome{} // in any order: packets of the first may have been refused, or lost
		for _, ev := range s.a.events {
			ends[ev.Cookie] = ev.Outcome
		}
		require.Equal(t, ses.RCCancelled, ends[1].Code)
		require.Equal(t, ses.StatusOK, ends[2].Status)
		require.Equal(t, fill(3000, 1), s.b.mem[:3000])
		s.settle()
		require.Zero(t, s.b.e.Usage().Pending)
	})
}

// A deferred send is given up at any moment after its buffer is posted, while another
// message is before it on the PDC: the PDC lives on, and nothing is kept for the send.
func TestEndpointDeferrableGivenUpWhenReady(t *testing.T) {
	cancelled := 0
	for step := range 100 {
		s := newTwoSided(t, uint64(step), netSettings["lossy"], func(c *uetcc.Config) { c.PDS.IdleTime = 60_000_000_000 })
		h := s.deferrable(7, 99, fill(30_000, 1))
		s.run(func() bool { return s.b.e.Usage().Pending == 1 })
		m := uetcc.Message{To: uetcc.Destination{Address: s.b.addr, TC: tcLow, Job: 1}, Key: 1, Length: 400_000, Cookie: 98}
		s.a.local[98] = fill(400_000, 2)
		_, err := s.a.e.Write(s.now, &m)
		require.NoError(t, err)
		s.postTag(s.b, 0, 30_000, 7, 0)
		for range step {
			require.True(t, s.step())
		}
		if s.a.e.Cancel(s.now, h) == nil {
			cancelled++
		}
		s.run(func() bool { return len(s.a.events) == 2 })
		s.wait(10_000_000_000) // ready to restart that is refused is tried again
		require.Zero(t, s.b.e.Usage().Pending, "after %d steps", step)
		require.Equal(t, 2, s.b.e.Usage().PDCs, "which would let go of it")
	}
	require.Greater(t, cancelled, 90)
}

// The peer is gone while sends wait for it: each ends once, with the cause, though
// nothing was in flight.
func TestEndpointMatchedSendsOfAPeerThatIsGone(t *testing.T) {
	s := newTwoSided(t, 1, netFaults{}, func(c *uetcc.Config) {
		c.PDS.MaxRTORetx, c.PDS.IdleTime = 2, 20_000_000
	})
	s.deferrable(7, 90, fill(3000, 1))
	s.run(func() bool { return s.b.e.Usage().Pending == 1 })
	s.wait(300_000_000)
	require.Empty(t, s.a.events, "it waits as long as its peer is there")

	s.postTag(s.b, 0, 100_000, 1, 5)
	s.rendezvous(fill(60_000, 2), 0, 1000, 1)
	s.run(func() bool { return s.b.e.Usage().Pending == 2 })
	s.cut[pdc.AddrFrom(s.a.addr)], s.cut[pdc.AddrFrom(s.b.addr)] = true, true
	s.run(func() bool { return len(s.a.events) == 2 && len(s.b.events) == 1 && s.b.e.Usage().Pending == 0 })
	for _, ev := range append(s.a.events, s.b.events...) {
		require.Equal(t, ses.StatusPDS, ev.Outcome.Status)
		require.NotEqual(t, pdc.CauseNone, ev.Cause)
	}
	require.True(t, s.b.events[0].Received)
	require.EqualValues(t, 5, s.b.events[0].Cookie)
}

// The queue is closed while a rendezvous send is read: what comes is not placed, and
// nobody is told of an end.
func TestEndpointRendezvousIntoAClosedQueue(t *testing.T) {
	s := newTwoSided(t, 1, netFaults{}, nil)
	s.postTag(s.b, 0, 100_000, 1, 5)
	s.rendezvous(fill(60_000, 2), 0, 1000, 1)
	s.run(func() bool { return s.b.mem[5000] != 0 })
	require.NoError(t, s.b.e.Target().CloseIndex(s.now, 1<<16, netQueue))
	before := append([]byte(nil), s.b.mem...)
	s.run(func() bool { return len(s.a.events) == 1 })
	require.Equal(t, before, s.b.mem)
	require.Empty(t, s.b.events)
}

// The queue is closed before a rendezvous send is read, or while deferred sends wait for it:
// those who wait hear of it.
func TestEndpointMatchedSendsToAQueueThatIsClosed(t *testing.T) {
	s := newTwoSided(t, 1, netFaults{}, nil)
	s.postTag(s.b, 0, 100_000, 1, 5)
	s.rendezvous(fill(60_000, 2), 0, 1000, 1)
	s.deferrable(7, 1, fill(100, 1))
	s.run(func() bool { return s.b.e.Usage().Pending == 2 })
	require.NoError(t, s.b.e.Target().CloseIndex(s.now, 1<<16, netQueue))
	s.run(func() bool { return len(s.a.events) == 2 })
	require.Contains(t, []ses.ReturnCode{s.a.events[0].Outcome.Code, s.a.events[1].Outcome.Code}, ses.RCBadIndex)
	s.settle()
	require.Zero(t, s.b.e.Usage().Pending)
	require.Empty(t, s.b.events)
}

func TestEndpointMatchedErrors(t *testing.T) {
	s := newTwoSided(t, 1, netFaults{}, nil)
	m := s.matched(s.b, 1, 1, 1000)
	m.Rendezvous = true
	_, err := s.a.e.Send(0, &m)
	require.ErrorIs(t, err, ses.ErrNotFound, "no process to read from")
	m.Eager = 1001
	_, err = s.a.e.Send(0, &m)
	require.ErrorIs(t, err, ses.ErrTooLong)
	m.Eager, m.Source.Process, m.To.Job = 0, 1<<16, 2
	_, err = s.a.e.Send(0, &m)
	require.ErrorIs(t, err, ses.ErrRange, "a process of another job")
	m.To.Job = 1
	for range 15 { // a region is left for the test's own
		_, err = s.a.e.Send(0, &m)
		require.NoError(t, err)
	}
	_, err = s.a.e.Send(0, &m)
	require.ErrorIs(t, err, ses.ErrFull)
}

// What no opcode can say is refused, and not left out: nobody would wait for a buffer, and
// the datagram would take anybody's.
func TestEndpointSendsThatNoOpcodeSays(t *testing.T) {
	s := newTwoSided(t, 1, netFaults{}, nil)
	for name, change := range map[string]func(m *uetcc.Message){
		"deferrable rendezvous": func(m *uetcc.Message) { m.Rendezvous, m.Deferrable, m.Source.Process = true, true, 1<<16 },
		"tagged datagram":       func(m *uetcc.Message) { m.Mode = ses.ModeUUD },
		"deferrable datagram":   func(m *uetcc.Message) { m.Mode, m.Tagged, m.Deferrable = ses.ModeUUD, false, true },
		"rendezvous datagram":   func(m *uetcc.Message) { m.Mode, m.Tagged, m.Rendezvous = ses.ModeUUD, false, true },
	} {
		m := s.matched(s.b, 1, 1, 1000)
		change(&m)
		_, err := s.a.e.Send(0, &m)
		require.ErrorIs(t, err, ses.ErrOperation, name)
	}
}

// abort ends the PDCs of an end that it opened, or those that its peer opened.
func (n *network) abort(end *netEnd, initiator bool) (any bool) {
	for id := pdc.Handle(1); id <= 8; id++ {
		if info, ok := end.e.PDS().PDC(id | 1<<16); ok && info.Initiator == initiator {
			require.NoError(n.t, end.e.PDS().Abort(n.now, id|1<<16))
			any = true
		}
	}
	end.e.Tick(n.now)
	return any
}

// The PDC on which the rest is read goes, at the side that is read or at the one that
// reads: both sides fail, once.
func TestEndpointRendezvousReaderLost(t *testing.T) {
	for _, source := range []bool{true, false} {
		s := newTwoSided(t, 1, netFaults{}, nil)
		s.postTag(s.b, 0, 300_000, 1, 5)
		s.rendezvous(fill(200_000, 2), 0, 1000, 1)
		s.run(func() bool { return s.b.mem[5000] != 0 })
		if source {
			require.True(t, s.abort(s.a, false))
			s.poll(s.a)
			require.Len(t, s.a.events, 1, "at once")
		} else {
			require.True(t, s.abort(s.b, true))
		}
		s.run(func() bool { return len(s.a.events) == 1 && len(s.b.events) == 1 })
		require.Equal(t, ses.StatusPDS, s.a.events[0].Outcome.Status)
		require.True(t, s.b.events[0].Received)
		require.Equal(t, ses.StatusPDS, s.b.events[0].Outcome.Status)
		require.Zero(t, s.b.e.Usage().Pending)
	}
}

// untilErrand goes on until an end has an errand, which no Tick has begun yet.
func (n *network) untilErrand(end *netEnd) {
	n.t.Helper()
	for !end.e.Target().HasErrand() {
		n.transmit()
		at, p := n.q.Pop()
		n.now = at
		n.arrive(p)
	}
}

// The PDC of a rendezvous send goes before the read of its rest has begun.
func TestEndpointRendezvousNotBegun(t *testing.T) {
	s := newTwoSided(t, 1, netFaults{}, nil)
	s.postTag(s.b, 0, 300_000, 1, 5)
	s.rendezvous(fill(200_000, 2), 0, 1000, 1)
	s.untilErrand(s.b)
	s.abort(s.b, false)
	s.run(func() bool { return len(s.a.events) == 1 && len(s.b.events) == 1 })
	require.Equal(t, ses.StatusPDS, s.a.events[0].Outcome.Status)
	require.Equal(t, pdc.CauseClosed, s.b.events[0].Cause)
}

// The host cannot bring the bytes that are left to read, be they few or many.
func TestEndpointRendezvousSourceRefuses(t *testing.T) {
	for _, length := range []int{1010, 3000} {
		s := newTwoSided(t, 1, netFaults{}, nil)
		s.postTag(s.b, 0, 3000, 1, 5)
		s.rendezvous(fill(length, 2), 0, 1000, 1)
		s.refuses = true
		s.run(func() bool { return len(s.a.events) == 1 && len(s.b.events) == 1 })
		require.Equal(t, ses.RCHostPoisoned, s.a.events[0].Outcome.Code, "of the sender, too")
		require.ErrorIs(t, s.a.events[0].Err(), uetcc.ErrRejected)
		require.ErrorContains(t, s.a.events[0].Err(), "Endpoint.Refuse")
		require.Equal(t, ses.RCHostPoisoned, s.b.events[0].Outcome.Code)
	}
}

// The region that a rendezvous send is read from is not open: its sender, which refuses the
// read, knows that nothing follows, and what else goes to that peer goes on.
func TestEndpointRendezvousSourceDisabled(t *testing.T) {
	s := newTwoSided(t, 1, netFaults{}, nil)
	require.NoError(t, s.a.e.Target().SetIndexState(1<<16, 0, ses.IndexDisabled))
	s.postTag(s.b, 0, 3000, 1, 5)
	s.rendezvous(fill(3000, 2), 0, 1000, 1)
	s.run(func() bool { return len(s.a.events) == 1 && len(s.b.events) == 1 })
	require.Equal(t, ses.Outcome{Status: ses.StatusFailed, Code: ses.RCDisabled}, s.a.events[0].Outcome)
	require.Equal(t, ses.Outcome{Status: ses.StatusFailed, Code: ses.RCDisabled}, s.b.events[0].Outcome)
	require.NoError(t, s.a.e.Target().SetIndexState(1<<16, 0, ses.IndexEnabled))
	s.settle()
}

// It is not open for longer than its reader tries.
func TestEndpointRendezvousSourceDisabledTooLong(t *testing.T) {
	s := newTwoSided(t, 1, netFaults{}, func(c *uetcc.Config) {
		c.Retries, c.Backoff = 2, 100_000
		c.PDS.MaxRTORetx, c.PDS.IdleTime = 2, 20_000_000
	})
	require.NoError(t, s.a.e.Target().SetIndexState(1<<16, 0, ses.IndexGenDisabled))
	s.postTag(s.b, 0, 3000, 1, 5)
	s.rendezvous(fill(3000, 2), 0, 1000, 1)
	s.run(func() bool { return len(s.b.events) == 1 })
	require.Equal(t, ses.Outcome{Status: ses.StatusFailed, Code: ses.RCDisabledGen, Retries: 2}, s.b.events[0].Outcome)
	s.run(func() bool { return len(s.a.events) == 1 })
	require.Equal(t, ses.StatusPDS, s.a.events[0].Outcome.Status)
}

// The read of a rendezvous send cannot be delivered, while its sender is there: the
// sender finds out when it asks after its peer.
func TestEndpointRendezvousReadNotDelivered(t *testing.T) {
	s := newTwoSided(t, 1, netFaults{}, func(c *uetcc.Config) {
		c.PDS.MaxRTORetx, c.PDS.IdleTime = 2, 20_000_000
	})
	s.postTag(s.b, 0, 3000, 1, 5)
	s.rendezvous(fill(3000, 2), 0, 1000, 1)
	s.untilErrand(s.b)
	for s.now < 100_000 { // the answer to the send arrives
		at, p := s.q.Pop()
		s.now = max(s.now, at)
		s.arrive(p)
		if s.q.Len() == 0 {
			break
		}
	}
	s.cut[pdc.AddrFrom(s.a.addr)] = true
	s.run(func() bool { return len(s.b.events) == 1 })
	require.Equal(t, ses.StatusPDS, s.b.events[0].Outcome.Status)
	require.Empty(t, s.a.events)
	s.cut[pdc.AddrFrom(s.a.addr)] = false
	s.run(func() bool { return len(s.a.events) == 1 })
	require.Equal(t, ses.StatusPDS, s.a.events[0].Outcome.Status)
}

// Another host that reads the source of a rendezvous send, with the right key, does
// not end it.
func TestEndpointRendezvousReadByAnother(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 3, nil)
	s := &twoSided{network: n, a: n.ends[0], b: n.ends[1]}
	s.rendezvous(fill(3000, 2), 0, 1000, 1)
	var p frame.Packet
	var parser frame.Parser
	send := sendAll(0, s.a.e)[0]
	require.NoError(t, parser.UDP(send.data, &p))
	s.postTag(s.b, 0, 3000, 1, 5)
	_, back := receive(0, s.b.e, send)
	receive(0, s.a.e, back[0])
	n.ends = []*netEnd{n.ends[0], n.ends[2]} // the read of the right one never leaves
	c := n.ends[1]
	m := uetcc.Message{To: uetcc.Destination{Address: s.a.addr, Job: 1}, Key: p.Request.Rendezvous.Key, Offset: 1000, Length: 2000, Cookie: 1}
	c.local[1] = make([]byte, 2000)
	_, err := c.e.Read(n.now, &m)
	require.NoError(t, err)
	n.endWell(c, 1)
	require.Equal(t, fill(3000, 2)[1000:], c.local[1])
	n.wait(1_000_000) // the acknowledgement of the data is there
	require.Empty(t, s.a.events)
}

// The receiver of a rendezvous send knows how the keys of lent regions look. One that it
// makes up opens nothing, and ends nothing.
func TestEndpointRendezvousKeyMadeUp(t *testing.T) {
	s := newTwoSided(t, 1, netFaults{}, nil)
	s.rendezvous(fill(3000, 2), 0, 1000, 1)
	var p frame.Packet
	var parser frame.Parser
	send := sendAll(0, s.a.e)[0]
	require.NoError(t, parser.UDP(send.data, &p))
	key := p.Request.Rendezvous.Key
	for i, key := range []uint64{key | 0xffff, key + 32, key + 1, key + 1<<16, key ^ 1<<63} {
		m := uetcc.Message{To: uetcc.Destination{Address: s.a.addr, Job: 1}, Key: key, Offset: 1000, Length: 100, Cookie: 50}
		_, err := s.b.e.Read(s.now, &m)
		require.NoError(t, err)
		s.run(func() bool { return len(s.b.events) == i+1 })
		require.Equal(t, ses.StatusFailed, s.b.events[i].Outcome.Status)
	}
	require.Empty(t, s.a.events)
	s.postTag(s.b, 0, 3000, 1, 5)
	_, back := receive(s.now, s.b.e, send)
	receive(s.now, s.a.e, back[0])
	s.endWell(s.a, 1)
}

// Ready to restart from a host that the send did not go to, or for no message at all.
func TestEndpointReadyToRestartForged(t *testing.T) {
	for _, unknown := range []bool{false, true} {
		s := newTwoSided(t, 1, netFaults{}, nil)
		h := s.deferrable(7, 1, fill(100, 1))
		s.run(func() bool { return s.b.e.Usage().Pending == 1 })
		for s.q.Len() > 0 {
			_, p := s.q.Pop()
			s.arrive(p)
		}
		s.postTag(s.b, 0, 100, 7, 0)
		rtr := sendAll(s.now, s.b.e)[0]
		forged := rtr
		forged.src = pdc.AddrFrom(netip.MustParseAddr("10.0.0.9"))
		if unknown {
			var q ses.Request
			_, err := q.Decode(pds.NextRequestStd, rtr.data[pds.RequestLen:])
			require.NoError(t, err)
			require.EqualValues(t, h, q.Token.Initiator)
			q.Token.Initiator |= 0xffff
			forged.data = q.AppendTo(bytes.Clone(rtr.data[:pds.RequestLen]))
		}
		r, _ := receive(s.now, s.a.e, forged)
		require.Equal(t, ses.RCNoMatch, r.Code)
		require.Equal(t, ses.ActionNone, r.Action)
		require.Empty(t, sendAll(s.now, s.a.e), "nothing is restarted")
		r, _ = receive(s.now, s.a.e, rtr)
		require.Equal(t, step.None, r.Check)
		require.NotEmpty(t, sendAll(s.now, s.a.e))
	}
}

// The acknowledgement of a rendezvous send is lost, and its peer, which has read all, closes
// the PDC that it has read on: nothing has failed.
func TestEndpointRendezvousReaderCloses(t *testing.T) {
	for seed := range uint64(60) {
		s := newTwoSided(t, seed, netFaults{loss: 0.2}, nil)
		s.postTag(s.b, 0, 3000, 1, 5)
		s.rendezvous(fill(2000, 2), 0, 0, 1)
		s.run(func() bool { return len(s.b.received()) == 1 })
		for h := range s.b.e.PDS().All() {
			if info, _ := s.b.e.PDS().PDC(h); info.Initiator {
				require.NoError(t, s.b.e.PDS().Close(s.now, h))
			}
		}
		s.endWell(s.a, 1)
	}
}

// The index that the rest is read from gets another generation half way, and the read begins
// again: bytes that are read twice do not stand for others.
func TestEndpointRendezvousIsReadAgain(t *testing.T) {
	again := 0
	for step := range 100 {
		s := newTwoSided(t, uint64(step), netFaults{loss: 0.1, reorder: 20_000}, nil)
		s.postTag(s.b, 0, 20_000, 1, 5)
		s.rendezvous(fill(12_000, 2), 0x10000, 0, 1)
		for range step {
			s.step()
		}
		_, err := s.a.e.Target().Renew(s.now, 1<<16, 0)
		require.NoError(t, err)
		s.run(func() bool { return len(s.a.events) == 1 && len(s.b.received()) == 1 })
		require.Equal(t, ses.StatusOK, s.a.events[0].Outcome.Status)
		require.Equal(t, ses.StatusOK, s.b.received()[5].Outcome.Status)
		require.Equal(t, fill(12_000, 2), s.b.mem[:12_000])
		again += int(s.b.received()[5].Outcome.Retries)
	}
	require.Greater(t, again, 10)
}

// The one that reads the rest gives the PDC up on which it does. What is on its way to it is
// not acknowledged any more, so that the sender is not told that all has been read.
func TestEndpointRendezvousReaderGivesUp(t *testing.T) {
	for step := range 40 {
		s := newTwoSided(t, uint64(step), netFaults{reorder: 20_000}, nil)
		s.postTag(s.b, 0, 20_000, 1, 5)
		s.rendezvous(fill(12_000, 2), 0, 0, 1)
		s.run(func() bool { return s.b.e.PDS().Stats().Sent > 0 })
		for range step {
			s.step()
		}
		s.abort(s.b, true)
		s.run(func() bool { return len(s.a.events) == 1 && len(s.b.received()) == 1 })
		require.Equal(t, s.b.received()[5].Outcome.Status, s.a.events[0].Outcome.Status, "after %d steps", step)
	}
}

// A host whose link is never free: it takes no second packet while the first is on the wire, and has always a next
// one. The rest of a rendezvous send was asked for only once nothing else was left to send, and until then the
// deadline said that Tick was due, which did nothing about it.
func TestTickRunsErrands(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 3, nil)
	a, b, c := n.ends[0], n.ends[1], n.ends[2]
	b.mute = true
	b.local[1] = fill(netMemory, 1)
	to := uetcc.Destination{Address: c.addr, Job: 1}
	_, err := b.e.Write(n.now, &uetcc.Message{To: to, Key: 1, Length: netMemory, Cookie: 1})
	require.NoError(t, err)
	n.postTag(b, 0, 8*netMTU, 7, 7)
	m := n.matched(b, 7, 7, 8*netMTU)
	m.Rendezvous, m.Eager, m.Source = true, netMTU, uetcc.Source{Process: 1 << 16}
	a.local[7] = fill(8*netMTU, 7)
	_, err = a.e.Send(n.now, &m)
	require.NoError(t, err)
	n.untilErrand(b)
	at, ok := b.e.NextDeadline()
	require.True(t, ok)
	require.LessOrEqual(t, at, n.now)
	b.e.Tick(n.now)
	require.False(t, b.e.Target().HasErrand())
	at, _ = b.e.NextDeadline()
	require.Greater(t, at, n.now, "nothing is due any more")
	for range 2 {
		out := newDatagram()
		require.True(t, b.e.Transmit(n.now, &out))
		if out.Dst == pdc.AddrFrom(a.addr) {
			return
		}
	}
	require.Fail(t, "PDCs take turns")
}
