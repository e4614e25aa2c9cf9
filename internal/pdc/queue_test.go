// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/fifo"
	"github.com/uetcc/uetcc/internal/prefetch"
	"github.com/uetcc/uetcc/pds"
)

func TestQueueGoesRound(t *testing.T) {
	pdcs := make([]PDC, 6)
	for i := range pdcs {
		pdcs[i].handle = Handle(i)
	}
	q := newQueue(5)
	require.Len(t, q.ring, 8)
	require.Empty(t, q.first(4))
	for round := range 20 {
		for i := 1; i <= 5; i++ {
			q.push(&pdcs[i])
		}
		ahead := q.first(3)
		require.LessOrEqual(t, len(ahead), 3)
		require.NotEmpty(t, ahead, "round %d", round)
		for i, id := range ahead {
			require.EqualValues(t, 1+i, id)
		}
		require.LessOrEqual(t, len(q.first(64)), 5)
		for i := range pds.PDCID(5) {
			require.Equal(t, 1+i, q.pop())
		}
	}
	require.Empty(t, q.first(1))
}

// What is loaded ahead is what is sent next.
func TestUpcomingIsWhatIsSent(t *testing.T) {
	g := established(t, pairConfig{})
	require.Empty(t, g.a.m.Fast().Upcoming(8))
	g.submit(1, 2)
	require.Equal(t, []pds.PDCID{g.h.ID()}, g.a.m.Fast().Upcoming(8))
	p := g.a.m.get(g.h)
	g.send(g.a)
	require.Equal(t, p.tx.tail, p.tx.next)
	require.Empty(t, g.a.m.Fast().Upcoming(8))
}

// Who waits for a congestion control context may send once its owner has changed what that
// has to say.
func TestIdleUntilTheContextIsRevised(t *testing.T) {
	g := established(t, pairConfig{cwnd: 4200})
	g.submit(1, 100)
	sent := len(g.send(g.a))
	require.Less(t, sent, 100, "the window is full")
	require.True(t, g.a.m.Idle())
	g.a.m.cc.SetMode(g.info(g.a).Context, g.now, ccc.ModeOff)
	require.False(t, g.a.m.Idle())
	require.Len(t, g.send(g.a), 100-sent)
	require.True(t, g.a.m.Idle())
}

// A full window needs no further call to find that nothing more may be sent.
func TestIdleOnceTheWindowIsFull(t *testing.T) {
	g := established(t, pairConfig{cwnd: 50_000})
	g.submit(1, 100)
	var buf [ReplyMax]byte
	var o Out
	sent := 0
	for ; !g.a.m.Idle(); sent++ {
		require.Less(t, sent, 100)
		require.True(t, g.a.m.Transmit(g.now, buf[:], &o))
	}
	require.Greater(t, sent, 1)
	require.False(t, g.a.m.Transmit(g.now, buf[:], &o))
}

// What is prefetched is what an acknowledgement and the next packet need.
func TestLinesAreThoseOfThePDC(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 40)
	g.send(g.a)
	g.submit(1, 40)
	m, id := g.a.m.Fast(), uint16(g.h.ID())
	p, mem := g.a.m.get(g.h), g.a.m.mem
	require.NotEqual(t, p.tx.base, p.tx.next)
	at := func(x any) uintptr { return reflect.ValueOf(x).Pointer() }
	send, peer := m.Lines(id)
	require.Equal(t, []uintptr{at(&p.tx), at(&p.handle)}, []uintptr{send, peer})
	first, current, acked, sent := m.PacketLines(id)
	require.Equal(t, []uintptr{at(&mem.row[p.tx.first]), at(&mem.row[p.tx.current])}, []uintptr{first, current})
	require.Equal(t, []uintptr{
		at(mem.record(&mem.row[p.tx.first], p.tx.base%rowLen)), at(mem.record(&mem.row[p.tx.current], p.tx.next%rowLen)),
	}, []uintptr{acked, sent})
	pdc, ring := m.SubmitLines(id)
	require.Equal(t, []uintptr{at(&p.unsubmitted), at(mem.rowAt(p.tx.slot, 0)), at(mem.rowAt(p.tx.slot, defaultRange))}, []uintptr{pdc, ring, ring + prefetch.Line})
	require.Equal(t, at(mem.rowAt(p.tx.slot, p.tx.tail)), m.RowLine(id))
	m.Lines(0)
	m.PacketLines(0)
	m.SubmitLines(0)
	m.RowLine(0)
}

// pauses is an algorithm that allows one packet at a time, a microsecond after the
// acknowledgement of the one before.
type pauses struct {
	ccc.Algorithm
	next int64
}

func (a *pauses) OnACK(now int64, _ ccc.Ack)                      { a.next = now + 1000 }
func (a *pauses) Allow(_ int64, s ccc.Standing) (bytes, at int64) { return 4160 - s.Inflight, a.next }

// A PDC that waits for a pause to be over goes on after it, whoever notices first: the timer,
// or congestion control when it hears of new data, and then needs no timer any more.
func TestPDCGoesOnAfterAPause(t *testing.T) {
	for _, more := range []bool{false, true} {
		g := newPair(t, pairConfig{Config: Config{AckPerPacket: true}, manager: func(c *ManagerConfig) {
			c.Algorithm = func(ccc.Key) ccc.Algorithm { return &pauses{Algorithm: ccc.NewPacer(0)} }
		}})
		g.submit(1, 2)
		p := filterData(g.send(g.a))
		require.Equal(t, 1, len(p))
		g.giveAll(g.giveAll(p))
		require.Zero(t, len(filterData(g.send(g.a))))
		g.now += 1000
		if more {
			require.NoError(t, g.a.m.Announce(g.now, g.h, 4160))
		}
		g.wait(0)
		require.Equal(t, 1, len(filterData(g.send(g.a))))
	}
}

// An event comes out as it went in, with the NACK behind a failure, too.
func TestEventRingKeepsEveryField(t *testing.T) {
	r := memory{events: fifo.Make[Event](1)}
	in := Event{Handle: 1, PDC: 2, PSN: 3, Cause: CauseNack, Kind: EventError, Nack: pds.NackNoSESMsgAvail, More: 4}
	r.push(in)
	var out Event
	require.True(t, r.pop(&out))
	require.Equal(t, in, out)
}
