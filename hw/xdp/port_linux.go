// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/uetcc/uetcc/hw/port"
	"github.com/uetcc/uetcc/hw/udp"
	"github.com/uetcc/uetcc/pds/frame"
)

var _ port.Port = (*Port)(nil)

// A Port is a [port.Port] on the rings of a network device.
type Port struct {
	config Config
	local  netip.AddrPort
	mtu    int
	*socket
	hook   hook
	slow   *udp.Port // for special cases, and the bell
	odd    bool      // the slow port has packets
	router *router
	began  time.Time

	closed atomic.Bool
	over   sync.Mutex // guards gone
	gone   bool       // the descriptors are closed

	sending sync.Mutex // guards free and the rings of frames to the device: Send may run beside Wait
	free    []uint64   // empty frames
	used    []uint64   // frames handed out by the last Receive

	frame    frame.Frame // headers for the last peer
	hops     map[netip.Addr]hop
	last     netip.Addr // whom frame and way are for
	way      hop
	polls    [3]unix.PollFd
	stats    port.Stats
	overflow uint64
}

// A hop is a neighbour, as known some time ago.
type hop struct {
	neighbour
	until int64 // when to ask again, ns
}

const (
	hopTime  = int64(time.Second)      // that a neighbour is trusted
	hopRetry = int64(time.Millisecond) // between two looks for an unknown neighbour
	hopsMost = 1 << 16
)

// Open opens a port. Errors wrap ErrConfig, errors of package udp, or are the system's.
func Open(c Config) (_ *Port, err error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	p := &Port{config: c, began: time.Now(), hook: hook{-1, -1, -1, false}, hops: map[netip.Addr]hop{}}
	if p.slow, err = udp.Open(udp.Config{Local: c.Local, NoOffload: true}); err != nil {
		return nil, err
	}
	p.local = p.slow.Local()
	defer func() {
		if err != nil {
			p.release()
			err = fmt.Errorf("xdp: open %v: %w", c.Local, err)
		}
	}()
	i, err := device(c.Interface, p.local.Addr())
	if err != nil {
		return nil, err
	}
	if len(i.HardwareAddr) != 6 {
		return nil, fmt.Errorf("%w: %s has no hardware address of Ethernet", ErrConfig, i.Name)
	}
	if p.socket, err = openSocket(&c, i.Index); err != nil {
		return nil, err
	}
	p.mtu = min(i.MTU, frameBytes-unix.XDP_PACKET_HEADROOM-etherLen)
	p.frame = frame.Frame{SrcMAC: [6]byte(i.HardwareAddr), Src: p.local.Addr().As16(), UDPSum: true}
	p.fillUp()
	if p.hook, err = attach(&c, p.local, i.Index, p.fd); err != nil {
		return nil, err
	}
	if p.router, err = newRouter(i.Index); err != nil {
		return nil, err
	}
	packets, bell := p.slow.Descriptors()
	p.polls = [3]unix.PollFd{{Fd: int32(p.fd)}, {Fd: int32(packets), Events: unix.POLLIN}, {Fd: int32(bell), Events: unix.POLLIN}}
	return p, nil
}

// fillUp gives half of the frames to receiving, and half to sending.
func (p *Port) fillUp() {
	half := p.config.Frames / 2
	p.used, p.free = make([]uint64, 0, half), make([]uint64, 0, half)
	for i := range uint64(half) {
		p.fill.put(i * frameBytes)
		p.free = append(p.free, (uint64(half)+i)*frameBytes)
	}
	p.fill.submit()
}

// Local implements port.Port.
func (p *Port) Local() netip.AddrPort { return p.local }

// LinkMTU implements port.Port. Packet and headers lie in a single page.
func (p *Port) LinkMTU() int { return p.mtu }

// ZeroCopy reports whether the device accesses the port's memory directly.
func (p *Port) ZeroCopy() bool { return p.zeroCopy }

// Generic reports whether the program runs behind the driver, in the generic form of the hook.
func (p *Port) Generic() bool { return p.hook.generic }

// Stats implements port.Port.
func (p *Port) Stats() port.Stats {
	p.over.Lock()
	defer p.over.Unlock()
	if !p.gone {
		p.overflow = p.overflows()
	}
	all, slow := p.stats, p.slow.Stats()
	all.Overflows += p.overflow
	all.Add(&slow)
	return all
}

// Faults implements port.Port.
func (p *Port) Faults(f []port.Fault) int { return p.slow.Faults(f) }

// Wake implements port.Port.
func (p *Port) Wake() { p.slow.Wake() }

// Close implements port.Port. The descriptors go with the owner's next call, with the error
// net.ErrClosed.
func (p *Port) Close() error {
	p.closed.Store(true)
	return p.slow.Close()
}

// isOver closes the descriptors after Close.
func (p *Port) isOver() bool {
	if p.closed.Load() {
		p.release()
		return true
	}
	return false
}

func (p *Port) release() {
	p.over.Lock()
	defer p.over.Unlock()
	if p.gone {
		return
	}
	p.gone = true
	p.hook.close()
	if p.socket != nil {
		p.overflow = p.overflows()
		p.socket.close()
	}
	if p.router != nil {
		_ = unix.Close(p.router.fd)
	}
	_ = p.slow.Close()
	_ = p.slow.Wait(0, false)
}

// Wait implements port.Port.
func (p *Port) Wait(timeout int64, room bool) error {
	if p.isOver() {
		return net.ErrClosed
	}
	if p.More() {
		return nil
	}
	p.polls[0].Events = unix.POLLIN
	if room {
		frames, places := p.room()
		switch {
		case frames && places:
			return nil
		case frames:
			p.polls[0].Events |= unix.POLLOUT
		case timeout < 0 || timeout > reclaimTime: // nobody says when the device has sent
			timeout = reclaimTime
		}
	}
	var limit *unix.Timespec
	if timeout >= 0 {
		t := unix.NsecToTimespec(timeout)
		limit = &t
	}
	n, err := unix.Ppoll(p.polls[:], limit, nil)
	if err != nil && err != unix.EINTR {
		return os.NewSyscallError("ppoll", err)
	}
	if n > 0 && (p.polls[1].Revents != 0 || p.polls[2].Revents != 0) {
		p.odd = p.polls[1].Revents != 0
		if p.polls[1].Revents&^unix.POLLIN != 0 || p.polls[2].Revents != 0 {
			err = p.slow.Wait(0, false)
		}
	}
	if p.isOver() {
		return net.ErrClosed
	}
	if err == unix.EINTR {
		return nil
	}
	return err
}

// reclaimTime is how long a Wait for frames lasts at most, ns.
const reclaimTime = int64(50 * time.Microsecond)
