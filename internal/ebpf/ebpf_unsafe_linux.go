// SPDX-License-Identifier: Apache-2.0

// Package ebpf loads programs the kernel runs, written in eBPF instructions.
package ebpf

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Call makes the system call bpf(2) with the fields of the attribute, in order. A field of bytes is
// passed as the address.
func Call(command uintptr, fields ...any) (int, error) {
	var b []byte
	for _, f := range fields {
		if memory, ok := f.([]byte); ok {
			f = uint64(uintptr(unsafe.Pointer(&memory[0])))
		}
		var err error
		if b, err = binary.Append(b, binary.NativeEndian, f); err != nil {
			return -1, err
		}
	}
	fd, _, errno := unix.Syscall(unix.SYS_BPF, command, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	runtime.KeepAlive(fields)
	if errno != 0 {
		return -1, os.NewSyscallError("bpf", errno)
	}
	return int(fd), nil
}

// NewMap makes a map of a kind, of so many values by keys of four bytes.
func NewMap(kind, valueBytes, values uint32) (int, error) {
	return Call(unix.BPF_MAP_CREATE, kind, uint32(4), valueBytes, values)
}

const verifierLogBytes = 1 << 16

// Load gives a program of a kind to the kernel, for a place to attach to. The verifier explains a
// refusal.
func Load(kind, attach uint32, code []byte) (int, error) {
	licence, log := []byte("GPL\x00"), make([]byte, verifierLogBytes) // kernel functions are for GPL programs; ours is both
	try := func(explain ...any) (int, error) {
		return Call(unix.BPF_PROG_LOAD, append(append([]any{kind, uint32(len(code) / 8), code, licence}, explain...),
			uint32(0), uint32(0), [16]byte{}, uint32(0), attach)...)
	}
	fd, err := try(uint32(0), uint32(0), uint64(0))
	if err != nil {
		_, _ = try(uint32(1), uint32(len(log)), log)
		text, _, _ := strings.Cut(string(log), "\x00")
		err = fmt.Errorf("%w\n%s", err, text)
	}
	return fd, err
}

// Link attaches a program to an interface of the calling thread's network namespace, until the
// descriptor is closed.
func Link(program, interfaceIndex int, attach, flags uint32) (int, error) {
	return Call(unix.BPF_LINK_CREATE, uint32(program), uint32(interfaceIndex), attach, flags)
}

// Instruction encodes an instruction.
func Instruction(op, dst, src uint8, off int16, imm int32) []byte {
	b := []byte{op, dst | src<<4}
	b = binary.NativeEndian.AppendUint16(b, uint16(off))
	return binary.NativeEndian.AppendUint32(b, uint32(imm))
}
