// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"fmt"
	"slices"
)

// maxUint24 is the largest value of a 24-bit field.
const maxUint24 = 1<<24 - 1

// splitPeer reads bytes 10-11 of a request or control packet.
func splitPeer(f Flags, v uint16) (PDCID, PDCInfo) {
	if f&FlagSYN != 0 {
		return 0, PDCInfo(v) & pdcInfoMask
	}
	return PDCID(v), 0
}

// joinPeer returns bytes 10-11 of a request or control packet.
func joinPeer(f Flags, id PDCID, info PDCInfo) uint16 {
	if f&FlagSYN != 0 {
		return uint16(info & pdcInfoMask)
	}
	return uint16(id)
}

// peerText shows bytes 10-11 of a request or control packet.
func peerText(f Flags, id PDCID, info PDCInfo) string {
	switch {
	case f&FlagSYN == 0:
		return fmt.Sprintf("dpdc=%d", id)
	case info.UseRsvPDC():
		return fmt.Sprintf("rsv psn_offset=%d", info.PSNOffset())
	default:
		return fmt.Sprintf("psn_offset=%d", info.PSNOffset())
	}
}

// extend lengthens b by n bytes, for the caller to overwrite.
func extend(b []byte, n int) []byte {
	if cap(b)-len(b) < n {
		b = grow(b, n)
	}
	return b[:len(b)+n]
}

// grow is out of line to keep [extend] small where there is room.
//
//go:noinline
func grow(b []byte, n int) []byte { return slices.Grow(b, n) }
