// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"net/netip"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
)

// endpointBytes is what NewEndpoint takes, all of it, bytes.
func endpointBytes(t *testing.T, edit func(*uetcc.Config)) float64 {
	c := uetcc.Config{Address: netip.AddrFrom4([4]byte{10, 0, 0, 1}), Seed: 1}
	edit(&c)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e, err := uetcc.NewEndpoint(c)
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(e)
	return float64(after.TotalAlloc - before.TotalAlloc)
}

// TestMemory prints what an endpoint takes: at its defaults, and for one more PDC and one more
// context on the way from these to as many as there can be. As differences of two endpoints the
// figures have everything in them. The bounds are those of today with a tenth to spare.
func TestMemory(t *testing.T) {
	const pdcs, contexts, most = 1 << 10, 1 << 8, 60_000 // the first two are the defaults
	defaults := endpointBytes(t, func(*uetcc.Config) {})
	perPDC := (endpointBytes(t, func(c *uetcc.Config) { c.PDCs.General = most }) - defaults) / (most - pdcs)
	perContext := (endpointBytes(t, func(c *uetcc.Config) { c.Contexts = most }) - defaults) / (most - contexts)
	t.Logf("an endpoint at its defaults %.1f MB; one more PDC %.0f B; one more context %.0f B", defaults/1e6, perPDC, perContext)
	require.Less(t, defaults, 4e6)
	require.Less(t, perPDC, 1180.)
	require.Less(t, perContext, 400.)
}
