// SPDX-License-Identifier: Apache-2.0

package pds

import "encoding/binary"

// The functions below change one field of a packet in wire form, as a NIC does
// with packets kept for retransmission. b begins with the PDS header. Errors
// are [ErrTruncated] or [ErrType] when b is not a packet with the field; b is
// then unchanged. Compute the trailer anew afterwards.

// PatchRetx sets or clears the retransmission flag of any packet but UUD_REQ
// and TSS, packets without the flag.
//
//uetcc:hot inlines nobounds
func PatchRetx(b []byte, on bool) error {
	t, err := PeekType(b)
	switch {
	case err != nil:
		return err
	case len(b) < PrologueLen:
		return ErrTruncated
	case t == TypeTSS || t == TypeUUDReq:
		return ErrType
	}
	b[1] &^= byte(FlagRetx)
	if on {
		b[1] |= byte(FlagRetx)
	}
	return nil
}

// PatchAR sets or clears the acknowledgement request of a request or control
// packet.
func PatchAR(b []byte, on bool) error {
	if err := patchable(b); err != nil {
		return err
	}
	b[1] &^= byte(FlagAR)
	if on {
		b[1] |= byte(FlagAR)
	}
	return nil
}

// PatchClearPSN sets the clear_psn_offset of a request to name clear. The error
// is [ErrClearOffset] when clear is after the packet's PSN or more than 32768
// before.
//
//uetcc:hot
func PatchClearPSN(b []byte, clear PSN) error {
	if err := patchable(b); err != nil {
		return err
	}
	if !Type(b[0] >> 3).IsRequest() {
		return ErrType
	}
	off, ok := ClearOffset(PSN(binary.BigEndian.Uint32(b[4:])), clear)
	if !ok {
		return ErrClearOffset
	}
	binary.BigEndian.PutUint16(b[2:], uint16(off))
	return nil
}

// PatchPSN gives a request or control packet a new PSN. A request keeps the
// CLEAR_PSN; the error is [ErrClearOffset] when CLEAR_PSN is out of the new
// PSN's reach. A psn_offset is unchanged: renumbering moves the first PSN too.
func PatchPSN(b []byte, psn PSN) error {
	if err := patchable(b); err != nil {
		return err
	}
	if Type(b[0] >> 3).IsRequest() {
		old := PSN(binary.BigEndian.Uint32(b[4:]))
		clear := old.Add(int32(int16(binary.BigEndian.Uint16(b[2:]))))
		off, ok := ClearOffset(psn, clear)
		if !ok {
			return ErrClearOffset
		}
		binary.BigEndian.PutUint16(b[2:], uint16(off))
	}
	binary.BigEndian.PutUint32(b[4:], uint32(psn))
	return nil
}

// PatchPeer clears the SYN flag of a request or control packet and names the
// receiver's PDC, once known.
func PatchPeer(b []byte, dpdcid PDCID) error {
	if err := patchable(b); err != nil {
		return err
	}
	b[1] &^= byte(FlagSYN)
	binary.BigEndian.PutUint16(b[10:], uint16(dpdcid))
	return nil
}

// PatchCreditTarget sets the credit_target (256 B units, modulo 2^24) of a
// RUD_CC_REQ or ROD_CC_REQ.
func PatchCreditTarget(b []byte, target uint32) error {
	if err := patchable(b); err != nil {
		return err
	}
	if t := Type(b[0] >> 3); t != TypeRUDCCReq && t != TypeRODCCReq {
		return ErrType
	}
	if len(b) < RequestCCLen {
		return ErrTruncated
	}
	binary.BigEndian.PutUint32(b[12:], uint32(b[12])<<24|target&maxUint24)
	return nil
}

// patchable checks that b holds the first 12 bytes of a request or control
// packet.
func patchable(b []byte) error {
	t, err := PeekType(b)
	switch {
	case err != nil:
		return err
	case !t.IsRequest() && t != TypeCP:
		return ErrType
	case len(b) < RequestLen:
		return ErrTruncated
	default:
		return nil
	}
}
