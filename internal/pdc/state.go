// SPDX-License-Identifier: Apache-2.0

package pdc

import "github.com/uetcc/uetcc/internal/enum"

// State is the stage of a PDC's life. The zero value is closed.
type State uint8

const (
	StateClosed       State = iota // no context
	StateCreating                  // initiator: nothing heard from the target yet
	StatePending                   // target: waits for the Start_PSN asked for
	StateEstablished               // both: the peer's PDCID is known
	StateCloseWait                 // target: asked the initiator to close
	StateQuiesce                   // initiator: takes no new message, finishes open messages
	StateAckWait                   // initiator: waits for the last packets to be released
	StateCloseAckWait              // initiator: CLOSE_CMD is under way
	StateQuarantine                // gone; the id rests and the peer is remembered
)

var stateNames = [...]string{"CLOSED", "CREATING", "PENDING", "ESTABLISHED", "CLOSE_WAIT", "QUIESCE", "ACK_WAIT",
	"CLOSE_ACK_WAIT", "QUARANTINE"}

// String returns the specification's name.
func (s State) String() string { return enum.Name(stateNames[:], s) }

// live reports whether the PDC is a context on which packets can be sent.
func (s State) live() bool { return s > StateClosed && s < StateQuarantine }

// takesMessages reports whether a new message may begin on the PDC.
func (s State) takesMessages() bool {
	return (1<<StateCreating|1<<StateEstablished|1<<StateCloseWait)>>s&1 != 0
}

// sendsData reports whether packets of open messages may still be queued.
func (s State) sendsData() bool { return s.takesMessages() || s == StateQuiesce }

// nextCloseState is the way of an initiator asked to close, dependent only on
// the open work. The rest of the life is decided by the packet or timer that
// ends a state.
func nextCloseState(s State, inUse, unreleased bool) State {
	switch {
	case s != StateQuiesce && s != StateAckWait:
		return s
	case inUse:
		return StateQuiesce
	case unreleased:
		return StateAckWait
	default:
		return StateCloseAckWait
	}
}
