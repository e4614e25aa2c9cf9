package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFaultW2SYNOffsetsEnd(t *testing.T) {
	g := newPair(t, pairConfig{})
	p := g.a.m.get(g.h)
	p.tx.base, p.tx.next, p.tx.tail, p.tx.cack = 4090, 4090, 4090, 4090
	g.submit(1, 20)
	ws := g.send(g.a)
	require.Len(t, ws, 6)
	require.EqualValues(t, 4095, request(t, ws[5]).Info.PSNOffset())
}
