// SPDX-License-Identifier: Apache-2.0

// Package checksum has the sum of the Internet's headers (RFC 1071).
package checksum

import (
	"encoding/binary"
	"math/bits"
)

// Add adds the 32-bit words of b to s, the last filled up with zeros. The sum has
// the same remainder as the sum of 16-bit words, and does not overflow with up to
// 64 KiB.
func Add(s uint64, b []byte) uint64 {
	for ; len(b) >= 4; b = b[4:] {
		s += uint64(binary.BigEndian.Uint32(b))
	}
	var last [4]byte
	copy(last[:], b)
	return s + uint64(binary.BigEndian.Uint32(last[:]))
}

// Fold adds the upper half of s to the lower and the carry of the sum, and again,
// to 16 bits: s plus s with exchanged halves has the sum in the upper half.
func Fold(s uint64) uint16 {
	s += bits.RotateLeft64(s, 32)
	t := uint32(s >> 32)
	t += bits.RotateLeft32(t, 16)
	return uint16(t >> 16)
}
