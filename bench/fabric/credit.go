// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/ccc/baseline"
	"github.com/uetcc/uetcc/hw/switchq"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/rccc"
)

// A creditPort is the receiver-credit half of a host with senders.
type creditPort struct {
	r     *rccc.Receiver
	conns []uint32 // of the senders, by slot
	at    int64    // of the pending evCredit, ps; -1: none

	fabric   rccc.FabricRate
	stepping bool // an evFabric is pending
}

// credits reports whether receivers hand out credit.
func (c *Config) credits() bool {
	return c.Control == ccc.ControlRCCC || c.Control == ccc.ControlBoth
}

// makeCreditPorts gives every destination its receiver, with room for all of its
// connections.
func (s builder) makeCreditPorts() error {
	if !s.cfg.credits() {
		return nil
	}
	senders := make([]int, s.hosts)
	for i := range s.senders {
		senders[s.hostOf[destination(uint32(i))]]++
	}
	s.slowsCredit = s.cfg.slowsCredit()
	s.credits = make([]creditPort, s.hosts)
	window := s.params.RCCC().MaxCredit()
	policy := rccc.PullConfig{MaxCredit: window, LikeHtsim: s.cfg.Rules == RulesHTSim}
	if s.cfg.EQDS {
		policy = s.cfg.eqds()
	}
	for host, n := range senders {
		if n == 0 {
			continue
		}
		pull, err := rccc.NewPullPolicy(policy)
		if err != nil {
			return err
		}
		r, err := rccc.NewReceiver(rccc.ReceiverConfig{
			Senders: n, Rate: s.cfg.hostRate() / 8, MaxCredit: window, Policy: pull,
		})
		if err != nil {
			return err
		}
		s.credits[host] = creditPort{r: r, conns: make([]uint32, n), at: -1}
		if s.credits[host].fabric, err = rccc.NewFabricRate(s.cfg.fabricRate()); err != nil {
			return err
		}
	}
	return nil
}

// startCreditPorts begins to slow credit from the start, not only from what arrives.
func (s builder) startCreditPorts() {
	if !s.slowsCredit {
		return
	}
	for host := range s.credits {
		if p := &s.credits[host]; p.r != nil {
			p.stepping = true
			s.partAt(uint32(host)).nextStep(uint32(host))
		}
	}
}

// fabricRate configures the slowing of credit where the fabric is oversubscribed and
// no window reacts to it.
func (c *Config) fabricRate() rccc.FabricConfig {
	return rccc.FabricConfig{Oversubscription: c.Topology.oversubscription(), RTT: c.BaseRTT.Nanoseconds()}
}

// eqds is how receivers grant credit with Config.EQDS.
func (c *Config) eqds() rccc.PullConfig {
	_, pull := baseline.EQDS(ccc.Config{NSCC: nscc.Config{LinkRate: c.hostRate() / 8, BaseRTT: c.BaseRTT.Nanoseconds()}}, c.PacketBytes)
	return pull
}

// slowsCredit reports whether credit is slowed so.
func (c *Config) slowsCredit() bool {
	return !c.NoFabricRate && c.Control == ccc.ControlRCCC && c.Topology.oversubscription() > 1
}

// observe counts what arrives for the rate that the fabric can bear.
func (s *light) observe(pkt uint32) {
	if !s.slowsCredit {
		return
	}
	p := &s.pool.pkts[pkt]
	port := &s.credits[p.at]
	if p.dscp == switchq.DSCPTrimmedLastHop || p.dscp.Class() == switchq.ClassMed {
		port.fabric.OnTrim(p.dscp == switchq.DSCPTrimmedLastHop)
	} else {
		port.fabric.OnArrival(p.flags&flagCE != 0)
	}
	if !port.stepping {
		port.stepping = true
		s.nextStep(p.at)
	}
}

func (s *light) nextStep(host uint32) {
	interval := s.credits[host].fabric.Interval(uint32(s.rnd.Uint64()))
	s.events.push(s.now+interval*1000, evFabric, host)
}

// step ends an interval of a host's rate. Without traffic it goes on until credit
// has its full speed again.
func (s *light) step(host uint32) {
	p := &s.credits[host]
	factor := p.fabric.Step()
	p.r.SetFactor(factor)
	if p.stepping = factor < 1; p.stepping {
		s.nextStep(host)
	}
}

// wanted tells the receiver what a packet's sender would like. The first packet
// of a connection enters it into the active sender table.
func (s *light) wanted(conn, pkt uint32, kind rccc.Arrival) {
	if s.credits == nil {
		return
	}
	host, r := s.hostOf[destination(conn)], &s.receivers[conn]
	p := &s.credits[host]
	if r.sender == 0 {
		h, err := p.r.Add(s.nowNs(), 1, 0)
		if err != nil {
			panic(err) // makeCreditPorts counted wrongly
		}
		r.sender, p.conns[h.Slot()] = h, conn
	}
	target := rccc.Quanta(s.pool.details[pkt].units).Extend(p.r.Target(r.sender))
	p.r.OnArrival(r.sender, s.nowNs(), kind, target)
	s.watchPacer(host, p)
}

// watchPacer makes sure that the pacer is polled when it wants to be.
func (s *light) watchPacer(host uint32, p *creditPort) {
	due, awake := p.r.Deadline()
	if !awake || p.at >= 0 {
		return // while the pacer is awake its time never comes earlier
	}
	p.at = max(due*1000, s.now)
	s.events.push(p.at, evCredit, host)
}

// pace sends the credit that is due.
func (s *light) pace(host uint32) {
	p := &s.credits[host]
	p.at = -1
	for g, ok := p.r.Poll(s.nowNs()); ok; g, ok = p.r.Poll(s.nowNs()) {
		conn := p.conns[g.Sender.Slot()]
		s.control(host, packet{to: source(conn), flags: flagAnswer | flagCredit}, detail{units: uint32(rccc.QuantaOf(g.Cum))})
		s.count.Credits++
	}
	s.watchPacer(host, p)
}

// control sends a control packet that carries a credit or a target.
func (s *light) control(host uint32, p packet, d detail) {
	pkt := s.pool.get()
	p.size, p.dscp = HeaderBytes, switchq.DSCPControl
	s.pool.pkts[pkt], s.pool.details[pkt] = p, d
	s.answer(host, pkt)
}

// creditArrives takes in a control packet of the credit loop, at either end.
func (s *light) creditArrives(conn, pkt uint32) {
	if s.pool.pkts[pkt].flags&flagAckReq != 0 {
		s.wanted(conn, pkt, rccc.ArrivalRequest)
		if s.asked != nil {
			s.requested(conn, pkt)
			return
		}
	} else {
		s.credited(conn, pkt)
	}
	s.pool.put(pkt)
}

// credited takes in a cumulative credit.
func (s *light) credited(conn, pkt uint32) {
	c := &s.senders[conn]
	c.heard = true
	c.ctx.OnCreditUpdate(&s.params, s.nowNs(), rccc.Quanta(s.pool.details[pkt].units).Extend(c.ctx.CreditTotal()))
	s.ready(conn)
}

// watchCredit makes sure that a connection without credit asks for some in the
// end, should the message that brings it be lost. In htsim it asks when a packet times out
// and never else; of packets lost at random htsim knows nothing.
func (s *light) watchCredit(conn uint32, c *sender) {
	if s.credits == nil || c.asking || s.cfg.Rules == RulesHTSim && s.cfg.Loss == 0 {
		return
	}
	if due, armed := c.ctx.CreditDeadline(); armed {
		c.asking = true
		s.events.push(max(due*1000, s.now), evRequest, conn)
	}
}

// request sends a Credit Request if a connection has waited for long enough.
func (s *light) request(conn uint32) {
	c := &s.senders[conn]
	c.asking = false
	if c.ctx.CreditRequestDue(&s.params, s.nowNs()) {
		s.askForCredit(conn, c)
	}
	s.watchCredit(conn, c)
}

// askForCredit sends a Credit Request. By htsim's rules the target is that of the last data packet.
func (s *light) askForCredit(conn uint32, c *sender) {
	if s.numbersRequests() && c.next-c.cack > c.mask {
		return // no record is free
	}
	target := c.target
	if s.cfg.Rules != RulesHTSim {
		target = rccc.QuantaOf(c.ctx.CreditTarget(&s.params, 1))
	}
	p, d := packet{to: destination(conn), flags: flagAnswer | flagCredit | flagAckReq}, detail{units: uint32(target)}
	if !c.heard {
		p.flags |= flagSYN
	}
	if s.numbersRequests() {
		s.numberRequest(conn, c, &p, &d)
	}
	s.control(s.hostOf[source(conn)], p, d)
	s.count.CreditRequests++
}
