// SPDX-License-Identifier: Apache-2.0

//go:build linux && !purego

package slab

import (
	"runtime"
	"syscall"
	"unsafe"
)

// advise asks for huge pages under all of s, unless s is too small to be worth huge pages. The
// first and the last huge page may have neighbours of s, too: then arrays made one after the other
// share a page, and an array takes no more memory than s has. Without huge pages s still works, so
// errors of the system do not matter.
func advise[T any](s []T) {
	size := uintptr(len(s)) * unsafe.Sizeof(*new(T))
	if size < hugePage {
		return
	}
	first := uintptr(unsafe.Pointer(unsafe.SliceData(s)))
	end := (first + size + hugePage - 1) &^ (hugePage - 1)
	first &^= hugePage - 1
	_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, first, end-first, syscall.MADV_HUGEPAGE)
}

// Reserve has the next n bytes of small objects lie on huge pages, unless room for them was free
// before; none are touched yet. All garbage is collected, so call Reserve once, for thousands of objects.
func Reserve(n int) {
	if n >= hugePage {
		advise(make([]byte, n))
		runtime.GC() // the room is free again, and the advice stays
	}
}
