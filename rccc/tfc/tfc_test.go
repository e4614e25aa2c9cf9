// SPDX-License-Identifier: Apache-2.0

package tfc

import (
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/internal/deadline"
)

// tableConfig is that of the worked table.
var tableConfig = Config{CellSize: 256, PktOverhead: 32, Limit: 40, MTU: 4150, RTT: 1000}

func tableParams(t testing.TB) *Params {
	p, err := NewParams(tableConfig)
	require.NoError(t, err)
	return &p
}

func TestNewParamsNamesTheField(t *testing.T) {
	for field, change := range map[string]func(*Config){
		"CellSize":      func(c *Config) { c.CellSize = 0 },
		"PktOverhead":   func(c *Config) { c.PktOverhead = -1 },
		"Limit":         func(c *Config) { c.Limit = 16 }, // a full packet costs 17
		"MTU":           func(c *Config) { c.MTU = 0 },
		"RTT":           func(c *Config) { c.RTT = 0 },
		"RepeatCeiling": func(c *Config) { c.RepeatCeiling = 1 },
	} {
		c := tableConfig
		change(&c)
		_, err := NewParams(c)
		require.ErrorIs(t, err, ErrConfig)
		require.ErrorContains(t, err, field)
	}
	c := tableConfig
	c.Limit = 1 << 23
	_, err := NewParams(c)
	require.ErrorIs(t, err, ErrConfig, "outstanding cells must stay comparable")
}

// A source that has nothing to send proves no credit. (Before: told of the same some 1,300 times a second.)
func TestIdleSourceIsToldLessAndLess(t *testing.T) {
	c := tableConfig
	c.RTT = 12_000
	p, err := NewParams(c)
	require.NoError(t, err)
	var d Destination
	d.Init(&p, 0)
	require.True(t, d.Accept(&p, 0, 4150))
	d.Release(&p, 0, 4150)
	told := 0
	for at, ok := d.Deadline(); ok && at < 4e9; at, ok = d.Deadline() {
		d.Credit(&p, at)
		told++
	}
	require.Less(t, told, 60, "in four seconds")
}

func TestParamsCost(t *testing.T) {
	p := tableParams(t)
	for size, cells := range map[int64]int64{0: 1, 64: 1, 1500: 6, 4096: 17, 4150: 17} {
		require.Equal(t, cells, p.Cost(size), "%d bytes", size)
	}
	for n := int64(1); n <= 17; n++ { // up to the last byte of a cell, and one more
		full := n*p.cell - p.overhead
		require.Equal(t, n, p.Cost(full), "%d bytes", full)
		require.Equal(t, n+1, p.Cost(full+1), "%d bytes", full+1)
	}
	c := tableConfig
	c.PktOverhead = 0
	bare, err := NewParams(c)
	require.NoError(t, err)
	require.EqualValues(t, 1, bare.Cost(0), "a packet occupies a cell at least")
}

func TestCellsExtendWraps(t *testing.T) {
	require.Equal(t, int64(1<<24+5), Cells(5).Extend(16_777_210))
	require.Equal(t, int64(16_777_210), Cells(16_777_210).Extend(1<<24+5))
	require.Equal(t, int64(7), Cells(7).Extend(7))
	require.Equal(t, int64(5-1<<23), CellsOf(5+1<<23).Extend(5), "half the range is older")
}

// The worked table, row by row.
func TestWorkedTable(t *testing.T) {
	p := tableParams(t)
	var s Source
	var d Destination
	s.Init(p)
	d.Init(p, 0)
	const full, part = 4150, 1500
	row := func(n int, cc, cl, cr, cf int64) {
		t.Helper()
		require.Equal(t, []int64{cc, cl, cl - cc, cr, cf, cr - cf},
			[]int64{s.consumed, s.credit, s.Allowed(), d.received, d.freed, d.Occupancy()}, "row %d", n)
	}
	row(0, 0, 40, 0, 0)
	s.OnSend(p, full)
	row(1, 17, 40, 0, 0)
	s.OnSend(p, full)
	row(2, 34, 40, 0, 0)
	require.False(t, s.CanSend(p, full))
	row(3, 34, 40, 0, 0)
	require.True(t, s.CanSend(p, part))
	s.OnSend(p, part)
	row(4, 40, 40, 0, 0)
	require.True(t, d.Accept(p, 0, full))
	row(5, 40, 40, 17, 0)
	require.True(t, d.Accept(p, 0, part))
	row(6, 40, 40, 23, 0)
	d.Release(p, 0, full)
	require.Equal(t, int64(57), d.Credit(p, 0)) // lost
	row(7, 40, 40, 23, 17)
	d.Release(p, 0, part)
	require.Equal(t, int64(23), s.OnCreditUpdate(p, d.Credit(p, 0)))
	row(8, 40, 63, 23, 23)
	row(9, 40, 63, 23, 23) // retransmitted, not charged again
	require.True(t, d.Accept(p, 0, full))
	d.Release(p, 0, full)
	s.OnCreditUpdate(p, d.Credit(p, 0))
	row(10, 40, 80, 40, 40)
}

func TestSourceWrap(t *testing.T) {
	p := tableParams(t)
	s := Source{consumed: 16_777_210, credit: Cells(5).Extend(16_777_210)}
	require.Equal(t, int64(11), s.Allowed())
	require.False(t, s.CanSend(p, 4150))
	require.True(t, s.CanSend(p, 1500))
	s.OnSend(p, 1500)
	require.Zero(t, CellsOf(s.consumed))
}

func TestSourceRefusesWhatTheDestinationCannotHave(t *testing.T) {
	p := tableParams(t)
	var s Source
	s.Init(p)
	s.OnSend(p, 4150)
	require.Zero(t, s.OnCreditUpdate(p, 58))
	require.Zero(t, s.OnCreditUpdate(p, 40), "duplicate")
	require.Zero(t, s.OnCreditUpdate(p, 39), "overtaken")
	require.Equal(t, int64(17), s.OnCreditUpdate(p, 57))
}

func TestSourceAbandonReturnsTheCharge(t *testing.T) {
	p := tableParams(t)
	var s Source
	s.Init(p)
	s.OnSend(p, 4150)
	s.OnAbandon(p, 4150)
	require.Equal(t, int64(40), s.Allowed())
	s.OnAbandon(p, 4150)
	require.Equal(t, int64(40), s.Allowed(), "nothing is left to return")
	s.OnSend(p, 4150)
	s.OnSend(p, 1500)
	s.OnAbandon(p, 1500)
	require.Equal(t, int64(23), s.Allowed(), "the other packet is still charged")
}

// Whether an abandoned packet was accepted the source cannot know; the destination's
// total tells when it has left the buffer. Nothing is lost either way.
func TestSourceAbandonsWhatHadArrived(t *testing.T) {
	p := tableParams(t)
	var one Source // of a single cell
	one.Init(p)
	one.OnSend(p, 1)
	require.EqualValues(t, 1, one.consumed)
	one.OnAbandon(p, 1)
	require.EqualValues(t, 1, one.OnCreditUpdate(p, one.Credit()+1))
	require.Equal(t, [2]int64{1, 0}, [2]int64{one.consumed, one.abandoned})
	for _, arrived := range []func(i int) bool{
		func(int) bool { return true }, func(int) bool { return false }, func(i int) bool { return i%3 == 0 },
	} {
		p := tableParams(t)
		var s Source
		var d Destination
		s.Init(p)
		d.Init(p, 0)
		for i := range 30 {
			require.True(t, s.CanSend(p, 4150))
			s.OnSend(p, 4150)
			s.OnSend(p, 1500)
			require.True(t, d.Accept(p, 0, 1500))
			d.Release(p, 0, 1500)
			if arrived(i) {
				require.True(t, d.Accept(p, 0, 4150))
				d.Release(p, 0, 4150)
			}
			s.OnAbandon(p, 4150)
			s.OnCreditUpdate(p, CellsOf(d.Credit(p, 0)).Extend(s.Credit()))
			require.Equal(t, d.Credit(p, 0), s.Credit())
			require.Equal(t, int64(40), s.Allowed())
		}
		require.Zero(t, s.OnCreditUpdate(p, s.Credit()+s.abandoned+1), "more than the destination can have")
		if arrived(1) {
			require.Zero(t, s.abandoned, "every charge came back")
		}
	}
}

func TestDestinationRefusesAnOverrun(t *testing.T) {
	p := tableParams(t)
	var d Destination
	d.Init(p, 0)
	require.True(t, d.Accept(p, 0, 4150))
	require.True(t, d.Accept(p, 0, 4150))
	require.False(t, d.Accept(p, 0, 4150))
	require.Equal(t, int64(34), d.Occupancy())
	for range 5 {
		d.Release(p, 0, 4150)
	}
	require.Zero(t, d.Occupancy(), "freed never passes received")
}

// creditDue reports whether a Credit control packet is to be sent now.
func creditDue(d *Destination, now int64) bool {
	due, armed := d.Deadline()
	return armed && min(now, deadline.End) >= due
}

func TestDestinationRepeatsItsCredit(t *testing.T) {
	p := tableParams(t)
	var d Destination
	d.Init(p, 0)
	_, armed := d.Deadline()
	require.False(t, armed, "the source has the initial limit")
	require.False(t, creditDue(&d, 0))
	d.Accept(p, 10, 4150)
	d.Accept(p, 10, 4150)
	d.Release(p, 20, 4150)
	require.True(t, creditDue(&d, 20), "the source may be blocked and there is space")
	d.Credit(p, 20)
	now := int64(20)
	for _, want := range []int64{1000, 2000, 4000} {
		due, armed := d.Deadline()
		require.True(t, armed)
		require.Equal(t, now+want, due)
		now = due
		require.True(t, creditDue(&d, now))
		d.Credit(p, now)
	}
	d.Accept(p, now, 4150)
	d.Release(p, now, 4150)
	require.True(t, creditDue(&d, now), "news does not wait")
}

// A credit of which the source has used everything has arrived: nothing is left to repeat.
// What happens meanwhile does not put a repetition off.
func TestDestinationRepeatsUntilTheCreditIsUsed(t *testing.T) {
	p := tableParams(t)
	var d Destination
	d.Init(p, 0)
	for _, size := range []int64{4150, 4150, 1500} { // all 40 cells
		require.True(t, d.Accept(p, 0, size))
	}
	d.Release(p, 10, 4150)
	d.Release(p, 20, 4150)
	d.Credit(p, 30)
	require.True(t, d.Accept(p, 40, 4150))
	due, armed := d.Deadline()
	require.True(t, armed)
	require.EqualValues(t, 30+1000, due)
	require.True(t, d.Accept(p, 50, 4150))
	_, armed = d.Deadline()
	require.False(t, armed)
	require.False(t, creditDue(&d, math.MaxInt64))
}

func TestDestinationGrantsToASourceThatWaits(t *testing.T) {
	c := tableConfig
	c.WaitForGrant = true
	p, err := NewParams(c)
	require.NoError(t, err)
	var s Source
	var d Destination
	s.Init(&p)
	d.Init(&p, 5)
	require.False(t, s.CanSend(&p, 64))
	require.True(t, creditDue(&d, 5))
	require.Equal(t, int64(40), s.OnCreditUpdate(&p, d.Credit(&p, 5)))
	require.True(t, d.Accept(&p, 6, 4150))
	d.Init(&p, 7)
	require.Zero(t, d.Occupancy(), "a context that starts again has an empty buffer")
	require.True(t, creditDue(&d, 7))
}

func TestSizesAndAllocs(t *testing.T) {
	require.LessOrEqual(t, unsafe.Sizeof(Source{}), uintptr(24))
	require.LessOrEqual(t, unsafe.Sizeof(Destination{}), uintptr(40))
	p := tableParams(t)
	var s Source
	var d Destination
	s.Init(p)
	d.Init(p, 0)
	alloctest.Zero(t, "a packet and its credit", func() {
		if !s.CanSend(p, 4150) {
			panic("blocked")
		}
		s.OnSend(p, 4150)
		if !d.Accept(p, 0, 4150) {
			panic("refused")
		}
		d.Release(p, 0, 4150)
		if s.OnCreditUpdate(p, CellsOf(d.Credit(p, 0)).Extend(s.Credit())) != 17 {
			panic("no credit")
		}
	})
}

// At the last time of all, too, no message is due again as soon as it was sent.
func TestDestinationAtTheEndOfTime(t *testing.T) {
	p := tableParams(t)
	for _, now := range []int64{math.MinInt64, -1, 1 << 62, math.MaxInt64 - 1, math.MaxInt64} {
		var d Destination
		d.Init(p, now)
		require.True(t, d.Accept(p, now, 4150))
		d.Release(p, now, 4150)
		sent := 0
		for ; sent < 100 && creditDue(&d, now); sent++ {
			d.Credit(p, now)
		}
		require.Equal(t, 1, sent, "%d", now)
	}
}

// The last packets are freed, the source hears of it, and then their context closes: their
// charge is no credit, or the source would have more than the buffer holds.
func TestSourceAbandonsWhatIsFreed(t *testing.T) {
	p := tableParams(t)
	var s Source
	var d Destination
	s.Init(p)
	d.Init(p, 0)
	for range 3 {
		s.OnSend(p, 4150)
		require.True(t, d.Accept(p, 0, 4150))
		d.Release(p, 0, 4150)
		require.Positive(t, s.OnCreditUpdate(p, d.Credit(p, 0)))
		s.OnAbandon(p, 4150)
		s.OnAbandon(p, 4150)
		require.Equal(t, p.limit, s.Allowed())
	}
	for s.CanSend(p, 1500) {
		s.OnSend(p, 1500)
		require.True(t, d.Accept(p, 0, 1500))
	}
}
