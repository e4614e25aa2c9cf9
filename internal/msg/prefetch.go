// SPDX-License-Identifier: Apache-2.0

package msg

import "unsafe"

// Line returns the address of the message in a slot, the index of its handle, for a
// prefetch. Every packet sent or answered needs the cache line there; [Initiator.Next]
// needs the next line too. Line panics for a slot out of range.
//
//uetcc:hot inlines
func (in *Initiator) Line(slot uint16) uintptr { return uintptr(unsafe.Pointer(&in.messages[slot])) }

// Line returns the address to prefetch for the probably latest message of a peer,
// from the low 16 bits of the peer alone. The address is always valid to read.
//
//uetcc:hot inlines
func (t *Target) Line(peer uint16) uintptr {
	return uintptr(unsafe.Pointer(&t.records[t.recent[int(peer)&(len(t.recent)-1)]]))
}
