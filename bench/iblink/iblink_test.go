// SPDX-License-Identifier: Apache-2.0

package iblink

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// base is a link whose receive buffer covers the round trip: 2 x 10 slots of
// delay and up to 4 between updates.
func base() Config {
	return Config{Lanes: 1, Buffer: 30 * Blocks, Delay: 10, Update: 2, Drain: []float64{1}, Slots: 20_000, Seed: 1}
}

func run(t *testing.T, cfg Config) Result {
	r, err := Run(cfg)
	require.NoError(t, err)
	t.Logf("%+v", r)
	require.Zero(t, r.Overruns, "a transmitter that keeps to its credit never overruns the buffer")
	require.LessOrEqual(t, r.MaxOccupied, cfg.Buffer)
	require.Zero(t, r.Leaked)
	return r
}

// TestBuffer: the buffer over the round trip bounds the rate.
func TestBuffer(t *testing.T) {
	require.InDelta(t, 1, run(t, base()).Share[0], 0.01)
	half := base()
	half.Buffer = 11 * Blocks
	require.InDelta(t, 0.5, run(t, half).Share[0], 0.05)
}

// TestLoss: lost packets and lost updates cost time, never a block of credit.
func TestLoss(t *testing.T) {
	lossy := base()
	lossy.DataLoss = 0.05
	r := run(t, lossy)
	require.Positive(t, r.Lost)
	require.Greater(t, r.Share[0], 0.9)
	lossy.CreditLoss = 0.3
	require.Greater(t, run(t, lossy).Share[0], 0.6)
}

// TestLanes: behind a slow sink all of a lane waits; on a lane of its own the
// other service level keeps its half of the line.
func TestLanes(t *testing.T) {
	cfg := base()
	cfg.Drain = []float64{0.05, 1}
	one := run(t, cfg)
	cfg.Lanes = 2
	two := run(t, cfg)
	require.InDelta(t, 0.05, one.Share[1], 0.02, "the victim waits behind the slow one")
	require.Greater(t, two.Share[1], 0.5)
	require.InDelta(t, 0.05, two.Share[0], 0.01)
}

func TestErrors(t *testing.T) {
	for _, change := range []func(*Config){
		func(c *Config) { c.Lanes = 0 },
		func(c *Config) { c.Lanes = 16 },
		func(c *Config) { c.Buffer = -1 },
		func(c *Config) { c.Delay = 0 },
		func(c *Config) { c.Update = 0 },
		func(c *Config) { c.Slots = 0 },
		func(c *Config) { c.Drain = nil },
		func(c *Config) { c.Drain = make([]float64, 17) },
	} {
		cfg := base()
		change(&cfg)
		_, err := Run(cfg)
		require.ErrorIs(t, err, ErrConfig)
	}
}
