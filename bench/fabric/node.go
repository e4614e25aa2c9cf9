// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/hw/switchq"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
)

// A Node is the equipment of a host: packets in, packets out, a deadline and a tick. The
// simulator calls the nodes of a run from one goroutine, and asks for a packet only while the
// link of the host is free, so a node keeps no queue of data.
type Node interface {
	// Receive takes in a packet that has reached the host. Frame and bytes are the simulator's
	// again when the call returns.
	Receive(now link.Ps, f *Frame)

	// Transmit describes the next packet to send in f, whose Bytes are empty and have room for
	// 256; false: no packet. While data is paused only control packets may go.
	Transmit(now link.Ps, paused bool, f *Frame) bool

	// Deadline is when to call Tick; false: nothing waits for time to pass.
	Deadline() (link.Ps, bool)

	// Tick does the work due. An early call does no harm.
	Tick(now link.Ps)
}

// A Frame is a packet between a node and the link.
type Frame struct {
	Host    int          // that it goes to; of one received: that it comes from
	Bytes   []byte       // from the PDS header on; of one trimmed all that is left
	Content Content      // follows Bytes, whose room on the way in is enough to append it
	Size    int64        // bytes on the wire, 1 to 32,768
	DSCP    switchq.DSCP // of one received: whether a switch has cut it
	Entropy uint16       // chooses the path
	CE      bool         // in: congestion experienced
	Retx    bool         // was sent before
	State   pdc.AckState // in: what the memory of the host adds to the acknowledgement
	back    end          // of one received: where answers go
	answer  bool         // out: back is where the packet goes
}

// payload is n bytes of a packet received, from byte at on. Content behind the headers is not
// copied.
func (f *Frame) payload(at int, n uint32) []byte {
	if at < len(f.Bytes) && f.Content.Length > 0 {
		f.Bytes, f.Content = f.Content.appendTo(f.Bytes), Content{}
	}
	if f.Content.Length == 0 {
		return f.Bytes[at:][:n]
	}
	return f.Content.bytes()[at-len(f.Bytes):][:n]
}

// overhead is the bytes of a packet on the wire before the PDS header: the nominal 40 bytes of
// UE Specification 3.6.12 for Ethernet and IP, and UDP.
const overhead = 48

// A flying packet is the network's data for a node besides a packet: 80 bytes, as large
// fabrics have tens of thousands under way and soon outgrow the cache.
type flying struct {
	head [63]byte // the headers
	n    uint8    // bytes of them; 0: they are in nodes.long
	from uint32   // host
	rest Content
}

// nodes are the nodes of a run, with the network's data about them.
type nodes struct {
	node   []Node
	flying []flying          // by packet
	long   map[uint32][]byte // headers that do not fit into flying
	tick   []int64           // by host: time of its pending evTick, ps; never: none
	peer   []route           // by host: the last that it sent to
	ends   map[route]end     // {from, to} of all pairs that have met
	marked []int64           // by end: packets of data that arrived with CE

	in, out         Frame
	inRoom, outRoom []byte
	desk            desk
}

// A route is the way of packets from a host to another.
type route struct {
	from, to uint32
	end      end
}

func newNodes(hosts uint32) *nodes {
	n := &nodes{
		node: make([]Node, hosts), tick: make([]int64, hosts), peer: make([]route, hosts),
		ends: map[route]end{}, long: map[uint32][]byte{}, inRoom: make([]byte, 0, maxPacket), outRoom: make([]byte, 0, 256),
	}
	for i := range n.tick {
		n.tick[i] = never
		n.peer[i].to = ^uint32(0)
	}
	return n
}

// forPart has the nodes' data not shared between the parts of a run.
func (n *nodes) forPart() *nodes {
	own := *n
	own.long, own.inRoom, own.outRoom = map[uint32][]byte{}, make([]byte, 0, maxPacket), make([]byte, 0, 256)
	own.desk = desk{}
	own.desk.reply.Packet = make([]byte, 0, cap(n.desk.reply.Packet))
	return &own
}

// room has a place for the headers of a packet.
func (n *nodes) room(pkt uint32) {
	for len(n.flying) <= int(pkt) {
		n.flying = append(n.flying, flying{})
	}
}

// endBetween is where packets from one host to another are addressed to.
func (s *wires) endBetween(from, to uint32) end {
	n := s.ends
	last := &n.peer[from]
	if last.to == to {
		return last.end
	}
	e, ok := n.ends[route{from: from, to: to}]
	if !ok {
		conn := uint32(len(n.marked) / 2)
		n.marked = append(n.marked, 0, 0)
		s.hostOf = append(s.hostOf, to, from)
		e = destination(conn)
		n.ends[route{from: from, to: to}], n.ends[route{from: to, to: from}] = e, source(conn)
	}
	*last = route{from, to, e}
	return e
}

// serveNode sends the next packet of a host whose link is free. The next call comes when the
// packet has been sent; the deadline is asked for when nothing is to be sent.
func (s *sim) serveNode(host uint32) {
	paused, until := false, int64(0)
	if s.pfc != nil {
		paused, until = s.pfc.dataPaused(host, s.now)
	}
	f := &s.ends.out
	*f = Frame{Bytes: s.ends.outRoom}
	switch {
	case s.ends.node[host].Transmit(link.Ps(s.now), paused, f):
		s.launch(host, f)
		s.wakeAt(host, s.ports[host].busy)
		return
	case paused:
		s.wakeAt(host, until)
	}
	s.watchNode(host)
}

// kickNode has a node send, now or when the link is free.
func (s *sim) kickNode(host uint32) {
	if s.idle(host) {
		s.serveNode(host)
	}
}

// launch puts a packet of a node on the link of its host.
func (s *wires) launch(host uint32, f *Frame) {
	n := s.ends
	pkt := s.pool.get()
	n.room(pkt)
	x := &n.flying[pkt]
	x.from, x.rest, x.n = host, f.Content, 0
	if len(f.Bytes) <= len(x.head) {
		x.n = uint8(copy(x.head[:], f.Bytes))
	} else {
		n.long[pkt] = append([]byte(nil), f.Bytes...)
	}
	to := f.back
	if !f.answer {
		to = s.endBetween(host, uint32(f.Host))
	}
	s.pool.pkts[pkt] = packet{
		to: to, size: uint16(f.Size), ev: f.Entropy, dscp: f.DSCP, flags: s.sent(f),
	}
	s.tell(PacketSent, pkt)
	s.transmit(&s.ports[host], host, pkt, &s.pool.pkts[pkt])
}

// sent counts a packet that a node sends, and says what kind it is of.
func (s *wires) sent(f *Frame) uint8 {
	switch pds.Type(f.Bytes[0] >> 3) {
	case pds.TypeACK, pds.TypeACKCC, pds.TypeACKCCX:
		s.count.Answers++
		return flagAnswer
	case pds.TypeNACK, pds.TypeNACKCCX:
		s.count.Answers++
		return flagAnswer | flagNack
	case pds.TypeCP:
		s.count.Credits++
		return flagAnswer | flagCredit
	}
	if f.Retx {
		s.count.Retransmitted++
		return flagRTX
	}
	s.count.New++
	return 0
}

// deliver hands a packet to the node of the host.
func (s *sim) deliver(host, pkt uint32, state pdc.AckState) {
	n, p := s.ends, &s.pool.pkts[pkt]
	x, f := &n.flying[pkt], &n.in
	*f = Frame{
		Host: int(x.from), Bytes: append(n.inRoom[:0], x.head[:x.n]...), Content: x.rest, Size: int64(p.size),
		DSCP: p.dscp, Entropy: p.ev, CE: p.flags&flagCE != 0, Retx: p.flags&flagRTX != 0, State: state,
		back: p.to ^ 1,
	}
	if x.n == 0 {
		f.Bytes = append(n.inRoom[:0], n.long[pkt]...)
		delete(n.long, pkt)
	}
	cut := p.dscp.Class() == switchq.ClassMed
	if s.cfg.Frame != nil || !cut && x.rest.Message&atomicContent != 0 {
		f.Bytes, f.Content = x.rest.appendTo(f.Bytes), Content{}
	}
	s.counted(p)
	s.pool.put(pkt)
	if s.cfg.Frame != nil {
		s.tellFrame(host, f)
	}
	if cut {
		f.Bytes, f.Content = f.Bytes[:min(len(f.Bytes), int(f.Size)-overhead)], Content{}
	}
	n.node[host].Receive(link.Ps(s.now), f)
	s.kickNode(host)
}

// counted counts a packet that has reached a node.
func (s *sim) counted(p *packet) {
	switch {
	case p.flags&flagCredit != 0:
		s.count.CreditsArrived++
	case p.flags&flagNack != 0:
		s.count.Nacks++
	case p.flags&flagAnswer != 0:
		s.count.Acks++
	case p.dscp.Class() == switchq.ClassMed:
		s.count.HeadersDelivered++
	default:
		s.count.Delivered++
		if p.flags&flagCE != 0 {
			s.count.DeliveredMarked++
			s.ends.marked[p.to]++
		}
	}
}

// watchNode makes sure a node is called in time.
func (s *sim) watchNode(host uint32) {
	n := s.ends
	due, ok := n.node[host].Deadline()
	if !ok || int64(due) >= n.tick[host] {
		return
	}
	at := max(int64(due), s.now)
	if at < n.tick[host] {
		n.tick[host] = at
		s.events.push(at, evTick, host)
	}
}

// tick calls a node whose deadline has come. Time moves on before the next call, to the end of
// the packet on the link if there is one, so that a node that is always due does not stop it.
func (s *sim) tick(host uint32) {
	n := s.ends
	if n.tick[host] != s.now {
		return // a later event, which an earlier deadline has overtaken
	}
	n.tick[host] = never
	due, ok := n.node[host].Deadline()
	if !ok {
		return
	}
	if int64(due) <= s.now {
		n.node[host].Tick(link.Ps(s.now))
		s.kickNode(host)
		if due, ok = n.node[host].Deadline(); !ok || n.tick[host] != never {
			return
		}
		if int64(due) <= s.now { // what is still due waits for the link: nothing can be sent before
			due = link.Ps(max(s.now+int64(link.Nanosecond), s.ports[host].busy))
		}
	}
	n.tick[host] = int64(due)
	s.events.push(int64(due), evTick, host)
}
