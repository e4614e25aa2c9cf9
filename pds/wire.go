// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"errors"
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

// Errors of Decode.
var (
	// ErrTruncated: the buffer is shorter than the header.
	ErrTruncated = errors.New("pds: buffer shorter than the header")

	// ErrType: the packet type is reserved, or of a different header.
	ErrType = errors.New("pds: packet type reserved or not of this header")
)

// Errors of Validate. The first error is returned, in the order of the fields on
// the wire.
var (
	// ErrNextHdr: next_hdr is reserved or may not follow the packet type.
	ErrNextHdr = errors.New("pds: next_hdr not allowed on this packet type")

	// ErrCtlType: the control packet's ctl_type is reserved.
	ErrCtlType = errors.New("pds: ctl_type reserved")

	// ErrFlags: the request of an ACK has the reserved value 3.
	ErrFlags = errors.New("pds: flags hold a reserved value")

	// ErrNackCode: the NACK code is reserved.
	ErrNackCode = errors.New("pds: nack_code reserved")

	// ErrClearOffset: the offset would put CLEAR_PSN after the packet's own PSN.
	ErrClearOffset = errors.New("pds: clear_psn_offset positive")

	// ErrPDCID: a PDCID is zero where a context must be named, or not zero
	// without a context.
	ErrPDCID = errors.New("pds: PDCID zero, or not zero without a PDC")

	// ErrCCType: the congestion-control type of an ACK or NACK is reserved.
	ErrCCType = errors.New("pds: congestion-control type reserved")

	// ErrRange: a field's value is wider than on the wire.
	ErrRange = errors.New("pds: value wider than its field")
)

func errorIf(bad bool, err error) error {
	if bad {
		return err
	}
	return nil
}
