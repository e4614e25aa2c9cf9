// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"errors"

	"golang.org/x/sys/unix"

	"github.com/uetcc/uetcc/internal/ebpf"
)

const (
	randomHelper   = 7  // bpf_get_prandom_u32
	markHelper     = 97 // bpf_skb_ecn_set_ce, which does the checksum, too
	markerMapBytes = 32
)

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
	if m.counters, err = ebpf.NewMap(unix.BPF_MAP_TYPE_ARRAY, markerMapBytes, 1); err != nil {
		return m, err
	}
	code, err := markerCode(types, m.counters, kmin, kmax)
	if err != nil {
		return m, err
	}
	m.program, err = ebpf.Load(unix.BPF_PROG_TYPE_SCHED_CLS, unix.BPF_TCX_EGRESS, code)
	return m, err
}

// attach puts the program in front of the queue of an interface of the calling thread's
// network namespace.
func (m *marker) attach(interfaceIndex int) (err error) {
	m.link, err = ebpf.Link(m.program, interfaceIndex, unix.BPF_TCX_EGRESS, 0)
	return err
}

func (m *marker) counts() (c markerCounts, err error) {
	key, value := make([]byte, 4), make([]byte, markerMapBytes)
	_, err = ebpf.Call(unix.BPF_MAP_LOOKUP_ELEM, uint32(m.counters), uint32(0), key, value, uint64(0))
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
		ebpf.Instruction(move, 6, 1, 0, 0), // r6 = the packet as programs see it
		ebpf.Instruction(call, 0, unix.BPF_PSEUDO_KFUNC_CALL, 0, cast),
		ebpf.Instruction(load64, 1, 0, dev, 0),
		ebpf.Instruction(load64, 1, 1, qdisc, 0),
		ebpf.Instruction(load32, 7, 1, stats+backlog, 0), // r7 = bytes that wait
		ebpf.Instruction(wide, 8, unix.BPF_PSEUDO_MAP_VALUE, 0, int32(counters)),
		ebpf.Instruction(0, 0, 0, 0, 0), // r8 = the counters
		ebpf.Instruction(moveImm, 1, 0, 0, 1),
		ebpf.Instruction(add64, 8, 1, 0, 0),
		ebpf.Instruction(add64, 8, 7, 16, 0),
		ebpf.Instruction(load64, 1, 8, 24, 0),
		ebpf.Instruction(jumpGE, 1, 7, 1, 0),
		ebpf.Instruction(store64, 8, 7, 24, 0),
		ebpf.Instruction(jumpLEImm, 7, 0, 13, kmin),
		ebpf.Instruction(jumpGEImm, 7, 0, 6, kmax),
		ebpf.Instruction(call, 0, 0, 0, randomHelper),
		ebpf.Instruction(moveImm, 1, 0, 0, kmax-kmin),
		ebpf.Instruction(mul, 0, 1, 0, 0),
		ebpf.Instruction(subImm, 7, 0, 0, kmin),
		ebpf.Instruction(shiftImm, 7, 0, 0, 32),
		ebpf.Instruction(jumpGE, 0, 7, 6, 0),
		ebpf.Instruction(move, 1, 6, 0, 0), // all, and the others whose lot it is
		ebpf.Instruction(call, 0, 0, 0, markHelper),
		ebpf.Instruction(jumpNEImm, 0, 0, 3, 1), // not ECN-capable
		ebpf.Instruction(moveImm, 1, 0, 0, 1),
		ebpf.Instruction(add64, 8, 1, 8, 0),
		ebpf.Instruction(moveImm, 0, 0, 0, 0), // go on with the packet
		ebpf.Instruction(exit, 0, 0, 0, 0),
	} {
		code = append(code, i...)
	}
	return code, nil
}
