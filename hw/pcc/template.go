// SPDX-License-Identifier: Apache-2.0

package pcc

import (
	"cmp"
	"errors"

	"github.com/uetcc/uetcc/internal/check"
)

// Constants of the sample algorithm.
const (
	initialMinRTT = 200000 // ns
	highUse       = 55704  // utilisation above which decreases double: 0.85 in fxp16
	one           = 1 << 16
)

// ErrConfig is wrapped by the errors of Validate, with the parameter's name.
var ErrConfig = errors.New("pcc: invalid configuration")

// TemplateParams are the parameters of [Template]. Get them from
// [DefaultTemplateParams] and check changes with [TemplateParams.Validate]; a
// running port takes a new set as a whole. Read-only while flows use it.
type TemplateParams struct {
	UpdateFactor uint32 // fxp16, step of a decrease: 1..6,553
	AI           Rate   // step of an increase: 1..[LineRate]
	Threshold    uint32 // ns above the minimum that the delay may have: >= 1
	NewFlowRate  Rate   // MinRate..[LineRate]
	MinRate      Rate   // 1..[LineRate]
	MaxDelay     uint32 // ns, round trip that counts as severe: >= 1
	OneWay       bool   // clocks are synchronised: judge the way there, not the round trip
}

// DefaultTemplateParams returns the sample's defaults.
func DefaultTemplateParams() TemplateParams {
	return TemplateParams{
		UpdateFactor: 6553, AI: 52428, Threshold: 13000,
		NewFlowRate: LineRate, MinRate: 64, MaxDelay: 150000,
	}
}

// Validate reports the first parameter out of its range; the error wraps [ErrConfig].
// The device accepts update factors up to 655,360, but above 6,553 the strongest
// decrease is negative and wraps around to an increase.
func (p *TemplateParams) Validate() error {
	return cmp.Or(
		check.Range(ErrConfig, "UpdateFactor", p.UpdateFactor, 1, 6553),
		check.Range(ErrConfig, "AI", p.AI, 1, LineRate),
		check.AtLeast(ErrConfig, "Threshold", p.Threshold, 1),
		check.AtLeast(ErrConfig, "MaxDelay", p.MaxDelay, 1),
		check.Range(ErrConfig, "MinRate", p.MinRate, 1, LineRate),
		check.Range(ErrConfig, "NewFlowRate", p.NewFlowRate, p.MinRate, LineRate),
	)
}

// Template is a flow's context under NVIDIA's sample algorithm (doca-samples
// 3.3.0, rtt_template), reproduced with its peculiarities: the clock that loses
// a nanosecond at its wrap, the minimum forgotten whenever a time ends in
// a zero byte, the first sample of a minimum judged by its absolute
// length. The zero value is a flow never seen; the fields are for reading.
// Single writer.
type Template struct {
	Rate   Rate   // 0: never seen
	RTT    uint32 // ns, last sample
	MinRTT uint32 // ns, smallest sample learnt
	Probe
	Nack bool // a NACK came since the last one was consumed
	CNP  bool // a CNP came since the last one was consumed
}

// TemplateCounters count events over the flows of a port. Single writer.
type TemplateCounters struct{ TX, RTT uint32 }

// OnEvent takes an event and returns the flow's rate. The first event ever, of
// whatever type, only starts the flow.
//
//uetcc:hot nobounds
func (f *Template) OnEvent(p *TemplateParams, e *Event, n *TemplateCounters) Decision {
	if f.Rate == 0 {
		f.Rate, f.MinRTT = p.NewFlowRate, initialMinRTT
		f.Probe = Probe{SentAt: e.Time, Wait: 1}
		return Decision{f.Rate, true}
	}
	switch e.Type {
	case EventTX:
		n.TX++
		return Decision{f.Rate, f.onTX(e, lossySince(e.Time, f.SentAt))}
	case EventRTT:
		n.RTT++
		f.onRTT(p, e)
		return Decision{f.Rate, true}
	case EventCNP:
		f.CNP = true
	case EventNACK:
		f.Nack = true
	}
	return Decision{Rate: f.Rate}
}

// onRTT takes a sample and moves the rate one step.
//
//uetcc:hot nobounds
func (f *Template) onRTT(p *TemplateParams, e *Event) {
	end := e.Time
	if p.OneWay {
		end = e.ReqRecv
	}
	f.onAnswer()
	f.RTT = lossySince(end, e.ReqSend)
	if end&0xff == 0 {
		f.MinRTT = initialMinRTT
	}
	f.Rate = min(max(f.next(p, e.Utilisation > highUse), p.MinRate), LineRate)
}

// next returns the rate that follows from the last sample, before clamping.
// A notification waits for a sample; many between two samples count once.
//
//uetcc:hot nobounds
func (f *Template) next(p *TemplateParams, busy bool) Rate {
	u := fxp16(p.UpdateFactor)
	if busy {
		u *= 2
	}
	severe := f.RTT >= p.MaxDelay
	switch {
	case f.Nack && severe:
		f.Nack = false
		return f.Rate.mul(one - 5*u)
	case f.CNP || severe:
		f.CNP = false
		return f.Rate.mul(one - 2*u)
	}
	excess := f.RTT
	if f.RTT >= f.MinRTT {
		excess -= f.MinRTT
	} else {
		f.MinRTT = f.RTT
	}
	if excess > p.Threshold {
		return f.Rate.mul(one - u)
	}
	return f.Rate + p.AI
}

// lossySince returns now - then as the sample does: a nanosecond short when the
// clock passed zero in between.
func lossySince(now, then uint32) uint32 {
	d := now - then
	if now < then {
		d--
	}
	return d
}
