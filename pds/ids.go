// SPDX-License-Identifier: Apache-2.0

package pds

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
