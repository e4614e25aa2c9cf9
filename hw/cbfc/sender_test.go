// SPDX-License-Identifier: Apache-2.0

package cbfc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUEWorked walks the worked table of UE CBFC: a limit of 40 credits, one
// frame lost.
func TestUEWorked(t *testing.T) {
	cost := Cost{CreditSize: 128}
	require.EqualValues(t, []int64{1, 12, 33}, []int64{cost.Credits(64), cost.Credits(1500), cost.Credits(4200)})
	s, err := NewSender([]int64{40}, 0)
	require.NoError(t, err)
	var r Receiver
	state := func(cc, cf, cu, rcc, rcf, may int64) {
		t.Helper()
		v := s.VCs[0]
		require.Equal(t, []int64{cc, cf, cu, rcc, rcf, may}, []int64{int64(v.Consumed), int64(v.Freed),
			v.InUse(), int64(r.Consumed), int64(r.Freed), v.Limit - v.InUse()})
	}
	state(0, 0, 0, 0, 0, 40)
	s.OnSend(0, 33)
	state(33, 0, 33, 0, 0, 7)
	require.False(t, s.CanSend(0, 12))
	require.True(t, s.CanSend(0, 1))
	s.OnSend(0, 1)
	r.OnFrame(33)
	state(34, 0, 34, 33, 0, 6)
	r.OnDrain(33)
	state(34, 0, 34, 33, 33, 6)
	require.True(t, s.OnCFUpdate(0, r.Freed))
	state(34, 33, 1, 33, 33, 39)
	require.EqualValues(t, 1, r.OnCCUpdate(s.VCs[0].Consumed))
	state(34, 33, 1, 34, 34, 39)
	require.True(t, s.OnCFUpdate(0, r.Freed))
	state(34, 34, 0, 34, 34, 40)
}

// TestUEWrap sends over the end of the 20-bit counter.
func TestUEWrap(t *testing.T) {
	s, _ := NewSender([]int64{40}, 40)
	s.Up(0, 1<<20+1048570, 40)
	require.EqualValues(t, 1048570, s.VCs[0].Consumed)
	require.True(t, s.CanSend(0, 40), "both limits are reached")
	s.OnSend(0, 33)
	require.EqualValues(t, 27, s.VCs[0].Consumed)
	require.EqualValues(t, 33, s.VCs[0].InUse())
	require.EqualValues(t, 33, s.InUse)
	require.False(t, s.CanSend(1, 1))
	require.False(t, s.CanSend(0, -1))
	require.True(t, s.CanSend(0, 0))
	s.Up(0, 0, 0)
	require.Zero(t, s.InUse)
	require.Zero(t, s.VCs[0].Consumed)
	require.Zero(t, s.VCs[0].Limit)
	require.False(t, s.CanSend(0, 1))

	var r Receiver
	r.Up(1<<20 + 1048570)
	require.EqualValues(t, 1048570, r.Consumed)
	require.EqualValues(t, 1048570, r.Freed)
	r.OnFrame(33)
	require.EqualValues(t, 27, r.Consumed)
	require.EqualValues(t, 33, r.Held())
	r.OnDrain(33)
	require.EqualValues(t, 27, r.Freed)
	require.EqualValues(t, 1, r.OnCCUpdate(1<<20+28))
	require.EqualValues(t, 28, r.Consumed)
	s.Up(0, 27, 40)
	s.OnSend(0, 1)
	require.True(t, s.OnCFUpdate(0, 1<<20+28))
	require.EqualValues(t, 28, s.VCs[0].Freed)
}

// TestUEUpLimit: a limit beyond the counters' reach would have what is in use come round to 0.
func TestUEUpLimit(t *testing.T) {
	s, _ := NewSender([]int64{40}, 0)
	s.Up(0, 0, 1<<21)
	require.EqualValues(t, counterMask, s.VCs[0].Limit)
	s.OnSend(0, counterMask)
	require.False(t, s.CanSend(0, 1))
	s.Up(0, 0, -1)
	require.Zero(t, s.VCs[0].Limit)
}

// TestUENoPortLimit: a port limit of 0 is none, and reads back as 0.
func TestUENoPortLimit(t *testing.T) {
	limits := make([]int64, maxVCs)
	for i := range limits {
		limits[i] = counterMask
	}
	s, err := NewSender(limits, 0)
	require.NoError(t, err)
	for vc := range limits {
		require.True(t, s.CanSend(vc, counterMask))
		s.OnSend(vc, counterMask)
	}
	require.EqualValues(t, maxVCs*counterMask, s.InUse)
	require.Zero(t, s.limit)
}

// TestUEForgedUpdate: a receiver cannot free more than is in use.
func TestUEForgedUpdate(t *testing.T) {
	s, _ := NewSender([]int64{40}, 0)
	s.OnSend(0, 10)
	before := s.VCs[0]
	require.False(t, s.OnCFUpdate(0, 11))
	require.False(t, s.OnCFUpdate(0, counterMask))
	require.False(t, s.OnCFUpdate(5, 1))
	require.Equal(t, before, s.VCs[0])
	require.EqualValues(t, 10, s.InUse)
	require.True(t, s.OnCFUpdate(0, 4))
	require.True(t, s.OnCFUpdate(0, 4), "a repeated update is harmless")
	require.EqualValues(t, 6, s.InUse)
}

// TestUEOvertaking shows why a CC_Update stays in the frames' own stream:
// what it overtakes counts as lost until the next one.
func TestUEOvertaking(t *testing.T) {
	var r Receiver
	require.EqualValues(t, 5, r.OnCCUpdate(5))
	r.OnFrame(5)
	require.EqualValues(t, 5, r.Freed, "freed although the frame is held")
	r.OnCCUpdate(5)
	require.EqualValues(t, 0, r.Freed, "the next update takes it back")
	require.EqualValues(t, 5, r.Held())
}

func TestUEErrors(t *testing.T) {
	_, err := NewSender(nil, 0)
	require.ErrorIs(t, err, ErrConfig)
	_, err = NewSender(make([]int64, 33), 0)
	require.ErrorIs(t, err, ErrConfig)
	_, err = NewSender([]int64{-1}, 0)
	require.ErrorIs(t, err, ErrConfig)
	_, err = NewSender([]int64{1 << 20}, 0)
	require.ErrorIs(t, err, ErrConfig)
	_, err = NewSender([]int64{1}, 1<<20)
	require.ErrorIs(t, err, ErrConfig)
	_, err = NewSender([]int64{1}, -1)
	require.ErrorIs(t, err, ErrConfig)
	require.ErrorIs(t, Cost{}.Validate(), ErrConfig)
	require.ErrorIs(t, Cost{CreditSize: 1, Overhead: -17}.Validate(), ErrConfig)
	require.ErrorIs(t, Cost{CreditSize: 1, Overhead: 128}.Validate(), ErrConfig)
	require.NoError(t, Cost{CreditSize: 1, Overhead: 127}.Validate())
	require.NoError(t, Cost{CreditSize: 128, Overhead: -16}.Validate())
	_, err = NewSender([]int64{0, counterMask}, counterMask)
	require.NoError(t, err)
	require.EqualValues(t, 1, Cost{CreditSize: 128, Overhead: -16}.Credits(3), "never free of charge")
	require.EqualValues(t, 2, Cost{CreditSize: 128, Overhead: 1}.Credits(128))
	require.EqualValues(t, 1, Cost{CreditSize: 128, Overhead: -16}.Credits(144))
}
