// SPDX-License-Identifier: Apache-2.0

package pdc

import "github.com/uetcc/uetcc/pds"

// Handle names a PDC in the interface to the layer above: the slot, equal to
// the PDCID, and the slot's generation, odd while the PDC lives. The zero
// Handle is none.
type Handle uint32

func makeHandle(id pds.PDCID, generation uint16) Handle {
	return Handle(generation)<<16 | Handle(id)
}

// ID returns the PDCID.
func (h Handle) ID() pds.PDCID { return pds.PDCID(h) }

// Generation returns the generation of the slot.
func (h Handle) Generation() uint16 { return uint16(h >> 16) }
