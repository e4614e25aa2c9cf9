package switchq

import (
	"net/netip"

	"github.com/cespare/xxhash/v2"
)

// Flow hashes what all packets of a flow have in common, for [Uplink]: the
// addresses, of either family, and the protocol. The entropy value, which is the
// UDP source port or the entropy header, is not part of it.
func Flow(src, dst netip.Addr, protocol uint8) uint32 {
	var b [33]byte
	s, d := src.As16(), dst.As16()
	copy(b[:], s[:])
	copy(b[16:], d[:])
	b[32] = protocol
	return uint32(xxhash.Sum64(b[:]))
}
