package ses

import "unsafe"

// Line returns the address of the message in a slot, the index of its handle, to prefetch
// it: of the cache line that a packet of it needs that is sent or answered, behind which is
// the one that [Initiator.Next] needs besides. It panics where there is no such slot.
func (in *Initiator) Line(slot uint16) uintptr { return uintptr(unsafe.Pointer(&in.messages[slot])) }

// Line returns the address of the latest message of a peer, of which the low 16 bits tell,
// or of any other.
func (t *Target) Line(peer uint16) uintptr {
	return uintptr(unsafe.Pointer(&t.records[t.recent[int(peer)&(len(t.recent)-1)]]))
}
