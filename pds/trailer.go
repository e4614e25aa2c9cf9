// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// CRCLen is the size of the CRC at the end of a packet without transport security.
const CRCLen = 4

// ErrCRC means a trailer at odds with the packet.
var ErrCRC = errors.New("pds: CRC mismatch")

// castagnoli is CRC-32C, computed by the standard library with the processor's
// instruction where available.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CRC returns the CRC-32C of b, the number appended by [AppendCRC].
func CRC(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// AppendCRC appends the CRC-32C of b to b, most significant byte first, as the reference
// provider and its forks do in recorded exchanges. (RFC 3720 has the reverse order.)
//
// The reference provider sums from the source address in the IP header to the end of the
// payload, so b has both addresses, the rest of the IP header and extensions, UDP or
// entropy header, PDS and semantic header.
func AppendCRC(b []byte) []byte { return binary.BigEndian.AppendUint32(b, CRC(b)) }

// CheckCRC returns b, which begins as for [AppendCRC], without the trailer.
// The errors are [ErrTruncated] and [ErrCRC].
func CheckCRC(b []byte) ([]byte, error) {
	n := len(b) - CRCLen
	if n < 0 {
		return nil, ErrTruncated
	}
	if binary.BigEndian.Uint32(b[n:]) != CRC(b[:n]) {
		return nil, ErrCRC
	}
	return b[:n], nil
}
