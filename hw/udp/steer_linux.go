// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"os"

	"golang.org/x/sys/unix"
)

// Offsets from the start of the IP header, read by a filter as negative addresses.
const (
	fromIP     = 0xfff00000 // SKF_NET_OFF
	source4    = 12
	source6    = 8
	ipv4Header = 20
	ipv6Header = 40
)

// steer has the kernel choose among the n sockets of p's group as Config.Shard does, by a program of the
// old packet filter, without privileges.
func (p *Port) steer(n int) error {
	load := func(size uint16, at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | size | unix.BPF_ABS, K: fromIP + at}
	}
	toX, xorX := unix.SockFilter{Code: unix.BPF_MISC | unix.BPF_TAX}, unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_XOR | unix.BPF_X}
	number := func(op uint16, k uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_ALU | op | unix.BPF_K, K: k}
	}
	code, header := []unix.SockFilter{load(unix.BPF_W, source4)}, uint32(ipv4Header)
	if p.family == unix.AF_INET6 {
		code, header = []unix.SockFilter{load(unix.BPF_W, source6)}, ipv6Header
		for word := uint32(1); word < 4; word++ {
			code = append(code, toX, load(unix.BPF_W, source6+4*word), xorX)
		}
	}
	if p.config.ByPort {
		code = append(code, toX, load(unix.BPF_H, header), xorX)
	}
	code = append(code, number(unix.BPF_MUL, steerFactor), number(unix.BPF_RSH, steerShift), number(unix.BPF_MOD, uint32(n)),
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_A})
	f := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	return os.NewSyscallError("setsockopt", unix.SetsockoptSockFprog(p.paths[0].fd, unix.SOL_SOCKET, unix.SO_ATTACH_REUSEPORT_CBPF, &f))
}
