// SPDX-License-Identifier: Apache-2.0

package ccc

import "github.com/uetcc/uetcc/internal/enum"

// State is the run state of a context. A State has no memory, following from the present
// alone. Source: UE Specification 1.0.x section 3.6.12.
type State uint8

const (
	StateIdle    State = iota // nothing to send, nothing in flight
	StatePending              // nothing to send, acknowledgements outstanding
	StateActive               // something to send, not allowed now
	StateReady                // something to send and allowed: on the ready list

	states = iota
)

var stateNames = [states]string{"IDLE", "PENDING", "ACTIVE", "READY"}

// String returns the specification's name.
func (s State) String() string { return enum.Name(stateNames[:], s) }

// nextState is the run state machine of UE Specification 1.0.x section 3.6.12.
func nextState(toSend, outstanding, admitted bool) State {
	switch {
	case !toSend && !outstanding:
		return StateIdle
	case !toSend:
		return StatePending
	case !admitted:
		return StateActive
	default:
		return StateReady
	}
}

// life is the progress of a context's set-up, moving only forward until the context is
// freed. The UET congestion chapters use the run states' names for the steps too, so an
// unbound context is never READY.
type life uint8

const (
	lifeUnconfigured life = iota // data structures only
	lifeConfigured               // window and thresholds computed
	lifeBound                    // serves at least one PDC, or did

	lives = iota
)

var lifeNames = [lives]string{"UNCONFIGURED", "CONFIGURED", "BOUND"}

// String returns the state's name in upper case.
func (l life) String() string { return enum.Name(lifeNames[:], l) }

// Mode says how much a context has to say.
type Mode uint8

const (
	ModeEnforce Mode = iota // decides
	ModeObserve             // computes all decisions, and refuses nothing
	ModeOff                 // counts, takes probes, but leaves the window alone, and refuses nothing

	modes = iota
)

var modeNames = [modes]string{"enforce", "observe", "off"}

// String returns the mode's name in lower case.
func (m Mode) String() string { return enum.Name(modeNames[:], m) }

// Control is the set of specified algorithms of a context. Each must consent to a packet.
type Control uint8

const (
	ControlNSCC Control = iota // the window
	ControlRCCC                // the receiver's credit
	ControlBoth                // both
	ControlNone                // neither: the user's [Algorithm] alone

	controls = iota
)

var controlNames = [controls]string{"nscc", "rccc", "nscc+rccc", "none"}

// String returns the algorithms' names in lower case.
func (c Control) String() string { return enum.Name(controlNames[:], c) }

func (c Control) nscc() bool { return c == ControlNSCC || c == ControlBoth }
func (c Control) rccc() bool { return c == ControlRCCC || c == ControlBoth }
