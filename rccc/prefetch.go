// SPDX-License-Identifier: Apache-2.0

package rccc

import "unsafe"

// Line returns the address of the cache line that an arrival or a grant of the sender in slot i
// needs, for prefetching: with thousands of senders the line is in no cache. A slot out of range
// panics.
func (t *Senders) Line(i Slot) uintptr { return uintptr(unsafe.Pointer(&t.slab[i])) }

// After returns the sender behind i in the list of i, the first behind the last: to prefetch
// what a grant needs before the grant is due.
func (t *Senders) After(i Slot) Slot { return t.links[i].next }
