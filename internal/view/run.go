// SPDX-License-Identifier: Apache-2.0

package view

import (
	"encoding/binary"

	"github.com/uetcc/uetcc/pds"
)

// A Run writes the headers of RUD_REQs or ROD_REQs of an open PDC with consecutive PSNs
// and the same CLEAR_PSN.
type Run struct {
	prologue uint64  // in its place in the first word
	psn      pds.PSN // of the first
	clear    uint32  // clear_psn_offset of the first
	ids      uint32  // SPDCID and DPDCID
}

// MakeRun returns a run whose first packet is [PutRequest]'s with the same arguments.
func MakeRun(t pds.Type, next pds.NextHdr, clearOffset int16, psn pds.PSN, spdcid, dpdcid pds.PDCID) Run {
	return Run{
		prologue: uint64(prologue(t, next, 0)) << 48, psn: psn, clear: uint32(uint16(clearOffset)),
		ids: uint32(spdcid)<<16 | uint32(dpdcid),
	}
}

// Put writes the header of packet k, from 0, with [pds.FlagAR] if bit k%32 of asks is set.
//
//uetcc:hot inlines nobounds
func (r *Run) Put(b *[pds.RequestLen]byte, k, asks uint32) {
	head := r.prologue | uint64(asks>>(k%32)&1)*(uint64(pds.FlagAR)<<48)
	binary.BigEndian.PutUint64(b[0:], head|uint64(uint16(r.clear-k))<<32|uint64(uint32(r.psn)+k))
	binary.BigEndian.PutUint32(b[8:], r.ids)
}

// PutTarget makes the header in b, which Put has written, that of a RUD_CC_REQ or ROD_CC_REQ with
// these fields.
//
//uetcc:hot inlines nobounds
func (r *Run) PutTarget(b *[pds.RequestCCLen]byte, cccID uint8, target uint32) {
	b[0] += byte(pds.TypeRUDCCReq-pds.TypeRUDReq) << 3
	binary.BigEndian.PutUint32(b[12:], uint32(cccID)<<24|target&maxUint24)
}
