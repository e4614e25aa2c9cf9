// SPDX-License-Identifier: Apache-2.0

// Package iblink models one InfiniBand link under credit-based flow control: the effect
// of receive buffer, lost packets, lost updates and the number of virtual lanes on
// throughput.
//
// Time is slotted: a slot carries one packet of 4,160 bytes (65 blocks). Data and
// flow control packets of a direction share the wire, first in first out.
package iblink

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/uetcc/uetcc/hw/cbfc"
	"github.com/uetcc/uetcc/internal/check"
)

// Blocks is the cost of a packet.
const Blocks = (4160 + cbfc.BlockSize - 1) / cbfc.BlockSize

// ErrConfig is wrapped by the errors of [Run].
var ErrConfig = errors.New("iblink: invalid configuration")

// Config describes a run.
type Config struct {
	Lanes      int       // data lanes
	Buffer     int64     // receive buffer of a lane, blocks
	Delay      int       // one way, slots
	Update     int       // slots between flow control packets of a lane
	DataLoss   float64   // probability that a data packet is lost
	CreditLoss float64   // probability that a flow control packet is lost
	Drain      []float64 // packets a slot that the receiver forwards, for each service level
	Slots      int
	Seed       uint64
}

// Result is the outcome of a run.
type Result struct {
	Share       []float64 // of the line, forwarded for each service level
	MaxOccupied int64     // blocks in a lane's receive buffer
	Overruns    int64     // packets that found no room: always 0
	Lost        int       // data packets lost on the wire
	Leaked      int64     // blocks of credit missing after a last exchange: always 0
}

// item is on a wire.
type item struct {
	at int // slot of arrival
	fc *cbfc.FlowControl
	vl uint8
	sl uint8
}

type model struct {
	cfg  Config
	r    *rand.Rand
	a, b *cbfc.Port
	sl   *cbfc.SLToVL
	wire []item // a to b
	back []item // b to a
	held [cbfc.MaxLanes][]uint8
	due  []float64 // packets that a service level's sink may take
	out  []int
	turn int
	res  Result
}

func newModel(cfg Config) (*model, error) {
	levels := len(cfg.Drain)
	m := &model{
		cfg: cfg, r: rand.New(rand.NewPCG(cfg.Seed, 1)), due: make([]float64, levels), out: make([]int, levels),
	}
	buffers := slices.Repeat([]int64{cfg.Buffer}, cfg.Lanes)
	var errA, errB, errSL error
	m.a, errA = cbfc.NewPort(buffers, overrunErrors)
	m.b, errB = cbfc.NewPort(buffers, overrunErrors)
	m.sl, errSL = cbfc.NewSLToVL(1, cfg.Lanes)
	if err := cmp.Or(errA, errB, errSL); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return m, nil
}

// overrunErrors is the number of periods with an overrun that end the link, never
// reached.
const overrunErrors = 4

// Run runs the model: every service level has packets to send all the time. Errors wrap
// [ErrConfig] and name the field.
func Run(cfg Config) (Result, error) {
	err := cmp.Or(
		check.Range(ErrConfig, "Lanes", cfg.Lanes, 1, cbfc.MaxLanes),
		check.AtLeast(ErrConfig, "Delay", cfg.Delay, 1),
		check.AtLeast(ErrConfig, "Update", cfg.Update, 1),
		check.AtLeast(ErrConfig, "Slots", cfg.Slots, 1),
		check.Range(ErrConfig, "number of service levels", len(cfg.Drain), 1, 16),
	)
	if err != nil {
		return Result{}, err
	}
	m, err := newModel(cfg)
	if err != nil {
		return Result{}, err
	}
	for slot := range cfg.Slots {
		m.step(slot)
	}
	m.settle()
	for _, n := range m.out {
		m.res.Share = append(m.res.Share, float64(n)/float64(cfg.Slots))
	}
	return m.res, nil
}

// step lets a slot pass.
func (m *model) step(slot int) {
	m.arrive(slot)
	m.drain()
	m.send(slot)
	for vl := range uint8(m.cfg.Lanes) {
		if (slot+int(vl))%m.cfg.Update == 0 {
			m.exchange(vl, slot)
		}
	}
}

// exchange sends a flow control packet each way.
func (m *model) exchange(vl uint8, slot int) {
	toB, toA := m.a.FlowControl(vl, int64(slot)), m.b.FlowControl(vl, int64(slot))
	m.wire = append(m.wire, item{at: slot + m.cfg.Delay, fc: &toB, vl: vl})
	m.back = append(m.back, item{at: slot + m.cfg.Delay, fc: &toA, vl: vl})
}

// send sends one packet: of the next service level whose lane has credit.
func (m *model) send(slot int) {
	for range m.cfg.Drain {
		sl := uint8(m.turn)
		m.turn = (m.turn + 1) % len(m.cfg.Drain)
		vl, _ := m.sl.Lane(0, 0, sl)
		if m.a.Send(vl, Blocks) {
			m.wire = append(m.wire, item{at: slot + m.cfg.Delay, vl: vl, sl: sl})
			return
		}
	}
}

// arrive takes the arrivals at either end, or loses it.
func (m *model) arrive(slot int) {
	for len(m.wire) > 0 && m.wire[0].at <= slot {
		it := m.wire[0]
		m.wire = m.wire[1:]
		switch {
		case it.fc != nil:
			if m.r.Float64() >= m.cfg.CreditLoss {
				m.b.OnFlowControl(*it.fc, int64(slot))
			}
		case m.r.Float64() < m.cfg.DataLoss:
			m.res.Lost++
		case m.b.Receive(it.vl, Blocks):
			m.held[it.vl] = append(m.held[it.vl], it.sl)
			m.res.MaxOccupied = max(m.res.MaxOccupied, m.b.Lane(it.vl).Occupied)
		default:
			m.res.Overruns++
		}
	}
	for len(m.back) > 0 && m.back[0].at <= slot {
		it := m.back[0]
		m.back = m.back[1:]
		if m.r.Float64() >= m.cfg.CreditLoss {
			m.a.OnFlowControl(*it.fc, int64(slot))
		}
	}
}

// drain forwards packets from the head of each lane's buffer, at the speed of the
// service level's sink: a slow sink blocks the whole lane.
func (m *model) drain() {
	for sl, rate := range m.cfg.Drain {
		m.due[sl] = min(m.due[sl]+rate, 1)
	}
	for vl := range m.held {
		for len(m.held[vl]) > 0 && m.due[m.held[vl][0]] >= 1 {
			sl := m.held[vl][0]
			m.held[vl] = m.held[vl][1:]
			m.due[sl]--
			m.out[sl]++
			m.b.Lane(uint8(vl)).Release(Blocks)
		}
	}
}

// settle empties wires and buffers and lets one packet each way through: nothing
// may have leaked.
func (m *model) settle() {
	m.cfg.CreditLoss, m.cfg.DataLoss = 0, 0
	end := m.cfg.Slots + 2*m.cfg.Delay
	m.arrive(end)
	for vl := range uint8(m.cfg.Lanes) {
		lane := m.b.Lane(vl)
		lane.Release(lane.Occupied)
		m.b.OnFlowControl(m.a.FlowControl(vl, 0), 0)
		m.a.OnFlowControl(m.b.FlowControl(vl, 0), 0)
		m.res.Leaked += min(cbfc.MaxGrant, m.cfg.Buffer) - int64(m.a.Lane(vl).Credits())
	}
}
