// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNextStateAllCases(t *testing.T) {
	for _, c := range []struct {
		toSend, outstanding, admitted bool
		want                          State
	}{
		{false, false, false, StateIdle},
		{false, false, true, StateIdle},
		{false, true, false, StatePending},
		{false, true, true, StatePending},
		{true, false, false, StateActive},
		{true, true, false, StateActive},
		{true, false, true, StateReady},
		{true, true, true, StateReady},
	} {
		require.Equal(t, c.want, nextState(c.toSend, c.outstanding, c.admitted), "%+v", c)
	}
}

func TestEnumNames(t *testing.T) {
	for _, c := range []struct {
		got  interface{ String() string }
		want string
	}{
		{StateIdle, "IDLE"}, {StatePending, "PENDING"}, {StateActive, "ACTIVE"}, {StateReady, "READY"}, {State(9), "State(9)"},
		{ModeEnforce, "enforce"}, {ModeObserve, "observe"}, {ModeOff, "off"},
		{ControlNSCC, "nscc"}, {ControlRCCC, "rccc"}, {ControlBoth, "nscc+rccc"}, {ControlNone, "none"},
		{ReasonBacklog, "backlog"}, {ReasonWindow, "window"}, {ReasonCredit, "credit"}, {ReasonAlgorithm, "algorithm"},
		{ReasonPacing, "pacing"}, {ReasonUnbound, "unbound"}, {ReasonOff, "off"}, {Reason(200), "Reason(200)"},
		{SchemeOblivious, "oblivious"}, {SchemeREPSLegacy, "reps_legacy"},
	} {
		require.Equal(t, c.want, c.got.String())
	}
}
