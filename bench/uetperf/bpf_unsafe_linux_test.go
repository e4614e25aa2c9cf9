package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	randomHelper     = 7  // bpf_get_prandom_u32
	markHelper       = 97 // bpf_skb_ecn_set_ce, which does the checksum, too
	markerMapBytes   = 32
	verifierLogBytes = 1 << 16
)

// bpf makes the system call with the fields of its attribute, in order.
func bpf(command uintptr, fields ...any) (int, error) {
	var b []byte
	for _, f := range fields {
		var err error
		if b, err = binary.Append(b, binary.NativeEndian, f); err != nil {
			return 0, err
		}
	}
	fd, _, errno := unix.Syscall(unix.SYS_BPF, command, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	if errno != 0 {
		return 0, os.NewSyscallError("bpf", errno)
	}
	return int(fd), nil
}

// pointer is the address of a field's memory, which the caller keeps alive.
func pointer(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(&b[0]))) }

// A marker is a program that the kernel runs for each packet before it is queued at an
// interface. It reads the backlog of the interface's queueing discipline and marks by the
// law of RED: none up to kmin bytes, all from kmax on, and in between a share that rises.
type marker struct{ program, counters, link int }

// markerCounts is what the program has counted, in the order of its map.
type markerCounts struct{ Packets, Marks, BacklogSum, BacklogMax uint64 }

func newMarker(kmin, kmax int32) (m *marker, err error) {
	m = &marker{program: -1, counters: -1, link: -1}
	defer func() {
		if err != nil {
			m.close()
		}
	}()
	types, err := readBTF("/sys/kernel/btf/vmlinux")
	if err != nil {
		return m, err
	}
	if m.counters, err = bpf(unix.BPF_MAP_CREATE, uint32(unix.BPF_MAP_TYPE_ARRAY), uint32(4), uint32(markerMapBytes), uint32(1)); err != nil {
		return m, err
	}
	code, err := markerCode(types, m.counters, kmin, kmax)
	if err != nil {
		return m, err
	}
	m.program, err = load(code)
	return m, err
}

// load gives the program to the kernel, whose verifier explains a refusal.
func load(code []byte) (int, error) {
	licence, log := []byte("GPL\x00"), make([]byte, verifierLogBytes) // kernel functions are for GPL programs; ours is both
	attribute := func(level uint32) []any {
		return []any{uint32(unix.BPF_PROG_TYPE_SCHED_CLS), uint32(len(code) / 8), pointer(code), pointer(licence),
			level, uint32(len(log)) * level, pointer(log) * uint64(level), uint32(0), uint32(0), [16]byte{}, uint32(0), uint32(unix.BPF_TCX_EGRESS)}
	}
	fd, err := bpf(unix.BPF_PROG_LOAD, attribute(0)...)
	if err != nil {
		_, _ = bpf(unix.BPF_PROG_LOAD, attribute(1)...)
		text, _, _ := strings.Cut(string(log), "\x00")
		err = fmt.Errorf("%w\n%s", err, text)
	}
	runtime.KeepAlive(code)
	runtime.KeepAlive(licence)
	runtime.KeepAlive(log)
	return fd, err
}

// attach puts the program in front of the queue of an interface of the calling thread's
// network namespace.
func (m *marker) attach(interfaceIndex int) (err error) {
	m.link, err = bpf(unix.BPF_LINK_CREATE, uint32(m.program), uint32(interfaceIndex), uint32(unix.BPF_TCX_EGRESS), uint32(0))
	return err
}

func (m *marker) counts() (c markerCounts, err error) {
	key, value := make([]byte, 4), make([]byte, markerMapBytes)
	_, err = bpf(unix.BPF_MAP_LOOKUP_ELEM, uint32(m.counters), uint32(0), pointer(key), pointer(value), uint64(0))
	runtime.KeepAlive(key)
	if err == nil {
		_, err = binary.Decode(value, binary.NativeEndian, &c)
	}
	return c, err
}

func (m *marker) close() {
	for _, fd := range []int{m.link, m.program, m.counters} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}

// instruction encodes an instruction of BPF.
func instruction(op, dst, src uint8, off int16, imm int32) []byte {
	b := []byte{op, dst | src<<4}
	b = binary.NativeEndian.AppendUint16(b, uint16(off))
	return binary.NativeEndian.AppendUint32(b, uint32(imm))
}

// markerCode assembles the program. Where the fields lie that it follows, from the packet to
// its device to the device's queue, is the running kernel's to say.
func markerCode(types *btf, counters int, kmin, kmax int32) ([]byte, error) {
	cast, err := types.function("bpf_cast_to_kern_ctx")
	dev, err1 := types.offset("sk_buff", "dev")
	qdisc, err2 := types.offset("net_device", "qdisc")
	stats, err3 := types.offset("Qdisc", "qstats")
	backlog, err4 := types.offset("gnet_stats_queue", "backlog")
	if err := errors.Join(err, err1, err2, err3, err4); err != nil {
		return nil, err
	}
	const (
		load32, load64, store64, add64 = 0x61, 0x79, 0x7b, 0xdb
		move, moveImm, addImm, subImm  = 0xbf, 0xb7, 0x07, 0x17
		mul, shiftImm, call, exit      = 0x2f, 0x67, 0x85, 0x95
		jumpGE, jumpGEImm, jumpLEImm   = 0x3d, 0x35, 0xb5
		jumpNEImm, wide                = 0x55, 0x18
	)
	var code []byte
	for _, i := range [][]byte{
		instruction(move, 6, 1, 0, 0), // r6 = the packet as programs see it
		instruction(call, 0, unix.BPF_PSEUDO_KFUNC_CALL, 0, cast),
		instruction(load64, 1, 0, dev, 0),
		instruction(load64, 1, 1, qdisc, 0),
		instruction(load32, 7, 1, stats+backlog, 0), // r7 = bytes that wait
		instruction(wide, 8, unix.BPF_PSEUDO_MAP_VALUE, 0, int32(counters)),
		instruction(0, 0, 0, 0, 0), // r8 = the counters
		instruction(moveImm, 1, 0, 0, 1),
		instruction(add64, 8, 1, 0, 0),
		instruction(add64, 8, 7, 16, 0),
		instruction(load64, 1, 8, 24, 0),
		instruction(jumpGE, 1, 7, 1, 0),
		instruction(store64, 8, 7, 24, 0),
		instruction(jumpLEImm, 7, 0, 13, kmin),
		instruction(jumpGEImm, 7, 0, 6, kmax),
		instruction(call, 0, 0, 0, randomHelper),
		instruction(moveImm, 1, 0, 0, kmax-kmin),
		instruction(mul, 0, 1, 0, 0),
		instruction(subImm, 7, 0, 0, kmin),
		instruction(shiftImm, 7, 0, 0, 32),
		instruction(jumpGE, 0, 7, 6, 0),
		instruction(move, 1, 6, 0, 0), // all, and the others whose lot it is
		instruction(call, 0, 0, 0, markHelper),
		instruction(jumpNEImm, 0, 0, 3, 1), // not ECN-capable
		instruction(moveImm, 1, 0, 0, 1),
		instruction(add64, 8, 1, 8, 0),
		instruction(moveImm, 0, 0, 0, 0), // go on with the packet
		instruction(exit, 0, 0, 0, 0),
	} {
		code = append(code, i...)
	}
	return code, nil
}
