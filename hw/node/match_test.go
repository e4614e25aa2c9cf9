// SPDX-License-Identifier: Apache-2.0

package node

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
)

// Nodes of different versions have to agree about the number of an address.
func TestMatch(t *testing.T) {
	for address, want := range map[string]uint64{"192.0.2.1:4793": 0x6b8a3b2f_00000007, "[2001:db8::1]:5000": 0x7f785bd7_00000007} {
		a := netip.MustParseAddrPort(address)
		require.Equal(t, want, match(a, 7))
		alloctest.Zero(t, address, func() { match(a, 7) })
	}
}
