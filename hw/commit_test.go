// SPDX-License-Identifier: Apache-2.0

package hw

import (
	"fmt"
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

// logSpace writes down what a driver does to registers.
type logSpace struct {
	Space
	log []string
}

func (s *logSpace) Store32(off uint32, v uint32) {
	s.log = append(s.log, fmt.Sprintf("%#x", off))
	s.Space.Store32(off, v)
}

func (s *logSpace) Store64(off uint32, v uint64) {
	s.log = append(s.log, fmt.Sprintf("%#x", off))
	s.Space.Store64(off, v)
}

func (s *logSpace) Flush() {
	s.log = append(s.log, "flush")
	s.Space.Flush()
}

// TestStoresReachTheDeviceInOrder: packets are visible before the doorbell and its record, which are at the device
// at once; a commit comes last and so is it.
func TestStoresReachTheDeviceInOrder(t *testing.T) {
	dev, _, _ := newSoft(t, softConfig())
	c, err := dev.Context(0)
	require.NoError(t, err)
	bell, err := dev.Doorbell(0)
	require.NoError(t, err)
	space := &logSpace{Space: dev.space}
	c.space, c.base, bell.space, bell.page = space, 0x10000, space, 0x20000
	space.Space = NewMemory(0x30000)
	bell.Ring(&c, 1, 2)
	require.Equal(t, []string{"flush", "0x10028", "0x20000", "flush"}, space.log)
	space.log = nil
	bell.Probe(&c, 1)
	require.Equal(t, []string{"0x20000", "flush"}, space.log)
	space.log = nil
	c.Commit(Control{})
	require.Equal(t, []string{"0x10000", "0x10004", "0x10020", "0x10024", "flush"}, space.log)
}

// TestStoreHeedsTheOrderOfARegister: what a tool stores by a register's description is ordered
// as that says.
func TestStoreHeedsTheOrderOfARegister(t *testing.T) {
	dev, _, _ := newSoft(t, softConfig())
	space := &logSpace{Space: dev.space}
	dev.space = space
	for r, want := range map[Register][]string{
		Reg.Cwnd:   {"store"},
		Reg.Record: {"flush", "store"},
		Reg.Commit: {"store", "flush"},
	} {
		space.log = nil
		require.NoError(t, dev.Store(r, 0, 0))
		for i, what := range space.log {
			if what != "flush" {
				space.log[i] = "store"
			}
		}
		require.Equal(t, want, space.log, r.Name)
	}
}

// TestCommitIsTakenWhole: a device that looks between any two stores of a second commit finds the first
// commit or the second one, whole, and no fault.
func TestCommitIsTakenWhole(t *testing.T) {
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
			require.Zero(t, dev.Counters().GenMismatch)
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

// TestCommitRefusesUnknownModes: there are four modes; another one would be a context without any limit.
func TestCommitRefusesUnknownModes(t *testing.T) {
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
