// SPDX-License-Identifier: Apache-2.0

package nscc

import (
	"cmp"
	"fmt"
	"math"
)

// Constants are the values a [Config] leads to, for logs and tests. Times
// are ticks.
type Constants struct {
	BDP          int64   // whole bytes of min(sender, receiver rate) x BaseRTT
	MaxWnd       int64   // bytes, ceiling of the window
	InitialCwnd  int64   // bytes
	ScalingA     float64 // BDP / 150,000
	ScalingB     float64 // TargetQdelay / 12 us
	TargetQdelay int64
	Alpha        float64 // proportional increase, bytes a second
	FairIncrease float64 // fi, bytes
	FastScale    float64 // fi_scale
	Eta          float64 // bytes
	Gamma        float64
	MaxMDJump    float64
	QAGateBytes  int64 // MaxWnd >> QAGate: less than this in a period allows a quick adapt
	QAThreshold  int64
	AdjustBytes  int64
	AdjustPeriod int64
	FastDelay    int64
	AckTrigger   int64

	alpha float64 // Alpha in bytes a tick, before it was rounded to bytes a second
}

// Params are the validated constants of a deployment, built once by [NewParams],
// shared by all windows, and never changed: safe for concurrent use.
type Params struct {
	// An ordinary acknowledgement needs the fields up to here and one quadrant: two cache
	// lines.
	usual        uint64 // below it an acknowledgement takes the short way; 0: none does
	target       int64
	targetAvg    float64 // target, to compare with the average
	gain, keep   float64 // 0 and 1 where Window.forget averages
	adjustBytes  int64
	adjustPeriod int64
	eta          float64
	quadrants    [quadrants]quadrant

	mtu         int64 // also the smallest window
	ackTrigger  int64
	ackAll      int64 // below a window of so much each packet asks for an acknowledgement, on paths that are not long
	qaThreshold int64
	qaGate      uint8
	qaOff       bool
	forgets     bool
	profile     Profile
	unit        timeUnit
	exact       bool // asks for the room that a packet takes, not for an MTU
	onlyFull    bool // only a window without room for an MTU grows
	rccc        bool
	shareOnly   bool
	fastScale   float64
	fastDelay   int64
	gamma       float64
	maxMDJump   float64
	baseRTT     int64
	maxWnd      int64
	initial     int64
	linkRate    int64
	alpha, fair float64 // alpha in bytes a tick
	targetPart  float64 // target by base round trip, of ProfileAdaptive
	burst       int64   // ticks that some packets of a burst take on the sender's link
	hostDelay   int64   // ticks, of ProfileAdaptive, see Config.HostDelay
	guess       bool    // the base round trip is one, see Config.Unmeasured
	unrated     bool    // and the link's rate, see Config.Unrated
	mostWnd     int64   // no ceiling of ProfileAdaptive is above
	begin       int64   // bytes, the first window of a transfer that Window.Begin takes for a middling one; 0: none is
	nominal     Constants
}

// MTU is the largest nominal packet and the smallest window, bytes.
func (p *Params) MTU() int64 { return p.mtu }

// MaxWnd is the ceiling of every window, bytes. With ProfileAdaptive and a guess (Config.Unmeasured, Config.Unrated)
// windows start with the ceiling, and may find a higher one: up to Tuning.MaxWnd if set, or [MaxWindow].
func (p *Params) MaxWnd() int64 { return p.maxWnd }

// BaseRTT is config_base_rtt, ticks.
func (p *Params) BaseRTT() int64 { return p.baseRTT }

// Profile is the reading the windows follow.
func (p *Params) Profile() Profile { return p.profile }

// Constants returns the derived values.
func (p *Params) Constants() Constants { return p.nominal }

// NewParams derives the constants of c, UE Specification 1.0.x tables 3-80 to
// 3-82. Errors wrap [ErrConfig] and name the field.
func NewParams(c Config) (Params, error) {
	if err := c.validate(); err != nil {
		return Params{}, err
	}
	c.Profile = cmp.Or(c.Profile, ProfileSpec)
	k := c.derive()
	rate := "LinkRate"
	if c.slowest() < c.LinkRate {
		rate = "ReceiverRate"
	}
	if k.MaxWnd > MaxWindow {
		return Params{}, bad(rate+" x BaseRTT x 1.5", k.MaxWnd, "at most 4 GiB")
	}
	if k.MaxWnd < c.MTU {
		want := fmt.Sprintf("at least MTU, %d (unless set MaxWnd is 1.5 x %s x BaseRTT)", c.MTU, rate)
		return Params{}, bad("MaxWnd", k.MaxWnd, want)
	}
	most := k.MaxWnd
	if c.Profile.htsim() { // the simulator comes down to the ceiling at the first acknowledgement
		most = MaxWindow
	}
	if k.InitialCwnd < c.MTU || k.InitialCwnd > most {
		return Params{}, bad("InitialCwnd", k.InitialCwnd, fmt.Sprintf("MTU to %d", most))
	}
	return c.params(k), nil
}

// derive fills the defaults of UE Specification 1.0.x, table 3-82.
func (c *Config) derive() Constants {
	t := &c.Tuning
	unit := float64(c.MTU) // that the increases count in
	if c.Profile.htsim() {
		unit -= htsimHeader
	}
	var k Constants
	bdp := startBDP(c.Profile, c.unit(), c.slowest(), c.BaseRTT)
	k.BDP = int64(bdp)
	k.MaxWnd, k.InitialCwnd = c.windows(bdp)
	k.TargetQdelay = cmp.Or(t.TargetQdelay, c.defaultTarget())
	k.ScalingA = bdp / baseBDP
	k.ScalingB = float64(k.TargetQdelay) / float64(c.unit().ticks(baseRTTNs))
	k.alpha = given(t.Alpha/float64(c.unit().perSecond()), 4*unit*k.ScalingA*k.ScalingB/float64(k.TargetQdelay))
	k.Alpha = k.alpha * float64(c.unit().perSecond())
	k.FairIncrease = given(t.FairIncrease, 5*unit*k.ScalingA)
	k.FastScale = given(t.FastScale, 0.25*k.ScalingA)
	k.Eta = given(t.Eta, 0.15*unit*k.ScalingA)
	k.Gamma = given(t.Gamma, 0.8)
	k.MaxMDJump = given(t.MaxMDJump, 0.5)
	k.QAGateBytes = k.MaxWnd >> c.qaGate()
	k.QAThreshold = given(t.QAThreshold, c.defaultQAThreshold(k.TargetQdelay))
	k.AdjustBytes = given(t.AdjustBytes, 8*c.MTU)
	k.AdjustPeriod = given(t.AdjustPeriod, c.BaseRTT)
	k.FastDelay = given(t.FastDelay, c.unit().ticks(fastDelayNs))
	k.AckTrigger = cmp.Or(c.AckTrigger, ackTrigger)
	return k
}

// slowest is the rate of the slower link of sender and receiver.
func (c *Config) slowest() int64 {
	if c.ReceiverRate == 0 {
		return c.LinkRate
	}
	return min(c.LinkRate, c.ReceiverRate)
}

// windows are MaxWnd and the first window. The adaptive profile has room for a few packets first, on long paths for more.
func (c *Config) windows(bdp float64) (most, first int64) {
	most, first = int64(1.5*bdp), math.MaxInt64
	if c.Profile == ProfileAdaptive {
		first = min(max(adaptiveFirst, int64(bdp)/adaptivePart/c.MTU), adaptiveBurst) * c.MTU
		most = max(most, adaptiveRoom*c.MTU)
	}
	most = cmp.Or(c.Tuning.MaxWnd, most)
	return most, cmp.Or(c.InitialCwnd, min(most, first))
}

// given is the value set, 0 if negative, or for an unset value the default or.
func given[T int64 | float64](set, or T) T {
	if set < 0 {
		return 0
	}
	return cmp.Or(set, or)
}

// startBDP is the product of rate and a configured or remembered rtt, bytes. The simulator
// takes whole bytes, and multiplies in a different order than in sampledBDP, so the two
// can differ by 1.
func startBDP(profile Profile, unit timeUnit, rate, rtt int64) float64 {
	if !profile.htsim() {
		return sampledBDP(profile, unit, rate, rtt)
	}
	return math.Trunc(float64(rtt) / float64(unit.perSecond()) * float64(rate))
}

// sampledBDP is the product of rate and a measured rtt, bytes.
func sampledBDP(profile Profile, unit timeUnit, rate, rtt int64) float64 {
	if !profile.htsim() {
		return float64(rate) * float64(rtt) / float64(unit.perSecond())
	}
	us := float64(rtt) / float64(unit.perSecond()/1e6)
	return math.Trunc(us * float64(8*rate) / 8_000_000)
}

// defaultTarget is the target queueing delay (target_qdelay) of table 3-82. Three quarters
// of a round trip are rounded up: a delay in whole ticks reaches the rounded value exactly
// when reaching the true value. The simulator cuts the fraction off.
func (c *Config) defaultTarget() int64 {
	switch target := 0.75 * float64(c.BaseRTT); {
	case !c.Trimming:
		return c.BaseRTT
	case !c.Profile.htsim():
		return int64(math.Ceil(target))
	default:
		return max(int64(target), 1)
	}
}

// defaultQAThreshold follows from a tail-drop threshold of 5 x Plane_BDP.
func (c *Config) defaultQAThreshold(target int64) int64 {
	switch {
	case c.Profile.htsim():
		return 4 * target
	case c.Trimming:
		return never
	default:
		return 4 * c.BaseRTT
	}
}

func (c *Config) qaGate() uint8 {
	switch {
	case c.Tuning.QAGate < 0:
		return 0
	case c.Tuning.QAGate == 0:
		return 3
	default:
		return uint8(c.Tuning.QAGate)
	}
}

// params lays the constants out for the hot path.
func (c *Config) params(k Constants) Params {
	p := Params{
		target: k.TargetQdelay, targetAvg: float64(k.TargetQdelay), fastDelay: k.FastDelay,
		adjustBytes: k.AdjustBytes, adjustPeriod: k.AdjustPeriod,
		mtu:  c.MTU,
		gain: recordedEMA, fastScale: k.FastScale, eta: k.Eta,
		forgets: c.ForgettingFilter, profile: c.Profile, unit: c.unit(),
		qaOff: c.Tuning.NoQuickAdapt, onlyFull: c.GrowOnlyFull, rccc: c.RCCC, shareOnly: c.PenaltyShareOnly, qaGate: c.qaGate(),
		qaThreshold: k.QAThreshold, gamma: k.Gamma, maxMDJump: k.MaxMDJump,
		baseRTT: c.BaseRTT, maxWnd: k.MaxWnd, initial: k.InitialCwnd,
		ackTrigger: k.AckTrigger, linkRate: c.LinkRate,
		alpha: k.alpha, fair: k.FairIncrease, nominal: k,
	}
	if c.Profile == ProfileAdaptive && c.InitialCwnd == 0 && k.InitialCwnd <= adaptiveFirst*c.MTU {
		p.begin = adaptiveBegin * c.MTU
	}
	if c.ForgettingFilter {
		p.gain = 0
	}
	p.keep = 1 - p.gain
	if c.Profile == ProfileAdaptive {
		p.ackAll = adaptiveAsks * k.AckTrigger
	}
	if c.Profile == ProfileSpec && !c.ForgettingFilter && !c.GrowOnlyFull {
		p.usual = usual
	}
	p.targetPart = float64(k.TargetQdelay) / float64(c.BaseRTT)
	p.burst = p.onLink(adaptiveFirst * c.MTU)
	p.exact, p.guess, p.unrated, p.hostDelay = c.Profile.htsim(), c.Unmeasured, c.Unrated, c.HostDelay
	if p.mostWnd = k.MaxWnd; c.Unmeasured || c.Unrated { // else a peer that answers late could raise it
		p.mostWnd = cmp.Or(c.Tuning.MaxWnd, MaxWindow)
	}
	p.quadrants = c.quadrants(k)
	return p
}
