// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/uetcc/uetcc/hw/port"
	"github.com/uetcc/uetcc/internal/fifo"
)

// A Port is a [port.Port] on UDP sockets.
type Port struct {
	config Config
	family int // AF_INET or AF_INET6
	zone   uint32
	paths  []*socket // the first also receives
	bell   int       // an eventfd that Wake writes to
	polls  []unix.PollFd

	rung   atomic.Bool // Wake has written
	erred  atomic.Bool // Wait has seen errors on a socket; Faults reads them, as Send may run beside Wait
	closed atomic.Bool
	bells  sync.Mutex // guards gone, and the bell's descriptor
	gone   bool       // the descriptors are closed
	limit  unix.Timespec
	spins  bool          // the process has a second processor
	spinAt time.Time     // end of the pause in spinning
	pause  time.Duration // length of that; 0: the last spinning met an event

	segment, group bool
	retries        int  // of packets that Send could not send
	suspect        bool // segmentation may not work
	mtu            int  // the kernel's answer to too long a packet
	in             inbox
	out            outbox
	faults         faults
	stats          port.Stats
}

// OpenGroup opens n ports at one address. The kernel hands the packets of a peer to the port of
// [Config.Shard]. Errors as from Open.
func OpenGroup(c Config, n int) (ports []*Port, err error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			for _, p := range ports {
				_ = p.Close()
				p.release()
			}
			err = fmt.Errorf("udp: open %v: %w", c.Local, err)
		}
	}()
	if n > 1 { // no other process may have the port, as with a shared port
		p, err := open(c, false)
		if err != nil {
			return nil, err
		}
		c.Local = p.Local()
		p.release()
	}
	for range n {
		p, err := open(c, n > 1)
		if err != nil {
			return ports, err
		}
		ports, c.Local = append(ports, p), p.Local()
	}
	if n > 1 {
		err = ports[0].steer(n)
	}
	return ports, err
}

// open opens one port, alone or in a group.
func open(c Config, shared bool) (_ *Port, err error) {
	p := &Port{config: c, family: unix.AF_INET6, bell: -1, faults: faults{fifo.Make[port.Fault](32)}, spins: runtime.GOMAXPROCS(0) > 1}
	if c.Local.Addr().Is4() {
		p.family = unix.AF_INET
	}
	if z := c.Local.Addr().Zone(); z != "" {
		i, err := net.InterfaceByName(z)
		if err != nil {
			return nil, err
		}
		p.zone = uint32(i.Index)
	}
	defer func() {
		if err != nil {
			p.release()
		}
	}()
	if p.bell, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		return nil, os.NewSyscallError("eventfd", err)
	}
	p.polls = append(p.polls, unix.PollFd{Fd: int32(p.bell), Events: unix.POLLIN})
	local := c.Local
	for len(p.paths) < c.Paths {
		s, err := p.openSocket(local, shared && len(p.paths) == 0)
		if err != nil {
			return nil, err
		}
		p.paths = append(p.paths, s)
		p.polls = append(p.polls, unix.PollFd{Fd: int32(s.fd)})
		local = netip.AddrPortFrom(local.Addr(), 0)
	}
	p.in.grow(1)
	p.out.init()
	return p, nil
}

// Local implements port.Port.
func (p *Port) Local() netip.AddrPort { return p.paths[0].local }

// LinkMTU implements port.Port.
func (p *Port) LinkMTU() int { return linkMTU(p.Local().Addr()) }

// Descriptors are the file descriptors of Wait, for an owner of several ports: for packets, and for
// the bell of Wake. Readable packets mean a Receive; any other event means a Wait of 0. While More
// reports true the owner must not wait. Linux only.
func (p *Port) Descriptors() (packets, bell int) { return p.paths[0].fd, p.bell }

// Stats implements port.Port.
func (p *Port) Stats() port.Stats {
	p.stats.Segmentation, p.stats.Grouping = p.segment, p.group
	return p.stats
}

// Wake implements port.Port.
func (p *Port) Wake() {
	if p.rung.Load() || p.rung.Swap(true) {
		return
	}
	p.bells.Lock()
	defer p.bells.Unlock()
	if !p.gone {
		_, _ = unix.Write(p.bell, one[:])
	}
}

// one adds 1 to an eventfd, in any byte order.
var one = [8]byte{1, 0, 0, 0, 0, 0, 0, 1}

// Close implements port.Port. The descriptors go with the owner's next call, with the error
// net.ErrClosed.
func (p *Port) Close() error {
	if !p.closed.Swap(true) {
		p.Wake()
	}
	return nil
}

// over closes the descriptors after Close.
func (p *Port) over() error {
	if !p.closed.Load() {
		return nil
	}
	p.release()
	return net.ErrClosed
}

func (p *Port) release() {
	p.bells.Lock()
	defer p.bells.Unlock()
	if p.gone {
		return
	}
	p.gone = true
	p.closed.Store(true)
	for _, s := range p.paths {
		_ = unix.Close(s.fd)
	}
	if p.bell >= 0 {
		_ = unix.Close(p.bell)
	}
}

// Wait implements port.Port.
func (p *Port) Wait(timeout int64, room bool) error {
	if err := p.over(); err != nil {
		return err
	}
	if p.in.more() {
		return nil
	}
	p.polls[1].Events = unix.POLLIN
	if room {
		for i := range p.paths {
			p.polls[1+i].Events |= unix.POLLOUT
		}
	} else {
		for i := range p.paths[1:] {
			p.polls[2+i].Events = 0
		}
	}
	if err := p.poll(timeout); err != nil {
		return err
	}
	for i, s := range p.paths {
		switch e := p.polls[1+i].Revents; {
		case e&unix.POLLNVAL != 0:
			return fmt.Errorf("udp: poll %v: %w", s.local, unix.EBADF)
		case e&unix.POLLERR != 0:
			p.erred.Store(true)
		}
	}
	return p.over()
}

// Before a thread sleeps the thread spins, asking the kernel again and again, since a sleeping thread
// takes some 50 us to wake. Spinning in vain is followed by a pause of Waits without, twice as long
// each time: idle peers and a busy machine cost next to nothing.
const (
	spinFor       = 60 * time.Microsecond
	spinPause     = 250 * time.Microsecond
	spinPauseMost = 32 * time.Millisecond
)

// spin spins, unless a pause is on, and reports whether an event came.
func (p *Port) spin() bool {
	began := time.Now()
	if !p.spins || began.Before(p.spinAt) {
		return false
	}
	for took := time.Duration(0); took < spinFor; took = time.Since(began) {
		if n, err := unix.Ppoll(p.polls, &unix.Timespec{}, nil); n > 0 && err == nil {
			p.pause = 0
			return true
		}
	}
	p.pause = min(max(2*p.pause, spinPause), spinPauseMost)
	p.spinAt = began.Add(spinFor + p.pause)
	return false
}

// poll waits, and empties the bell.
func (p *Port) poll(timeout int64) error {
	var limit *unix.Timespec
	if timeout >= 0 {
		p.limit = unix.NsecToTimespec(timeout)
		limit = &p.limit
	}
	var err error
	if timeout >= 0 && timeout <= int64(spinFor) || !p.spin() {
		_, err = unix.Ppoll(p.polls, limit, nil)
	}
	if err != nil {
		for i := range p.polls {
			p.polls[i].Revents = 0
		}
		if err == unix.EINTR {
			return nil
		}
		return os.NewSyscallError("ppoll", err)
	}
	if p.polls[0].Revents != 0 {
		var b [8]byte
		_, _ = unix.Read(p.bell, b[:])
		p.rung.Store(false) // not before: what a Wake has written in between would be read, and none would write again
	}
	return nil
}
