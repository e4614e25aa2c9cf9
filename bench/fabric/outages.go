package fabric

import (
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

// outages are what Config.Faults does to the ports of a run.
type outages struct {
	faults []outage
	ports  map[uint32]*stricken // those that faults have struck
}

// An outage is a fault, the ports that it strikes, and what was lost there.
type outage struct {
	Fault
	ports    []uint32
	lost     int64
	data     int64 // of these, packets of data
	lastLost int64 // ps, of data; -1: none was lost
}

// A stricken port has a random sequence of its own.
type stricken struct {
	on    []int  // faults, in the order of their begins
	kind  uint16 // of the port when all is well
	fault uint8  // of the port then: the matrix may have killed it
	rnd   *rand.Rand
}

// addFaults schedules c.Faults.
func (s *sim) addFaults() error {
	if len(s.cfg.Faults) == 0 {
		return nil
	}
	s.outages = &outages{ports: map[uint32]*stricken{}}
	for i, f := range s.cfg.Faults {
		err := f.check()
		var ports []uint32
		if err == nil {
			ports, err = s.place(f.Place)
		}
		if err != nil {
			return fmt.Errorf("%w: Faults: %v: %w", ErrConfig, f, err)
		}
		s.outages.faults = append(s.outages.faults, outage{Fault: f, ports: ports, lastLost: -1})
		s.at(f.From, func() { s.strike(i) })
		s.know(f.From, f, ports, 1)
		if f.Until != 0 {
			s.at(f.Until, func() { s.mend(i) })
			s.know(f.Until, f, ports, -1)
		}
	}
	return nil
}

// know has switches route around a dead link once they have found out.
func (s *sim) know(at link.Ps, f Fault, ports []uint32, step int) {
	if f.Kind == FaultDown && s.cfg.Reroute > 0 {
		s.at(at+s.cfg.Reroute, func() { s.learn(ports, step) })
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

// strike begins a fault.
func (s *sim) strike(i int) {
	o := s.outages
	for _, out := range o.faults[i].ports {
		if o.ports[out] == nil {
			port := &s.ports[out]
			o.ports[out] = &stricken{kind: port.kind, fault: port.fault, rnd: rand.New(rand.NewPCG(s.cfg.Seed, 0xfa17<<32|uint64(out)))}
		}
		o.ports[out].on = append(o.ports[out].on, i)
		s.suffer(out)
	}
}

// mend ends a fault.
func (s *sim) mend(i int) {
	for _, out := range s.outages.faults[i].ports {
		p := s.outages.ports[out]
		p.on = slices.DeleteFunc(p.on, func(on int) bool { return on == i })
		s.suffer(out)
	}
}

// suffer sets a port to what the faults that are on make of it.
func (s *sim) suffer(out uint32) {
	p, rate := s.outages.ports[out], 1.0
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

// slower is a kind of port that sends a part of what another does in a second. Queues stay as
// they are.
func (n *net) slower(kind uint16, part float64) uint16 {
	k := n.kinds[kind]
	k.wire.perByte = int64(float64(k.wire.perByte) / part)
	return n.addKind(k)
}

// struck reports whether a fault takes the packet that a port sends.
func (s *sim) struck(port *port, out, pkt uint32) bool {
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

// note counts a packet that a port has lost, for the fault that began last.
func (o *outages) note(out uint32, p *packet, now int64) {
	struck := o.ports[out]
	if struck == nil || len(struck.on) == 0 {
		return // dead from the beginning, by the matrix
	}
	f := &o.faults[struck.on[len(struck.on)-1]]
	if f.lost++; p.flags&flagAnswer == 0 {
		f.data++
		f.lastLost = now
	}
}

// results says what became of each fault.
func (o *outages) results() (r []FaultResult) {
	for i := range o.faults {
		f := &o.faults[i]
		res := FaultResult{Fault: f.String(), From: us(int64(f.From)), Until: us(int64(f.Until)), Lost: f.lost, LostData: f.data}
		if f.lastLost >= 0 {
			res.Recovery = us(f.lastLost - int64(f.From))
		}
		r = append(r, res)
	}
	return r
}
