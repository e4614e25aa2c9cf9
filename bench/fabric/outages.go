// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/uetcc/uetcc/hw/link"
)

// Bits of port.fault.
const (
	portDead  = 1 << iota // loses all
	portLossy             // loses some
)

// outages are the effects of Config.Faults on the ports of a run. The parts of a run share all fields
// but tolls, the losses at a part's own ports.
type outages struct {
	faults []outage
	turns  []turn               // by number of evFault
	ports  map[uint32]*stricken // with faults at some time
	tolls  []toll               // by fault
}

// An outage is a fault and the ports struck.
type outage struct {
	Fault
	ports []uint32
}

// A turn is the time of a change: the fault strikes (1), is mended (-1), or the switches learn of
// either.
type turn struct {
	at    link.Ps
	fault int
	step  int
	known bool
}

// A toll is the cost of a fault.
type toll struct {
	lost     int64 // packets
	data     int64 // packets of data among lost
	lastLost int64 // ps, of data; -1: no loss
}

// A stricken port has a separate random sequence. Only the part of the run with the port changes the
// fields.
type stricken struct {
	on    []int  // faults, in the order of their begins
	kind  uint16 // of the port when all is well
	fault uint8  // of the port then: the matrix may have killed the link
	rnd   *rand.Rand
}

// addFaults schedules c.Faults.
func (s builder) addFaults() error {
	if len(s.cfg.Faults) == 0 {
		return nil
	}
	o := &outages{ports: map[uint32]*stricken{}}
	s.outages = o
	for i, f := range s.cfg.Faults {
		err := f.check()
		var ports []uint32
		if err == nil {
			ports, err = s.place(f.Place)
		}
		if err != nil {
			return fmt.Errorf("%w: Faults: %v: %w", ErrConfig, f, err)
		}
		o.faults = append(o.faults, outage{Fault: f, ports: ports})
		for _, out := range ports {
			if o.ports[out] == nil {
				port := &s.ports[out]
				o.ports[out] = &stricken{kind: port.kind, fault: port.fault, rnd: rand.New(rand.NewPCG(s.cfg.Seed, 0xfa17<<32|uint64(out)))}
			}
		}
		o.plan(i, f.From, 1, s.cfg.Reroute)
		if f.Until != 0 {
			o.plan(i, f.Until, -1, s.cfg.Reroute)
		}
	}
	o.forPart()
	s.rehearse()
	for i, t := range o.turns {
		for _, p := range s.parts {
			p.events.push(int64(t.at), evFault, uint32(i))
		}
	}
	return nil
}

// plan schedules the begin or the end of a fault, and for a dead link the time from which switches
// know.
func (o *outages) plan(fault int, at link.Ps, step int, reroute link.Ps) {
	o.turns = append(o.turns, turn{at: at, fault: fault, step: step})
	if o.faults[fault].Kind == FaultDown && reroute > 0 {
		o.turns = append(o.turns, turn{at: at + reroute, fault: fault, step: step, known: true})
	}
}

// rehearse goes through all turns and restores the ports: the kinds of ports for slow links must
// exist before the parts of a run share the list of kinds.
func (s builder) rehearse() {
	o := s.outages
	turns := slices.Clone(o.turns)
	slices.SortStableFunc(turns, func(a, b turn) int { return cmp.Compare(a.at, b.at) })
	for i := range turns {
		if !turns[i].known {
			s.suffer(&turns[i], func(uint32) bool { return true })
		}
	}
	for out, p := range o.ports {
		s.ports[out].kind, s.ports[out].fault, p.on = p.kind, p.fault, nil
	}
}

// forPart gives o separate tolls.
func (o *outages) forPart() {
	o.tolls = make([]toll, len(o.faults))
	for i := range o.tolls {
		o.tolls[i].lastLost = -1
	}
}

// place lists the ports at both ends of the links of a place.
func (n *net) place(p Place) (ports []uint32, err error) {
	tiers := 2
	if n.tierFirst[3] > n.tierFirst[2] {
		tiers = 3
	}
	switch {
	case p.Tier == -1 && p.Number < int(n.hosts) && p.Link < 0:
		leaf := &n.nodes[n.ports[p.Number].peer-n.hosts]
		return []uint32{uint32(p.Number), leaf.first + uint32(p.Number) - leaf.lo}, nil
	case p.Tier < 0 || p.Tier >= tiers || p.Number < 0 || p.Number >= int(n.tierFirst[p.Tier+1]-n.tierFirst[p.Tier]):
		return nil, fmt.Errorf("there is no %v", p)
	case p.Link >= 0:
		up, down, err := n.uplink(Failure{Tier: p.Tier, Switch: p.Number, Link: p.Link})
		return []uint32{up, down}, err
	}
	id := n.tierFirst[p.Tier] + uint32(p.Number)
	s := &n.nodes[id]
	for i := range n.ports {
		own := uint32(i) >= s.first && uint32(i) < s.first+s.down+s.up
		if own || n.ports[i].peer == n.hosts+id {
			ports = append(ports, uint32(i))
		}
	}
	return ports, nil
}

// turn carries out a turn in a part of the run.
func (s *wires) turn(i uint32) {
	t := &s.outages.turns[i]
	if t.known {
		s.learn(s.outages.faults[t.fault].ports, t.step)
		return
	}
	s.suffer(t, func(out uint32) bool { return s.partOf[s.nodeOf(out)] == s.part })
}

// suffer strikes or mends the caller's own ports of a fault.
func (s *wires) suffer(t *turn, own func(out uint32) bool) {
	for _, out := range s.outages.faults[t.fault].ports {
		if !own(out) {
			continue
		}
		p := s.outages.ports[out]
		if t.step > 0 {
			p.on = append(p.on, t.fault)
		} else {
			p.on = slices.DeleteFunc(p.on, func(on int) bool { return on == t.fault })
		}
		s.change(out, p)
	}
}

// change sets a port by the faults in force.
func (s *wires) change(out uint32, p *stricken) {
	rate := 1.0
	s.ports[out].fault = p.fault
	for _, i := range p.on {
		switch f := &s.outages.faults[i]; f.Kind {
		case FaultDown:
			s.ports[out].fault |= portDead
		case FaultLoss:
			s.ports[out].fault |= portLossy
		default:
			rate *= f.Value
		}
	}
	if s.ports[out].kind = p.kind; rate < 1 {
		s.ports[out].kind = s.slower(p.kind, max(rate, leastRate))
	}
}

// slower is a kind of port with a part of the rate of kind. Queues keep their sizes.
func (n *net) slower(kind uint16, part float64) uint16 {
	k := n.kinds[kind]
	k.wire.perByte = int64(float64(k.wire.perByte) / part)
	return n.addKind(k)
}

// struck reports whether a fault takes a packet on the way out of a port.
func (s *wires) struck(port *port, out, pkt uint32) bool {
	if port.fault&portDead == 0 && s.outages.ports[out].passes(s.outages) {
		return false
	}
	if s.pfc != nil {
		s.pfcLeave(out, pkt)
	}
	s.lose(out, pkt)
	return true
}

// passes reports whether a packet gets through all random losses of a port.
func (p *stricken) passes(o *outages) bool {
	through := true
	for _, i := range p.on {
		if f := &o.faults[i]; f.Kind == FaultLoss {
			through = p.rnd.Float64() >= f.Value && through
		}
	}
	return through
}

// note counts a packet lost at a port, for the latest fault.
func (o *outages) note(out uint32, p *packet, now int64) {
	struck := o.ports[out]
	if struck == nil || len(struck.on) == 0 {
		return // dead from the beginning, by the matrix
	}
	f := &o.tolls[struck.on[len(struck.on)-1]]
	if f.lost++; p.flags&flagAnswer == 0 {
		f.data++
		f.lastLost = now
	}
}

// faultResults sums the tolls of each fault over the parts.
func (s outcome) faultResults() (r []FaultResult) {
	for i, f := range s.cfg.Faults {
		all := toll{lastLost: -1}
		for _, p := range s.parts {
			t := &p.outages.tolls[i]
			all.lost, all.data, all.lastLost = all.lost+t.lost, all.data+t.data, max(all.lastLost, t.lastLost)
		}
		res := FaultResult{Fault: f.String(), From: us(int64(f.From)), Until: us(int64(f.Until)), Lost: all.lost, LostData: all.data}
		if all.lastLost >= 0 {
			res.Recovery = us(all.lastLost - int64(f.From))
		}
		r = append(r, res)
	}
	return r
}
