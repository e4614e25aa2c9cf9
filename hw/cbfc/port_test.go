// SPDX-License-Identifier: Apache-2.0

package cbfc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPortFailsafes tests the overrun threshold, the update monitor and the
// update period.
func TestPortFailsafes(t *testing.T) {
	p, err := NewPort([]int64{4, 4}, 2)
	require.NoError(t, err)
	p.Reinit(0)
	require.False(t, p.up())
	require.True(t, p.FlowControl(0, 0).Init)

	p.OnFlowControl(FlowControl{Init: true, VL: 0, FCCL: 4}, 100)
	require.False(t, p.up())
	p.OnFlowControl(FlowControl{Init: true, VL: 1, FCCL: 4}, 100)
	require.True(t, p.up())
	require.False(t, p.FlowControl(0, 70).Init)
	vl, at := p.NextUpdate()
	require.EqualValues(t, 1, vl)
	require.EqualValues(t, 64<<10, at, "at least every 64 KB")

	require.True(t, p.Alive(0, 100+400_000))
	require.False(t, p.Alive(0, 101+400_000))

	require.False(t, p.Receive(0, 5))
	require.True(t, p.EndPeriod(), "one bad period")
	require.True(t, p.EndPeriod(), "a good one starts the count again")
	require.False(t, p.Receive(1, 5))
	require.True(t, p.EndPeriod())
	require.False(t, p.Receive(0, 5))
	require.True(t, p.Receive(0, 1), "makes good for nothing")
	require.False(t, p.EndPeriod(), "two in a row")

	require.True(t, p.Receive(0, 2))
	require.False(t, p.Receive(0, 5))
	p.Reinit(900)
	require.EqualValues(t, 1, p.Lane(0).FCCL(), "three blocks are still in the buffer")
	vl, at = p.NextUpdate()
	require.EqualValues(t, 0, vl, "among equals the first lane")
	require.EqualValues(t, 900+65_536, at)
	require.True(t, p.Alive(1, 900+watchdogPeriod))
	require.True(t, p.EndPeriod(), "the overrun before is forgotten")
	require.False(t, p.Receive(0, 5))
	require.True(t, p.EndPeriod())
	p.Reinit(1000)
	require.False(t, p.Receive(0, 5))
	require.True(t, p.EndPeriod(), "and so are bad periods")
	require.False(t, p.Receive(0, 5))
	require.False(t, p.EndPeriod(), "but no more than those")
	p.FlowControl(1, 2000)
	vl, _ = p.NextUpdate()
	require.EqualValues(t, 0, vl)
}

// TestReservedChangesNothing: an unknown lane neither
// changes a total nor feeds the watchdog.
func TestReservedChangesNothing(t *testing.T) {
	p, _ := NewPort([]int64{4}, 1)
	p.Reinit(0)
	before := *p.Lane(0)
	p.OnFlowControl(FlowControl{VL: 7, FCTBS: 9, FCCL: 9}, 50)
	p.OnFlowControl(FlowControl{VL: managementLane, FCTBS: 9, FCCL: 9}, 50)
	require.Equal(t, before, *p.Lane(0))
}

// TestManagementLane: VL15 is never delayed and changes no total.
func TestManagementLane(t *testing.T) {
	p, _ := NewPort([]int64{4}, 1)
	p.Reinit(0)
	before := *p.Lane(0)
	require.True(t, p.Send(managementLane, 100))
	require.True(t, p.Receive(managementLane, 100))
	require.Nil(t, p.Lane(managementLane))
	require.Equal(t, before, *p.Lane(0))
	require.False(t, p.Send(3, 1), "a lane that the port does not have")
	require.False(t, p.Receive(3, 1))
	require.Nil(t, p.Lane(1))
}

func TestNewPortErrors(t *testing.T) {
	_, err := NewPort(make([]int64, MaxLanes), 15)
	require.NoError(t, err)
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

// The figures of the InfiniBand specification, as numbers: an update every 64 KB of a lane's
// time at least (65,536 symbol times), a watchdog of 400,000.
func TestPortPeriods(t *testing.T) {
	p, err := NewPort([]int64{4}, 1)
	require.NoError(t, err)
	p.Reinit(0)
	p.OnFlowControl(FlowControl{Init: true, VL: 0, FCCL: 4}, 100)
	_, at := p.NextUpdate()
	require.EqualValues(t, 64<<10, at)
	require.True(t, p.Alive(0, 400_100))
	require.False(t, p.Alive(0, 400_101))
}
