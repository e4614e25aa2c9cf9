// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Sizes of the [TSS] header and of the end of a secured packet.
const (
	TSSLen    = 12 // without ssi
	TSSSSILen = 16 // with ssi
	TSSTagLen = 16 // AES-GCM tag
)

// TSS is the transport security header. A PDS header follows, perhaps
// encrypted, and a tag of [TSSTagLen] bytes ends the packet.
//
//	 0       4 5  6  7 8                                            31
//	+---------+--+--+--+---------------------------------------------+
//	| type 1  |sp|  |an|                     sdi                     |
//	+---------+--+--+--+---------------------------------------------+
//	|                        ssi, if sp is set                       |
//	+-------------------------------+--------------------------------+
//	|             epoch             |              tsc               |
//	+-------------------------------+--------------------------------+
//	|                              tsc                               |
//	+----------------------------------------------------------------+
//
// Source: UE Specification 1.0.x, Table 3-90, as in the reference provider and
// newer versions of Wireshark; older versions of Wireshark show a different
// layout.
type TSS struct {
	SP    bool   // ssi is present: the header has 16 bytes
	AN    uint8  // association number, 0 or 1: which of two keys
	Epoch uint16 // key epoch
	SDI   uint32 // secure domain, 24 bits
	SSI   uint32 // source; 0 without SP
	TSC   uint64 // counter, 48 bits, used once for each key
}

const maxUint48 = 1<<48 - 1

// Len returns the size of s on the wire.
func (s *TSS) Len() int {
	if s.SP {
		return TSSSSILen
	}
	return TSSLen
}

// Decode sets s from the front of b and returns the length of the header, or [ErrTruncated] or [ErrType].
func (s *TSS) Decode(b []byte) (int, error) {
	if len(b) < TSSLen {
		return 0, ErrTruncated
	}
	v := binary.BigEndian.Uint32(b)
	if Type(v>>27) != TypeTSS {
		return 0, ErrType
	}
	n, ssi := TSSLen, uint32(0)
	if v>>26&1 != 0 {
		if len(b) < TSSSSILen {
			return 0, ErrTruncated
		}
		n, ssi = TSSSSILen, binary.BigEndian.Uint32(b[4:])
	}
	w := binary.BigEndian.Uint64(b[n-8:])
	s.SP, s.AN, s.SDI, s.SSI = n == TSSSSILen, uint8(v>>24&1), v&maxUint24, ssi
	s.Epoch, s.TSC = uint16(w>>48), w&maxUint48
	return n, nil
}

// AppendTo appends s to b.
func (s *TSS) AppendTo(b []byte) []byte {
	v := uint32(TypeTSS)<<27 | uint32(s.AN&1)<<24 | s.SDI&maxUint24
	if s.SP {
		b = binary.BigEndian.AppendUint32(b, v|1<<26)
		v = s.SSI
	}
	b = binary.BigEndian.AppendUint32(b, v)
	return binary.BigEndian.AppendUint64(b, uint64(s.Epoch)<<48|s.TSC&maxUint48)
}

// Validate returns an [ErrField] if a value is wider than the field.
func (s *TSS) Validate() error {
	return errorIf(s.AN > 1 || s.SDI > maxUint24 || s.TSC > maxUint48 || !s.SP && s.SSI != 0, errRange)
}

// String returns a line for people.
func (s TSS) String() string {
	ssi := ""
	if s.SP {
		ssi = fmt.Sprintf(" ssi=%#x", s.SSI)
	}
	return fmt.Sprintf("%v an=%d sdi=%#x%s epoch=%d tsc=%d", TypeTSS, s.AN, s.SDI, ssi, s.Epoch, s.TSC)
}

// CRCLen is the size of the CRC at the end of a packet without transport security.
const CRCLen = 4

// ErrCRC means a trailer at odds with the packet.
var ErrCRC = errors.New("pds: CRC mismatch")

// castagnoli is CRC-32C, computed by the standard library with the processor's
// instruction where available.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CRC returns the CRC-32C of b, which stands behind b most significant byte first, as the reference
// provider and its forks do in recorded exchanges. (RFC 3720 has the reverse order.)
//
// The reference provider sums from the source address in the IP header to the end of the
// payload, so b has both addresses, the rest of the IP header and extensions, UDP or
// entropy header, PDS and semantic header.
func CRC(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }
