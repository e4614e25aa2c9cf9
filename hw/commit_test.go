package hw

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// haltSpace lets something happen in the middle of a driver's stores.
type haltSpace struct {
	Space
	stores int
	before func(store int)
}

func (s *haltSpace) Store32(off uint32, v uint32) {
	if s.before != nil {
		s.before(s.stores)
	}
	s.stores++
	s.Space.Store32(off, v)
}

// TestCommitTwice: a device that looks between any two stores of a second commit finds the first
// commit or the second one, whole, and no fault.
func TestCommitTwice(t *testing.T) {
	first := Control{Enable: true, Mode: ModeRate, Generation: 1, Rate: 1 << 10, Burst: 8192}
	second := Control{Enable: true, Mode: ModeRate, Generation: 2, Rate: 1 << 12, Burst: 16384}
	for halt := range 4 {
		for _, known := range []bool{true, false} { // the device has taken the first one before
			dev, soft, _ := newSoft(t, softConfig())
			c, err := dev.Context(0)
			require.NoError(t, err)
			c.Commit(first)
			if known {
				soft.Step(1)
			}
			space := &haltSpace{Space: c.space}
			space.before = func(store int) {
				if store != halt {
					return
				}
				soft.Step(2)
				s := &soft.contexts[0]
				require.Contains(t, []softContext{
					{},
					{gen: 1, enabled: true, mode: ModeRate, rate: first.Rate, burst: int64(first.Burst)},
				}, softContext{gen: s.gen, enabled: s.enabled, mode: s.mode, rate: s.rate, burst: s.burst})
			}
			c.space = space
			c.Commit(second)
			require.Equal(t, 4, space.stores)
			require.Zero(t, dev.Faults(), "halted before store %d", halt)
			soft.Step(3)
			s := &soft.contexts[0]
			require.Equal(t, []any{uint8(2), second.Rate, int64(second.Burst)}, []any{s.gen, s.rate, s.burst})
			require.Zero(t, dev.Faults())
			require.Zero(t, dev.Counter(CounterGenMismatch))
		}
	}
}

// TestCommitOfAnotherEngine: an engine that starts anew beside a device that goes on commits what
// its predecessor did last, word for word, and the device takes it.
func TestCommitOfAnotherEngine(t *testing.T) {
	dev, soft, _ := newSoft(t, softConfig())
	c := start(t, dev, soft, 0, Control{Mode: ModeWindow, Generation: 1})
	c.SetCwnd(1 << 20)

	again, err := Open(dev.space)
	require.NoError(t, err)
	require.NoError(t, again.Enable(allFeatures))
	d, err := again.Context(0)
	require.NoError(t, err)
	d.Commit(Control{Enable: true, Mode: ModeCredit, Generation: 1})
	soft.Step(1)
	require.Equal(t, ModeCredit, soft.contexts[0].mode)
}

// TestCommitMode: there are four modes; another one would be a context without any limit.
func TestCommitMode(t *testing.T) {
	dev, soft, _ := newSoft(t, softConfig())
	for mode := ModeRate + 1; mode < 8; mode++ {
		c, err := dev.Context(0)
		require.NoError(t, err)
		c.Commit(Control{Enable: true, Mode: mode, Generation: 1})
		soft.Step(1)
		require.Equal(t, FaultCommit, dev.Faults())
		require.Zero(t, c.State())
	}
}
