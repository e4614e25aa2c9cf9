package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A steady clock knows nothing of an hour in which the process did not run; any other says
// that it was late.
func TestLoopSteadyClock(t *testing.T) {
	l := newLoop()
	l.steady = true
	before := l.now()
	l.seen -= int64(time.Hour)
	require.InDelta(t, before, l.now(), float64(stepTime))
	l.seen -= int64(time.Hour)
	before = l.time
	require.Equal(t, before+1000, l.pass(1000), "a wait that was longer than asked for")
	require.Zero(t, l.stall)

	l.steady = false
	before = l.now()
	l.seen -= int64(time.Hour)
	require.GreaterOrEqual(t, l.now(), before+int64(time.Hour))
	require.GreaterOrEqual(t, l.stall, int64(time.Hour)-stepTime)
}
