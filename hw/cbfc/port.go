// SPDX-License-Identifier: Apache-2.0

package cbfc

import (
	"cmp"

	"github.com/uetcc/uetcc/internal/check"
)

// Timing of InfiniBand flow control in symbol times: the time of one byte on
// one lane, 4 ns at SDR.
const (
	updatePeriod   = 65536  // a flow control packet leaves for each lane at least this often
	watchdogPeriod = 400000 // a lane without a packet for so long asks for re-initialisation
)

// Lanes of an InfiniBand port.
const (
	MaxLanes       = 15 // data lanes, VL0..VL14
	managementLane = 15 // VL15: no flow control, and no data packet may take it
)

// Port is one end of an InfiniBand link: up to fifteen data lanes with their
// own buffers, and the failsafes. Single writer.
type Port struct {
	lanes     []Lane
	threshold int  // consecutive periods with an overrun that re-initialise the link
	bad       int  // such periods so far
	overrun   bool // an overrun in the present period
}

// NewPort returns a port with a lane for each element of buffers, which gives
// the lane's receive buffer in blocks. The link is re-initialised after
// threshold (PortInfo OverrunErrors, 1..15) consecutive update periods with an
// overrun. Errors wrap [ErrConfig].
func NewPort(buffers []int64, threshold int) (*Port, error) {
	err := cmp.Or(
		check.Range(ErrConfig, "number of lanes", len(buffers), 1, MaxLanes),
		check.Range(ErrConfig, "threshold", threshold, 1, 15),
	)
	if err != nil {
		return nil, err
	}
	p := &Port{lanes: make([]Lane, len(buffers)), threshold: threshold}
	for i, blocks := range buffers {
		rx, err := newRx(blocks)
		if err != nil {
			return nil, err
		}
		p.lanes[i].Rx = rx
	}
	return p, nil
}

// Lane returns lane vl, or nil if the port has no such data lane.
func (p *Port) Lane(vl uint8) *Lane {
	if int(vl) >= len(p.lanes) {
		return nil
	}
	return &p.lanes[vl]
}

// Reinit restarts the credit accounting of all lanes at time now; packets in
// the receive buffers stay. Flow control packets carry Init until each lane
// has heard from the other end. Both ends have to restart: a peer that goes on
// counting from before may overrun the buffers.
func (p *Port) Reinit(now int64) {
	for i := range p.lanes {
		l := &p.lanes[i]
		l.Tx = Tx{}
		l.ABR, l.Overruns = 0, 0 // packets in the buffer stay: the first limit is the space really free
		l.sentAt, l.heardAt = now, now
	}
	p.bad, p.overrun = 0, false
}

// up reports whether the initialisation exchange is over: every lane has
// received a limit.
func (p *Port) up() bool {
	for i := range p.lanes {
		if !p.lanes[i].Open {
			return false
		}
	}
	return true
}

// Send counts a packet of n blocks on lane vl as sent and reports true, or
// reports false if the packet may not start now. The management lane is never
// held back and changes no total.
func (p *Port) Send(vl uint8, n int64) bool {
	if vl == managementLane {
		return true
	}
	l := p.Lane(vl)
	if l == nil || !l.CanSend(n) {
		return false
	}
	l.OnSend(n)
	return true
}

// Receive stores a packet of n blocks from lane vl and reports true, or
// discards it and reports false.
func (p *Port) Receive(vl uint8, n int64) bool {
	if vl == managementLane {
		return true
	}
	l := p.Lane(vl)
	if l == nil {
		return false
	}
	ok := l.Receive(n)
	p.overrun = p.overrun || !ok
	return ok
}

// FlowControl returns the flow control packet to send for lane vl at time now.
func (p *Port) FlowControl(vl uint8, now int64) FlowControl {
	l := &p.lanes[vl]
	l.sentAt = now
	return FlowControl{Init: !p.up(), VL: vl, FCTBS: l.FCTBS, FCCL: l.FCCL()}
}

// OnFlowControl takes a flow control packet of time now. A packet for a lane
// outside the port changes nothing.
func (p *Port) OnFlowControl(f FlowControl, now int64) {
	l := p.Lane(f.VL)
	if l == nil {
		return
	}
	l.heardAt = now
	l.Rx.OnFlowControl(f.FCTBS)
	l.Tx.OnFlowControl(f.FCCL)
}

// NextUpdate returns the lane whose flow control packet is due first, and the
// latest time to send.
func (p *Port) NextUpdate() (vl uint8, at int64) {
	for i := range p.lanes {
		if p.lanes[i].sentAt < p.lanes[vl].sentAt {
			vl = uint8(i)
		}
	}
	return vl, p.lanes[vl].sentAt + updatePeriod
}

// Alive reports whether a valid flow control packet for lane vl came within the
// last 400,000 symbol times. If not, the link must be re-initialised.
func (p *Port) Alive(vl uint8, now int64) bool {
	return now-p.lanes[vl].heardAt <= watchdogPeriod
}

// EndPeriod closes an update period and reports whether the link may stay up:
// false when the threshold of consecutive periods with an overrun is reached,
// and the link must be re-initialised.
func (p *Port) EndPeriod() bool {
	if p.overrun {
		p.bad++
	} else {
		p.bad = 0
	}
	p.overrun = false
	return p.bad < p.threshold
}

// SLToVL chooses the virtual lane of a packet from input port, output port and
// service level (0..15). The level never changes inside a subnet; the lane does
// from link to link. A port that the switch lacks panics. Safe for concurrent readers.
type SLToVL struct {
	ports int
	vl    []uint8 // [input][output][service level]
}

// serviceLevels is how many service levels there are.
const serviceLevels = 16

// NewSLToVL returns a table for a switch with the given number of ports and
// data lanes mapping service level s to lane s modulo lanes everywhere. The
// error wraps [ErrConfig].
func NewSLToVL(ports, lanes int) (*SLToVL, error) {
	err := cmp.Or(
		check.Range(ErrConfig, "number of ports", ports, 1, 255),
		check.Range(ErrConfig, "number of lanes", lanes, 1, MaxLanes),
	)
	if err != nil {
		return nil, err
	}
	m := &SLToVL{ports: ports, vl: make([]uint8, ports*ports*serviceLevels)}
	for i := range m.vl {
		m.vl[i] = uint8(i % serviceLevels % lanes)
	}
	return m, nil
}

// Set makes packets of service level sl from port in to port out take lane vl,
// or be dropped if vl is 15, the management lane.
func (m *SLToVL) Set(in, out int, sl, vl uint8) { *m.at(in, out, sl) = vl & 15 }

// Lane returns the lane of a packet, and false if it must be dropped.
func (m *SLToVL) Lane(in, out int, sl uint8) (vl uint8, ok bool) {
	vl = *m.at(in, out, sl)
	return vl, vl != managementLane
}

func (m *SLToVL) at(in, out int, sl uint8) *uint8 {
	if uint(out) >= uint(m.ports) { // else the entry of another input
		panic("cbfc: no such output port")
	}
	return &m.vl[(in*m.ports+out)*serviceLevels+int(sl%serviceLevels)]
}
