// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"encoding/binary"
	"net/netip"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/uetcc/uetcc/internal/ebpf"
)

const (
	xdpPass     = 2
	redirectMap = 51 // bpf_redirect_map
)

// Fields of struct xdp_md.
const (
	frameBegin = 0
	frameEnd   = 4
	frameQueue = 16
)

// A test compares a field of a frame with a value, only under the bits of mask unless mask is 0.
type test struct {
	size  uint8 // BPF_B, BPF_H or BPF_W
	at    int16
	value uint32 // as in memory
	mask  int32
}

// native reads network bytes in the byte order of the comparing machine.
func native(b ...byte) uint32 {
	switch len(b) {
	case 1:
		return uint32(b[0])
	case 2:
		return uint32(binary.NativeEndian.Uint16(b))
	}
	return binary.NativeEndian.Uint32(b)
}

// tests select the frames of the port; length is the least length of such a frame.
func tests(local netip.AddrPort) (all []test, length int32) {
	half := func(at int16, v uint16) test {
		return test{size: unix.BPF_H, at: at, value: native(byte(v>>8), byte(v))}
	}
	if local.Addr().Is4() {
		address := local.Addr().As4()
		const udp = etherLen + ip4Len
		return []test{
			half(12, etherIPv4),
			{size: unix.BPF_B, at: etherLen, value: ip4First},
			{size: unix.BPF_H, at: etherLen + 6, mask: int32(native(ip4Pieces>>8, ip4Pieces&0xff))},
			{size: unix.BPF_B, at: etherLen + 9, value: protoUDP},
			{size: unix.BPF_W, at: etherLen + 16, value: native(address[:]...)},
			half(udp+2, local.Port()),
		}, udp + udpLen
	}
	address := local.Addr().As16()
	const udp = etherLen + ip6Len
	all = []test{half(12, etherIPv6), {size: unix.BPF_B, at: etherLen + 6, value: protoUDP}}
	for i := range int16(4) {
		all = append(all, test{size: unix.BPF_W, at: etherLen + 24 + 4*i, value: native(address[4*i:][:4]...)})
	}
	return append(all, half(udp+2, local.Port())), udp + udpLen
}

// redirect assembles the program: a frame passing every test goes to the queue's socket in the map,
// if any, and all other frames to the kernel.
func redirect(local netip.AddrPort, sockets int) []byte {
	const (
		load, move, add        = unix.BPF_LDX | unix.BPF_MEM, unix.BPF_ALU64 | unix.BPF_MOV, unix.BPF_ALU64 | unix.BPF_ADD
		move32, and            = unix.BPF_ALU | unix.BPF_MOV, unix.BPF_ALU64 | unix.BPF_AND
		jumpGreater, jumpNE    = unix.BPF_JMP | unix.BPF_JGT | unix.BPF_X, unix.BPF_JMP | unix.BPF_JNE | unix.BPF_X
		wide, call, exit       = unix.BPF_LD | unix.BPF_IMM | unix.BPF_DW, unix.BPF_JMP | unix.BPF_CALL, unix.BPF_JMP | unix.BPF_EXIT
		result, context, frame = 0, 1, 2
		end, field, want       = 3, 4, 5
	)
	var code [][]byte
	var exits []int // jumps to the end
	emit := func(op, dst, src uint8, off int16, imm int32) {
		code = append(code, ebpf.Instruction(op, dst, src, off, imm))
	}
	leave := func(op, dst, src uint8) {
		exits = append(exits, len(code))
		emit(op, dst, src, 0, 0)
	}
	all, length := tests(local)
	emit(load|unix.BPF_W, frame, context, frameBegin, 0)
	emit(load|unix.BPF_W, end, context, frameEnd, 0)
	emit(move|unix.BPF_X, field, frame, 0, 0)
	emit(add|unix.BPF_K, field, 0, 0, length)
	leave(jumpGreater, field, end)
	for _, t := range all {
		emit(load|t.size, field, frame, t.at, 0)
		if t.mask != 0 {
			emit(and|unix.BPF_K, field, 0, 0, t.mask)
		}
		emit(move32|unix.BPF_K, want, 0, 0, int32(t.value))
		leave(jumpNE, field, want)
	}
	emit(load|unix.BPF_W, 2, context, frameQueue, 0)
	emit(wide, 1, unix.BPF_PSEUDO_MAP_FD, 0, int32(sockets))
	emit(0, 0, 0, 0, 0)
	emit(move|unix.BPF_K, 3, 0, 0, xdpPass)
	emit(call, 0, 0, 0, redirectMap)
	emit(exit, 0, 0, 0, 0)
	for _, at := range exits {
		binary.NativeEndian.PutUint16(code[at][2:], uint16(len(code)-at-1))
	}
	emit(move|unix.BPF_K, result, 0, 0, xdpPass)
	emit(exit, 0, 0, 0, 0)
	return slices.Concat(code...)
}

// A hook is the program at an interface, with the program's map.
type hook struct {
	sockets, program, link int
	generic                bool
}

// attach has frames for local at an interface's queue go to a socket.
func attach(c *Config, local netip.AddrPort, index, socket int) (h hook, err error) {
	h = hook{-1, -1, -1, c.Generic}
	queue, value := make([]byte, 4), make([]byte, 4)
	binary.NativeEndian.PutUint32(queue, uint32(c.Queue))
	binary.NativeEndian.PutUint32(value, uint32(socket))
	h.sockets, err = ebpf.NewMap(unix.BPF_MAP_TYPE_XSKMAP, 4, uint32(c.Queue)+1)
	if err == nil {
		_, err = ebpf.Call(unix.BPF_MAP_UPDATE_ELEM, uint32(h.sockets), uint32(0), queue, value, uint64(0))
	}
	if err == nil {
		h.program, err = ebpf.Load(unix.BPF_PROG_TYPE_XDP, unix.BPF_XDP, redirect(local, h.sockets))
	}
	if err == nil && !h.generic {
		h.link, err = ebpf.Link(h.program, index, unix.BPF_XDP, unix.XDP_FLAGS_DRV_MODE)
		h.generic = err != nil // no hook in the driver, or not for the MTU
	}
	if h.generic && h.program >= 0 {
		h.link, err = ebpf.Link(h.program, index, unix.BPF_XDP, unix.XDP_FLAGS_SKB_MODE)
	}
	return h, err
}

func (h *hook) close() {
	for _, fd := range []int{h.link, h.program, h.sockets} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}
