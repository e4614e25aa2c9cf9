// SPDX-License-Identifier: Apache-2.0

package pds

import "errors"

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
