// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A ring is memory shared with the kernel: one side puts entries in, and the opposite side takes
// entries out. Single writer.
type ring[T any] struct {
	memory             []byte
	producer, consumer *atomic.Uint32
	flags              *atomic.Uint32
	entries            []T
	at                 uint32 // entries put in or taken out here
}

// newRing maps a ring of a socket, of the given number of entries.
func newRing[T any](fd int, page int64, o unix.XDPRingOffset, entries int) (r ring[T], err error) {
	var entry T
	size := int(o.Desc) + entries*int(unsafe.Sizeof(entry))
	if r.memory, err = unix.Mmap(fd, page, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE); err != nil {
		return r, os.NewSyscallError("mmap", err)
	}
	word := func(at uint64) *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(&r.memory[at])) }
	r.producer, r.consumer, r.flags = word(o.Producer), word(o.Consumer), word(o.Flags)
	r.entries = unsafe.Slice((*T)(unsafe.Pointer(&r.memory[o.Desc])), entries)
	return r, nil
}

// For the side that puts in: room is the number of free places, and submit shows new entries to
// the kernel.

func (r *ring[T]) room() int { return len(r.entries) - r.pending() }

// pending is how many the kernel has not taken out.
func (r *ring[T]) pending() int { return int(r.at - r.consumer.Load()) }

func (r *ring[T]) put(e T) {
	r.entries[r.at&uint32(len(r.entries)-1)] = e
	r.at++
}

func (r *ring[T]) submit() { r.producer.Store(r.at) }

// isIdle reports whether the kernel wants to be woken for new entries.
func (r *ring[T]) isIdle() bool { return r.flags.Load()&unix.XDP_RING_NEED_WAKEUP != 0 }

// For the side that takes out: ready is the number of waiting entries, and release gives the
// places back.

func (r *ring[T]) ready() int { return int(r.producer.Load() - r.at) }

func (r *ring[T]) take() T {
	e := r.entries[r.at&uint32(len(r.entries)-1)]
	r.at++
	return e
}

func (r *ring[T]) release() { r.consumer.Store(r.at) }

// option sets an option of a socket, or with get asks for the value. x/sys has only options of
// integers.
func option[T any](get bool, fd, name int, value *T) error {
	n := uint32(unsafe.Sizeof(*value))
	var errno unix.Errno
	if get {
		_, _, errno = unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_XDP, uintptr(name), uintptr(unsafe.Pointer(value)), uintptr(unsafe.Pointer(&n)), 0)
	} else {
		_, _, errno = unix.Syscall6(unix.SYS_SETSOCKOPT, uintptr(fd), unix.SOL_XDP, uintptr(name), uintptr(unsafe.Pointer(value)), uintptr(n), 0)
	}
	if errno != 0 {
		return errno
	}
	return nil
}

// address is where memory lies.
func address(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(&b[0]))) }

// kick has the kernel look at the ring of packets to send.
func kick(fd int) error {
	if _, _, errno := unix.Syscall6(unix.SYS_SENDTO, uintptr(fd), 0, 0, unix.MSG_DONTWAIT, 0, 0); errno != 0 {
		return errno
	}
	return nil
}
