// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"net"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"github.com/uetcc/uetcc/hw/port"
)

// More implements port.Port.
func (p *Port) More() bool { return p.odd || p.slow.More() || !p.closed.Load() && p.rx.ready() > 0 }

// Receive implements port.Port.
func (p *Port) Receive(packets []port.Packet) (n int, err error) {
	if p.isOver() {
		return 0, net.ErrClosed
	}
	p.refill()
	for n < len(packets) && p.rx.ready() > 0 {
		d := p.rx.take()
		p.used = append(p.used, d.Addr&^(frameBytes-1))
		packets[n] = port.Packet{}
		if q := &packets[n]; decode(p.memory[d.Addr:][:d.Len], p.local, q) {
			p.stats.RecvBytes += uint64(len(q.Data))
			n++
		}
	}
	p.rx.release()
	p.stats.Received += uint64(n)
	if n < len(packets) && (n == 0 || p.odd) {
		k, err := p.slow.Receive(packets[n:])
		p.odd = p.slow.More()
		return n + k, err
	}
	return n, nil
}

// refill gives the frames of handed-out packets back to the kernel.
func (p *Port) refill() {
	if len(p.used) == 0 {
		return
	}
	for _, at := range p.used {
		p.fill.put(at)
	}
	p.used = p.used[:0]
	p.fill.submit()
	if p.fill.isIdle() { // a driver that has run out of frames
		_, _, _ = unix.Recvfrom(p.fd, nil, unix.MSG_DONTWAIT)
	}
}

// reclaim takes back the frames of sent packets.
func (p *Port) reclaim() {
	for n := p.sent.ready(); n > 0; n-- {
		p.free = append(p.free, p.sent.take())
	}
	p.sent.release()
}

// room reports whether frames are free, and whether the ring to the device has places for frames.
func (p *Port) room() (frames, places bool) {
	p.sending.Lock()
	defer p.sending.Unlock()
	p.reclaim()
	return len(p.free) > 0, p.tx.room() > 0
}

// Send implements port.Port.
func (p *Port) Send(packets []port.Packet) (n int, err error) {
	if p.isOver() {
		return 0, net.ErrClosed
	}
	p.sending.Lock()
	defer p.sending.Unlock()
	p.reclaim()
	now := int64(time.Since(p.began))
	built := 0
	for ; n < len(packets); n++ {
		q := &packets[n]
		if !p.fits(now, q) {
			p.flush(built)
			if built = 0; p.sendSlow(q) != nil {
				return n, net.ErrClosed
			}
			continue
		}
		if len(p.free) == 0 || p.tx.room() == 0 {
			p.stats.NoRoom++
			break
		}
		p.build(q)
		built++
	}
	p.flush(built)
	return n, nil
}

// sendSlow has the kernel send a packet. Without room in the kernel the packet is lost.
func (p *Port) sendSlow(q *port.Packet) error {
	one := [1]port.Packet{*q}
	k, err := p.slow.Send(one[:])
	if k == 0 {
		p.stats.Refused++
	}
	return err
}

// fits reports whether a packet can go to the device, whose neighbour p.way then is.
func (p *Port) fits(now int64, q *port.Packet) bool {
	a := q.Peer.Addr()
	if a != p.last || now >= p.way.until {
		p.turn(now, a)
	}
	stale := p.way.stale
	p.way.stale = false // the kernel asks for a neighbour when sending a packet there
	length := ip6Len
	if a.Is4() {
		length = ip4Len
	}
	return p.way.known && !stale && length+udpLen+len(q.Data)+len(q.Tail) <= p.mtu
}

// turn prepares frame and way for a peer.
func (p *Port) turn(now int64, a netip.Addr) {
	if p.last.IsValid() {
		p.hops[p.last] = p.way
	}
	way, ok := p.hops[a]
	if !ok && len(p.hops) >= hopsMost {
		clear(p.hops)
	}
	if !ok || now >= way.until {
		way = p.look(now, a)
	}
	p.last, p.way = a, way
	p.frame.Dst, p.frame.DstMAC = a.As16(), way.mac
}

// look asks for the neighbour of a peer.
func (p *Port) look(now int64, a netip.Addr) hop {
	if m, ok := p.config.Neighbors[a]; ok {
		return hop{neighbour{mac: [6]byte(m), known: true}, now + hopTime}
	}
	if n := p.router.find(a); n.known && a.Is4() == p.local.Addr().Is4() {
		return hop{n, now + hopTime}
	}
	return hop{until: now + hopRetry}
}

// build writes a packet into a frame, and puts the frame on the ring.
func (p *Port) build(q *port.Packet) {
	at := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	f := &p.frame
	f.TOS, f.Port, f.Entropy = q.TOS, q.Peer.Port(), p.local.Port()
	if path := int(q.Path) % p.config.Paths; path > 0 {
		f.Entropy = uint16(firstPath + path)
	}
	b := f.Wrap(p.memory[at:at:at+frameBytes], q.Data, q.Tail)
	p.tx.put(unix.XDPDesc{Addr: at, Len: uint32(len(b))})
	p.stats.SentBytes += uint64(len(q.Data) + len(q.Tail))
}

// firstPath is the first source port of the paths after Local's: the start of the unregistered
// ports.
const firstPath = 49_152

// flush has the kernel send the built packets.
func (p *Port) flush(built int) {
	if built == 0 {
		return
	}
	p.tx.submit()
	p.stats.Sent += uint64(built)
	for before := -1; p.tx.isIdle(); {
		left := p.tx.pending()
		if left == 0 || left == before { // the next Send or Wait tries again
			break
		}
		before = left
		p.stats.SendCalls++
		if err := kick(p.fd); err == nil && p.zeroCopy {
			break
		}
	}
}
