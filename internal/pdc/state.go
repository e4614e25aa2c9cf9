// SPDX-License-Identifier: Apache-2.0

package pdc

// live reports whether the PDC is a context on which packets can be sent.
func live(s State) bool { return s > StateClosed && s < StateQuarantine }

// takesMessages reports whether a new message may begin on the PDC.
func takesMessages(s State) bool {
	return (1<<StateCreating|1<<StateEstablished|1<<StateCloseWait)>>s&1 != 0
}

// sendsData reports whether packets of open messages may still be queued.
func sendsData(s State) bool { return takesMessages(s) || s == StateQuiesce }

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
