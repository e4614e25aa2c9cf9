// SPDX-License-Identifier: Apache-2.0

package nscc

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/enum"
)

// ErrConfig is wrapped by every error of [NewParams].
var ErrConfig = errors.New("nscc: invalid configuration")

// Limits of [Config]. With these limits no sum or product of the package overflows,
// whatever a peer sends.
const (
	maxMTU    int64 = 1 << 16   // largest nominal packet, bytes
	MaxWindow int64 = 1<<32 - 1 // largest window, bytes
	maxRate   int64 = 1 << 42   // largest link rate, bytes a second (35 Tb/s)
	maxRTTSec       = 60        // largest base round trip, seconds
	maxShift        = 62        // largest QAGate
)

// Constants of the formulas.
const (
	baseBDP     = 150_000        // Base_BDP, bytes: 100 Gb/s x 12 us
	baseRTTNs   = 12_000         // the round trip of Base_BDP
	htsimHeader = 64             // the recorded simulator's header, bytes
	recordedEMA = 0.0125         // weight of one sample in the delay average
	fastDelayNs = 1_000          // "delay about zero", see Tuning.FastDelay
	ackTrigger  = 16 << 10       // ACK_Gen_Trigger, bytes
	second      = int64(1e9)     // nanoseconds a second
	psSecond    = 1000 * second  // picoseconds a second
	never       = int64(1) << 62 // a delay that no sample reaches
)

// Profile is the reading of the algorithm that a window follows.
type Profile uint8

const (
	// ProfileDefault is ProfileSpec here; an Endpoint of package uetcc takes the profile
	// suited to the network.
	ProfileDefault Profile = iota
	// ProfileSpec is UE Specification 1.0.x.
	ProfileSpec
	// ProfileHTSim is the computation of the simulator htsim (uec.cpp, August 2025), with
	// truncations, strict comparisons and a wrapping 32-bit increase accumulator. The
	// destination's penalty is ignored.
	//
	// ProfileHTSim needs exact counts of received bytes. The rounding of rcvd_bytes can
	// take bytes in flight below zero, and then a quick adapt ignores marks for four
	// billion bytes, in the simulator too. Report the sizes of the packets under an
	// acknowledgement, as package internal/pdc does, not what [RcvdTracker.Advance] returns;
	// with only Advance use ProfileSpec.
	ProfileHTSim
	// ProfileHTSimWide is ProfileHTSim with the accumulator widened to 64 bits.
	ProfileHTSimWide
	// ProfileAdaptive is for unmeasured networks that drop instead of trimming, maybe
	// without marks: see the package's documentation.
	ProfileAdaptive
)

var profileNames = [...]string{"default", "spec", "htsim", "htsim-wide", "adaptive"}

// String is default, spec, htsim, htsim-wide or adaptive.
func (p Profile) String() string { return enum.Name(profileNames[:], p) }

// htsim reports whether p is a profile of the simulator.
func (p Profile) htsim() bool { return p == ProfileHTSim || p == ProfileHTSimWide }

// timeUnit is the length of one tick: the unit of all times and round trips of a window.
type timeUnit uint8

const (
	nanoseconds timeUnit = iota
	picoseconds
)

func (c *Config) unit() timeUnit {
	if c.Picoseconds {
		return picoseconds
	}
	return nanoseconds
}

// perSecond is the number of ticks in a second.
func (u timeUnit) perSecond() int64 {
	if u == picoseconds {
		return psSecond
	}
	return second
}

// ticks converts nanoseconds.
func (u timeUnit) ticks(ns int64) int64 { return ns * (u.perSecond() / second) }

// Config describes a fabric and the choices of a deployment. The zero value of a
// field is the field's default; LinkRate, BaseRTT and MTU have none.
type Config struct {
	LinkRate     int64 // the sender's, bytes a second, 1 to 2^42
	ReceiverRate int64 // bytes a second; 0: not known, the sender's
	BaseRTT      int64 // config_base_rtt, ticks, 1 to 60 s: longest path, idle network, one MTU
	MTU          int64 // largest nominal packet, bytes, 65 to 65,536 and to MaxWnd
	Trimming     bool  // switches trim packets instead of dropping them
	Unmeasured   bool  // BaseRTT is a guess: ProfileAdaptive takes the first sample instead
	Unrated      bool  // LinkRate is a guess: windows of ProfileAdaptive lift their ceiling while nothing is late
	RCCC         bool  // receiver credits are on too: last-hop trims are theirs

	// HostDelay is how long packets wait for software at both ends, ticks: ProfileAdaptive cuts a
	// window only for more delay, and the window's ceiling has room for the bytes that wait. 0
	// suits ends in hardware.
	HostDelay int64

	// InitialCwnd is the first window in bytes; 0: MaxWnd. Small values (10 to 32 KB, a few
	// MTU) soften an incast's first round trip. In the htsim profiles InitialCwnd may be
	// above MaxWnd, until the first acknowledgement or trim.
	InitialCwnd int64

	// AckTrigger is the ACK_Gen_Trigger of the destination, bytes; 0: 16 KiB.
	AckTrigger int64

	// GrowOnlyFull lets a window grow only if without room for an MTU when the
	// acknowledgement came. Otherwise a context whose sender is slower than the network, as
	// in an outcast, reaches MaxWnd on good news alone and may then send the whole window
	// at once; the specification leaves the question open. The htsim profiles lack the
	// rule.
	GrowOnlyFull bool

	// ForgettingFilter moves the average queueing delay, for the multiplicative decrease, by the
	// share of a base round trip passed since the last sample: the rule of the ns-3 model.
	// Otherwise, as in htsim, the average moves by 1/80 of the difference to each sample, and
	// takes a quarter of the base round trip instead of an unmarked sample above target, since
	// the queue behind is draining. The specification leaves the rule to the implementation.
	ForgettingFilter bool

	// PenaltyShareOnly cuts the window by rcv_cwnd_pend (apply_cwnd_penalty) as in the text of
	// the specification: only the penalty is taken off, so 64 on every acknowledgement of a
	// round trip halves the window. Otherwise, as in the pseudo-code, the window first falls to
	// the bytes in flight: a full window stops at the first penalised acknowledgement.
	PenaltyShareOnly bool

	Picoseconds bool // a tick is a picosecond, for simulators, instead of a nanosecond
	Profile     Profile
	Tuning      Tuning
}

// Tuning overrides constants derived by [NewParams]. Zero keeps the derived value given
// with each field (UE Specification 1.0.x, table 3-82); to set a constant to zero write -1,
// except for MaxWnd and TargetQdelay, never zero. Bytes are at most [MaxWindow], times 60
// s, but for QAThreshold, and Alpha 2^42.
type Tuning struct {
	MaxWnd       int64   // max_wnd, bytes: 1.5 x BDP
	TargetQdelay int64   // target_qdelay, ticks: 0.75 x BaseRTT with trimming, else BaseRTT
	FairIncrease float64 // fi, bytes: 5 x MTU x scaling_a
	FastScale    float64 // fi_scale: 0.25 x scaling_a
	Eta          float64 // bytes: 0.15 x MTU x scaling_a; see AdditiveStep
	Gamma        float64 // up to 1: 0.8
	MaxMDJump    float64 // max_md_jump, smallest factor of one decrease, up to 1: 0.5
	AdjustBytes  int64   // adjust_bytes_threshold, bytes: 8 x MTU
	AdjustPeriod int64   // adjust_period_threshold, ticks: BaseRTT

	// Alpha is the factor of the proportional increase, bytes a second: 4 x MTU x scaling_a
	// / 12 us. On a path of 12 us a round trip without queueing delay adds a tenth of a
	// bandwidth-delay product; on longer paths as much for each 12 us of TargetQdelay, so
	// with a millisecond the first acknowledgement after a loss brings the window back to
	// the ceiling. For a tenth on any path set 4 x MTU x scaling_a / TargetQdelay.
	Alpha float64

	// FastDelay is the queueing delay still counted as none, ticks: 1 us. The
	// specification says "about zero"; htsim and ns-3 take 1 us.
	FastDelay int64

	// QAGate is qa_gate, the shift of the quick adapt's gate, achieved < MaxWnd >> QAGate, up to
	// 62: 3. -1 is a shift of 0.
	QAGate int

	// QAThreshold is the delay (qa_threshold) that asks for a quick adapt, ticks, up to
	// 2^62, never reached. Without trimming 4 x BaseRTT; with trimming 2^62, since trims
	// ask (htsim: 4 x the target in both cases).
	QAThreshold int64

	// NoQuickAdapt is disable_quick_adapt.
	NoQuickAdapt bool
}

// bad is the error of a field no range describes.
func bad(field string, value any, want string) error {
	return fmt.Errorf("%w: %s is %v, want %s", ErrConfig, field, value, want)
}

// validate checks the caller's values, before any derivation.
func (c *Config) validate() error {
	maxRTT := maxRTTSec * c.unit().perSecond()
	err := cmp.Or(
		check.Range(ErrConfig, "Profile", c.Profile, 0, ProfileAdaptive),
		check.Range(ErrConfig, "LinkRate", c.LinkRate, 1, maxRate),
		check.Range(ErrConfig, "ReceiverRate", c.ReceiverRate, 0, maxRate),
		check.Range(ErrConfig, "BaseRTT", c.BaseRTT, 1, maxRTT),
		check.Range(ErrConfig, "HostDelay", c.HostDelay, 0, maxRTT),
		check.Range(ErrConfig, "MTU", c.MTU, htsimHeader+1, maxMTU),
		check.Range(ErrConfig, "InitialCwnd", c.InitialCwnd, 0, MaxWindow),
		check.Range(ErrConfig, "AckTrigger", c.AckTrigger, 0, MaxWindow),
		c.Tuning.validate(maxRTT),
	)
	switch {
	case err != nil:
		return err
	case c.Profile.htsim() && c.GrowOnlyFull:
		return bad("GrowOnlyFull", true, "false in the htsim profiles")
	case c.Profile.htsim() && c.ForgettingFilter:
		return bad("ForgettingFilter", true, "false in the htsim profiles")
	}
	return nil
}

func (t *Tuning) validate(maxRTT int64) error {
	return cmp.Or(
		check.Range(ErrConfig, "Tuning.MaxWnd", t.MaxWnd, 0, MaxWindow),
		check.Range(ErrConfig, "Tuning.TargetQdelay", t.TargetQdelay, 0, maxRTT),
		check.Range(ErrConfig, "Tuning.Alpha", t.Alpha, -1, float64(maxRate)),
		check.Range(ErrConfig, "Tuning.FairIncrease", t.FairIncrease, -1, float64(MaxWindow)),
		check.Range(ErrConfig, "Tuning.FastScale", t.FastScale, -1, float64(MaxWindow)),
		check.Range(ErrConfig, "Tuning.Eta", t.Eta, -1, float64(MaxWindow)),
		check.Range(ErrConfig, "Tuning.Gamma", t.Gamma, -1, 1),
		check.Range(ErrConfig, "Tuning.MaxMDJump", t.MaxMDJump, -1, 1),
		check.Range(ErrConfig, "Tuning.AdjustBytes", t.AdjustBytes, -1, MaxWindow),
		check.Range(ErrConfig, "Tuning.AdjustPeriod", t.AdjustPeriod, -1, maxRTT),
		check.Range(ErrConfig, "Tuning.FastDelay", t.FastDelay, -1, maxRTT),
		check.Range(ErrConfig, "Tuning.QAGate", t.QAGate, -1, maxShift),
		check.Range(ErrConfig, "Tuning.QAThreshold", t.QAThreshold, -1, never),
	)
}

// AdditiveStep is the additive increase of a round trip in the reading with
// Base_BDP divided (150,000 bytes, the same for every link rate) by a power of
// two: 146.484375 bytes for 1024. UE Specification 1.0.x has no such function; to
// use the step, set [Tuning.Eta].
func AdditiveStep(shift uint) float64 {
	return baseBDP / float64(uint64(1)<<min(shift, 63))
}
