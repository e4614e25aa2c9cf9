package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

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
	require.Empty(t, g.a.m.Upcoming(8))
	g.submit(1, 2)
	require.Equal(t, []pds.PDCID{g.h.ID()}, g.a.m.Upcoming(8))
	p := g.a.m.get(g.h)
	ids := []uint16{uint16(g.h.ID()), 0, 0xffff}
	g.a.m.TouchSources(ids)
	g.a.m.TouchRows(ids)
	g.a.m.TouchRecords(ids)
	for _, id := range ids {
		g.a.m.TouchSubmit(id)
	}
	g.send(g.a)
	require.Equal(t, p.tx.tail, p.tx.next)
	require.Empty(t, g.a.m.Upcoming(8))
}
