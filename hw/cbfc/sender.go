// SPDX-License-Identifier: Apache-2.0

package cbfc

import (
	"cmp"

	"github.com/uetcc/uetcc/internal/check"
)

// maxVCs is the largest number of virtual channels of a port.
const maxVCs = 32

// Counters of UE CBFC are cyclic with 20 bits.
const counterMask = 1<<20 - 1

// SenderVC is the sending side of a virtual channel.
type SenderVC struct {
	Consumed uint32 // S_CC, modulo 2^20: the content of the channel's CC_Updates
	Freed    uint32 // S_CF: the newest total heard, modulo 2^20
	Limit    int64  // S_CL
}

// InUse returns S_CU = (S_CC - S_CF) mod 2^20.
func (v SenderVC) InUse() int64 { return int64((v.Consumed - v.Freed) & counterMask) }

// Sender is the sending side of a UE CBFC link: virtual channels under a shared
// limit. Single writer.
type Sender struct {
	VCs   []SenderVC // to read
	InUse int64      // S_CU_p, the credits in use by all channels; to read
	limit int64      // S_CL_p, 0 for none, as [NewSender] was told
}

// NewSender returns a sender with a channel for each element of limits (S_CL,
// 0..2^20-1 credits) under a port limit (S_CL_p, up to 2^20-1; 0 for none). Errors
// wrap [ErrConfig].
func NewSender(limits []int64, portLimit int64) (*Sender, error) {
	err := cmp.Or(
		check.Range(ErrConfig, "number of channels", len(limits), 1, maxVCs),
		check.Range(ErrConfig, "port limit", portLimit, 0, counterMask),
	)
	if err != nil {
		return nil, err
	}
	s := &Sender{VCs: make([]SenderVC, len(limits)), limit: portLimit}
	for i, l := range limits {
		if err := check.Range(ErrConfig, "limit", l, 0, counterMask); err != nil {
			return nil, err
		}
		s.VCs[i].Limit = l
	}
	return s, nil
}

func (s *Sender) vc(vc int) *SenderVC {
	if uint(vc) >= uint(len(s.VCs)) {
		return nil
	}
	return &s.VCs[vc]
}

// CanSend reports whether a frame of the given cost may start on channel vc.
//
//uetcc:hot inlines
func (s *Sender) CanSend(vc int, credits int64) bool {
	v := s.vc(vc)
	return v != nil && credits >= 0 && credits <= v.Limit-v.InUse() &&
		(s.limit == 0 || credits <= s.limit-s.InUse)
}

// OnSend counts a frame of the given cost as sent on channel vc. Only after
// [Sender.CanSend].
//
//uetcc:hot inlines
func (s *Sender) OnSend(vc int, credits int64) {
	v := &s.VCs[vc]
	v.Consumed = (v.Consumed + uint32(credits)) & counterMask
	s.InUse += credits
}

// OnCFUpdate takes the R_CF a CF_Update carries for channel vc, all 20 bits: of an ordered
// set of package llr, which has the low 15, see VCCount there. The value is absolute. A value
// above the credits in use comes from a faulty or restarted receiver, changes nothing, and
// returns false.
//
//uetcc:hot inlines
func (s *Sender) OnCFUpdate(vc int, freed uint32) bool {
	v := s.vc(vc)
	if v == nil {
		return false
	}
	d := int64((freed - v.Freed) & counterMask)
	if d > v.InUse() {
		return false
	}
	s.InUse -= d
	v.Freed = freed & counterMask
	return true
}

// Up starts channel vc afresh with all counters at the value start (0 on a real
// link) and the given limit; the receiver must do the same before data flows. A limit
// outside of 0..2^20-1 counts as the nearest limit: the counters can tell no more
// apart. A limit of 0 takes the channel out of service, whose queue must have drained.
func (s *Sender) Up(vc int, start uint32, limit int64) {
	s.InUse -= s.VCs[vc].InUse()
	limit = min(max(limit, 0), counterMask)
	s.VCs[vc] = SenderVC{Consumed: start & counterMask, Freed: start & counterMask, Limit: limit}
}

// Cost computes the credits of a frame. Both ends must use the same values.
type Cost struct {
	CreditSize int64 // bytes of a credit, 1 or more: 0 is no default here
	Overhead   int64 // bytes added to each frame, -16..127
}

// Validate reports a value out of its range; the error wraps [ErrConfig].
func (c Cost) Validate() error {
	return cmp.Or(
		check.AtLeast(ErrConfig, "CreditSize", c.CreditSize, 1),
		check.Range(ErrConfig, "Overhead", c.Overhead, -16, 127),
	)
}

// Credits returns the cost of a frame: (bytes + overhead) / credit size, rounded
// up, and at least 1.
//
//uetcc:hot inlines
func (c Cost) Credits(bytes int64) int64 {
	return max(1, (bytes+c.Overhead+c.CreditSize-1)/c.CreditSize)
}

// Receiver is the receiving side of one virtual channel. The zero value is a
// channel that was just brought up. Single writer.
type Receiver struct {
	Consumed uint32 // R_CC: credits of frames that arrived, modulo 2^20; to read
	Freed    uint32 // R_CF, modulo 2^20: the content of a CF_Update; to read
}

// OnFrame counts a stored frame of the given cost.
//
//uetcc:hot inlines nobounds
func (r *Receiver) OnFrame(credits int64) { r.Consumed = (r.Consumed + uint32(credits)) & counterMask }

// OnDrain counts a frame of the given cost as drained from the buffer.
func (r *Receiver) OnDrain(credits int64) { r.Freed = (r.Freed + uint32(credits)) & counterMask }

// OnCCUpdate takes the S_CC a CC_Update carries for the channel and returns
// the credits of lost frames, freed thereby. A CC_Update must not
// overtake frames of its channel: overtaken frames would be freed twice until
// the next CC_Update.
//
//uetcc:hot inlines nobounds
func (r *Receiver) OnCCUpdate(consumed uint32) (lost int64) {
	d := (consumed - r.Consumed) & counterMask
	r.Freed = (r.Freed + d) & counterMask
	r.Consumed = consumed & counterMask
	return int64(d)
}

// Held returns the credits of frames in the buffer.
func (r *Receiver) Held() int64 { return int64((r.Consumed - r.Freed) & counterMask) }

// Up starts the channel afresh with both counters at start.
func (r *Receiver) Up(start uint32) { r.Consumed, r.Freed = start&counterMask, start&counterMask }

// What NewSpacing takes for 0.
const (
	defaultCFMin    = 6400       // bytes of line time between CF_Updates, at least
	defaultCFMax    = 262144     // bytes of line time between CF_Updates, at most
	defaultCCPeriod = 256 * 1000 // nanoseconds between CC_Updates
)

// Spacing decides when messages leave: CF_Updates by line time, counted in
// bytes, CC_Updates by the clock. Single writer.
type Spacing struct {
	cfMin, cfMax int64
	ccPeriod     int64
	cfAt         int64 // line time of the last CF_Update
	ccAt         int64 // time of the last CC_Update
}

// NewSpacing returns a spacing that starts at line time 0 and time 0. cfMin is at
// least 800 B, cfMax 16 KiB to 1 MiB in steps of 16 KiB and not below cfMin,
// ccPeriod 1 us to 250 ms; 0 is 6,400 B, 256 KiB and 256 us. The error wraps
// [ErrConfig].
func NewSpacing(cfMin, cfMax, ccPeriod int64) (Spacing, error) {
	const us = 1000
	cfMin, cfMax, ccPeriod = cmp.Or(cfMin, defaultCFMin), cmp.Or(cfMax, defaultCFMax), cmp.Or(ccPeriod, defaultCCPeriod)
	err := cmp.Or(
		check.Range(ErrConfig, "cfMin", cfMin, 800, cfMax),
		check.Range(ErrConfig, "cfMax", cfMax, 16<<10, 1<<20),
		check.Range(ErrConfig, "cfMax modulo 16 KiB", cfMax%(16<<10), 0, 0),
		check.Range(ErrConfig, "ccPeriod", ccPeriod, us, 250_000*us),
	)
	if err != nil {
		return Spacing{}, err
	}
	return Spacing{cfMin: cfMin, cfMax: cfMax, ccPeriod: ccPeriod}, nil
}

// CFUpdate reports whether a CF_Update leaves at the given line time. changed
// says whether R_CF moved since the last CF_Update: without news the next waits
// for the maximum spacing.
func (s *Spacing) CFUpdate(line int64, changed bool) bool {
	gap := line - s.cfAt
	if gap < s.cfMin || !changed && gap < s.cfMax {
		return false
	}
	s.cfAt = line
	return true
}

// CCUpdate reports whether a CC_Update leaves at time now (nanoseconds).
func (s *Spacing) CCUpdate(now int64) bool {
	if now-s.ccAt < s.ccPeriod {
		return false
	}
	s.ccAt = now
	return true
}
