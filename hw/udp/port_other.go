// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package udp

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uetcc/uetcc/hw/port"
)

// A Port is a [port.Port] on UDP sockets, one packet a call.
type Port struct {
	config Config
	paths  []*net.UDPConn // the first also receives
	tos    []int          // of each path, as set; -1: unknown
	out    []byte

	mu    sync.Mutex // guards woken, and the deadline of the read that Wait makes
	woken bool

	closed atomic.Bool
	first  []byte // a packet that Wait has received
	head   port.Packet
	full   bool // the last Receive has ended for want of room
	data   [][]byte
	oob    []byte
	faults []port.Fault
	stats  port.Stats
}

const (
	packetMax = 1 << 16               // bytes of the largest packet
	held      = 64                    // packets of one Receive
	look      = 20 * time.Microsecond // a read whose time is over does not look into the socket
)

// OpenGroup opens a port. Only n = 1 is possible here.
func OpenGroup(c Config, n int) ([]*Port, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if n != 1 {
		return nil, fmt.Errorf("%w: a group of %d ports: this system cannot spread packets by their source", ErrConfig, n)
	}
	p := &Port{config: c, out: make([]byte, 0, packetMax), first: make([]byte, packetMax), oob: make([]byte, 512)}
	for range held {
		p.data = append(p.data, make([]byte, packetMax))
	}
	local := net.UDPAddrFromAddrPort(c.Local)
	for len(p.paths) < c.Paths {
		conn, err := net.ListenUDP("udp", local)
		if err != nil {
			_ = p.Close()
			return nil, fmt.Errorf("udp: open %v: %w", c.Local, err)
		}
		_ = conn.SetReadBuffer(c.Buffer) // as much as the system grants
		_ = conn.SetWriteBuffer(c.Buffer)
		prepare(conn, c.Local.Addr().Is4())
		p.paths, p.tos = append(p.paths, conn), append(p.tos, -1)
		local = &net.UDPAddr{IP: local.IP, Zone: local.Zone}
	}
	return []*Port{p}, nil
}

// Local implements port.Port.
func (p *Port) Local() netip.AddrPort {
	a := p.paths[0].LocalAddr().(*net.UDPAddr).AddrPort()
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// LinkMTU implements port.Port.
func (p *Port) LinkMTU() int { return linkMTU(p.Local().Addr()) }

// Stats implements port.Port.
func (p *Port) Stats() port.Stats { return p.stats }

// Close implements port.Port.
func (p *Port) Close() error {
	if p.closed.Swap(true) {
		return nil
	}
	var all error
	for _, c := range p.paths {
		all = errors.Join(all, c.Close())
	}
	return all
}

// Wake implements port.Port.
func (p *Port) Wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.woken = true
	_ = p.paths[0].SetReadDeadline(time.Unix(1, 0))
}

// Wait implements port.Port. There is always room.
func (p *Port) Wait(timeout int64, room bool) error {
	if p.head.Data != nil || room {
		return nil
	}
	var until time.Time
	if timeout >= 0 {
		until = time.Now().Add(max(time.Duration(timeout), look))
	}
	p.mu.Lock()
	if p.woken {
		p.woken = false
		p.mu.Unlock()
		return nil
	}
	_ = p.paths[0].SetReadDeadline(until)
	p.mu.Unlock()
	_, err := p.read(p.first, &p.head)
	p.mu.Lock()
	p.woken = false
	p.mu.Unlock()
	return err
}

// read takes one packet in, within the deadline of the socket.
func (p *Port) read(b []byte, q *port.Packet) (ok bool, err error) {
	n, oob, _, from, err := p.paths[0].ReadMsgUDPAddrPort(b, p.oob)
	if errors.Is(err, net.ErrClosed) {
		return false, net.ErrClosed
	}
	if err != nil { // the deadline, or the error of an unknown earlier packet
		return false, nil
	}
	tos, told := tosOf(p.oob[:oob])
	if !told {
		p.stats.Untold++
	}
	*q = port.Packet{Data: b[:n:n], Peer: netip.AddrPortFrom(from.Addr().Unmap(), from.Port()), TOS: tos}
	p.stats.Received++
	p.stats.RecvCalls++
	p.stats.RecvBytes += uint64(n)
	return true, nil
}

// Receive implements port.Port.
func (p *Port) Receive(packets []port.Packet) (n int, err error) {
	if p.closed.Load() {
		return 0, net.ErrClosed
	}
	p.full = false
	if len(packets) > 0 && p.head.Data != nil {
		packets[0], p.head = p.head, port.Packet{}
		n = 1
	}
	for n < min(len(packets), held) {
		p.mu.Lock()
		_ = p.paths[0].SetReadDeadline(time.Now().Add(look))
		p.mu.Unlock()
		if ok, err := p.read(p.data[n], &packets[n]); !ok {
			return n, err
		}
		n++
	}
	p.full = true
	return n, nil
}

// More implements port.Port.
func (p *Port) More() bool { return p.full || p.head.Data != nil }

// Send implements port.Port.
func (p *Port) Send(packets []port.Packet) (n int, err error) {
	for i := range packets {
		q := &packets[i]
		k := int(q.Path) % len(p.paths)
		if p.tos[k] != int(q.TOS) {
			setTOS(p.paths[k], p.config.Local.Addr().Is4(), int(q.TOS))
			p.tos[k] = int(q.TOS)
		}
		p.out = append(append(p.out[:0], q.Data...), q.Tail...)
		_, err := p.paths[k].WriteToUDPAddrPort(p.out, q.Peer)
		if errors.Is(err, net.ErrClosed) {
			return i, net.ErrClosed
		}
		if err != nil {
			p.refused(q.Peer, err)
			continue
		}
		p.stats.Sent++
		p.stats.SendCalls++
		p.stats.SentBytes += uint64(len(p.out))
	}
	return len(packets), nil
}

func (p *Port) refused(peer netip.AddrPort, err error) {
	p.stats.Refused++
	if len(p.faults) < 32 {
		p.stats.Faults++
		p.faults = append(p.faults, port.Fault{Peer: peer, Err: faultError(err)})
	}
}

// Faults implements port.Port.
func (p *Port) Faults(f []port.Fault) (n int) {
	n = copy(f, p.faults)
	p.faults = p.faults[:copy(p.faults, p.faults[n:])]
	return n
}
