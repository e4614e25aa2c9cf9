// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"cmp"
	"fmt"
	"math"

	"github.com/uetcc/uetcc/hw/hbm"
	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/hw/switchq"
	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
)

// Memory puts a memory controller behind one host: a packet is acknowledged when the
// payload has been written, and the writing time is the acknowledgement's service time.
type Memory struct {
	Host       int
	Controller hbm.Config        // Requesters is filled in: the host's connections, and Internal
	Policy     *hbm.PolicyConfig // destination flow control; nil: none

	// Internal is the number of requesters inside the node (compute cores, a peer
	// GPU) that write until InternalEnd; each has two writes under way.
	Internal    int
	InternalEnd link.Ps
}

// check names the field unsuitable for a fabric of so many hosts; nil is no memory.
func (m *Memory) check(hosts int) error {
	if m == nil {
		return nil
	}
	return cmp.Or(
		check.Range(ErrConfig, "Memory.Host", m.Host, 0, hosts-1),
		check.AtLeast(ErrConfig, "Memory.Internal", m.Internal, 0),
	)
}

// MemoryResult is the outcome of the writes to a [Memory].
type MemoryResult struct {
	Peak      int64   `json:"peak_bytes"`     // most of the network's that ever waited
	MeanWait  float64 `json:"mean_wait_us"`   // of a write of the network's, before its transfer began
	MaxWait   float64 `json:"max_wait_us"`    //
	Jain      float64 `json:"jain_index"`     // of what the connections wrote until InternalEnd; 1: all as much
	Penalised int64   `json:"penalised"`      // acknowledgements sent with a penalty
	MaxPend   uint8   `json:"max_pend"`       // strongest penalty, 0..127
	Restored  int64   `json:"restored"`       // windows that came back by more than a packet at once
	Refused   int64   `json:"refused"`        // packets dropped because the controller was full
	Internal  int64   `json:"internal_bytes"` // written by the requesters inside the node
}

// internalTag marks a write of the requester inside the node.
const internalTag = math.MaxUint64

// memory is a Memory at work.
type memory struct {
	cfg       *Memory
	ctl       *hbm.Controller
	policy    hbm.Policy
	requester map[uint32]int // by connection; numbered from 0
	done      [64]hbm.Done
	wake      int64  // time of the earliest pending event, ps; never: none
	writes    uint64 // of the requesters inside the node
	network   int64  // bytes of the network's that wait
	res       MemoryResult
}

const never = math.MaxInt64

// addMemory is called once the connections are known.
func (s builder) addMemory(m *Memory) error {
	mem := &memory{cfg: m, requester: map[uint32]int{}, wake: never}
	for i := range s.transfers {
		t := &s.transfers[i]
		if _, has := mem.requester[t.conn]; !has && t.flow.Dst == m.Host {
			mem.requester[t.conn] = len(mem.requester)
		}
	}
	c := m.Controller
	c.Requesters = len(mem.requester) + m.Internal
	var err error
	if mem.ctl, err = hbm.NewController(c); err != nil {
		return fmt.Errorf("%w: Memory: %w", ErrConfig, err)
	}
	if m.Policy != nil {
		if mem.policy, err = hbm.NewPolicy(*m.Policy); err != nil {
			return fmt.Errorf("%w: Memory: %w", ErrConfig, err)
		}
	}
	s.mem = mem
	return nil
}

// startMemory begins the writes inside the node, in the part of the run that the memory is in.
func (s builder) startMemory() {
	if s.mem == nil {
		return
	}
	p, n := s.partAt(uint32(s.mem.cfg.Host)), s.mem.cfg.Internal
	for i := range 2 * n {
		p.writeInternally(len(s.mem.requester) + i%n)
	}
}

// behindMemory reports whether what arrives at a host goes through a memory
// controller.
func (s *light) behindMemory(host uint32) bool { return s.mem != nil && host == uint32(s.mem.cfg.Host) }

// store hands a packet's payload to the memory controller.
func (s *sim) store(pkt uint32) {
	p, d, m := &s.pool.pkts[pkt], &s.pool.details[pkt], s.mem
	d.at = s.now
	err := m.ctl.Submit(s.nowNs(), hbm.Request{
		Requester: m.requester[p.to.conn()], Addr: uint64(p.to.conn())<<36 + uint64(d.psn)<<12,
		Bytes: int64(p.size) - s.cfg.header(), Tag: uint64(pkt),
	})
	if err != nil {
		m.res.Refused++
		s.dropped(pkt)
		return
	}
	m.network += int64(p.size) - s.cfg.header()
	m.res.Peak = max(m.res.Peak, m.network)
	s.memoryChanged()
}

// writeInternally is the next write of a requester inside the node.
func (s *sim) writeInternally(requester int) {
	m, bytes := s.mem, s.cfg.payload()
	if s.now >= int64(m.cfg.InternalEnd) {
		m.endInternal()
		return
	}
	m.writes++
	write := hbm.Request{Requester: requester, Addr: 1<<60 + m.writes<<12, Bytes: bytes, Tag: internalTag}
	if m.ctl.Submit(s.nowNs(), write) == nil {
		m.res.Internal += bytes
	}
	s.memoryChanged()
}

// endInternal looks at the connections' shares when the requesters inside the
// node stop.
func (m *memory) endInternal() {
	if m.res.Jain != 0 {
		return
	}
	var j jain
	for r := range len(m.requester) {
		j.add(float64(m.ctl.Usage(r).Bytes))
	}
	m.res.Jain = j.index()
}

// memoryChanged makes sure an event comes when the next write is done.
func (s *sim) memoryChanged() {
	m := s.mem
	if at, ok := m.ctl.Next(); ok && at <= never/1000 && at*1000 < m.wake {
		m.wake = max(at*1000, s.now)
		s.events.push(m.wake, evMemory, 0)
	}
}

// retire takes in the packets whose payload is written.
func (s *sim) retire() {
	m := s.mem
	m.wake = never
	for n := -1; n != 0; {
		n = m.ctl.Retire(s.nowNs(), m.done[:])
		for _, d := range m.done[:n] {
			if d.Tag == internalTag {
				s.writeInternally(d.Requester)
				continue
			}
			pkt := uint32(d.Tag)
			m.network -= d.Bytes
			s.deliver(uint32(m.cfg.Host), pkt)
		}
	}
	s.memoryChanged()
}

// stateOfMemory is what an endpoint is to say of a packet whose payload is in memory.
func (s endpoints) stateOfMemory(pkt uint32) pdc.AckState {
	d := s.pool.details[pkt]
	s.tellOfMemory(&d)
	return pdc.AckState{
		Type: pds.CCNSCC, Pend: d.pend, Restore: d.restore, Service: uint16(nscc.ServiceTimeOf((s.now - d.at) / 1000)),
	}
}

// isData reports whether a packet brings payload.
func (s *wires) isData(p *packet) bool {
	return p.flags&flagAnswer == 0 && p.dscp.Class() == switchq.ClassLow && int64(p.size) > s.cfg.header()
}

// tellOfMemory fills in what the acknowledgement of packet d says of the memory.
func (s *light) tellOfMemory(d *detail) {
	if s.mem.cfg.Policy == nil {
		return
	}
	d.pend, d.restore = s.mem.policy.Mark(s.mem.ctl.Occupied())
	if d.pend > 0 {
		s.mem.res.Penalised++
		s.mem.res.MaxPend = max(s.mem.res.MaxPend, d.pend)
	}
}

func (s outcome) memoryResult() *MemoryResult {
	m := s.mem
	for _, p := range s.parts {
		m.res.Restored += p.restored
	}
	var wait, requests float64
	for r := range len(m.requester) {
		u := m.ctl.Usage(r)
		wait += float64(u.Wait)
		requests += float64(u.Requests)
		m.res.MaxWait = max(m.res.MaxWait, float64(u.MaxWait)/1000)
	}
	m.res.MeanWait = wait / max(requests, 1) / 1000
	m.endInternal()
	return &m.res
}
