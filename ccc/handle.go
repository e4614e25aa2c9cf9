// SPDX-License-Identifier: Apache-2.0

package ccc

// A Handle names one life of a context or of a PDC: the index in the low 16 bits,
// the position in every slab, and the generation in the high 16. The generation of
// a life is odd, so the zero Handle names nothing, and a handle of a past life
// never matches a later life. Handles come with indices: from the tables of
// packages ccc and pds/pdctable, or [NewHandle].
type Handle uint32

// NewHandle builds a handle from index and generation.
func NewHandle(index, generation uint16) Handle { return Handle(generation)<<16 | Handle(index) }

// Index is the position in the slabs.
func (h Handle) Index() uint16 { return uint16(h) }

// Generation tells the lives at an index apart.
func (h Handle) Generation() uint16 { return uint16(h >> 16) }
