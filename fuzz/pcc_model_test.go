// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/pcc"
)

// A modelZTR is our ZTR-RTT step by step in numbers of any length. The minimum, which
// may be remembered for one window or nearly two, is the other one's.
type modelZTR struct {
	rate            uint64
	sentAt, calm    uint32
	active          uint32
	backoff, wait   int
	out             bool // a probe
	nack, cnp, seen bool
}

// expected is the round trip that the rate may see: the minimum, the threshold, and
// alpha of it more for each time that the rate's root goes into that of the line.
func (m *modelZTR) expected(p *pcc.ZTRParams, minRTT uint32) uint64 {
	root := new(big.Int).Sqrt(new(big.Int).SetUint64(m.rate << 12)).Uint64()
	x := product(int64(p.Threshold), int64(p.Alpha), 1<<32/int64(root)-1<<16)
	x.Rsh(x, 32)
	x.Add(x, big.NewInt(int64(minRTT)+int64(p.Threshold)))
	if x.Cmp(big.NewInt(int64(p.MaxDelay))) > 0 {
		return uint64(p.MaxDelay)
	}
	return x.Uint64()
}

func (m *modelZTR) event(p *pcc.ZTRParams, e *pcc.Event, minRTT uint32) (probe bool) {
	if m.rate == 0 {
		*m = modelZTR{rate: uint64(p.NewFlow), sentAt: e.Time, calm: e.Time, active: e.Time, wait: 1}
		return true
	}
	switch e.Type {
	case pcc.EventTX:
		return m.burst(p, e)
	case pcc.EventRTT:
		m.sample(p, e, minRTT)
		m.out, m.backoff, m.wait = false, 0, 1
		return true
	case pcc.EventCNP:
		m.cnp = true
	case pcc.EventNACK:
		m.nack = true
	}
	return false
}

func (m *modelZTR) burst(p *pcc.ZTRParams, e *pcc.Event) (probe bool) {
	if e.Time-m.active > p.MaxDelay {
		m.seen = false // idle
	}
	m.active = e.Time
	if e.Flags&pcc.ProbeSent != 0 && !m.out {
		m.out, m.wait, m.sentAt = true, 0, e.Time
		return false
	}
	late := m.out && uint64(e.Time-m.sentAt) > 300_000<<m.backoff
	if !m.out {
		m.wait++
	}
	if !late && m.wait <= 2 {
		return false
	}
	if late {
		m.backoff = min(m.backoff+1, 13)
	}
	m.wait = 1
	return true
}

func (m *modelZTR) sample(p *pcc.ZTRParams, e *pcc.Event, minRTT uint32) {
	total, residence := e.Time-e.ReqSend, e.RespSend-e.ReqRecv
	rtt := uint64(0)
	if total > residence {
		rtt = uint64(total - residence)
	}
	target, severe, before := m.expected(p, minRTT), rtt >= uint64(p.MaxDelay), m.rate
	steps := func(n uint64) uint64 { return before * (65536 - n*(65536-uint64(p.MaxDec))) >> 16 }
	congested := rtt > target || m.cnp
	switch {
	case congested && !m.seen:
		m.seen = true
		if m.rate = uint64(p.First); before <= m.rate {
			m.rate = steps(1)
		}
	case m.nack && severe:
		m.rate, m.nack = steps(5), false
	case m.cnp || severe:
		m.rate = steps(2)
	case congested:
		m.rate = before * max(uint64(p.MaxDec), target<<16/rtt) >> 16
	default:
		m.rate += uint64(p.AI)
		if e.Time-m.calm >= p.HAIPeriod {
			m.rate, m.calm = m.rate+uint64(p.HAI), e.Time
		}
	}
	if m.rate < before {
		m.calm = e.Time
	}
	m.rate = min(max(m.rate, uint64(p.MinRate)), uint64(pcc.LineRate))
	m.cnp = false
}

// Any events, in order or not, with any parameters that are allowed.
func TestZTRAgainstModel(t *testing.T) {
	moved := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		p := drawZTRParams(r)
		var f pcc.ZTR
		var m modelZTR
		now := r.Uint32()
		for op := range 2000 {
			e := drawZTREvent(r, &now)
			before := f.Rate
			got := f.OnEvent(&p, &e)
			probe := m.event(&p, &e, f.MinRTT)
			want := pcc.Decision{Rate: pcc.Rate(m.rate), Probe: probe}
			if got != want || f.SentAt != m.sentAt || f.InFlight != m.out || int(f.Backoff) != m.backoff || int(f.Wait) != m.wait {
				t.Fatalf("seed %d, event %d: %+v and %+v, want %+v and %+v\n%+v\n%+v", seed, op, got, f, want, m, e, p)
			}
			if f.Rate != before {
				moved++
			}
		}
	}
	require.Greater(t, moved, 50_000)
}

func drawZTRParams(r *rand.Rand) pcc.ZTRParams {
	p := pcc.DefaultZTRParams()
	if r.IntN(3) == 0 {
		return p
	}
	const line = uint32(pcc.LineRate)
	p.Alpha = oneOf(r, 0, 65536, r.Uint32N(65537))
	p.MaxDec = oneOf(r, 52_429, 65_536, 52_429+r.Uint32N(13_108))
	p.AI, p.HAI = pcc.Rate(oneOf(r, 1, line, 1+r.Uint32N(line))), pcc.Rate(oneOf(r, 0, line, r.Uint32N(line)))
	p.HAIPeriod, p.MinWindow = oneOf(r, 1, ^uint32(0), 1+r.Uint32N(400_000)), oneOf(r, 1, ^uint32(0), 1+r.Uint32N(300_000))
	p.Threshold, p.MaxDelay = oneOf(r, 1, ^uint32(0), 1+r.Uint32N(50_000)), oneOf(r, 1, ^uint32(0), 1+r.Uint32N(300_000))
	least := oneOf(r, 1, 64, line, 1+r.Uint32N(line))
	p.MinRate, p.NewFlow, p.First = pcc.Rate(least), pcc.Rate(least+r.Uint32N(line-least+1)), pcc.Rate(least+r.Uint32N(line-least+1))
	return p
}

// drawZTREvent lets the clock creep, jump and step back.
func drawZTREvent(r *rand.Rand, now *uint32) pcc.Event {
	*now += oneOf(r, 0, r.Uint32N(200_000), r.Uint32N(200_000), r.Uint32N(2_000_000), -r.Uint32N(1000), r.Uint32())
	e := pcc.Event{
		Type:  oneOf(r, pcc.EventTX, pcc.EventTX, pcc.EventRTT, pcc.EventRTT, pcc.EventRTT, pcc.EventCNP, pcc.EventNACK, pcc.EventACK, pcc.EventTXForAckNack),
		Flags: uint8(r.Uint32()), Time: *now,
	}
	if e.Type == pcc.EventRTT {
		e.ReqSend = *now - oneOf(r, 0, 13_001, 250_000, 250_600, r.Uint32N(20_000), r.Uint32N(300_000), r.Uint32())
		e.ReqRecv = oneOf(r, e.ReqSend+r.Uint32N(20_000), r.Uint32())
		e.RespSend = e.ReqRecv + oneOf(r, 0, 600, r.Uint32N(20_000), r.Uint32())
	}
	return e
}
