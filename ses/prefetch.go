package ses

import "unsafe"

// Line returns the address of the message in a slot, for prefetching: of the cache line
// that [Initiator.Touch] loads, behind which is that of [Initiator.TouchNext]. It panics
// where there is no such slot.
func (in *Initiator) Line(slot uint16) uintptr { return uintptr(unsafe.Pointer(&in.messages[slot])) }
