// Package checksum has the sum of the Internet's headers (RFC 1071).
package checksum

import (
	"encoding/binary"
	"math/bits"
)

// Add adds the 32-bit words of b to s, the last one filled up with zeros. Their
// sum has the same remainder as that of 16-bit words; with up to 64 KiB it does
// not overflow.
func Add(s uint64, b []byte) uint64 {
	for ; len(b) >= 4; b = b[4:] {
		s += uint64(binary.BigEndian.Uint32(b))
	}
	var last [4]byte
	copy(last[:], b)
	return s + uint64(binary.BigEndian.Uint32(last[:]))
}

// Fold adds the upper half of s to the lower and the carry of that, and again, to
// 16 bits: the upper half of s plus s with its halves exchanged is that sum.
func Fold(s uint64) uint16 {
	s += bits.RotateLeft64(s, 32)
	t := uint32(s >> 32)
	t += bits.RotateLeft32(t, 16)
	return uint16(t >> 16)
}
