package pds

import "errors"

// Errors of Decode and Encode.
var (
	// ErrTruncated: the buffer is shorter than the header.
	ErrTruncated = errors.New("pds: buffer shorter than the header")

	// ErrType: the packet type is reserved, or is not one of this header's.
	ErrType = errors.New("pds: packet type reserved or not of this header")
)

// Errors of Validate. The first that applies is returned, in the order of the
// fields on the wire.
var (
	// ErrNextHdr: next_hdr is reserved or may not follow this packet type.
	ErrNextHdr = errors.New("pds: next_hdr not allowed on this packet type")

	// ErrCtlType: the control packet's ctl_type is reserved.
	ErrCtlType = errors.New("pds: ctl_type reserved")

	// ErrFlags: the request of an ACK has its reserved value 3.
	ErrFlags = errors.New("pds: flags hold a reserved value")

	// ErrNackCode: the NACK code is reserved.
	ErrNackCode = errors.New("pds: nack_code reserved")

	// ErrClearOffset: the offset would put CLEAR_PSN after the packet's own PSN.
	ErrClearOffset = errors.New("pds: clear_psn_offset positive")

	// ErrPDCID: a PDCID is zero where a context must be named, or is not zero
	// where there is none.
	ErrPDCID = errors.New("pds: PDCID zero, or not zero without a PDC")

	// ErrCCType: the congestion-control type of an ACK or NACK is reserved.
	ErrCCType = errors.New("pds: congestion-control type reserved")

	// ErrRange: a field's value does not fit its width on the wire.
	ErrRange = errors.New("pds: value wider than its field")
)

func errorIf(bad bool, err error) error {
	if bad {
		return err
	}
	return nil
}
