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
	consumed uint32 // S_CC, modulo 2^20
	freed    uint32 // S_CF: the newest total heard, modulo 2^20
	limit    int64  // S_CL
}

// Consumed returns S_CC, the content of the channel's CC_Updates.
func (v *SenderVC) Consumed() uint32 { return v.consumed }

// Freed returns S_CF.
func (v *SenderVC) Freed() uint32 { return v.freed }

// InUse returns S_CU = (S_CC - S_CF) mod 2^20.
func (v *SenderVC) InUse() int64 { return int64((v.consumed - v.freed) & counterMask) }

// Limit returns S_CL.
func (v *SenderVC) Limit() int64 { return v.limit }

// Sender is the sending side of a UE CBFC link: virtual channels under a shared
// limit. Single writer.
type Sender struct {
	vcs   []SenderVC
	inUse int64 // S_CU_p: the sum over the channels
	limit int64 // S_CL_p, 0 for none
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
	s := &Sender{vcs: make([]SenderVC, len(limits)), limit: portLimit}
	for i, l := range limits {
		if err := check.Range(ErrConfig, "limit", l, 0, counterMask); err != nil {
			return nil, err
		}
		s.vcs[i].limit = l
	}
	return s, nil
}

// VC returns channel vc, or nil for a number without a channel.
func (s *Sender) VC(vc int) *SenderVC {
	if uint(vc) >= uint(len(s.vcs)) {
		return nil
	}
	return &s.vcs[vc]
}

// InUse returns S_CU_p, the credits in use by all channels.
func (s *Sender) InUse() int64 { return s.inUse }

// Limit returns S_CL_p, the limit on the credits in use by all channels, 0 for none.
func (s *Sender) Limit() int64 { return s.limit }

// CanSend reports whether a frame of the given cost may start on channel vc.
func (s *Sender) CanSend(vc int, credits int64) bool {
	v := s.VC(vc)
	return v != nil && credits >= 0 && credits <= v.limit-v.InUse() &&
		(s.limit == 0 || credits <= s.limit-s.inUse)
}

// OnSend counts a frame of the given cost as sent on channel vc. Only after
// [Sender.CanSend].
func (s *Sender) OnSend(vc int, credits int64) {
	v := &s.vcs[vc]
	v.consumed = (v.consumed + uint32(credits)) & counterMask
	s.inUse += credits
}

// OnCFUpdate takes the R_CF a CF_Update carries for channel vc. The value
// is absolute. A value above the credits in use comes from a faulty or restarted
// receiver, changes nothing, and returns false.
func (s *Sender) OnCFUpdate(vc int, freed uint32) bool {
	v := s.VC(vc)
	if v == nil {
		return false
	}
	d := int64((freed - v.freed) & counterMask)
	if d > v.InUse() {
		return false
	}
	s.inUse -= d
	v.freed = freed & counterMask
	return true
}

// Up starts channel vc afresh with all counters at the value start (0 on a real
// link) and the given limit; the receiver must do the same before data flows. A limit
// outside of 0..2^20-1 counts as the nearest limit: the counters can tell no more
// apart.
func (s *Sender) Up(vc int, start uint32, limit int64) {
	s.inUse -= s.vcs[vc].InUse()
	limit = min(max(limit, 0), counterMask)
	s.vcs[vc] = SenderVC{consumed: start & counterMask, freed: start & counterMask, limit: limit}
}

// Down takes channel vc out of service: the limit becomes 0. The channel's queue must
// have drained.
func (s *Sender) Down(vc int) { s.Up(vc, 0, 0) }
