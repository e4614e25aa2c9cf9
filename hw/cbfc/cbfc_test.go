package cbfc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
)

// TestSendRule holds the wrap and edge table of the send rule.
func TestSendRule(t *testing.T) {
	for _, c := range []struct {
		fctbs, fccl uint16
		blocks      int64
		allowed     bool
	}{
		{4090, 14, 10, true},
		{4, 14, 11, false},
		{4, 14, 10, true},
		{0, 2048, 1, true},
		{0, 2048, 2048, true},
		{0, 0, 1, false},
		{100, 99, 1, false}, // past its limit
		{2047, 4095, 66, true},
		{0, 2048, 2049, false},
		{0, 0, 4096, false}, // a whole turn of the counter is no free ride
		{0, 10, -1, false},
	} {
		tx := Tx{sent: c.fctbs, limit: c.fccl, open: true}
		require.Equal(t, c.allowed, tx.CanSend(c.blocks), "%+v", c)
	}
	tx := Tx{sent: 4090, limit: 14, open: true}
	tx.OnSend(10)
	require.EqualValues(t, 4, tx.FCTBS())
	require.False(t, (&Tx{}).CanSend(1), "nothing before the first limit")
	require.False(t, (&Tx{}).CanSend(0), "nothing before the first limit")
}

// TestLaneWorked walks the worked table: eight blocks, a lost packet, a lost
// update, and the resynchronisation that heals both.
func TestLaneWorked(t *testing.T) {
	var a Tx
	b, err := NewRx(8)
	require.NoError(t, err)
	a.OnFlowControl(b.FCCL())
	state := func(fctbs, limit, balance, abr, occupied, announce int64) {
		t.Helper()
		fccl, _ := a.Limit()
		require.Equal(t, []int64{fctbs, limit, balance, abr, occupied, announce},
			[]int64{int64(a.FCTBS()), int64(fccl), int64(a.Credits()), int64(b.ABR()), b.Occupied(), int64(b.FCCL())})
	}
	state(0, 8, 8, 0, 0, 8)
	a.OnSend(3)
	state(3, 8, 5, 0, 0, 8)
	a.OnSend(4)
	state(7, 8, 1, 0, 0, 8)
	require.False(t, a.CanSend(2))
	require.True(t, b.Receive(3))
	state(7, 8, 1, 3, 3, 8)
	b.Release(3) // the packet of four is lost
	state(7, 8, 1, 3, 0, 11)
	a.OnFlowControl(b.FCCL()) // the first copy of this update is lost
	state(7, 11, 4, 3, 0, 11)
	b.OnFlowControl(a.FCTBS())
	state(7, 11, 4, 7, 0, 15)
	a.OnFlowControl(b.FCCL())
	state(7, 15, 8, 7, 0, 15)
}

// TestLargeBuffer grants 128 KiB ahead, never more.
func TestLargeBuffer(t *testing.T) {
	b, err := NewRx(3500)
	require.NoError(t, err)
	b.OnFlowControl(4000)
	require.EqualValues(t, 1952, b.FCCL())
	require.EqualValues(t, 128<<10, MaxGrant*BlockSize)
	_, err = NewRx(-1)
	require.ErrorIs(t, err, ErrConfig)
}

func TestBlocks(t *testing.T) {
	for bytes, blocks := range map[int64]int64{1: 1, 64: 1, 65: 2, 4096 + 26: 65, 128 << 10: 2048} {
		require.Equal(t, blocks, Blocks(bytes), "%d bytes", bytes)
	}
}

func TestRxOverrun(t *testing.T) {
	b, _ := NewRx(4)
	require.True(t, b.Receive(4))
	require.False(t, b.Receive(1))
	require.False(t, b.Receive(-1))
	require.EqualValues(t, 2, b.Overruns())
	require.EqualValues(t, 4, b.ABR(), "a discarded packet is not counted as received")
	b.Release(9)
	require.Zero(t, b.Occupied(), "no more is released than is held")
}

// TestPortFailsafes tests the overrun threshold, the update monitor and the
// update period.
func TestPortFailsafes(t *testing.T) {
	p, err := NewPort([]int64{4, 4}, 2)
	require.NoError(t, err)
	p.Reinit(0)
	require.False(t, p.Up())
	require.Equal(t, OpInit, p.FlowControl(0, 0).Op)

	p.OnFlowControl(FlowControl{Op: OpInit, VL: 0, FCCL: 4}, 100)
	require.False(t, p.Up())
	p.OnFlowControl(FlowControl{Op: OpInit, VL: 1, FCCL: 4}, 100)
	require.True(t, p.Up())
	require.Equal(t, OpNormal, p.FlowControl(0, 70).Op)
	vl, at := p.NextUpdate()
	require.EqualValues(t, 1, vl)
	require.EqualValues(t, UpdatePeriod, at)

	require.True(t, p.Alive(0, 100+WatchdogPeriod))
	require.False(t, p.Alive(0, 101+WatchdogPeriod))

	require.False(t, p.Receive(0, 5))
	require.True(t, p.EndPeriod(), "one bad period")
	require.True(t, p.EndPeriod(), "a good one starts the count again")
	require.False(t, p.Receive(1, 5))
	require.True(t, p.EndPeriod())
	require.False(t, p.Receive(0, 5))
	require.False(t, p.EndPeriod(), "two in a row")

	require.True(t, p.Receive(0, 3))
	p.Reinit(900)
	require.EqualValues(t, 1, p.Lane(0).FCCL(), "three blocks are still in the buffer")
	require.True(t, p.EndPeriod())
}

// TestReservedChangesNothing: a reserved operation or an unknown lane neither
// changes a total nor feeds the watchdog.
func TestReservedChangesNothing(t *testing.T) {
	p, _ := NewPort([]int64{4}, 1)
	p.Reinit(0)
	before := *p.Lane(0)
	p.OnFlowControl(FlowControl{Op: 2, VL: 0, FCTBS: 9, FCCL: 9}, 50)
	p.OnFlowControl(FlowControl{VL: 7, FCTBS: 9, FCCL: 9}, 50)
	p.OnFlowControl(FlowControl{VL: ManagementLane, FCTBS: 9, FCCL: 9}, 50)
	require.Equal(t, before, *p.Lane(0))
}

// TestManagementLane: VL15 is never delayed and changes no total.
func TestManagementLane(t *testing.T) {
	p, _ := NewPort([]int64{4}, 1)
	p.Reinit(0)
	before := *p.Lane(0)
	require.True(t, p.Send(ManagementLane, 100))
	require.True(t, p.Receive(ManagementLane, 100))
	require.Nil(t, p.Lane(ManagementLane))
	require.Equal(t, before, *p.Lane(0))
	require.False(t, p.Send(3, 1), "a lane that the port does not have")
	require.False(t, p.Receive(3, 1))
}

func TestNewPortErrors(t *testing.T) {
	for _, c := range []struct {
		buffers   []int64
		threshold int
		names     string
	}{
		{nil, 1, "lanes"},
		{make([]int64, 16), 1, "lanes"},
		{[]int64{1}, 0, "threshold"},
		{[]int64{1}, 16, "threshold"},
		{[]int64{-1}, 1, "buffer"},
	} {
		_, err := NewPort(c.buffers, c.threshold)
		require.ErrorIs(t, err, ErrConfig)
		require.ErrorContains(t, err, c.names)
	}
}

func TestFlowControlErrors(t *testing.T) {
	good := (&FlowControl{Op: OpNormal, VL: 14, FCTBS: 4095, FCCL: 1}).AppendTo(nil)
	require.Len(t, good, FlowControlLen)
	before := FlowControl{VL: 3}
	f := before
	for n := range good {
		require.ErrorIs(t, f.Decode(good[:n]), ErrTruncated)
	}
	for bit := range 8 * FlowControlLen {
		bad := append([]byte(nil), good...)
		bad[bit/8] ^= 1 << (bit % 8)
		require.ErrorIs(t, f.Decode(bad), ErrCRC, "bit %d", bit)
	}
	require.ErrorIs(t, f.Decode((&FlowControl{Op: 7}).AppendTo(nil)), ErrOp)
	require.Equal(t, before, f, "an error leaves the value as it was")
	require.Equal(t, "normal", OpNormal.String())
	require.Equal(t, "init", OpInit.String())
	require.Equal(t, "Op(9)", Op(9).String())
}

func TestSLToVL(t *testing.T) {
	m, err := NewSLToVL(4, 8)
	require.NoError(t, err)
	vl, ok := m.Lane(0, 3, 9)
	require.True(t, ok)
	require.EqualValues(t, 1, vl)
	m.Set(0, 3, 9, ManagementLane)
	_, ok = m.Lane(0, 3, 9)
	require.False(t, ok)
	_, ok = m.Lane(3, 0, 9)
	require.True(t, ok, "the way back is another entry")
	_, err = NewSLToVL(4, 16)
	require.ErrorIs(t, err, ErrConfig)
}

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
		v := s.VC(0)
		require.Equal(t, []int64{cc, cf, cu, rcc, rcf, may}, []int64{int64(v.Consumed()), int64(v.Freed()),
			v.InUse(), int64(r.Consumed()), int64(r.Freed()), v.Limit() - v.InUse()})
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
	require.True(t, s.OnCFUpdate(0, r.Freed()))
	state(34, 33, 1, 33, 33, 39)
	require.EqualValues(t, 1, r.OnCCUpdate(s.VC(0).Consumed()))
	state(34, 33, 1, 34, 34, 39)
	require.True(t, s.OnCFUpdate(0, r.Freed()))
	state(34, 34, 0, 34, 34, 40)
}

// TestUEWrap sends over the end of the 20-bit counter.
func TestUEWrap(t *testing.T) {
	s, _ := NewSender([]int64{40}, 40)
	s.Up(0, 1048570, 40)
	s.OnSend(0, 33)
	require.EqualValues(t, 27, s.VC(0).Consumed())
	require.EqualValues(t, 33, s.VC(0).InUse())
	require.EqualValues(t, 33, s.InUse())
	s.Down(0)
	require.Zero(t, s.InUse())
	require.False(t, s.CanSend(0, 1))
}

// TestUENoPortLimit: a port limit of 0 is none, and reads back as 0.
func TestUENoPortLimit(t *testing.T) {
	limits := make([]int64, MaxVCs)
	for i := range limits {
		limits[i] = counterMask
	}
	s, err := NewSender(limits, 0)
	require.NoError(t, err)
	for vc := range limits {
		require.True(t, s.CanSend(vc, counterMask))
		s.OnSend(vc, counterMask)
	}
	require.EqualValues(t, MaxVCs*counterMask, s.InUse())
	require.Zero(t, s.Limit())
}

// TestUEForgedUpdate: a receiver cannot free more than is in use.
func TestUEForgedUpdate(t *testing.T) {
	s, _ := NewSender([]int64{40}, 0)
	s.OnSend(0, 10)
	before := *s.VC(0)
	require.False(t, s.OnCFUpdate(0, 11))
	require.False(t, s.OnCFUpdate(0, counterMask))
	require.False(t, s.OnCFUpdate(5, 1))
	require.Equal(t, before, *s.VC(0))
	require.EqualValues(t, 10, s.InUse())
	require.True(t, s.OnCFUpdate(0, 4))
	require.True(t, s.OnCFUpdate(0, 4), "a repeated update is harmless")
	require.EqualValues(t, 6, s.InUse())
}

// TestUEOvertaking shows why a CC_Update stays in the frames' own stream:
// what it overtakes counts as lost until the next one.
func TestUEOvertaking(t *testing.T) {
	var r Receiver
	require.EqualValues(t, 5, r.OnCCUpdate(5))
	r.OnFrame(5)
	require.EqualValues(t, 5, r.Freed(), "freed although the frame is held")
	r.OnCCUpdate(5)
	require.EqualValues(t, 0, r.Freed(), "the next update takes it back")
	require.EqualValues(t, 5, r.Held())
}

func TestUEErrors(t *testing.T) {
	_, err := NewSender(nil, 0)
	require.ErrorIs(t, err, ErrConfig)
	_, err = NewSender(make([]int64, 33), 0)
	require.ErrorIs(t, err, ErrConfig)
	_, err = NewSender([]int64{1 << 20}, 0)
	require.ErrorIs(t, err, ErrConfig)
	_, err = NewSender([]int64{1}, 1<<20)
	require.ErrorIs(t, err, ErrConfig)
	_, err = NewSender([]int64{1}, -1)
	require.ErrorIs(t, err, ErrConfig)
	require.ErrorIs(t, Cost{}.Validate(), ErrConfig)
	require.ErrorIs(t, Cost{CreditSize: 1, Overhead: -17}.Validate(), ErrConfig)
	require.NoError(t, Cost{CreditSize: 128, Overhead: -16}.Validate())
	require.EqualValues(t, 1, Cost{CreditSize: 128, Overhead: -16}.Credits(3), "never free of charge")
}

// TestSpacing keeps CF_Updates between the two spacings and CC_Updates at their
// period.
func TestSpacing(t *testing.T) {
	s, err := NewSpacing(DefaultCFMin, DefaultCFMax, DefaultCCPeriod)
	require.NoError(t, err)
	require.False(t, s.CFUpdate(6399, true))
	require.True(t, s.CFUpdate(6400, true))
	require.False(t, s.CFUpdate(6400+DefaultCFMax-1, false))
	require.True(t, s.CFUpdate(6400+DefaultCFMax, false))
	require.False(t, s.CCUpdate(255_999))
	require.True(t, s.CCUpdate(256_000))
	require.False(t, s.CCUpdate(256_001))
	for _, c := range [][3]int64{{799, 1 << 20, 1000}, {800, 1<<20 + 1, 1000}, {800, 1 << 13, 1000}, {1 << 15, 1 << 14, 1000}, {800, 1 << 20, 999}, {800, 16<<10 + 1, 1000}, {800, 1<<20 - 1, 1000}, {800, 1 << 20, 250_000_001}} {
		_, err := NewSpacing(c[0], c[1], c[2])
		require.ErrorIs(t, err, ErrConfig, "%v", c)
	}
}

func TestAllocs(t *testing.T) {
	p, _ := NewPort([]int64{1 << 20}, 1)
	p.Reinit(0)
	p.OnFlowControl(FlowControl{FCCL: 2048}, 0)
	buf := make([]byte, 0, FlowControlLen)
	alloctest.Zero(t, "port", func() {
		if !p.Send(0, 1) || !p.Receive(0, 1) {
			panic("blocked")
		}
		p.Lane(0).Release(1)
		f := p.FlowControl(0, 1)
		if f.Decode(f.AppendTo(buf)) != nil {
			panic("codec")
		}
		p.OnFlowControl(FlowControl{FCTBS: f.FCTBS, FCCL: f.FCCL}, 1)
	})
	s, _ := NewSender([]int64{40}, 0)
	var r Receiver
	alloctest.Zero(t, "ue", func() {
		if !s.CanSend(0, 33) {
			panic("blocked")
		}
		s.OnSend(0, 33)
		r.OnFrame(33)
		r.OnDrain(33)
		r.OnCCUpdate(s.VC(0).Consumed())
		s.OnCFUpdate(0, r.Freed())
	})
}
