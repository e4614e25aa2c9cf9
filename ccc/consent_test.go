// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/nscc"
)

// Each algorithm has a say only where it takes part; where both do, the stricter
// one decides, and what either learns does not loosen the other.
func TestContextConsentOfEachControl(t *testing.T) {
	const window, credit, step = 10 * mtu, 6 * mtu, 30 * mtu
	for _, tc := range []struct {
		control       Control
		first, second Decision // at the start, and when the credit has grown by step
	}{
		{ControlNSCC, Decision{Bytes: window, Reason: ReasonWindow}, Decision{Bytes: window - mtu, Reason: ReasonWindow}},
		{ControlRCCC, Decision{Bytes: credit + mtu - 1, Reason: ReasonCredit}, Decision{Bytes: step + mtu - 1, Reason: ReasonCredit}},
		{ControlBoth, Decision{Bytes: credit + mtu - 1, Reason: ReasonCredit}, Decision{Bytes: window - mtu, Reason: ReasonWindow}},
	} {
		t.Run(tc.control.String(), func(t *testing.T) {
			f := chapterFabric()
			f.Control, f.NSCC.InitialCwnd = tc.control, window
			f.RCCC.InitialCredit, f.RCCC.MaxCredit = credit, 64*mtu
			p := testParams(t, f)
			c := bound(p)
			c.OnNewData(p, 0, 1<<30)
			require.Equal(t, tc.first, c.Decide(p, 0))
			c.OnSend(p, 0, mtu, false)
			grown := c.OnCreditUpdate(p, us, step) // ends the startup: its credit is void
			require.Equal(t, tc.control != ControlNSCC, grown == step)
			require.Equal(t, tc.second, c.Decide(p, us))
		})
	}
}

// Under credit alone the window only counts, and a loss that the destination's context knows
// of ends the startup.
func TestContextCreditAlone(t *testing.T) {
	f := chapterFabric()
	f.Control, f.NSCC.InitialCwnd, f.RCCC.InitialCredit = ControlRCCC, 2*mtu, 10*mtu
	p := testParams(t, f)
	for range 2 {
		c := bound(p)
		c.OnNewData(p, 0, 100*mtu)
		for range 5 {
			c.OnSend(p, 0, mtu, false)
		}
		require.Equal(t, StateReady, c.State())
		require.EqualValues(t, 92_160, c.CreditTarget(p, 1), "112,500 less what is left, in whole quanta")
		c.OnNACK(p, us, Nack{Nack: nscc.Nack{Size: mtu}, NoPDC: true})
		require.Equal(t, StateReady, c.State())
		c.OnNACK(p, us, Nack{Nack: nscc.Nack{Size: mtu}})
		require.Equal(t, StateActive, c.State(), "what it granted itself is void")
	}
}

// The simulator asks for room for the next packet only, not for all that waits nor for an MTU.
func TestContextAsksForRoomAsItsProfileDoes(t *testing.T) {
	for profile, state := range map[nscc.Profile]State{nscc.ProfileHTSim: StateReady, nscc.ProfileSpec: StateActive} {
		f := chapterFabric()
		f.NSCC.Profile, f.NSCC.InitialCwnd = profile, 2*mtu
		p := testParams(t, f)
		c := bound(p)
		c.OnNewData(p, 0, 100*mtu)
		require.Equal(t, StateReady, c.State(), profile.String())
		c.OnSend(p, 0, mtu+1, false)
		c.OnWithdraw(p, 0, 99*mtu-1-100)
		require.Equal(t, state, c.State(), "%v: 100 bytes wait", profile)
	}
}

// A packet trimmed at the last hop says that the destination's link is contended.
// Where credit takes care of that, the window stays.
func TestContextLastHopTrimIsTheReceiversBusiness(t *testing.T) {
	for control, shrinks := range map[Control]bool{ControlNSCC: true, ControlBoth: false} {
		f := chapterFabric()
		f.Control, f.NSCC.InitialCwnd = control, 20*mtu
		p := testParams(t, f)
		c := bound(p)
		c.OnNewData(p, 0, 1<<20)
		c.OnSend(p, 0, mtu, false)
		n := Nack{}
		n.Size, n.RTT, n.Reason = mtu, 12*us, nscc.ReasonTrimmedLastHop
		c.OnNACK(p, us, n)
		require.Equal(t, shrinks, c.Cwnd() < 20*mtu, control.String())
	}
}
