// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/hw/switchq"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
)

// The equipment is what sits at the hosts of a part of a run, the seam between network and
// transports: packets in, packets out, deadlines and ticks. A packet is known by its number in
// the pool. Hosts of a part are called from one goroutine, and asked for a packet only
// while their link is free, so they keep no queue of data.
type equipment interface {
	// receive takes over a packet that has reached a host.
	receive(host, pkt uint32)

	// serve puts the next packet of a host on the link by wires.send; true: ask again, once the
	// packet is sent or the pause is over. While data is paused only control packets may go.
	serve(host uint32, paused bool) bool

	// tick does the work of a deadline: of an event that the equipment has pushed.
	tick(kind eventKind, what uint32)

	// begin begins a transfer.
	begin(i uint32)

	// foresee is told of each packet that is to reach a host at time at, where wires.foretold.
	foresee(pkt uint32, at int64)

	// touch and touchMore read in advance what a batch needs, see touching.
	touch(b *batch) uint64
	touchMore(b *batch) uint64

	describe(x *PacketState, pkt uint32)      // fills in what only the ends know
	windowOf(conn uint32) int64               // bytes
	markedOf(conn uint32) int64               // packets of data that arrived with CE
	held(t *transfer) (ns [heldReasons]int64) // how long its data waited
}

// endpoints are the equipment of a part with an endpoint at each host.
type endpoints struct{ *sim }

// A Frame is a packet between an endpoint and the link.
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

// A flying packet is the data of an endpoint's packet besides a packet: 80 bytes, as large
// fabrics have tens of thousands under way and soon outgrow the cache.
type flying struct {
	head [63]byte // the headers
	n    uint8    // bytes of them; 0: they are in frames.long
	from uint32   // host
	rest Content
}

// frames are the contents of the packets of endpoints, and the network's data about hosts with an
// endpoint.
type frames struct {
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

func newFrames(hosts uint32) *frames {
	n := &frames{
		tick: make([]int64, hosts), peer: make([]route, hosts),
		ends: map[route]end{}, long: map[uint32][]byte{}, inRoom: make([]byte, 0, maxPacket), outRoom: make([]byte, 0, 256),
	}
	for i := range n.tick {
		n.tick[i] = never
		n.peer[i].to = ^uint32(0)
	}
	return n
}

// forPart has the data not shared between the parts of a run.
func (n *frames) forPart() *frames {
	own := *n
	own.long, own.inRoom, own.outRoom = map[uint32][]byte{}, make([]byte, 0, maxPacket), make([]byte, 0, 256)
	own.desk = desk{}
	own.desk.reply.Packet = make([]byte, 0, cap(n.desk.reply.Packet))
	return &own
}

// room has a place for the headers of a packet.
func (n *frames) room(pkt uint32) {
	for len(n.flying) <= int(pkt) {
		n.flying = append(grown(n.flying), flying{})
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

// serve is for the network. An endpoint is asked again after each packet, and for the deadline
// when nothing is to be sent.
func (s endpoints) serve(host uint32, paused bool) bool {
	f := &s.ends.out
	*f = Frame{Bytes: s.ends.outRoom}
	if s.world.hosts[host].transmit(paused, f) {
		s.launch(host, f)
		return true
	}
	s.watch(host)
	return paused
}

// launch makes a packet of a frame and sends it.
func (s endpoints) launch(host uint32, f *Frame) {
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
	if s.mem != nil {
		s.pool.details[pkt].psn = f.Content.Offset >> 12 // the place of the payload
	}
	s.send(host, pkt)
}

// sent counts a packet that an endpoint sends, and says what kind it is of.
func (s endpoints) sent(f *Frame) uint8 {
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

// receive is for the network.
func (s endpoints) receive(host, pkt uint32) {
	h := s.world.hosts[host]
	n, p := s.ends, &s.pool.pkts[pkt]
	x, f := &n.flying[pkt], &n.in
	*f = Frame{
		Host: int(x.from), Bytes: append(n.inRoom[:0], x.head[:x.n]...), Content: x.rest, Size: int64(p.size),
		DSCP: p.dscp, Entropy: p.ev, CE: p.flags&flagCE != 0, Retx: p.flags&flagRTX != 0,
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
	if p.flags&flagCE != 0 && p.flags&flagAnswer == 0 && !cut {
		n.marked[p.to]++
	}
	if s.behindMemory(host) && s.isData(p) {
		f.State = s.stateOfMemory(pkt)
	}
	s.pool.put(pkt)
	if s.cfg.Frame != nil {
		s.tellFrame(host, f)
	}
	if cut {
		f.Bytes, f.Content = f.Bytes[:min(len(f.Bytes), int(f.Size)-overhead)], Content{}
	}
	h.receive(f)
	s.kick(host)
}

// watch makes sure an endpoint is called in time.
func (s endpoints) watch(host uint32) {
	n := s.ends
	at := max(s.world.hosts[host].deadline(), s.now)
	if at < n.tick[host] {
		n.tick[host] = at
		s.events.push(at, evTick, host)
	}
}

// tick calls an endpoint whose deadline has come. Time moves on before the next call, to the end of
// the packet on the link if there is one, so that an endpoint always due does not stop it.
func (s endpoints) tick(_ eventKind, host uint32) {
	n, h := s.ends, s.world.hosts[host]
	if n.tick[host] != s.now {
		return // a later event, which an earlier deadline has overtaken
	}
	n.tick[host] = never
	due := h.deadline()
	if due <= s.now {
		h.tick()
		s.kick(host)
		if n.tick[host] != never {
			return
		}
		if due = h.deadline(); due <= s.now { // what is still due waits for the link: nothing can be sent before
			due = max(s.now+int64(link.Nanosecond), s.ports[host].busy)
		}
	}
	if due != never {
		n.tick[host] = due
		s.events.push(due, evTick, host)
	}
}

// markedOf is for results.
func (s endpoints) markedOf(conn uint32) int64 {
	return s.ends.marked[source(conn)] + s.ends.marked[destination(conn)]
}
