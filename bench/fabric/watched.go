// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/hw/switchq"
	"github.com/uetcc/uetcc/internal/enum"
	"github.com/uetcc/uetcc/pds"
)

// A Watcher is told the events of packets and ports. Arguments are the simulator's again when a
// call returns.
type Watcher interface {
	// Packet is called when a packet leaves the source host, reaches the destination or is lost.
	Packet(*PacketState)

	// Port is called when a packet begins to leave a port, or has come to wait there.
	Port(*PortState)
}

// PacketEvent is an event of a packet.
type PacketEvent uint8

// The events. Each packet is sent once, and then arrives or is lost; a full [Memory] loses
// arrived packets.
const (
	PacketSent    PacketEvent = iota // its first bit leaves its host
	PacketArrived                    // its last bit has reached its host
	PacketLost                       // it was dropped
)

var packetEventNames = [...]string{"sent", "arrived", "lost"}

// String names the event.
func (e PacketEvent) String() string { return enum.Name(packetEventNames[:], e) }

// PacketKind is the kind of a packet's content.
type PacketKind uint8

// The kinds.
const (
	PacketData    PacketKind = iota
	PacketAck                // acknowledgement
	PacketNack               // refusal
	PacketControl            // of the credit loop, or of a delivery context
)

var packetKindNames = [...]string{"data", "ack", "nack", "control"}

// String names the kind.
func (k PacketKind) String() string { return enum.Name(packetKindNames[:], k) }

// PacketState is a packet of either [NodeKind], and the packet's event.
type PacketState struct {
	Now      link.Ps
	ID       uint64 // of the packet, from when it is sent on; answers have their own
	Conn     uint32 // as in [TransferResult]
	Src, Dst uint32 // hosts
	From     uint32 // host that the data goes out from: Src of data, Dst of an answer to it
	PDC      uint16 // of an endpoint at From; 0 of control packets and with [NodeLight]
	Event    PacketEvent
	Kind     PacketKind
	Trimmed  bool // a switch has cut its payload
	CE       bool // congestion experienced; of an answer: the data that caused it was marked
	Retx     bool // sent before; of an answer: the data that caused it was
	PSN      uint32
	Next     uint32 // of an acknowledgement: the PSN up to which all has arrived, and one more
	Size     int64  // bytes on the wire
	Payload  int64  // bytes of data in it
}

// tell tells Config.Watch what has happened to a packet.
func (s *wires) tell(event PacketEvent, pkt uint32) {
	if s.cfg.Watch != nil {
		s.tellPacket(event, pkt)
	}
}

func (s *wires) tellPacket(event PacketEvent, pkt uint32) {
	if event == PacketSent {
		s.number(pkt)
	}
	p := &s.pool.pkts[pkt]
	conn := p.to.conn()
	x := &s.toldPacket
	*x = PacketState{
		Now: link.Ps(s.now), ID: s.pool.numbers[pkt], Conn: conn, Event: event, Size: int64(p.size),
		Src: s.hostOf[p.to^1], Dst: s.hostOf[p.to], Trimmed: p.dscp.Class() == switchq.ClassMed,
		CE: p.flags&flagCE != 0, Retx: p.flags&flagRTX != 0,
	}
	switch {
	case p.flags&flagCredit != 0:
		x.Kind = PacketControl
	case p.flags&flagNack != 0:
		x.Kind = PacketNack
	case p.flags&flagAnswer != 0:
		x.Kind = PacketAck
	}
	if x.From = x.Src; x.Kind == PacketAck || x.Kind == PacketNack {
		x.From = x.Dst
	}
	s.equipment.describe(x, pkt)
	if s.crew != nil {
		s.keptPackets = append(s.keptPackets, *x)
		s.told = append(s.told, told{at: s.now, packet: &s.keptPackets[len(s.keptPackets)-1]})
		return
	}
	s.cfg.Watch.Packet(x)
}

// number gives a packet a unique number: numbers of the pool are used again. The upper bits are
// those of the part of the run.
func (s *wires) number(pkt uint32) {
	s.numbered++
	s.pool.renumber(pkt, uint64(s.part)<<partBit|s.numbered)
}

const partBit = 46 // so that a float64 holds the number

// renumber notes the number of a packet.
func (p *pool) renumber(pkt uint32, number uint64) {
	for len(p.numbers) <= int(pkt) {
		p.numbers = append(p.numbers, 0)
	}
	p.numbers[pkt] = number
}

// describe is for watchers.
func (s *light) describe(x *PacketState, pkt uint32) {
	d := &s.pool.details[pkt]
	x.PSN, x.Next = d.psn, d.cack
	if x.Kind == PacketData && !x.Trimmed {
		x.Payload = x.Size - HeaderBytes
	}
}

// describe fills in the header of the packet.
func (s endpoints) describe(x *PacketState, pkt uint32) {
	n := s.ends
	f := &n.flying[pkt]
	head := f.head[:f.n]
	if f.n == 0 {
		head = n.long[pkt]
	}
	if !x.Trimmed {
		x.Payload = int64(f.rest.Length)
	}
	var req pds.Request
	var ack pds.Ack
	var nack pds.Nack
	switch x.Kind {
	case PacketData:
		if _, err := req.Decode(head); err == nil {
			x.PSN, x.PDC = uint32(req.PSN), uint16(req.SPDCID)
		}
	case PacketAck:
		if decodeAck(head, &ack) {
			x.PSN, x.Next, x.PDC, x.CE = uint32(ack.AckPSN()), uint32(ack.CACK)+1, uint16(ack.DPDCID), ack.Flags&pds.FlagM != 0
		}
	case PacketNack:
		if decodeNack(head, &nack) {
			x.PSN, x.PDC, x.CE = uint32(nack.PSN), uint16(nack.DPDCID), nack.Flags&pds.FlagM != 0
		}
	}
}

// decodeAck reads the common part of all types of acknowledgements.
func decodeAck(head []byte, ack *pds.Ack) bool {
	var cc pds.AckCC
	var ccx pds.AckCCX
	var err error
	switch pds.Type(head[0] >> 3) {
	case pds.TypeACK:
		_, err = ack.Decode(head)
	case pds.TypeACKCC:
		_, err = cc.Decode(head)
		*ack = cc.Ack
	default:
		_, err = ccx.Decode(head)
		*ack = ccx.Ack
	}
	return err == nil
}

// decodeNack reads the common part of both types of refusals.
func decodeNack(head []byte, nack *pds.Nack) bool {
	var ccx pds.NackCCX
	if pds.Type(head[0]>>3) == pds.TypeNACK {
		_, err := nack.Decode(head)
		return err == nil
	}
	_, err := ccx.Decode(head)
	*nack = ccx.Nack
	return err == nil
}

// PortState is a port, of a switch or of a host, after a change.
type PortState struct {
	Now     link.Ps
	Port    uint32 // hosts first, as in [QueueResult]
	Sent    int64  // bytes of the packet that begins to leave; 0: one has come to wait, or was dropped
	Waiting int64  // bytes of data behind the packet that is being sent
	Marked  int64  // packets so far
	Trimmed int64  // so far
	Dropped int64  // so far

	net *net
}

// Name is the place of the port and of the next node.
func (p *PortState) Name() string {
	return p.net.nodeName(p.net.nodeOf(p.Port)) + " to " + p.net.nodeName(p.net.ports[p.Port].peer)
}

// LastHop reports whether the port leads to a host.
func (p *PortState) LastHop() bool { return p.net.ports[p.Port].peer < p.net.hosts }

// Rate is the link's rate, bits a second.
func (p *PortState) Rate() float64 {
	return 8 * 1024e12 / float64(p.net.kinds[p.net.ports[p.Port].kind].perByte)
}

// tellPort tells Config.Watch what a port has come to.
func (s *wires) tellPort(out uint32, sent int64) {
	if s.cfg.Watch != nil {
		s.tellChange(out, sent)
	}
}

func (s *wires) tellChange(out uint32, sent int64) {
	q := &s.ports[out].queue
	c := q.Counters()
	s.toldPort = PortState{
		Now: link.Ps(s.now), Port: out, Sent: sent, Waiting: q.Bytes(switchq.ClassLow),
		Marked: c.Marked, Trimmed: c.Trimmed, Dropped: c.Dropped + s.lost[out], net: s.net,
	}
	if s.crew != nil {
		s.keptPorts = append(s.keptPorts, s.toldPort)
		s.told = append(s.told, told{at: s.now, port: &s.keptPorts[len(s.keptPorts)-1]})
		return
	}
	s.cfg.Watch.Port(&s.toldPort)
}
