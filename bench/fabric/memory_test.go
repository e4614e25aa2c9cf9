// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/hbm"
	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/nscc"
)

// memoryConfig is four senders to a host whose memory is half as fast as its
// port for 100 us.
func memoryConfig() Config {
	m := &Matrix{Nodes: 16}
	for src := 1; src <= 4; src++ {
		m.Flows = append(m.Flows, Flow{Src: src, Dst: 0, Size: 400_000})
	}
	return Config{
		Matrix: m, InitialCwnd: 10_000, Seed: 3,
		Memory: &Memory{
			Controller: hbm.Config{Channels: 2, Banks: 4, Depth: 1024, Rate: 6_250_000_000, Interleave: 4096},
			Internal:   4, InternalEnd: 100 * link.Microsecond,
		},
	}
}

// TestMemory: what is acknowledged has been written, all of it once, and the
// penalty keeps the queue at the sources.
func TestMemory(t *testing.T) {
	free := run(t, memoryConfig())
	require.Positive(t, free.Memory.Internal)
	require.Zero(t, free.Memory.Penalised)
	require.Greater(t, free.Memory.Jain, 0.9)

	c := memoryConfig()
	c.Memory.Policy = &hbm.PolicyConfig{Low: 40_000, High: 160_000, Resume: 20_000, Max: 127}
	held := run(t, c)
	require.Positive(t, held.Memory.Penalised)
	require.Positive(t, held.Memory.Restored)
	require.Less(t, held.Memory.Peak, free.Memory.Peak)
}

// TestMemoryTimeIsServiceTime: what the memory keeps is not queueing delay of the network,
// and each acknowledgement says so.
func TestMemoryTimeIsServiceTime(t *testing.T) {
	c := memoryConfig()
	var most nscc.ServiceTime
	var felt int64
	c.Seen = func(s *Seen) { most = max(most, s.ServiceTime) }
	c.Context = func(s *ContextState) {
		if s.Now < c.Memory.InternalEnd {
			felt = max(felt, s.Window.QDelay)
		}
	}
	memory := run(t, c).Memory
	wait := memory.MaxWait * 1000
	require.Greater(t, wait, 10_000.0, "ns")
	require.Greater(t, memory.MeanWait, memory.MaxWait/10)
	require.Less(t, memory.MeanWait, memory.MaxWait)
	require.GreaterOrEqual(t, float64(most.Nanoseconds()), wait)
	require.Less(t, float64(felt), wait/4)
}

// TestMemoryFull: a controller without room drops, and the transfers end all the
// same.
func TestMemoryFull(t *testing.T) {
	c := memoryConfig()
	c.Memory.Controller.Depth = 2
	require.Positive(t, run(t, c).Memory.Refused)
}

func TestMemoryConfig(t *testing.T) {
	for _, change := range []func(*Memory){
		func(m *Memory) { m.Host = 16 },
		func(m *Memory) { m.Host = -1 },
		func(m *Memory) { m.Internal = -1 },
		func(m *Memory) { m.Controller.Rate = 0 },
		func(m *Memory) { m.Policy = &hbm.PolicyConfig{} },
	} {
		c := memoryConfig()
		change(c.Memory)
		_, err := Run(c)
		require.ErrorIs(t, err, ErrConfig)
	}
}

// TestMemoryStuck: a bank that is never usable again leaves transfers unfinished, and the run
// ends.
func TestMemoryStuck(t *testing.T) {
	c := memoryConfig()
	c.Memory.Controller.BankBusy = math.MaxInt64
	c.End = link.Second / 100
	r, err := Run(c)
	require.NoError(t, err)
	require.Equal(t, 4, r.Unfinished)
}
