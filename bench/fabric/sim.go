// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"cmp"
	"math/rand/v2"

	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/hw/switchq"
)

// A sim is a run, or a part of a run: part 0 stands for the whole. A sim belongs to a single
// goroutine at a time. The layers wires, light and sim know the layers below only; a builder makes
// a sim, and an outcome reports the results.
type sim struct {
	light
	world  *World   // nil: no endpoints
	calls  []func() // for evCall
	called []uint32 // free places in calls
	series *sampler // nil: none

	parts    []*sim   // of the whole run
	reported int64    // events until the last window
	due      int64    // ps, no event is earlier; never: no event is pending
	failed   []string // transfers of the matrix between endpoints
	stopped  int64    // ps, where End or Stop ended the run; 0: not
	touching touching
}

// A builder makes a run.
type builder struct{ *sim }

// Run simulates c to the end: until nothing is left to happen, or c.End.
func Run(c Config) (*Result, error) {
	s, err := newSim(c)
	if err != nil {
		return nil, err
	}
	s.loop()
	return s.result(), nil
}

func newSim(c Config) (*sim, error) {
	if err := c.fill(); err != nil {
		return nil, err
	}
	params, err := c.contextParams()
	if err != nil {
		return nil, err
	}
	n, err := newNet(&c)
	if err != nil {
		return nil, err
	}
	s := &sim{}
	s.equipment = &s.light
	s.cfg, s.params, s.net, s.pool, s.psnRange = c, params, n, &pool{}, 1
	s.trims, s.lost = map[uint32]int64{}, map[uint32]int64{}
	b := builder{s}
	s.random()
	s.rto = int64(c.retransmitTimeout(s.uplinkQueue().LowLimit))
	b.divide()
	s.nics = make([]nic, n.hosts)
	s.foretold = c.Application != nil && s.crew != nil
	s.minded = c.PFC != nil || c.Watch != nil || len(c.Faults) > 0 || s.foretold
	if c.PFC != nil {
		if s.pfc, err = newPFCState(*c.PFC, len(n.ports)); err != nil {
			return nil, err
		}
	}
	b.addChoosers()
	if err := b.addFaults(); err != nil {
		return nil, err
	}
	if c.Application != nil {
		s.app = newApp(s)
	}
	if c.Node == NodeEndpoint {
		err = cmp.Or(b.addHosts(), b.addTransfers())
	} else {
		err = b.connect()
	}
	if err != nil {
		return nil, err
	}
	if c.Memory != nil {
		if err := b.addMemory(c.Memory); err != nil {
			return nil, err
		}
	}
	if c.Series != nil {
		s.series = newSampler(s)
	}
	b.equip()
	b.startMemory()
	b.startCreditPorts()
	return s, nil
}

// random gives a part streams of random numbers of its own.
func (s *wires) random() {
	own := uint64(s.part) << 32
	s.rnd = rand.NewPCG(s.cfg.Seed, own|0xfab)
	if s.cfg.Loss+s.cfg.Reorder > 0 {
		s.faults = newFaults(&s.cfg, rand.New(rand.NewPCG(s.cfg.Seed, own|0x1055)))
	}
}

// uplinkQueue and lastHopQueue describe the first leaf's ports up and down.
func (s *wires) uplinkQueue() switchq.Config {
	leaf := &s.nodes[0]
	return s.kinds[s.ports[leaf.first+leaf.down].kind].params.Config()
}

func (s *wires) lastHopQueue() switchq.Config {
	return s.kinds[s.ports[s.nodes[0].first].kind].params.Config()
}

// horizon is the longest a packet is under way between two nodes, ps.
func (s *wires) horizon() (h int64) {
	for i := range s.kinds {
		p := &s.kinds[i]
		h = max(h, p.latency+p.serialization(uint16(s.cfg.PacketBytes)))
	}
	return h
}

// progressEvery is how many events pass between two calls of Config.Progress.
const progressEvery = 1 << 18

func (s *sim) loop() {
	if s.crew != nil {
		s.crew.run(s)
		return
	}
	s.simulate()
}

// simulate lets time pass until nothing is left to happen, or to the end of the window.
func (s *sim) simulate() {
	q, alone := s.events, s.world != nil && s.crew == nil
	for (!alone || s.pool.live() > 0 && !s.world.stopped || !s.halted()) && (!q.drained() || s.nextGroup()) {
		if q.curNext%touchBatch == 0 {
			s.touching.touch(s)
		}
		e, ok := q.take()
		if !ok {
			e = q.takeLate()
		}
		at := q.time(e)
		if at > int64(s.cfg.End) {
			s.stopped = int64(s.cfg.End)
			return
		}
		s.now = at
		s.count.Events++
		if s.count.Events%progressEvery == 0 && s.crew == nil && s.report() {
			s.stopped = s.now
			return
		}
		switch what := e.what(); e.kind() {
		case evArrive:
			s.arrive(what)
		case evPort:
			if what >= s.hosts {
				s.dequeue(&s.ports[what], what)
			} else {
				s.hostFree(what)
			}
		default:
			s.handle(e.kind(), what)
		}
	}
}

// nextGroup moves on to the next events, and takes the samples due before them.
func (s *sim) nextGroup() bool {
	group, ok := s.events.next()
	if !ok || s.crew != nil && group >= s.crew.group {
		return false
	}
	if s.series != nil && s.crew == nil {
		s.series.sample(s, group<<s.events.groupShift)
	}
	s.events.advance(group)
	return true
}

// handle is for the rare events.
func (s *sim) handle(kind eventKind, what uint32) {
	switch kind {
	case evStart:
		s.equipment.begin(what)
	case evPause:
		s.pauseArrives(what)
	case evResume:
		s.resumeArrives(what)
	case evMemory:
		s.retire()
	case evCall:
		s.call(what)
	case evCalc:
		s.app.computed(what)
	case evFault:
		s.turn(what)
	default:
		s.equipment.tick(kind, what)
	}
}

// arrive takes in a packet at the end of a link: at the destination host, or at a switch, where the
// packet goes on to the next port.
func (s *sim) arrive(pkt uint32) {
	p := &s.pool.pkts[pkt]
	at := p.at
	if at < s.hosts {
		s.atHost(at, pkt)
		return
	}
	if s.choosers != nil {
		at = s.choose(at, pkt)
		p.at = at
	}
	port := &s.ports[at]
	if port.fault&portDead != 0 {
		s.lose(at, pkt)
		return
	}
	if s.pfc != nil {
		s.pfcArrive(pkt)
	}
	s.forward(port, at, pkt, p)
}

// atHost takes in a packet at the destination host, unless a fault strikes the packet there.
func (s *sim) atHost(host, pkt uint32) {
	if s.faults != nil && s.faults.take(s, pkt) {
		return
	}
	s.tell(PacketArrived, pkt)
	if s.cfg.Seen != nil {
		s.show(pkt)
	}
	if s.behindMemory(host) && s.isData(&s.pool.pkts[pkt]) {
		s.store(pkt)
		return
	}
	s.deliver(host, pkt)
}

// deliver hands a packet to a host.
func (s *sim) deliver(host, pkt uint32) {
	s.counted(&s.pool.pkts[pkt])
	s.equipment.receive(host, pkt)
}

// counted counts a packet that a host takes in.
func (s *wires) counted(p *packet) {
	switch {
	case p.isProbe():
		s.count.ProbesArrived++
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
		s.count.DeliveredMarked += int64(p.flags & flagCE)
	}
}

// nowNs is the time as congestion control counts it.
func (s *wires) nowNs() int64 { return s.now / 1000 }

// lose drops a packet on a dead or lossy link.
func (s *wires) lose(out, pkt uint32) {
	s.lost[out]++
	if s.outages != nil {
		s.outages.note(out, &s.pool.pkts[pkt], s.now)
	}
	s.dropped(pkt)
	s.tellPort(out, 0)
}

// dropped counts a packet on the way to nowhere.
func (s *wires) dropped(pkt uint32) {
	s.tell(PacketLost, pkt)
	switch p := &s.pool.pkts[pkt]; {
	case p.isProbe():
		s.count.ProbesDropped++
	case p.flags&flagCredit != 0:
		s.count.CreditsDropped++
	case p.flags&flagAnswer != 0:
		s.count.AnswersDropped++
	case p.dscp.Class() == switchq.ClassMed:
		s.count.HeadersDropped++
	default:
		s.count.DataDropped++
	}
	s.pool.put(pkt)
}

// forward sends pkt at once if the port is idle, or queues pkt. A packet sent by now has left before
// pkt: many packets arrive in the very instant in which the port becomes free.
func (s *wires) forward(port *port, out, pkt uint32, p *packet) {
	if !port.wake && port.busy <= s.now && (s.pfc == nil || s.pfc.idle(out, s.now)) {
		port.passed++
		port.passedBytes += int64(p.size)
		s.transmit(port, out, pkt, p)
		return
	}
	if port.wake && port.busy <= s.now && s.pfc == nil {
		s.dequeue(port, out) // the wake-up, still to come, finds the port busy
	}
	in := switchq.Packet{ID: pkt, Size: int32(p.size), DSCP: p.dscp, CE: p.flags&flagCE != 0}
	v, lost := port.queue.Enqueue(&s.kinds[port.kind].params, in, s.rnd)
	if v != switchq.Queued {
		s.overflowed(out, v, lost)
	}
	s.tellPort(out, 0)
	if !port.wake && port.queue.Len() > 0 {
		s.wakeAt(out, max(port.busy, s.now))
	}
}

// overflowed notes that a full queue trimmed or dropped a packet.
func (s *wires) overflowed(out uint32, v switchq.Verdict, lost uint32) {
	if _, again := s.trims[out]; !again {
		s.trims[out] = s.now
	}
	if v == switchq.Dropped {
		s.dropped(lost)
	}
}

func (s *wires) wakeAt(out uint32, at int64) {
	s.ports[out].wake = true
	s.events.push(at, evPort, out)
}

// hostFree serves a host after the last packet has left.
func (s *sim) hostFree(host uint32) {
	port := &s.ports[host]
	if port.busy > s.now {
		return // a resume overtook the wake-up; a later wake-up is pending
	}
	port.wake = false
	s.ask(host)
}

// dequeue sends the next packet of a switch's port.
func (s *wires) dequeue(port *port, out uint32) {
	if port.busy > s.now {
		return // as in hostFree
	}
	port.wake = false
	q := &port.queue
	paused, until := switchq.ClassSet(0), int64(0)
	if s.pfc != nil {
		paused, until = s.pfc.paused(out, s.now)
	}
	got, ok := q.Dequeue(&s.kinds[port.kind].params, paused, s.rnd)
	if !ok {
		if q.Len() > 0 {
			s.wakeAt(out, until)
		}
		return
	}
	p := &s.pool.pkts[got.ID]
	p.size, p.dscp = uint16(got.Size), got.DSCP
	if got.CE {
		p.flags |= flagCE
	}
	s.transmit(port, out, got.ID, p)
	if q.Len() > 0 {
		s.wakeAt(out, port.busy)
	}
}

// transmit puts a packet on the link: one event for the whole hop. Where it goes from
// there is found out at once, while the packet is in the cache.
func (s *wires) transmit(port *port, out, pkt uint32, p *packet) {
	kind := &s.kinds[port.kind]
	port.busy = s.now + kind.serialization(p.size)
	port.data += int64(p.flags/flagAnswer&1 ^ 1)
	if port.fault != 0 && s.struck(port, out, pkt) {
		return
	}
	at, crosses := port.busy+kind.latency, kind.crosses
	p.at = s.next(port.peer, p)
	if !crosses {
		s.events.push(at, evArrive, pkt)
	}
	if s.minded {
		s.mind(port, out, pkt)
	}
	if crosses {
		s.export(port.peer, out, pkt, at)
	}
}

// mind does the rare jobs for a packet on the way out of a port: detours, pauses, watchers.
func (s *wires) mind(port *port, out, pkt uint32) {
	if p := &s.pool.pkts[pkt]; s.detours != nil {
		p.at = s.detours.next(port.peer, p)
	}
	if s.pfc != nil {
		s.pfcLeave(out, pkt)
	}
	s.tellPort(out, int64(s.pool.pkts[pkt].size))
	if s.foretold && port.peer < s.hosts {
		s.equipment.foresee(pkt, port.busy+s.kinds[port.kind].latency)
	}
}

// report reports the progress of the run, and asks whether to end.
func (s *sim) report() (stop bool) {
	if s.cfg.Progress != nil {
		s.cfg.Progress(s.progress())
	}
	return s.cfg.Stop != nil && s.cfg.Stop()
}

func (s *sim) progress() Progress {
	t := s.total()
	p := Progress{
		Now: link.Ps(s.latest()), Events: t.Events, Done: s.finished(), Transfers: len(s.transfers),
		Delivered: t.Delivered - t.Duplicates,
	}
	for i := range s.transfers {
		p.Packets += s.transfers[i].flow.packets(s.cfg.payload())
	}
	return p
}
