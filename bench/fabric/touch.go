// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/hw/switchq"
)

// In a fabric that outgrows the cache most of the time would be spent waiting for memory. So
// the data of events is read in advance, a batch of events at a time, in three steps: each
// reads the cache lines whose addresses were in the lines of the step before. Three batches
// are under way, each at a different step, so no step waits for the lines asked for. A step
// loops over a single kind of thing at a time, so few branches depend on the data read.
const (
	touchBatch = 32 // a power of two
	touchWorth = 64 // with fewer events at a time a fabric is so small that it is in the cache
	partWorth  = 8  // the same for a part of a run: others use the cache meanwhile
)

// A batch is the objects of some of the next events.
type batch struct {
	arriving some // packets that arrive somewhere
	received some // of them, at hosts
	sending  some // ports that have sent a packet
	serving  some // of them, of hosts
	finished some // of them, of switches
}

// some are up to touchBatch numbers.
type some struct {
	v [touchBatch]uint32
	n uint32
}

func (l *some) all() []uint32 { return l.v[:l.n] }

// touching is how far the group of events at hand has come.
type touching struct {
	batches [3]batch
	group   int64  // the group of events at hand, which late events beside it may precede
	next    int    // batch that takes the first step next
	worth   bool   // the group began with enough events
	sum     uint64 // keeps the reads
	in      [1]uetcc.Datagram
}

// touch is called before each batch of events is handled: objects of later events may have
// moved by then, as a packet of an earlier event may be anywhere. Events added to the group
// meanwhile are few enough to be left out.
func (t *touching) touch(s *sim) {
	cur := s.events.cur
	at := s.events.curNext / touchBatch
	if t.group != s.events.group {
		t.group, t.next, t.worth = s.events.group, 0, len(cur) >= touchWorth || s.crew != nil && len(cur) >= partWorth
	}
	if !t.worth {
		return
	}
	for ; t.next <= at+2; t.next++ {
		from := min(t.next*touchBatch, len(cur))
		t.touchFirst(s, &t.batches[t.next%3], cur[from:min(from+touchBatch, len(cur))])
		if t.next >= 1 {
			t.touchSecond(s, &t.batches[(t.next-1)%3])
		}
		if t.next >= 2 {
			t.touchThird(s, &t.batches[(t.next-2)%3])
		}
	}
}

// below is 1 if x < y and 0 otherwise, without a branch.
func below(x, y uint32) uint32 { return uint32((uint64(x) - uint64(y)) >> 63) }

// touchFirst reads the packets that arrive.
func (t *touching) touchFirst(s *sim, b *batch, next []slot) {
	var arriving, sending uint32
	for _, e := range next {
		port := uint32(e.kind())
		if port > uint32(evPort) {
			continue
		}
		b.arriving.v[arriving%touchBatch] = e.what()
		b.sending.v[sending%touchBatch] = e.what()
		arriving += 1 - port
		sending += port
	}
	b.arriving.n, b.sending.n = arriving, sending
	sum := uint64(0)
	pkts := s.pool.pkts
	for _, pkt := range b.arriving.all() {
		sum += uint64(pkts[pkt].at)
	}
	t.sum += sum
}

// touchSecond reads the ports.
func (t *touching) touchSecond(s *sim, b *batch) {
	var received, serving, finished uint32
	sum, pkts, ports, hosts := uint64(0), s.pool.pkts, s.ports, s.hosts
	for _, pkt := range b.arriving.all() {
		at := pkts[pkt].at
		b.received.v[received%touchBatch] = pkt
		received += below(at, hosts)
		sum += ports[at].touch()
	}
	for _, out := range b.sending.all() {
		host := below(out, hosts)
		b.serving.v[serving%touchBatch] = out
		b.finished.v[finished%touchBatch] = out
		serving += host
		finished += 1 - host
		sum += ports[out].touch()
	}
	b.received.n, b.serving.n, b.finished.n = received, serving, finished
	t.sum += sum + s.equipment.touch(b)
}

func (p *port) touch() uint64 { return uint64(p.busy) + uint64(p.queue.Len()) }

// touchThird reads the packets that leave the ports.
func (t *touching) touchThird(s *sim, b *batch) {
	sum, pkts, ports := uint64(0), s.pool.pkts, s.ports
	for _, pkt := range b.arriving.all() {
		p := &pkts[pkt]
		class := switchq.ClassLow
		if p.flags&flagAnswer != 0 {
			class = switchq.ClassHigh
		}
		sum += ports[p.at].queue.Touch(class)
	}
	for _, out := range b.finished.all() {
		if id, ok := ports[out].queue.Oldest(); ok {
			sum += uint64(pkts[id].at)
		}
	}
	t.sum += sum + s.equipment.touchMore(b)
}

// touch reads the connections of packets that are at their hosts, and of those that go next.
func (s *light) touch(b *batch) (sum uint64) {
	for _, pkt := range b.received.all() {
		sum += s.touchReceived(pkt)
	}
	for _, host := range b.serving.all() {
		sum += s.touchServing(host)
	}
	return sum
}

// touchMore reads the connections' records of packets.
func (s *light) touchMore(b *batch) (sum uint64) {
	for _, pkt := range b.received.all() {
		sum += s.touchRecords(pkt)
	}
	for _, host := range b.serving.all() {
		if n := &s.nics[host]; n.ready.n > 0 {
			c := &s.senders[n.ready.first]
			sum += uint64(s.record(c, c.next).sent) + s.touchSide(n.ready.first)
		}
	}
	return sum
}

// touchReceived reads the connection of a packet that is at its host.
func (s *light) touchReceived(pkt uint32) uint64 {
	p := &s.pool.pkts[pkt]
	sum := uint64(s.pool.details[pkt].psn)
	if p.to.isSource() {
		return sum + s.touchSender(p.to.conn())
	}
	return sum + uint64(s.receivers[p.to.conn()].cack)
}

// touchServing reads what a host sends next.
func (s *light) touchServing(host uint32) uint64 {
	n := &s.nics[host]
	sum := uint64(0)
	if n.answers.n > 0 {
		sum = uint64(s.pool.pkts[n.answers.first].at) + uint64(s.pool.details[n.answers.first].psn)
	}
	if n.ready.n > 0 {
		sum += s.touchSender(n.ready.first)
	}
	return sum
}

func (s *light) touchSender(conn uint32) uint64 {
	c := &s.senders[conn]
	return uint64(c.ctx.WaitingRtx()) + uint64(c.ctx.Cwnd()) + uint64(c.ctx.State()) + uint64(c.cack) + uint64(c.acked)
}

func (s *light) touchRecords(pkt uint32) uint64 {
	p, psn := &s.pool.pkts[pkt], s.pool.details[pkt].psn
	conn := p.to.conn()
	if !p.to.isSource() {
		r := &s.receivers[conn]
		return s.bitmap(r)[psn&r.mask/64]
	}
	c := &s.senders[conn]
	return uint64(s.record(c, psn).sent) + uint64(s.record(c, c.cack).sent) + s.touchSide(conn)
}

func (s *light) touchSide(conn uint32) uint64 {
	if side := s.sideOf(conn); len(side) > 0 {
		return side[0]
	}
	return 0
}

// touch reads the headers of packets that are at a host, and the hosts that take part.
func (s endpoints) touch(b *batch) (sum uint64) {
	n := s.ends
	for _, pkt := range b.received.all() {
		if int(pkt) < len(n.flying) {
			x := &n.flying[pkt]
			sum += uint64(x.head[0]) + uint64(x.rest.Length)
		}
	}
	for _, pkt := range b.received.all() {
		if h := s.world.hosts[s.pool.pkts[pkt].at]; h.e != nil {
			sum += uint64(h.first) + uint64(h.turn)
			h.e.Prefetch(nil)
		}
	}
	for _, host := range b.serving.all() {
		if h := s.world.hosts[host]; h.e != nil {
			sum += uint64(h.first) + uint64(h.turn)
		}
	}
	return sum
}

// touchMore has endpoints load what the packets at hand need.
func (s endpoints) touchMore(b *batch) uint64 {
	in := &s.touching.in
	for _, pkt := range b.received.all() {
		h, x := s.world.hosts[s.pool.pkts[pkt].at], &s.ends.flying[pkt]
		if h.e != nil {
			in[0].Packet = x.head[:x.n]
			h.e.Prefetch(in[:])
		}
	}
	in[0].Packet = nil // stands for an acknowledgement, which lets a packet go
	for _, host := range b.serving.all() {
		if h := s.world.hosts[host]; h.e != nil {
			h.e.Prefetch(in[:])
		}
	}
	return 0
}
