// SPDX-License-Identifier: Apache-2.0

package pds

import "math"

// PDCID names a packet delivery context at one endpoint. Zero is never
// allocated; in a NACK zero means a sender without context.
type PDCID uint16

// PDCInfo is the field of a packet with the SYN flag in place of the
// destination's PDCID, still unknown to the sender.
//
//	 0 1     3 4                     15
//	+-+-------+------------------------+
//	|R| resvd |       psn_offset       |
//	+-+-------+------------------------+
//
// R is use_rsv_pdc (of pdc_info): the destination takes the PDC from the reserved pool, not
// from the shared pool. psn_offset is the packet's PSN minus the first PSN of
// the PDC. The zero value is the first packet of a PDC of the shared pool.
//
// Source: UE Specification 1.0.x, Table 3-33. use_rsv_pdc is the top bit as in
// Wireshark and XDP2; further readers place the bit three lower.
type PDCInfo uint16

const (
	pdcInfoRsv  PDCInfo = 0x8000
	pdcInfoMask PDCInfo = pdcInfoRsv | maxStartOffset
)

// MakePDCInfo returns the PDCInfo of a packet psnOffset PSNs (0 to 4095) after
// the first of the PDC. Higher bits of psnOffset are dropped; [StartOffset]
// reports such offsets.
func MakePDCInfo(useRsv bool, psnOffset uint16) PDCInfo {
	i := PDCInfo(psnOffset & maxStartOffset)
	if useRsv {
		i |= pdcInfoRsv
	}
	return i
}

// UseRsvPDC reports whether the PDC comes from the reserved pool.
func (i PDCInfo) UseRsvPDC() bool { return i&pdcInfoRsv != 0 }

// PSNOffset returns the distance from the PDC's first PSN, 0 to 4095.
func (i PDCInfo) PSNOffset() uint16 { return uint16(i & maxStartOffset) }

// PSN is a packet sequence number. The number counts packets of one direction
// of a PDC and wraps at 2^32, so two PSNs compare by [PSN.Diff] or [PSN.After],
// never by <.
type PSN uint32

// Diff returns p - q modulo 2^32 as a signed number: positive when p is after
// q. At a distance of exactly 2^31 the sign says nothing.
//
//uetcc:hot inlines nobounds
func (p PSN) Diff(q PSN) int32 { return int32(p - q) }

// After reports whether p comes after q.
//
//uetcc:hot inlines nobounds
func (p PSN) After(q PSN) bool { return p.Diff(q) > 0 }

// Add returns the PSN n packets after p, or before p when n is negative.
//
//uetcc:hot inlines nobounds
func (p PSN) Add(n int32) PSN { return p + PSN(n) }

// maxStartOffset is the largest psn_offset: the field has 12 bits.
const maxStartOffset = 1<<12 - 1

// The offset functions below compute a header's offset in place of a second
// PSN. Nothing saturates: a clipped offset would name a wrong PSN. When ok is
// false no offset exists and the packet must not be sent. With windows of at
// most 128 x 255 PSNs (the widest MPR) ok is never false for clear_psn_offset,
// ack_psn_offset and sack_psn_offset.

// ClearOffset returns the clear_psn_offset with which packet psn releases
// everything up to clear: clear - psn, -32768 to 0 (UE Specification 1.0.x,
// section 3.5.11.4.4: never positive). ok is false when clear is after psn or
// further back.
func ClearOffset(psn, clear PSN) (off int16, ok bool) {
	d := clear.Diff(psn)
	return int16(d), d <= 0 && d >= math.MinInt16
}

// AckOffset returns the ack_psn_offset or sack_psn_offset naming psn in a
// header with cumulative acknowledgement cack: psn - cack. ok is false when the
// offset does not fit a signed 16-bit number.
func AckOffset(cack, psn PSN) (off int16, ok bool) {
	d := psn.Diff(cack)
	return int16(d), d >= math.MinInt16 && d <= math.MaxInt16
}

// StartOffset returns the psn_offset of a SYN packet psn on a PDC starting at
// start: psn - start, 0 to 4095. ok is false for any other distance.
func StartOffset(psn, start PSN) (off uint16, ok bool) {
	d := psn.Diff(start)
	return uint16(d), d >= 0 && d <= maxStartOffset
}
