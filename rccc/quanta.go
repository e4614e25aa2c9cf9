// SPDX-License-Identifier: Apache-2.0

package rccc

// QuantumBytes is the bytes of a unit in the wire's credit fields.
const QuantumBytes = 256

const (
	wireBits = 24
	wireMask = 1<<wireBits - 1

	// halfRange is the reach of serial comparison, bytes: 2^23 quanta, 2 GiB.
	halfRange = (1 << (wireBits - 1)) * QuantumBytes
)

// Quanta is a cumulative credit or credit target as on the wire: a
// count of 256-byte quanta modulo 2^24. Two Quanta have an order only while
// less than 2^23 quanta (2 GiB) apart.
type Quanta uint32

// QuantaOf returns the wire form of total bytes, rounded down: a credit never
// promises an ungranted byte.
func QuantaOf(total int64) Quanta { return Quanta(total>>8) & wireMask }

// Extend returns the total in bytes nearest to ref whose wire form is q. The
// result is below ref when q is older or equal, above ref when q is newer; a
// total exactly half the range away counts as older. Bits above the wire's 24
// are ignored.
//
//uetcc:hot inlines
func (q Quanta) Extend(ref int64) int64 {
	near := ref >> 8
	ahead := int32(uint32(q)-uint32(near)) << (32 - wireBits) >> (32 - wireBits)
	return (near + int64(ahead)) << 8
}

// roundUp returns the least whole number of quanta holding total, in bytes: a
// request asks for at least the need.
func roundUp(total int64) int64 { return (total + QuantumBytes - 1) &^ (QuantumBytes - 1) }

// roundDown returns the greatest whole number of quanta within total, in bytes.
func roundDown(total int64) int64 { return total &^ (QuantumBytes - 1) }
