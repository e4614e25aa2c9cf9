// SPDX-License-Identifier: Apache-2.0

package hol

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/pcc"
)

// slots of the full scenario: 197 ms, of which the second half counts.
const slots = 600_000

// TestWithout: purple gets a fifth of the line although its own path is free.
func TestWithout(t *testing.T) {
	r := Run(Config{Slots: slots, Burst: 16, Seed: 1})
	t.Logf("%+v", r)
	require.InDelta(t, 0.20, r.Purple, 0.01)
	require.InDelta(t, 1, r.Blue, 0.01)
	require.Greater(t, r.Paused, 0.5)
	require.Greater(t, r.PurpleNs, 300_000.0)
}

// TestTemplate: the sample algorithm keeps blue out of the shared queue.
func TestTemplate(t *testing.T) {
	for _, c := range []struct {
		percent              float64
		purple, blue, paused float64
		ingress, delay       float64
	}{
		{5, 0.85, 0.95, 0.02, 192, 20_000},
		{1, 0.70, 0.90, 0.01, 1, 20_000},
		{0.5, 0.70, 0.90, 0.01, 1, 20_000},
	} {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("AI=%v%%/seed=%d", c.percent, seed), func(t *testing.T) {
				p := pcc.DefaultTemplateParams()
				p.AI = pcc.Rate(float64(pcc.LineRate) * c.percent / 100)
				r := Run(Config{Slots: slots, Burst: 16, Seed: seed, Control: Template(p)})
				t.Logf("%+v", r)
				require.GreaterOrEqual(t, r.Purple, c.purple)
				require.GreaterOrEqual(t, r.Purple, 0.76, "the accepted least")
				require.GreaterOrEqual(t, r.Blue, c.blue)
				require.LessOrEqual(t, r.Paused, c.paused)
				require.LessOrEqual(t, r.IngressMean, c.ingress)
				require.LessOrEqual(t, r.PurpleNs, c.delay)
			})
		}
	}
}

// TestZTR: our algorithm keeps blue's own queue short besides.
func TestZTR(t *testing.T) {
	for _, burst := range []int{4, 8, 16} {
		r := Run(Config{Slots: slots, Burst: burst, Seed: 2, Control: ZTR(pcc.DefaultZTRParams())})
		t.Logf("burst %d: %+v", burst, r)
		require.GreaterOrEqual(t, r.Purple, 0.76)
		require.GreaterOrEqual(t, r.Blue, 0.90)
		require.LessOrEqual(t, r.Paused, 0.01)
		require.LessOrEqual(t, r.BlueQueue, 40.0)
		require.LessOrEqual(t, r.PurpleNs, 20_000.0)
	}
}

// TestSecondHalfCounts: shares are of the second half of the slots, and with the starts that a seed
// stands for they are as on record.
func TestSecondHalfCounts(t *testing.T) {
	r := Run(Config{Slots: 20_000, Burst: 8, Seed: 5, Control: ZTR(pcc.DefaultZTRParams())})
	require.InDelta(t, 7685, 10_000*r.Blue, 1e-6)
	require.InDelta(t, 1763, 10_000*r.Purple, 1e-6)
}

// TestDeterministic: the same seed gives the same run.
func TestDeterministic(t *testing.T) {
	run := func(seed uint64) Result {
		return Run(Config{Slots: 20_000, Burst: 8, Seed: seed, Control: ZTR(pcc.DefaultZTRParams())})
	}
	require.Equal(t, run(5), run(5))
	require.NotEqual(t, run(5), run(6))
}
