// SPDX-License-Identifier: Apache-2.0

package nscc

// The wire counts received bytes in units of 256, modulo 2^24 units.
const (
	rcvdUnit = 256
	rcvdMask = 1<<24 - 1
	rcvdHalf = 1 << 23
)

// RcvdBytes counts at the destination the received bytes of one PDC. The zero
// value is ready. Single writer.
type RcvdBytes struct{ bytes uint64 }

// Add counts a packet of size bytes with data, neither trimmed nor a duplicate.
//
//uetcc:hot inlines nobounds
func (r *RcvdBytes) Add(size int64) { r.bytes += uint64(max(size, 0)) }

// Units is the field rcvd_bytes of an acknowledgement: rounded up, so a tail
// of less than 256 bytes is acknowledged too.
//
//uetcc:hot inlines nobounds
func (r *RcvdBytes) Units() uint32 { return uint32((r.bytes+rcvdUnit-1)/rcvdUnit) & rcvdMask }

// RcvdTracker keeps at the source the largest rcvd_bytes of one PDC. The zero
// value is ready. Single writer.
type RcvdTracker struct{ last uint32 }

// Advance returns the bytes newly received by the field units: 0 for a
// repeated or an older value, since acknowledgements overtake each other, and less
// than 2 GiB. Steps are 256 bytes, too coarse for [ProfileHTSim].
//
//uetcc:hot inlines nobounds
func (t *RcvdTracker) Advance(units uint32) int64 {
	delta := (units - t.last) & rcvdMask
	if delta >= rcvdHalf {
		return 0
	}
	t.last = units & rcvdMask
	return int64(delta) * rcvdUnit
}
