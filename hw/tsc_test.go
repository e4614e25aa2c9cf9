package hw

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTSC compares the counter with the reference, where there is one.
func TestTSC(t *testing.T) {
	begin := time.Now()
	ref := func() int64 { return int64(time.Since(begin)) }
	c, err := NewTSC(ref, int64(5*time.Millisecond))
	if err != nil {
		require.ErrorIs(t, err, ErrClock)
		return
	}
	before := ref()
	now := c.Now()
	after := ref()
	slack := int64(time.Millisecond) // a shared machine may stop us in between
	require.Greater(t, now, before-slack)
	require.Less(t, now, after+slack)
}

// TestTSCReference: a reference that is no clock ends the calibration, and does not keep it for ever.
func TestTSCReference(t *testing.T) {
	calls, begin := int64(0), time.Now()
	for name, ref := range map[string]func() int64{
		"stands still": func() int64 { return 7 },
		"steps back":   func() int64 { calls++; return 1000 - calls },
		"steps back once": func() int64 {
			if calls++; calls == 500 {
				return 0
			}
			return calls * 1000
		},
		"jumps over the middle": func() int64 { calls++; return (calls&1)*(1<<62) - 1<<61 },
		"runs backwards":        func() int64 { return -int64(time.Since(begin)) },
	} {
		calls = 0
		_, err := NewTSC(ref, int64(time.Millisecond))
		require.ErrorIs(t, err, ErrClock, name)
	}
	_, err := NewTSC(func() int64 { return int64(time.Since(begin)) }, int64(time.Hour))
	require.ErrorIs(t, err, ErrClock, "longer than it can be computed")
}
