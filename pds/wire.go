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

// ErrField is wrapped by every error of a Validate but [ErrType]: the specification does not
// allow the value of a field, named by the message, the first in the order on the wire.
var ErrField = errors.New("pds: illegal field")

var (
	errNextHdr     = fmt.Errorf("%w: next_hdr not allowed on this packet type", ErrField)
	errCtlType     = fmt.Errorf("%w: ctl_type reserved", ErrField)
	errFlags       = fmt.Errorf("%w: request of an ACK reserved", ErrField)
	errNackCode    = fmt.Errorf("%w: nack_code reserved", ErrField)
	errClearOffset = fmt.Errorf("%w: clear_psn_offset positive", ErrField)
	errPDCID       = fmt.Errorf("%w: PDCID zero, or not zero without a PDC", ErrField)
	errCCType      = fmt.Errorf("%w: congestion-control type reserved", ErrField)
	errRange       = fmt.Errorf("%w: value wider than its field", ErrField)
	errDSCP        = fmt.Errorf("%w: DSCP values collide or exceed 6 bits", ErrField)
)

func errorIf(bad bool, err error) error {
	if bad {
		return err
	}
	return nil
}
