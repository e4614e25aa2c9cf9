// SPDX-License-Identifier: Apache-2.0

package ses

import (
	"encoding/binary"
	"fmt"
)

// RendezvousLen is the length of a [Rendezvous] extension, bytes.
const RendezvousLen = 24

// A Rendezvous follows the [Standard] header of a rendezvous send and says where
// the target may read the part not sent eagerly.
//
//	0                              32       40            52               64
//	+------------------------------+--------+-------------+----------------+
//	|         eager_length         | ri_gen | pid_on_fep  | resource_index |
//	+------------------------------+--------+-------------+----------------+
//	|                            buffer_offset                             |
//	+----------------------------------------------------------------------+
//	|                      memory_key or match_bits                        |
//	+----------------------------------------------------------------------+
//
// buffer_offset is taken as the place of the message's first byte in the region, as
// everywhere else, so the target reads from buffer_offset + eager_length on; the
// public sources leave the question open.
//
// Older dissectors place pid_on_fep and resource_index differently or know the
// first 8 bytes only; the layout here is the reference provider's.
type Rendezvous struct {
	EagerLength  uint32 // bytes sent with the request
	Generation   Generation
	PIDonFEP     PIDonFEP
	Index        ResourceIndex
	BufferOffset uint64
	Key          uint64
}

func (h *Rendezvous) get(b *[RendezvousLen]byte) {
	w := binary.BigEndian.Uint64(b[:])
	h.EagerLength = uint32(w >> 32)
	h.Generation = Generation(w >> 24)
	h.PIDonFEP = PIDonFEP(w >> 12 & 0xfff)
	h.Index = ResourceIndex(w & 0xfff)
	h.BufferOffset = binary.BigEndian.Uint64(b[8:])
	h.Key = binary.BigEndian.Uint64(b[16:])
}

func (h *Rendezvous) appendTo(b []byte) []byte {
	if h.isWide() {
		panic("ses: rendezvous field wider than on the wire")
	}
	b, tail := extend(b, RendezvousLen)
	p := (*[RendezvousLen]byte)(tail)
	where := uint64(h.Generation)<<24 | uint64(h.PIDonFEP)<<12 | uint64(h.Index)
	binary.BigEndian.PutUint64(p[:], uint64(h.EagerLength)<<32|where)
	binary.BigEndian.PutUint64(p[8:], h.BufferOffset)
	binary.BigEndian.PutUint64(p[16:], h.Key)
	return b
}

// isWide reports whether a field is wider than the place on the wire.
func (h *Rendezvous) isWide() bool { return (uint16(h.PIDonFEP)|uint16(h.Index))>>12 != 0 }

func (h *Rendezvous) text() string {
	return fmt.Sprintf("eager %d read from pid %d ri 0x%03x gen %d key 0x%x offset 0x%x", h.EagerLength, h.PIDonFEP,
		uint16(h.Index), h.Generation, h.Key, h.BufferOffset)
}
