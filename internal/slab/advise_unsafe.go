//go:build linux && !purego

package slab

import (
	"os"
	"syscall"
	"unsafe"
)

// advise asks for huge pages under the whole pages of s. Where the system has none s is
// as good as without, so that an error is nobody's concern.
func advise[T any](s []T) {
	size := uintptr(len(s)) * unsafe.Sizeof(*new(T))
	if size < hugePage {
		return
	}
	p := unsafe.Pointer(unsafe.SliceData(s))
	skip := -uintptr(p) % uintptr(os.Getpagesize())
	_ = syscall.Madvise(unsafe.Slice((*byte)(unsafe.Add(p, skip)), size-skip), syscall.MADV_HUGEPAGE)
}
