// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// frameBytes is the room for a packet, a page, as the kernel can place without a gap.
const frameBytes = 4096

// A socket is the rings of one queue of a device, and the memory of the packets.
type socket struct {
	fd       int
	zeroCopy bool
	memory   []byte
	fill     ring[uint64]       // room for packets to come
	rx       ring[unix.XDPDesc] // received packets
	tx       ring[unix.XDPDesc] // packets to send
	sent     ring[uint64]       // sent packets
}

func openSocket(c *Config, index int) (s *socket, err error) {
	s = &socket{fd: -1}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.fd, err = unix.Socket(unix.AF_XDP, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err != nil {
		return s, os.NewSyscallError("socket", err)
	}
	s.memory, err = unix.Mmap(-1, 0, c.Frames*frameBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return s, os.NewSyscallError("mmap", err)
	}
	if err = option(false, s.fd, unix.XDP_UMEM_REG, &unix.XDPUmemReg{
		Addr: address(s.memory), Len: uint64(len(s.memory)), Size: frameBytes,
	}); err != nil {
		return s, os.NewSyscallError("setsockopt XDP_UMEM_REG", err)
	}
	if err = s.openRings(c.Frames / 2); err != nil {
		return s, err
	}
	if err = s.bind(&unix.SockaddrXDP{Flags: unix.XDP_USE_NEED_WAKEUP, Ifindex: uint32(index), QueueID: uint32(c.Queue)}); err != nil {
		return s, os.NewSyscallError("bind", err)
	}
	var flags uint32
	if option(true, s.fd, unix.XDP_OPTIONS, &flags) == nil {
		s.zeroCopy = flags&unix.XDP_OPTIONS_ZEROCOPY != 0
	}
	return s, nil
}

// bind takes a queue, with zero-copy where the kernel can. A queue stays busy for some time after the
// last owner's close.
func (s *socket) bind(to *unix.SockaddrXDP) (err error) {
	for until := time.Now().Add(busyTime); ; time.Sleep(time.Millisecond) {
		if err = unix.Bind(s.fd, to); err != unix.EBUSY || time.Now().After(until) {
			return err
		}
	}
}

const busyTime = 3 * time.Second

// openRings makes the rings, of so many entries each.
func (s *socket) openRings(entries int) (err error) {
	for _, name := range []int{unix.XDP_UMEM_FILL_RING, unix.XDP_UMEM_COMPLETION_RING, unix.XDP_RX_RING, unix.XDP_TX_RING} {
		size := uint32(entries)
		if err := option(false, s.fd, name, &size); err != nil {
			return os.NewSyscallError("setsockopt", err)
		}
	}
	var o unix.XDPMmapOffsets
	if err := option(true, s.fd, unix.XDP_MMAP_OFFSETS, &o); err != nil {
		return os.NewSyscallError("getsockopt XDP_MMAP_OFFSETS", err)
	}
	if s.fill, err = newRing[uint64](s.fd, unix.XDP_UMEM_PGOFF_FILL_RING, o.Fr, entries); err != nil {
		return err
	}
	if s.sent, err = newRing[uint64](s.fd, unix.XDP_UMEM_PGOFF_COMPLETION_RING, o.Cr, entries); err != nil {
		return err
	}
	if s.rx, err = newRing[unix.XDPDesc](s.fd, unix.XDP_PGOFF_RX_RING, o.Rx, entries); err != nil {
		return err
	}
	s.tx, err = newRing[unix.XDPDesc](s.fd, unix.XDP_PGOFF_TX_RING, o.Tx, entries)
	return err
}

// overflows is the number of packets dropped for lack of room.
func (s *socket) overflows() uint64 {
	var x unix.XDPStatistics
	_ = option(true, s.fd, unix.XDP_STATISTICS, &x)
	return x.Rx_dropped + x.Rx_ring_full
}

func (s *socket) close() {
	if s.fd >= 0 {
		_ = unix.Close(s.fd)
	}
	for _, m := range [][]byte{s.fill.memory, s.sent.memory, s.rx.memory, s.tx.memory, s.memory} {
		if m != nil {
			_ = unix.Munmap(m)
		}
	}
}
