package switchq

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
)

// TestFlow: the direction, the address family and the protocol make different
// flows, and a change of the entropy moves a flow to another link.
func TestFlow(t *testing.T) {
	a, b := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	v6 := netip.MustParseAddr("fd00::1")
	require.Equal(t, Flow(a, b, 17), Flow(netip.MustParseAddr("::ffff:10.0.0.1"), b, 17), "a mapped address is the same")
	seen := map[uint32]bool{}
	for _, f := range []uint32{Flow(a, b, 17), Flow(b, a, 17), Flow(a, b, 253), Flow(v6, b, 17), Flow(a, a, 17)} {
		require.False(t, seen[f])
		seen[f] = true
	}
	links := map[int]bool{}
	for ev := range uint16(64) {
		links[Uplink(7, Flow(a, b, 17), ev, 8)] = true
	}
	require.Len(t, links, 8)
	alloctest.Zero(t, "Flow", func() { Flow(v6, b, 17) })
}
