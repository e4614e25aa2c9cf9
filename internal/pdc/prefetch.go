// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"unsafe"

	"github.com/uetcc/uetcc/pds"
)

// Lines returns the addresses of the two cache lines of a PDC needed first by a source; a
// target needs only the second. The addresses are for prefetching: with thousands of PDCs
// in use a packet waits for memory most of the time. Lines reads nothing of the PDC.
//
// Lines, EndLines, PacketLines, SubmitLines and RowLine panic on an id beyond the table; id 0, of no PDC, is
// allowed.
//
//uetcc:hot inlines
func (f *FastPath) Lines(id uint16) (send, peer uintptr) {
	p := &f.pdc[id]
	return uintptr(unsafe.Pointer(&p.tx)), uintptr(unsafe.Pointer(p))
}

// EndLines returns the addresses of the two cache lines of a PDC that [Manager.PutCredit] and
// [FastPath.Ends] need. Nothing of the PDC is read.
//
//uetcc:hot inlines
func (f *FastPath) EndLines(id uint16) (peer, local uintptr) {
	p := &f.pdc[id]
	return uintptr(unsafe.Pointer(p)), uintptr(unsafe.Pointer(&p.local))
}

// PacketLines returns the addresses of the rows and the records of the packet acknowledged
// next and of the packet sent next. The lines of Lines are read.
//
//uetcc:hot
func (f *FastPath) PacketLines(id uint16) (first, current, acked, sent uintptr) {
	w := &f.pdc[id].tx
	return uintptr(unsafe.Pointer(&f.mem.row[w.first])), uintptr(unsafe.Pointer(&f.mem.row[w.current])),
		uintptr(unsafe.Pointer(w.lowest(f.mem))), uintptr(unsafe.Pointer(w.upcoming(f.mem)))
}

// SubmitLines returns the addresses of further memory for [Manager.SubmitRun]: ring and the line behind ring
// hold what RowLine returns with a Range of up to 1,024 PSNs. Nothing of the PDC is read.
//
//uetcc:hot inlines
func (f *FastPath) SubmitLines(id uint16) (pdc, ring uintptr) {
	return uintptr(unsafe.Pointer(&f.pdc[id].unsubmitted)), uintptr(unsafe.Pointer(f.mem.rowAt(id, 0)))
}

// RowLine returns the address of the place for the row of the packet queued next. The lines of Lines are
// read.
//
//uetcc:hot inlines
func (f *FastPath) RowLine(id uint16) uintptr {
	return uintptr(unsafe.Pointer(f.mem.rowAt(id, f.pdc[id].tx.tail)))
}

// Upcoming returns the PDCs that are next to send in [Manager.Transmit], at most n. With
// thousands of PDCs waiting for a turn, an acknowledgement releases packets of a different
// PDC. Valid until the next call.
func (f *FastPath) Upcoming(n int) []pds.PDCID { return f.sched.data.first(n) }
